"""What the pool knows of containers and of the engines they come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sandbox.types import Limits


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """The limits that are fixed when a container is created: programs that differ in them need different containers."""

    memory_mb: int
    processes: int
    disk_mb: int

    @classmethod
    def of(cls, limits: Limits) -> "Shape":
        """Return the shape of the containers that hold these limits."""
        return cls(memory_mb=limits.memory_mb, processes=limits.processes, disk_mb=limits.disk_mb)


class WarmContainer(Protocol):
    """A running container that has proven its limits and waits for programs, one at a time."""

    def exchange(
        self, header: dict[str, Any], blobs: Sequence[bytes], *, timeout_s: float
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Send a request and return the reply.

        Raises:
            SandboxLostError: the container died, or did not reply in time.
        """
        ...

    def is_alive(self) -> bool:
        """Tell at no cost whether an idle container's stream is still open."""
        ...

    def ran_out_of_memory(self) -> bool:
        """Ask the engine whether the kernel killed the container, or something in it, for memory."""
        ...

    def kill(self) -> None:
        """Kill and remove the container; raises nothing, whatever state it and its engine are in."""
        ...

    def forget(self) -> None:
        """Close this process's copy of the stream without a word to the container, after a fork."""
        ...


class ContainerSource(Protocol):
    """One engine."""

    name: str
    """How it is told from others in messages."""

    def capacity(self) -> int:
        """How many containers it may run at a time; asked once, before the first start.

        Raises:
            SandboxUnavailableError: the engine does not answer.
        """
        ...

    def start(self, shape: Shape) -> WarmContainer:
        """Start a container, see its limits proven, and return it.

        Raises:
            SandboxUnavailableError: the engine does not answer, or cannot be used as it is set up.
            SandboxLostError: the container died while it started.
        """
        ...

    def close(self) -> None:
        """Let go of the engine, after all containers were killed."""
        ...

    def forget(self) -> None:
        """Drop a connection that a forked child has inherited, without a word to the engine."""
        ...
