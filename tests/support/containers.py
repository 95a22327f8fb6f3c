"""What the engine has of a sandbox, seen from outside."""

import time
from collections.abc import Callable

from support.docker_engine import require_docker

PATIENCE_S = 60.0


def containers_of(run_label: str) -> list[str]:
    """Return the ids of the containers, running or not, of the DockerSandbox with this run_label."""
    found = require_docker().client.api.containers(all=True, filters={"label": f"rlvr.run={run_label}"})
    return [container["Id"] for container in found]


def kill(container_id: str) -> None:
    """Kill a container as `docker kill` does, if it is still there."""
    import docker.errors

    try:
        require_docker().client.api.kill(container_id)
    except docker.errors.APIError as error:
        if error.status_code not in (404, 409):
            raise


def wait_until(holds: Callable[[], object], what: str) -> None:
    """Wait until the condition holds."""
    give_up = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < give_up, f"waited in vain: {what}"
        time.sleep(0.02)
