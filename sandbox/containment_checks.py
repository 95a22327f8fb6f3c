"""What a sandbox must keep programs from; the second half of `sandbox.self_check`.

The programs report what they could do, one finding a line, and nothing where they are contained.
"""

import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sandbox.contract_checks import python, shown
from sandbox.hostile_programs import (
    ATTACK_PARENT,
    FIND_PROCESS,
    GUARDING,
    HOST_FILES,
    LEAVE,
    LOOK,
    NETWORK,
    PRIVILEGE,
    SPY,
    STEAL,
    SURVIVE,
    WRITE,
)
from sandbox.types import End, Judge, Limits, Program, Sandbox

_PATIENT = Limits(wall_s=30.0, cpu_s=30.0)
_LOOKS = 8
"""How many programs look for what another one left: a pool has several places where they may run."""


def _findings(sandbox: Sandbox, program: Program) -> Iterator[str]:
    execution = sandbox.run(program, _PATIENT)
    if execution.end is not End.EXITED or execution.exit_code != 0:
        yield f"the program that tries did not come to its end: {shown(execution)}"
    yield from execution.stdout.decode(errors="replace").splitlines()


def fork_bomb(sandbox: Sandbox) -> Iterator[str]:
    """Fork bombs, in Python and in a thread, end at the time limit, and the next program runs as ever."""
    for source in (
        "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass",
        "import threading, time\nwhile True:\n  try: threading.Thread(target=time.sleep, args=(99,)).start()\n"
        "  except RuntimeError: pass",
    ):
        execution = sandbox.run(python(source), Limits(wall_s=2.0, cpu_s=4.0))
        if execution.end not in {End.TIMED_OUT, End.KILLED, End.OUT_OF_MEMORY} or execution.wall_s > 6.0:
            yield shown(execution)
        execution = sandbox.run(python("print('next')"), _PATIENT)
        if execution.stdout != b"next\n":
            yield f"the program after it: {shown(execution)}"


def background_processes(sandbox: Sandbox) -> Iterator[str]:
    """A process that forked twice and left its session dies with its program."""
    marker = secrets.token_hex(8)
    sandbox.run(Program(argv=("python3", "m.py", marker), files={"m.py": SURVIVE.encode()}), _PATIENT)
    finder = Program(argv=("python3", "m.py", marker[::-1]), files={"m.py": FIND_PROCESS.encode()})
    yield from _looks(sandbox, finder)


def left_overs(sandbox: Sandbox) -> Iterator[str]:
    """Nothing a program leaves (files, shared memory, SysV IPC, sockets) is there for the next one."""
    marker = secrets.token_hex(8)
    sandbox.run(Program(argv=("python3", "m.py", marker), files={"m.py": LEAVE.encode()}), _PATIENT)
    yield from _looks(sandbox, Program(argv=("python3", "m.py", marker), files={"m.py": LOOK.encode()}))


def _looks(sandbox: Sandbox, program: Program) -> Iterator[str]:
    with ThreadPoolExecutor(2) as threads:
        found = threads.map(lambda _: list(_findings(sandbox, program)), range(_LOOKS))
    yield from dict.fromkeys(finding for findings in found for finding in findings)


def network(sandbox: Sandbox) -> Iterator[str]:
    """There is no network but the loopback."""
    yield from _findings(sandbox, python(NETWORK))


def host_files(sandbox: Sandbox) -> Iterator[str]:
    """No file of the host, no Docker socket and no environment variable of the host is there."""
    with contextlib.ExitStack() as stack:
        paths = []
        for folder in {tempfile.gettempdir(), os.fspath(Path.home())}:
            if os.access(folder, os.W_OK):
                file = stack.enter_context(tempfile.NamedTemporaryFile(prefix="rlvr-check-", dir=folder))
                paths.append(file.name)
        program = Program(argv=("python3", "m.py", *paths, __file__), files={"m.py": HOST_FILES.encode()})
        yield from _findings(sandbox, program)


def read_only(sandbox: Sandbox) -> Iterator[str]:
    """The system's files, the interpreter's and the kernel's settings cannot be written."""
    yield from _findings(sandbox, python(WRITE))


def unprivileged(sandbox: Sandbox) -> Iterator[str]:
    """A program is no root, holds no capability and cannot get one, and risky system calls are refused."""
    yield from _findings(sandbox, python(PRIVILEGE))


def other_processes(sandbox: Sandbox) -> Iterator[str]:
    """No other process's memory, environment or descriptors can be read, and no descriptor is inherited."""
    yield from dict.fromkeys(_findings(sandbox, python(SPY)))


def kills_its_parent(sandbox: Sandbox) -> Iterator[str]:
    """A program that stops and kills everything it can reach ends as itself, and the next ones run as ever."""
    if not _has_its_own_processes(sandbox):
        yield "not tried, for the host's sake: the program is among the host's processes"
        return
    for _ in range(3):
        execution = sandbox.run(python(ATTACK_PARENT), Limits(wall_s=5.0))
        if execution.end is not End.EXITED:
            yield shown(execution)
        execution = sandbox.run(python("print('next')"), _PATIENT)
        if execution.stdout != b"next\n":
            yield f"the program after it: {shown(execution)}"


def _has_its_own_processes(sandbox: Sandbox) -> bool:
    """Tell whether programs run in another process namespace than this one, out of reach of kill(-1)."""
    here = b""
    with contextlib.suppress(OSError):
        here = os.fsencode(os.readlink("/proc/self/ns/pid"))
    execution = sandbox.run(python("import os; print(os.readlink('/proc/self/ns/pid'))"), _PATIENT)
    return execution.exit_code == 0 and execution.stdout.strip() not in {here, b""}


def judge_isolation(sandbox: Sandbox) -> Iterator[str]:
    """A program cannot find the judge's input in any memory, file, argument or environment."""
    secret = secrets.token_hex(24).encode()
    veiled = bytes(byte ^ 1 for byte in secret).hex()
    program = python(STEAL.format(veiled=veiled))
    execution, judging = sandbox.run_judged(program, Judge(source=GUARDING + b"# " + secret, stdin=secret), _PATIENT)
    yield from dict.fromkeys(execution.stdout.decode(errors="replace").splitlines())
    if judging.stdout != b"kept\n":
        yield f"the judge was disturbed: {shown(judging)}; the program {shown(execution)}"


CONTAINMENT_CHECKS: dict[str, Callable[[Sandbox], Iterator[str]]] = {
    check.__name__: check
    for check in (
        fork_bomb, background_processes, left_overs, network, host_files, read_only, unprivileged, other_processes,
        kills_its_parent, judge_isolation,
    )
}  # fmt: skip
