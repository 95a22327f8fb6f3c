"""Connecting to Docker engines: where they listen, what they can do, and what to do when one does not answer."""

import errno
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sandbox.errors import SandboxError, SandboxUnavailableError
from sandbox.ssh_forward import SshForward

if TYPE_CHECKING:
    import docker

DEFAULT_SOCKET = "/var/run/docker.sock"
CONNECTIONS_KEPT = 64
CONNECT_TIMEOUT_S = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineFacts:
    """What an engine says about itself."""

    version: str
    os_type: str
    """Of its containers: "linux", or "windows", which cannot be used."""
    architecture: str
    """As `platform.machine()` names it on Linux, for instance "x86_64" or "aarch64"."""
    cpus: int
    memory_mb: int
    cgroup_version: int
    cgroup_driver: str
    swap_limit: bool
    """Whether swap can be limited; False on cgroup v1 kernels without swap accounting."""
    rootless: bool
    desktop: bool
    """Whether it runs in the virtual machine of Docker Desktop, OrbStack or Colima."""
    runtimes: tuple[str, ...]


@dataclass(kw_only=True, slots=True)
class Engine:
    """A connection to one Docker engine; many threads may use it. `close()` it in the end."""

    url: str
    client: "docker.DockerClient"
    facts: EngineFacts
    forward: SshForward | None = None

    def patient_client(self, timeout_s: float) -> "docker.DockerClient":
        """Return a second client whose calls may each take `timeout_s`, for builds. The caller closes it."""
        return _client(self.url if self.forward is None else self.forward.url, timeout_s)

    def close(self) -> None:
        """End the connection; a second call does nothing."""
        self.client.close()
        if self.forward is not None:
            self.forward.close()


def connect(url: str | None = None, *, timeout_s: float = 30.0) -> Engine:
    """Connect to the engine at `url`, or to the one that the docker command line would use.

    Args:
        url: as in DOCKER_HOST: unix:///path, tcp://host:port (TLS by DOCKER_TLS_VERIFY and DOCKER_CERT_PATH) or
            ssh://user@host.
        timeout_s: for each call to the engine.

    Raises:
        SandboxUnavailableError: no engine answers there; the message says what to start, install or change.
    """
    wanted = url or _default_url()
    forward = None
    if urlsplit(wanted).scheme == "ssh":
        forward = SshForward(wanted, timeout_s=CONNECT_TIMEOUT_S)
    reached = wanted if forward is None else forward.url
    try:
        _probe(reached, wanted)
        with engine_errors("connect to the engine", wanted):
            client = _client(reached, timeout_s)
            facts = _facts(client.version(), client.info())
        if facts.os_type != "linux":
            raise SandboxUnavailableError(f"the engine at {wanted} runs {facts.os_type} containers; switch it to Linux")
    except BaseException:
        if forward is not None:
            forward.close()
        raise
    return Engine(url=wanted, client=client, facts=facts, forward=forward)


@contextmanager
def engine_errors(doing: str, engine: str, error_class: type[SandboxError] = SandboxUnavailableError) -> Iterator[None]:
    """Turn whatever the docker SDK raises within the block into `error_class`: "could not {doing} ..." in one line."""
    import docker.errors
    import requests.exceptions
    import urllib3.exceptions

    try:
        yield
    except docker.errors.APIError as error:
        said = error.explanation or error
        raise error_class(f"could not {doing}: the engine at {engine} says: {_one_line(said)}") from error
    except (
        docker.errors.DockerException,
        requests.exceptions.RequestException,
        urllib3.exceptions.HTTPError,
        OSError,
    ) as error:
        causes: list[BaseException | None] = [error]
        while causes[-1] is not None:
            causes.append(causes[-1].__cause__ or causes[-1].__context__)
        if any(isinstance(cause, requests.exceptions.Timeout | TimeoutError) for cause in causes):
            raise error_class(f"could not {doing}: the engine at {engine} did not answer in time") from error
        raise error_class(f"could not {doing}: lost the engine at {engine} ({_one_line(error)})") from error


