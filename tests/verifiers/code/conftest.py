from collections.abc import Iterator

import pytest
from support.docker_engine import require_docker

from sandbox.docker_sandbox import DockerSandbox
from sandbox.types import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A small pool for all tests of verifiers that run programs."""
    require_docker()
    with DockerSandbox(containers=2) as made:
        yield made
