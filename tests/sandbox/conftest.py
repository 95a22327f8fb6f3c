from collections.abc import Iterator

import pytest
from support.docker_engine import require_docker

from sandbox.docker_sandbox import DockerSandbox


@pytest.fixture(scope="session")
def docker_sandbox() -> Iterator[DockerSandbox]:
    """One small pool for all tests that leave it as it was."""
    require_docker()
    with DockerSandbox(containers=2) as made:
        yield made
