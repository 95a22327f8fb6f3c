"""A sandbox without Docker, for development on programs that are trusted not to be hostile."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from sandbox.errors import SandboxClosedError, SandboxLostError, SandboxUnavailableError
from sandbox.local_launcher import NOBODY
from sandbox.local_process import LocalProcess, Pipe, move_bytes, pipe
from sandbox.types import End, Execution, Judge, Limits, Program

NOT_CONTAINED = """\
LocalSandbox runs programs on this machine, as this user, without a container. It does NOT contain a hostile program:
  files      it reads whatever this user may read (keys, tokens, gold answers), and where the system refuses user
             namespaces it writes and deletes whatever this user may; programs of root run as nobody
  network    open where user namespaces are refused, and other processes of this user can be signalled there
  left-overs where user namespaces are refused, files outside the program's folder stay, and shared memory does
  limits     memory and CPU time are sampled: a fast program overshoots them for a moment; disk_mb holds for each
             file, not for all together
  system     the kernel's whole interface is open: no system call is filtered
Use DockerSandbox for programs that a model in training wrote."""

_PYTHONS = ("/usr/bin/python3", "/usr/local/bin/python3")
_START_S = 60.0
"""How long the launcher may take, on a loaded machine, to start a command."""
_KILL_S = 30.0
"""How long the launcher may take to kill a tree and to report."""
_POLL_S = 0.5
"""How soon close() is noticed."""

# Reads its own source from standard input once nobody can look at its memory; what follows there is the judge's input.
# The byte on standard output says so: the program that it questions must not start before.
_JUDGE = """
import ctypes, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
os.write(1, b"!")
def read(length):
    data = b""
    while len(data) < length:
        chunk = os.read(0, length - len(data))
        if not chunk:
            raise SystemExit("the judge's source was cut short")
        data += chunk
    return data
source = read(int.from_bytes(read(8), "big"))
del ctypes, os, sys, read
exec(compile(source, "<judge>", "exec"), {"__name__": "__main__"})
"""

_warned = threading.Event()


class UncontainedWarning(UserWarning):
    """Programs run without a container."""


class LocalSandbox:
    """Runs programs as processes of this machine; NOT_CONTAINED in this module tells what that does not protect from.

    Held are wall, CPU, memory, process and output limits. The whole process tree is killed at the end, orphans
    included (on macOS: the process group), and the program's folder is deleted. Where the system permits user
    namespaces, as most Linux hosts do, a program has no network, sees no other process, and writes to its folder and a
    /dev/shm of its own only. "python3" as the command means this interpreter, isolated (-I) and in UTF-8 mode. Where
    this process is root, programs run as nobody, with the first of this interpreter, the one its environment was made
    from and /usr/bin/python3 that nobody may use.

    Args:
        parallel: how many programs run at once; further calls wait. As many as there are processors by default.
        warn: whether to say, once in a process, what is not contained.
    """

    def __init__(self, *, parallel: int | None = None, warn: bool = True) -> None:
        if os.name != "posix":
            raise SandboxUnavailableError("LocalSandbox needs Linux or macOS; use DockerSandbox on this system")
        if parallel is not None and parallel < 1:
            raise ValueError(f"parallel must be at least 1, got {parallel}")
        self._python = _open_to_programs([sys.executable, sys._base_executable, *_PYTHONS], "Python interpreter")  # pyright: ignore[reportAttributeAccessIssue]
        self._home = _open_to_programs([tempfile.gettempdir(), "/tmp"], "folder for temporary files")
        self._parallel = parallel or os.cpu_count() or 1
        self._turns = threading.BoundedSemaphore(self._parallel)
        self._closed = threading.Event()
        if warn and not _warned.is_set():
            _warned.set()
            warnings.warn(NOT_CONTAINED, UncontainedWarning, stacklevel=2)

    def __reduce__(self) -> tuple[Callable[[int], "LocalSandbox"], tuple[int]]:
        return _make_quietly, (self._parallel,)

    def run(self, program: Program, limits: Limits) -> Execution:
        """Run `program` as Sandbox.run does.

        Raises:
            ValueError: a file's path is absolute or leads out of the program's folder.
            SandboxLostError: the launcher died, for instance because this machine has no memory left.
            SandboxUnavailableError: this machine cannot start a process.
            SandboxClosedError: the sandbox is closed.
        """
        with self._folder(program) as folder, contextlib.ExitStack() as stack:
            running = self._start(program, limits, folder, stack, pipes=())
            self._attend([running], limits.wall_s)
            return running.execution()

    def run_judged(self, program: Program, judge: Judge, limits: Limits) -> tuple[Execution, Execution]:
        """Run `program` and `judge` as Sandbox.run_judged does; a program that outlives its judge is KILLED.

        Raises what run() raises.
        """
        with self._folder(program) as folder, contextlib.ExitStack() as stack:
            program_reads, judge_writes = (stack.enter_context(end) for end in pipe())
            judge_reads, program_writes = (stack.enter_context(end) for end in pipe())
            judging = _start_judge(judge, limits, stack, pipes=(judge_reads, judge_writes))
            judged = self._start(program, limits, folder, stack, pipes=(program_reads, program_writes))
            self._attend([judging, judged], limits.wall_s)
            return judged.execution(), judging.execution()

    def close(self) -> None:
        """Kill the programs that still run, whose calls raise SandboxClosedError as later ones do."""
        self._closed.set()

    @contextlib.contextmanager
    def _folder(self, program: Program) -> Iterator[str]:
        """Wait for a turn and hold the program's files in a folder for as long as it lasts."""
        paths = {_checked(path): content for path, content in program.files.items()}
        with self._turns:
            if self._closed.is_set():
                raise SandboxClosedError("the sandbox is closed; make a new one")
            folder = tempfile.mkdtemp(prefix="rlvr-local-", dir=self._home)
            try:
                for path, content in paths.items():
                    target = Path(folder, path)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content)
                if os.geteuid() == 0:
                    _give_to_nobody(folder)
                yield folder
            finally:
                _delete(folder)

    def _start(
        self, program: Program, limits: Limits, folder: str, stack: contextlib.ExitStack, *, pipes: Sequence[Pipe]
    ) -> LocalProcess:
        argv = list(program.argv)
        if argv[0] == "python3":
            flags = [] if argv[1:2] and argv[1].startswith("-") else ["-I", "-X", "utf8"]
            argv[:1] = [self._python, *flags]
        running = LocalProcess(argv, program.stdin, limits, folder=folder, isolate=True, pipes=pipes)
        stack.callback(running.close)
        return running

    def _attend(self, processes: Sequence[LocalProcess], wall_s: float) -> None:
        """Carry bytes until all have ended; the first one's end, or the wall limit, is the end of all."""
        leader, started_last = processes[0], processes[-1]
        give_up = time.monotonic() + _START_S + wall_s + _KILL_S
        while not all(process.ended for process in processes):
            left_s = wall_s - started_last.wall_s
            if self._closed.is_set():
                raise SandboxClosedError("the sandbox was closed while the program ran")
            if time.monotonic() > give_up:
                raise SandboxLostError(f"a local program could not be killed within {_KILL_S:.0f} s")
            for process in processes:
                if left_s <= 0 and not process.ended and process.limit is None:
                    process.limit = End.TIMED_OUT
                if left_s <= 0 or leader.ended:
                    process.let_go()
            move_bytes(processes, min(max(left_s, 0.0), _POLL_S) if left_s > 0 else _POLL_S)


