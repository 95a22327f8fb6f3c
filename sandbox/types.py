"""The nouns of running untrusted programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Protocol, runtime_checkable


class End(StrEnum):
    """How a program came to its end. Everything here is the program's own doing, never a failure of the sandbox."""

    EXITED = "exited"
    """It ended by itself, with the exit code or by the signal that `exit_code` tells."""
    TIMED_OUT = "timed_out"
    """It used up its wall or CPU time and was killed."""
    OUT_OF_MEMORY = "out_of_memory"
    KILLED = "killed"
    """It was killed for another limit (processes, disk) or a forbidden action."""
    OUTPUT_LIMIT = "output_limit"
    """It wrote more than `Limits.output_bytes` and was killed; stdout and stderr are cut, not complete."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """What to run: files, a command among them, and its standard input."""

    argv: Sequence[str]
    """The command, for instance ("python3", "main.py"), started in the folder of `files`. No shell is involved."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Contents by relative path with forward slashes, for instance {"main.py": b"print(1)"}."""
    stdin: bytes = b""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judge:
    """Trusted Python source that questions a program over a pair of pipes: file descriptors 3 to read and 4 to write.

    It runs beside the program, in a process that the program cannot look into: not dumpable, its source and its input
    in no file, argument or environment variable. The program has the other ends of the pipes, under the same numbers.
    """

    source: bytes
    """Run as `__main__` in a fresh interpreter with the standard library."""
    stdin: bytes = b""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What a program may use, its descendants included. The program is killed at the first limit it passes."""

    wall_s: float = 5.0
    cpu_s: float = 5.0
    memory_mb: int = 256
    processes: int = 64
    """Processes and threads at the same time."""
    output_bytes: int = 1_048_576
    """Of stdout and stderr, each."""
    disk_mb: int = 64

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not getattr(self, limit.name) > 0:
                raise ValueError(f"limit {limit.name} must be above 0, got {getattr(self, limit.name)}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """What running a program came to."""

    end: End
    exit_code: int | None = None
    """Exit status, negative for a signal; None where the program did not end by itself."""
    stdout: bytes = b""
    stderr: bytes = b""
    wall_s: float = 0.0


@runtime_checkable
class Sandbox(Protocol):
    """Runs untrusted programs, each apart from the host and from the others. Called from several threads at once."""

    def run(self, program: Program, limits: Limits) -> Execution:
        """Run `program` to its end or to the first limit that it passes; nothing of it is left behind.

        Raises:
            SandboxError: the sandbox itself failed, and nothing is known about the program.
        """
        ...

    def run_judged(self, program: Program, judge: Judge, limits: Limits) -> tuple[Execution, Execution]:
        """Run `program` and the `judge` that questions it, and return how each of them ended, the program's first.

        It is over when the judge ends: the program is killed then. The limits hold for both together, output for each.

        Raises:
            SandboxError: the sandbox itself failed, and nothing is known about the program.
        """
        ...

    def close(self) -> None:
        """End everything that still runs and give back what the sandbox holds; a second call does nothing."""
        ...