def _default_url() -> str:
    """Return the URL that DOCKER_HOST, else the current docker context, else a socket that is there, names."""
    from_environment = os.environ.get("DOCKER_HOST")
    if from_environment:
        return from_environment
    from_context = _context_url()
    if from_context:
        return from_context
    runtime_folder = os.environ.get("XDG_RUNTIME_DIR")
    places = [DEFAULT_SOCKET, str(Path.home() / ".docker/run/docker.sock")]
    places += [f"{runtime_folder}/docker.sock"] if runtime_folder else []
    return "unix://" + next((place for place in places if os.path.exists(place)), DEFAULT_SOCKET)


def _context_url() -> str | None:
    """Return the URL of the current docker context, None for the default one."""
    with engine_errors("read the docker context", "~/.docker"):
        from docker.context import ContextAPI
        from docker.context.config import get_current_context_name

        if (os.environ.get("DOCKER_CONTEXT") or get_current_context_name()) == "default":
            return None
        context = ContextAPI.get_current_context()
        return context.Host if context is not None else None


def _client(url: str, timeout_s: float) -> "docker.DockerClient":
    import docker

    environment = {**os.environ, "DOCKER_HOST": url}
    if url.startswith("unix:"):
        environment.pop("DOCKER_TLS_VERIFY", None)
        environment.pop("DOCKER_CERT_PATH", None)
    # Ports that serve TLS are reached as DOCKER_TLS_VERIFY says, which from_env knows and the constructor does not.
    return docker.DockerClient.from_env(
        timeout=timeout_s,  # pyright: ignore[reportArgumentType]  the stub says int, requests takes floats
        version="auto",
        max_pool_size=CONNECTIONS_KEPT,
        environment=environment,
    )


def _probe(url: str, wanted: str) -> None:
    """Raise with the cause in words where nothing listens at `url`: the SDK's own errors hide it."""
    parts = urlsplit(url)
    try:
        if parts.scheme in ("unix", "http+unix"):
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(CONNECT_TIMEOUT_S)
                probe.connect(parts.path)
        elif parts.scheme in ("tcp", "http", "https"):
            socket.create_connection((parts.hostname or "", parts.port or 2375), CONNECT_TIMEOUT_S).close()
        else:
            raise SandboxUnavailableError(
                f"cannot use the Docker host {wanted!r}; give unix:///path, tcp://host:port or ssh://user@host"
            )
    except (OSError, ValueError) as error:
        local = parts.scheme == "unix" and url == wanted
        cure = _local_cure(error) if local else "check the address and that the engine runs there"
        raise SandboxUnavailableError(f"no Docker engine answers at {wanted} ({_one_line(error)}): {cure}") from error


def _local_cure(error: Exception) -> str:
    """Return what to do about a local socket that does not answer."""
    if isinstance(error, PermissionError):
        return "you may not use it; join its group (sudo usermod -aG docker $USER) and log in again"
    if sys.platform == "darwin":
        installed = shutil.which("docker") or os.path.exists("/Applications/Docker.app")
        return "start Docker Desktop (open -a Docker)" if installed else "install Docker Desktop and start it"
    if isinstance(error, OSError) and error.errno not in (errno.ENOENT, errno.ECONNREFUSED):
        return "check that it is an engine's socket"
    if shutil.which("dockerd"):
        return "it is not running; start it (sudo systemctl start docker, or sudo dockerd)"
    if shutil.which("docker"):
        return "only the docker command is installed; install an engine too (Debian: sudo apt install docker.io)"
    return "Docker is not installed (Debian: sudo apt install docker.io)"


def _facts(version: dict[str, Any], info: dict[str, Any]) -> EngineFacts:
    system = str(info.get("OperatingSystem", ""))
    return EngineFacts(
        version=str(version.get("Version", "unknown")),
        os_type=str(info.get("OSType", "linux")),
        architecture=str(info.get("Architecture", "unknown")),
        cpus=int(info.get("NCPU", 1)),
        memory_mb=int(info.get("MemTotal", 0)) // 2**20,
        cgroup_version=2 if str(info.get("CgroupVersion", "1")) == "2" else 1,
        cgroup_driver=str(info.get("CgroupDriver", "unknown")),
        swap_limit=bool(info.get("SwapLimit", False)),
        rootless=any("rootless" in str(option) for option in info.get("SecurityOptions") or []),
        desktop=any(word in system.lower() for word in ("docker desktop", "orbstack", "colima")),
        runtimes=tuple(sorted(info.get("Runtimes") or {})),
    )


def _one_line(thing: object) -> str:
    return " ".join(str(thing).split())[:400]
