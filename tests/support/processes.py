"""`rlvr` in processes of its own: a fresh interpreter, or a fork of one that has done the imports (seconds sooner)."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

import rlvr

HOME = Path(rlvr.__file__).parent.parent
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["rlvr.cli.main", "rlvr.cli.training_run"])
PATIENCE_S = 120.0


def start_fresh(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    """Start `rlvr` in a new interpreter, in `folder`."""
    return subprocess.Popen(
        [sys.executable, "-m", "rlvr", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HOME)},
    )  # fmt: skip


class Command:
    """`rlvr` with these arguments, running in `folder` as a fork."""

    def __init__(self, *arguments: str, folder: Path) -> None:
        self._output = [folder / f".{name}-{time.monotonic_ns()}" for name in ("stdout", "stderr")]
        self._process: BaseProcess = _FORKS.Process(
            target=_become_rlvr, args=(arguments, str(folder), [str(path) for path in self._output])
        )
        self._process.start()

    @property
    def is_running(self) -> bool:
        return self._process.is_alive()

    @property
    def stdout(self) -> str:
        """What it has written so far."""
        return self._read(0)

    @property
    def stderr(self) -> str:
        """What it has written so far."""
        return self._read(1)

    def _read(self, index: int) -> str:
        path = self._output[index]
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.is_running:
            assert self._process.pid is not None
            os.kill(self._process.pid, number)

    def wait_until(self, condition: Callable[[], bool], *, pause_s: float = 0.002) -> None:
        """Wait until the condition holds; fail if the command ends before."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert self.is_running, f"ended with {self._process.exitcode} before it held: {self.stdout}{self.stderr}"
            assert time.monotonic() < deadline, self.stderr
            time.sleep(pause_s)

    def end(self, *, within_s: float = PATIENCE_S) -> int:
        """Wait for it to end and return its exit code, negative for a signal."""
        self._process.join(within_s)
        if self._process.exitcode is None:
            self._process.kill()
            raise AssertionError(f"still running after {within_s} s: {self.stdout}{self.stderr}")
        return self._process.exitcode


def rlvr_in(folder: Path, *arguments: str) -> Command:
    """Run `rlvr` to its end."""
    command = Command(*arguments, folder=folder)
    command.end()
    return command


def failure_of(folder: Path, *arguments: str) -> str:
    """Run `rlvr`, which must end with exit code 2, and return what it says: "error: ..." and no traceback."""
    command = Command(*arguments, folder=folder)
    assert command.end() == 2, command.stderr
    assert "Traceback" not in command.stderr
    error = command.stderr[command.stderr.index("error: ") :]
    return error.rstrip("\n")


def _become_rlvr(arguments: Sequence[str], folder: str, output: Sequence[str]) -> None:
    from rlvr.cli.main import main

    os.chdir(folder)
    for stream, path in zip((sys.stdout, sys.stderr), output, strict=True):
        stream.flush()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(descriptor, stream.fileno())
    sys.argv = ["rlvr", *arguments]
    main()
