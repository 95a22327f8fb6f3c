"""The sandboxes that verifiers of one process share."""

import atexit
import json
import os
import threading
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from sandbox.metrics import SandboxMetrics
from sandbox.types import Sandbox
from tasks.options import option_mistakes
from verifiers.errors import VerifierOptionError

KINDS = ("docker", "local")


@runtime_checkable
class Counting(Protocol):
    """A sandbox that counts what it does."""

    @property
    def metrics(self) -> SandboxMetrics:
        """The counts since it was made."""
        ...


_lock = threading.Lock()
_shared: dict[tuple[int, str, str], Sandbox] = {}


def sandbox_settings(containers: int | None, docker: Mapping[str, object]) -> str:
    """Return the settings of a shared sandbox as text, the same text for the same settings.

    Raises:
        VerifierOptionError: `docker` has something that a DockerSandbox does not take.
    """
    if docker:
        from sandbox.docker_sandbox import DockerSandbox

        key = "task.verifier_options.docker"
        if mistakes := option_mistakes(DockerSandbox, docker, owner="a DockerSandbox", key=key):
            raise VerifierOptionError("\n".join(mistakes))
    return json.dumps({**docker, **({"containers": containers} if containers else {})}, sort_keys=True)


def shared_sandbox(kind: str, settings: str) -> Sandbox:
    """Return the process's sandbox of that kind, started at the first call and closed when the process ends.

    Args:
        settings: as `sandbox_settings` gives them.

    Raises:
        SandboxUnavailableError: there is no Docker engine, or no processes can be started; says what to do.
    """
    # By process: a forked child shares neither connections nor the duty to clean up.
    key = (os.getpid(), kind, settings)
    with _lock:
        if key not in _shared:
            _shared[key] = _made(kind, json.loads(settings))
            atexit.register(_close, key)
        return _shared[key]


def sandbox_totals() -> list[SandboxMetrics]:
    """Return what each of the process's shared sandboxes that keeps count has done so far."""
    with _lock:
        shared = [sandbox for (process, _, _), sandbox in _shared.items() if process == os.getpid()]
    return [sandbox.metrics for sandbox in shared if isinstance(sandbox, Counting)]


def _made(kind: str, settings: dict[str, object]) -> Sandbox:
    if kind == "local":
        from sandbox.local_sandbox import LocalSandbox

        containers = settings.get("containers")
        return LocalSandbox(parallel=containers if isinstance(containers, int) else None)
    from sandbox.docker_sandbox import DockerSandbox

    return DockerSandbox(**settings)  # pyright: ignore[reportArgumentType]


def _close(key: tuple[int, str, str]) -> None:
    sandbox = _shared.pop(key, None)
    if sandbox is not None and key[0] == os.getpid():
        sandbox.close()
