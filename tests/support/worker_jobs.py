"""What workers are asked to do in the tests of the worker pool: one function, told by its job what to do."""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_KEPT: list[bytearray] = []


def do(job: list[Any]) -> Any:
    """Run the action `job[0]` names on the rest of the job."""
    action, *arguments = job
    return _ACTIONS[action](*arguments)


def _echo(value: Any) -> Any:
    return value


def _process() -> list[Any]:
    """Return this process's id, its process group, and how its set of strings is ordered."""
    return [os.getpid(), os.getpgrp(), list({"a", "b", "c", "d", "e", "f"})]


def _sleep(seconds: float) -> float:
    started = time.monotonic()
    time.sleep(seconds)
    return time.monotonic() - started


def _allocate(megabytes: int) -> int:
    _KEPT.append(bytearray(megabytes * 2**20))
    return megabytes


def _recurse() -> Any:
    return _recurse()


def _loop_in_c() -> int:
    return pow(9, 9**9).bit_length()


def _exit(code: int) -> None:
    os._exit(code)


def _segfault() -> None:
    ctypes.string_at(0)


def _die_once(marker: str) -> str:
    """Die at the first call for this file, survive the second."""
    if Path(marker).exists():
        return "survived"
    Path(marker).touch()
    return os._exit(1)


def _count(folder: str) -> None:
    (Path(folder) / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    os._exit(1)


def _make_noise() -> str:
    print("noise" * 100_000)
    print("noise" * 100_000, file=sys.stderr)
    os.write(1, b"\x00\x00\x00\x02[]")
    return f"heard {sys.stdin.read()!r}"


def _divide_by_zero() -> float:
    return 1 / 0


def _return_an_object() -> object:
    return object()


def _long_text(characters: int) -> str:
    return "x" * characters


def _open_files() -> list[str]:
    links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    return [os.readlink(link) for link in links if os.path.lexists(link)]


def _leave_a_child_behind(id_file: str) -> None:
    child = subprocess.Popen(["sleep", "60"])
    Path(id_file).write_text(str(child.pid))
    child.wait()


def _exit_after(seconds: float) -> None:
    time.sleep(seconds)
    os._exit(1)


_ACTIONS = {
    "echo": _echo,
    "process": _process,
    "sleep": _sleep,
    "allocate": _allocate,
    "recurse": _recurse,
    "loop in c": _loop_in_c,
    "exit": _exit,
    "segfault": _segfault,
    "die once": _die_once,
    "count": _count,
    "make noise": _make_noise,
    "divide by zero": _divide_by_zero,
    "return an object": _return_an_object,
    "long text": _long_text,
    "open files": _open_files,
    "exit after": _exit_after,
    "leave a child behind": _leave_a_child_behind,
}