def _start_judge(judge: Judge, limits: Limits, stack: contextlib.ExitStack, *, pipes: Sequence[Pipe]) -> LocalProcess:
    """Start the judge and wait until nobody can look into it."""
    stdin = len(judge.source).to_bytes(8, "big") + judge.source + judge.stdin
    argv = [sys.executable, "-I", "-X", "utf8", "-c", _JUDGE]
    judging = LocalProcess(argv, stdin, limits, folder=os.sep, isolate=False, pipes=pipes)
    stack.callback(judging.close)
    give_up = time.monotonic() + _START_S
    while not judging.stdout:
        if judging.ended or time.monotonic() > give_up:
            raise SandboxLostError(f"the judge's process did not start: {bytes(judging.stderr[-500:])!r}")
        move_bytes([judging], _POLL_S)
    del judging.stdout[:1]
    return judging


def _checked(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise ValueError(f"a program's file needs a relative path without '..', got {path!r}")
    return path


def _open_to_programs(paths: Sequence[str], what: str) -> str:
    """Return the first of `paths` that programs may use: any, unless this process is root, whose programs are nobody.

    Root's own would be exempt from the limit on processes: a fork bomb would take the machine down.
    """
    if os.geteuid() != 0:
        return paths[0]
    for path in paths:
        real = Path(path).resolve()
        if real.exists() and all(place.stat().st_mode & 0o005 == 0o005 for place in (real, *real.parents)):
            return path
    raise SandboxUnavailableError(
        f"started by root, LocalSandbox runs programs as nobody, and finds no {what} that nobody may use "
        f"({', '.join(paths)}); start it as another user"
    )


def _give_to_nobody(folder: str) -> None:
    for place, _, names in os.walk(folder):
        for path in (place, *(os.path.join(place, name) for name in names)):
            os.chown(path, NOBODY, NOBODY)


def _delete(folder: str) -> None:
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        # Folders without permissions, or thousands of levels deep: a program's doing.
        for command in (["chmod", "-R", "u+rwX", folder], ["rm", "-rf", folder]):
            subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _make_quietly(parallel: int) -> LocalSandbox:
    return LocalSandbox(parallel=parallel, warn=False)
