"""One worker process as its parent sees it: started, given a job, killed. `verifiers.worker_pool` decides when."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from verifiers.errors import VerifierError

JsonValue: TypeAlias = Any
"""None, bool, int, float, str, or a list or str-keyed dict of them: what json.loads returns."""

_REPLY_BYTES = 2**20
_ORPHAN_MARGIN_S = 1.0
_STDERR_BYTES = 4096
_STDERR_LINES = 8


class LimitReachedError(Exception):
    """The job's own doing, no failure of ours: callers make it a verdict."""

    def __init__(self, limit: Literal["time", "memory", "crash"], message: str) -> None:
        super().__init__(limit, message)
        self.limit = limit

    def __str__(self) -> str:
        return self.args[1]


class WorkerLostError(VerifierError):
    """A worker process could not be started, or the pool is closed."""


class WorkerJobError(VerifierError):
    """The function raised, which is a bug in it; carries the traceback from the worker process."""


class WorkerDiedError(Exception):
    """The process ended during a job."""

    def __init__(self, ending: str, ran_s: float) -> None:
        super().__init__(ending)
        self.ran_s = ran_s


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerSettings:
    function: str
    workers: int
    wall_s: float
    memory_mb: int
    recycle_after: int
    startup_s: float


class Worker:
    """One worker process, used by one thread at a time."""

    def __init__(self, settings: WorkerSettings) -> None:
        self.jobs = 0
        self.ready = False
        self._settings = settings
        self._started_at = time.monotonic()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # a pipe that nobody drains would block the import
        program = [sys.executable, "-P", "-m", "verifiers.worker_process", settings.function]
        limits = [str(settings.memory_mb), str(settings.wall_s + _ORPHAN_MARGIN_S)]
        try:
            self._process = subprocess.Popen(
                program + limits,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=_environment(),
                start_new_session=True,  # a group to kill, and the terminal's Ctrl-C is not for it
            )
        except OSError as error:
            self._stderr.close()
            raise WorkerLostError(f"no worker process for {settings.function!r}: {error}") from error
        assert self._process.stdin
        assert self._process.stdout
        self._job_pipe = self._process.stdin.fileno()
        self._reply_pipe = self._process.stdout.fileno()
        os.set_blocking(self._job_pipe, False)
        self._replies = select.poll()
        self._replies.register(self._reply_pipe, select.POLLIN)

    def is_at_hand(self) -> bool:
        """Whether a job would start at once."""
        return self.ready or bool(self._replies.poll(0))

    def has_died_idle(self) -> bool:
        return self.ready and bool(self._replies.poll(0))

    def wait_until_ready(self) -> None:
        if self.ready:
            return
        try:
            self._receive(self._started_at + self._settings.startup_s)
        except TimeoutError:
            self.kill()
            reason = f"was not ready after {self._settings.startup_s:g} s"
        except EOFError:
            reason = self._ending()
        else:
            self.ready = True
            self._stderr.close()
            return
        said = _last_lines(self._stderr.fileno())
        raise WorkerLostError(f"the worker process for {self._settings.function!r} {reason} before its first job{said}")

    def run(self, frame: bytes, wall_s: float) -> tuple[str, JsonValue]:
        self.jobs += 1
        started = time.monotonic()
        try:
            self._send(frame, started + wall_s)
            reply = self._receive(time.monotonic() + wall_s)
            kind, content = json.loads(reply)
        except TimeoutError:
            raise LimitReachedError("time", f"the job ran longer than {self._settings.wall_s:g} s") from None
        except (EOFError, BrokenPipeError):
            raise WorkerDiedError(self._ending(), time.monotonic() - started) from None
        except (RecursionError, ValueError):  # ValueError: json's, for a number of too many digits among others
            raise LimitReachedError("crash", "the reply cannot be read") from None
        if kind == "memory":
            raise LimitReachedError("memory", f"the job needed more than {self._settings.memory_mb} MB of memory")
        return kind, content

    def _send(self, frame: bytes, deadline: float) -> None:
        unsent = memoryview(frame)
        while unsent:
            try:
                unsent = unsent[os.write(self._job_pipe, unsent) :]
            except BlockingIOError:
                room = select.poll()
                room.register(self._job_pipe, select.POLLOUT)
                if not room.poll(_ms_until(deadline)):
                    raise TimeoutError from None

    def _receive(self, deadline: float) -> bytes:
        """Return one frame's payload. Raises TimeoutError, or EOFError where the process has ended."""
        received = bytearray()
        while True:
            if not self._replies.poll(_ms_until(deadline)):
                raise TimeoutError
            chunk = os.read(self._reply_pipe, 1 << 16)
            if not chunk:
                raise EOFError
            received += chunk
            length = int.from_bytes(received[:4], "big")
            if length > _REPLY_BYTES:
                raise LimitReachedError("crash", f"the reply is larger than {_REPLY_BYTES} bytes")
            if len(received) >= 4 + length:
                return bytes(received[4:])

    def _ending(self) -> str:
        """Reap the process, which has closed its end of a pipe, and say how it ended."""
        self.kill()  # changes nothing about a process that is ending by itself
        code = self._process.returncode
        return f"exited with code {code}" if code >= 0 else f"ended by signal {-code} ({signal.strsignal(-code)})"

    def kill(self) -> None:
        """Kill and reap the process and whatever it started."""
        if self._process.returncode is None:
            # Gone already; macOS says EPERM of a group whose last member is a zombie.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def dismiss(self) -> None:
        """Kill the process and release what the parent holds of it."""
        self.kill()
        self._release()

    def forget(self) -> None:
        """Release another process's worker without harm to it."""
        self._process.returncode = 0  # nothing for Popen to wait for or to warn of
        self._release()

    def _release(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._stderr.close()


def _ms_until(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic()) * 1000


def _environment() -> dict[str, str]:
    """Return the environment in which a process finds the modules that this one finds, however it found them."""
    path = [os.path.abspath(entry) for entry in sys.path]
    # Sets of strings are iterated in the order of their hashes: with a fixed seed every worker answers alike.
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONHASHSEED": "0"}


def _last_lines(descriptor: int) -> str:
    """Return the end of what the process wrote, each line after a line break; its own offset is left alone."""
    size = os.fstat(descriptor).st_size
    said = os.pread(descriptor, _STDERR_BYTES, max(0, size - _STDERR_BYTES)).decode(errors="replace")
    return "".join(f"\n  {line}" for line in said.splitlines()[-_STDERR_LINES:])
