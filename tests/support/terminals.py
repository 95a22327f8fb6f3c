"""`rlvr` as in a terminal, where Ctrl-C goes to the command and to every process that it has started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import rlvr

HOME = Path(rlvr.__file__).parent.parent


def start_in_group(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    """Start `rlvr` in `folder`, as the head of a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "rlvr", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(HOME)},
    )  # fmt: skip


def press_ctrl_c(process: subprocess.Popen[str]) -> str:
    """Interrupt the whole group, and return what the command wrote to standard error by its end."""
    os.killpg(process.pid, signal.SIGINT)
    return process.communicate(timeout=30)[1]


def is_running(pid: int) -> bool:
    """Tell whether there is such a process that has not ended; one that nobody has reaped yet has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
