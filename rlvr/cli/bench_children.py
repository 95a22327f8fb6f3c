"""Trains a bench's cells in processes of their own, and stops them so that they can go on."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from rlvr.cli.bench_grid import Training, is_finished
from rlvr.config.document import annotated_toml
from rlvr.tracking.atomic import atomic_write

_POLL_S = 0.1
_TELLING = re.compile(r"error: |[\w.]*(Error|Exception)\b")


@dataclass(kw_only=True, slots=True)
class Trained:
    """What came of the trainings."""

    failed: dict[str, str] = field(default_factory=dict)
    """Why a training failed or could not be started, by its name."""
    stopped_by: int | None = None
    """The signal that ended the bench early."""


def run_trainings(
    wanted: Sequence[Training],
    *,
    parallel: int,
    plugin_files: Sequence[Path],
    note: Callable[[str], None],
    rlvr: Sequence[str] = (sys.executable, "-m", "rlvr"),
) -> Trained:
    """Train what has not been trained to its end, in order; one that fails does not stop the others.

    Ctrl-C or SIGTERM lets the trainings under way finish their step and save; once more ends them at once.

    Args:
        wanted: a warm start before what starts from it.
        parallel: trainings at a time.
        note: shows a line.
        rlvr: the command that has `train`.
    """
    trained = Trained()
    waiting = [training for training in wanted if not is_finished(training)]
    done = {training.name for training in wanted if training not in waiting}
    total, begun = len(wanted), len(done)
    children: dict[str, _Child] = {}
    with _passing_signals_on(children, note) as received:
        while children or (waiting and not received):
            while not received and len(children) < parallel:
                training = _next(waiting, done, trained)
                if training is None:
                    break
                begun += 1
                note(f"[{begun}/{total}] {training.name}: see {training.log_path}")
                child = _start(training, plugin_files, rlvr)
                if child is None:
                    trained.failed[training.name] = "another process is training it; wait for that, or end it"
                    note(f"{training.name}: not started: {trained.failed[training.name]}")
                else:
                    children[training.name] = child
                    if received:  # just before it was in the list
                        child.process.send_signal(signal.SIGINT)
            for name in [name for name, child in children.items() if child.process.poll() is not None]:
                child = children.pop(name)
                child.log.close()
                if is_finished(child.training):
                    done.add(name)
                    note(f"{name}: done in {time.perf_counter() - child.begun_s:.0f} s")
                elif not received:
                    trained.failed[name] = _reason(child)
                    note(f"{name}: failed: {trained.failed[name]}")
            if children:
                time.sleep(_POLL_S)
    trained.stopped_by = received[0] if received else None
    return trained


@dataclass(kw_only=True, slots=True)
class _Child:
    training: Training
    process: subprocess.Popen[bytes]
    log: "_Log"
    begun_s: float


class _Log:
    """A log that stays locked while the process that writes it lives, even when the bench that started it is killed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = path.open("ab")
        self.begins_at = self.file.tell()

    def lock(self) -> bool:
        """Lock it, or return False when a training holds it. Its children inherit the lock with their stdout."""
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.file.close()
            return False
        return True

    def written(self) -> list[str]:
        """Return the lines since it was opened."""
        content = self.path.read_bytes()[self.begins_at :]
        return content.decode(errors="replace").replace("\r", "\n").splitlines()

    def close(self) -> None:
        self.file.close()


def _next(waiting: list[Training], done: set[str], trained: Trained) -> Training | None:
    """Take the first training that can begin now off the list; those whose warm start failed fail with it."""
    for training in list(waiting):
        if training.after in trained.failed:
            waiting.remove(training)
            trained.failed[training.name] = f"its warm start {training.after} failed"
        elif training.after is None or training.after in done:
            waiting.remove(training)
            return training
    return None


def _start(training: Training, plugin_files: Sequence[Path], rlvr: Sequence[str]) -> _Child | None:
    """Start or resume a training; None when another process is at it."""
    log = _Log(training.log_path)
    if not log.lock():
        return None
    if training.folder.exists():
        arguments = ["--resume", str(training.folder)]
    else:
        atomic_write(training.config_path, annotated_toml(training.config))
        arguments = [str(training.config_path)]
    plugins = [part for file in plugin_files for part in ("--plugin", str(file))]
    process = subprocess.Popen(
        [*rlvr, "train", *arguments, *plugins],
        stdin=subprocess.DEVNULL,
        stdout=log.file,
        stderr=subprocess.STDOUT,
        # Its own group: Ctrl-C reaches it once, from here. Twice would end it without a save.
        process_group=0,
    )
    return _Child(training=training, process=process, log=log, begun_s=time.perf_counter())


@contextmanager
def _passing_signals_on(children: dict[str, _Child], note: Callable[[str], None]) -> Iterator[list[int]]:
    """Pass SIGINT and SIGTERM on to the children, as SIGINT; yield the list of those received."""
    received: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if len(received) == 1:
            note("stopping: what is being trained finishes its step and saves first; once more ends it at once")
        for child in list(children.values()):
            if child.process.poll() is None:
                child.process.send_signal(signal.SIGINT)
        if len(received) > 2:
            for child in list(children.values()):
                child.process.kill()
            os._exit(128 + number)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _reason(child: _Child) -> str:
    code = child.process.returncode
    if code < 0:
        return f"ended by {signal.Signals(-code).name}; see {child.training.log_path}"
    lines = [line for line in child.log.written() if line.strip()]
    telling = [line for line in lines if _TELLING.match(line)] or lines[-1:] or ["it said nothing"]
    return f"{telling[-1].removeprefix('error: ')} (exit code {code}; see {child.training.log_path})"
