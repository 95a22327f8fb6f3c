"""One process tree of LocalSandbox: starts the launcher, feeds it, collects what it writes, and has it killed."""

import contextlib
import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from sandbox.errors import SandboxLostError, SandboxUnavailableError
from sandbox.types import End, Execution, Limits

_LAUNCHER = Path(__file__).with_name("local_launcher.py")
_KILL_S = 30.0
_CHUNK = 1 << 16

Pipe = IO[bytes]


class LocalProcess:
    """A command that runs under the launcher, and what is known of it so far.

    Args:
        argv: the command.
        stdin: fed as the command reads it.
        limits: all of them hold here but wall_s, which is the caller's to watch.
        folder: where the command starts, and the only place it may write to where `isolate` succeeds.
        isolate: whether to try for namespaces of its own.
        pipes: what become descriptors 3 and 4 of the command; closed here.
    """

    def __init__(
        self,
        argv: Sequence[str],
        stdin: bytes,
        limits: Limits,
        *,
        folder: str,
        isolate: bool,
        pipes: Sequence[Pipe] = (),
    ) -> None:
        self.stdout, self.stderr = bytearray(), bytearray()
        self.started_at: float | None = None
        self.ended_at: float | None = None
        self.limit: End | None = None
        """The limit that was noticed here: wall time or output."""
        self._limits = limits
        self._unsent = memoryview(stdin)
        self._report = bytearray()
        control_read, control_write = pipe()
        lease_read, lease_write = pipe()
        self._lease = lease_write
        spec = {
            "argv": list(argv), "folder": folder, "isolate": isolate, "environment": _environment(folder),
            "cpu_s": limits.cpu_s, "memory_mb": limits.memory_mb, "processes": limits.processes,
            "disk_mb": limits.disk_mb, "control": control_write.fileno(), "lease": lease_read.fileno(),
            "pipes": [end.fileno() for end in pipes],
        }  # fmt: skip
        passed_on = [control_write, lease_read, *pipes]
        try:
            self._launcher = subprocess.Popen(
                [sys.executable, "-I", "-S", os.fspath(_LAUNCHER), json.dumps(spec)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, cwd=os.sep,
                start_new_session=True, pass_fds=[end.fileno() for end in passed_on],
            )  # fmt: skip
        except OSError as error:
            control_read.close()
            lease_write.close()
            raise SandboxUnavailableError(f"this machine cannot start a process: {error}") from error
        finally:
            for end in passed_on:
                end.close()
        assert self._launcher.stdin is not None
        assert self._launcher.stdout is not None
        assert self._launcher.stderr is not None
        self._stdin = self._launcher.stdin
        self._sources: list[tuple[IO[bytes], bytearray]] = [
            (self._launcher.stdout, self.stdout),
            (self._launcher.stderr, self.stderr),
            (control_read, self._report),
        ]
        for stream in (self._stdin, *(source for source, _ in self._sources)):
            os.set_blocking(stream.fileno(), False)

    @property
    def ended(self) -> bool:
        """Whether the tree is gone and the launcher has reported."""
        return self.ended_at is not None

    @property
    def wall_s(self) -> float:
        """Seconds from the command's start to its end, or till now."""
        return 0.0 if self.started_at is None else (self.ended_at or time.monotonic()) - self.started_at

    def let_go(self) -> None:
        """Have the launcher kill the tree; it reports when that is done."""
        self._lease.close()

    def close(self) -> None:
        """Kill what is left and free the descriptors."""
        self.let_go()
        if not self.ended:
            # The launcher kills the tree when it sees the lease end; killing it first would leave orphans.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._launcher.wait(_KILL_S)
        self._launcher.kill()
        self._launcher.wait()
        for stream in (self._stdin, *(source for source, _ in self._sources)):
            with contextlib.suppress(OSError):
                stream.close()

    def execution(self) -> Execution:
        """Return how the ended tree ended."""
        report: dict[str, Any] = json.loads(self._report[1:])
        end = self.limit or End(report["end"])
        size = self._limits.output_bytes
        if len(self.stdout) > size or len(self.stderr) > size:
            end = End.OUTPUT_LIMIT
        return Execution(
            end=end,
            exit_code=report["exit_code"] if end is End.EXITED else None,
            stdout=bytes(self.stdout[:size]),
            stderr=bytes(self.stderr[:size]),
            wall_s=self.wall_s,
        )

    def register(self, selector: selectors.BaseSelector) -> None:
        """Enter into `selector` what this process may have to read or to write."""
        if self.ended:
            return
        for source, buffer in self._sources:
            if not source.closed:
                selector.register(source, selectors.EVENT_READ, (self, source, buffer))
        if not self._stdin.closed:
            selector.register(self._stdin, selectors.EVENT_WRITE, (self, self._stdin, None))

    def move(self, stream: IO[bytes], buffer: bytearray | None) -> None:
        """Read or write what the selector found ready."""
        if buffer is None:
            self._feed()
        elif buffer is self._report:
            self._hear(stream)
        else:
            self._collect(stream, buffer)
            if len(buffer) > self._limits.output_bytes and self.limit is None:
                self.limit = End.OUTPUT_LIMIT
                self.let_go()

    def _feed(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._stdin.fileno(), self._unsent[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # the command does not read any more
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self._stdin.close()

    def _collect(self, stream: IO[bytes], buffer: bytearray) -> bool:
        """Append what is there now, as far as the output limit lets it count; return whether there may be more."""
        try:
            chunk = os.read(stream.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            stream.close()
        elif len(buffer) <= self._limits.output_bytes:
            buffer += chunk
        return bool(chunk)

    def _hear(self, control: IO[bytes]) -> None:
        """Read a part of what the launcher says: "s" when the command starts, then one line of JSON at the end."""
        chunk = os.read(control.fileno(), _CHUNK)
        if not chunk:
            said = bytes(self.stderr[-500:]).decode(errors="replace")
            raise SandboxLostError(
                f"the launcher of a local program died before it reported; stderr ends with {said!r}"
            )
        self._report += chunk
        if self.started_at is None:
            self.started_at = time.monotonic()
        if self._report.endswith(b"\n"):
            self.ended_at = time.monotonic()
            for source, buffer in self._sources[:2]:
                # All writers are dead: what the pipe holds is all there will be.
                while not source.closed and self._collect(source, buffer):
                    pass


def move_bytes(processes: Sequence[LocalProcess], timeout_s: float) -> None:
    """Wait up to `timeout_s` for any of these processes to say, write or read something, and carry it over."""
    with selectors.DefaultSelector() as selector:
        for process in processes:
            process.register(selector)
        for key, _ in selector.select(timeout_s):
            process, stream, buffer = key.data
            if not stream.closed:
                process.move(stream, buffer)


def _environment(folder: str) -> dict[str, str]:
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"}


def pipe() -> tuple[Pipe, Pipe]:
    """Return the read and the write end of a new pipe, which may be closed more than once."""
    read, write = os.pipe()
    return open(read, "rb", buffering=0), open(write, "wb", buffering=0)
