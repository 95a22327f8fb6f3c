"""What a bench does with its trainings, which only pretend here: they start and end within a moment."""

import fcntl
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.bench_folders import PRETENDING_RLVR

from rlvr.cli.bench_children import Trained, run_trainings
from rlvr.cli.bench_grid import Training, is_finished
from rlvr.config.document import annotated_toml
from rlvr.config.loading import load_config


class Bench:
    """Trainings in a folder, by name; each has as many steps as its name ends in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes: list[str] = []
        (folder / "rlvr.py").write_text(PRETENDING_RLVR)

    def training(self, name: str, after: str | None = None) -> Training:
        steps = int(name.rpartition("-")[2])
        overrides = [f"run.steps={steps}", f"run.dir={self.folder}", f"run.name={name}"]
        return Training(
            name=name, arm="a", seed=0, folder=self.folder / name, config=load_config(None, overrides), after=after
        )  # fmt: skip

    def run(self, *found: Training, parallel: int = 1, plugin_files: tuple[Path, ...] = ()) -> Trained:
        return run_trainings(
            found, parallel=parallel, plugin_files=plugin_files, note=self.notes.append,
            rlvr=(sys.executable, str(self.folder / "rlvr.py")),
        )  # fmt: skip

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def later(action: Callable[[], object], when: Callable[[], bool]) -> threading.Thread:
    """Do it from another thread once the condition holds."""

    def wait() -> None:
        deadline = time.monotonic() + 20
        while not when() and time.monotonic() < deadline:
            time.sleep(0.01)
        action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_each_is_trained_once_in_order_with_its_configuration_and_log_beside_it(bench: Bench):
    first, second = bench.training("a-1"), bench.training("b-2")
    assert bench.run(first, second) == Trained()
    assert is_finished(first)
    assert is_finished(second)
    assert load_config(first.config_path, []) == first.config
    assert bench.log("a-1").startswith("started")
    assert [note.partition(":")[0] for note in bench.notes] == ["[1/2] a-1", "a-1", "[2/2] b-2", "b-2"]


def test_what_is_finished_is_left_alone(bench: Bench):
    first = bench.training("a-1")
    bench.run(first)
    before = first.log_path.read_text()
    assert bench.run(first) == Trained()
    assert first.log_path.read_text() == before


def test_what_was_cut_short_is_resumed(bench: Bench):
    first = bench.training("a-99")
    first.folder.mkdir()
    (first.folder / "config.toml").write_text(annotated_toml(first.config))
    assert bench.run(first) == Trained()
    assert bench.log("a-99").startswith("resumed")


def test_plugin_files_are_passed_on(bench: Bench):
    bench.run(bench.training("a-1"), plugin_files=(Path("mine.py"),))
    assert "started with --plugin mine.py" in bench.log("a-1")


def test_one_that_fails_does_not_stop_the_others_and_its_own_words_are_kept(bench: Bench):
    good = bench.training("c-1")
    trained = bench.run(bench.training("a-13"), bench.training("b-14"), good)
    assert trained.failed == {
        "a-13": f"thirteen steps bring bad luck (exit code 2; see {bench.folder / 'a-13.log'})",
        "b-14": f"ended by SIGKILL; see {bench.folder / 'b-14.log'}",
    }
    assert is_finished(good)
    assert any(note.startswith("a-13: failed: thirteen") for note in bench.notes)


def test_what_starts_from_a_failed_warm_start_fails_with_it(bench: Bench):
    dependent, free = bench.training("b-1", after="a-13"), bench.training("c-1")
    trained = bench.run(bench.training("a-13"), dependent, free)
    assert trained.failed["b-1"] == "its warm start a-13 failed"
    assert not dependent.folder.exists()
    assert is_finished(free)


def test_several_run_at_a_time_but_none_before_its_warm_start(bench: Bench):
    started = [bench.training("a-1"), bench.training("b-2", after="a-1"), bench.training("c-3")]
    assert bench.run(*started, parallel=3) == Trained()
    order = [note for note in bench.notes if note.startswith("[")]
    assert [note.split()[1] for note in order] == ["a-1:", "c-3:", "b-2:"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_lets_the_training_save_and_starts_no_other(bench: Bench, number: signal.Signals):
    running, waiting = bench.training("a-99"), bench.training("b-1")
    thread = later(lambda: os.kill(os.getpid(), number), lambda: running.folder.exists())
    trained = bench.run(running, waiting)
    thread.join()
    assert trained.stopped_by == number
    assert trained.failed == {}
    assert (running.folder / "summary.json").read_text().startswith('{"finished": false')
    assert not waiting.folder.exists()
    assert any(note.startswith("stopping: what is being trained finishes its step") for note in bench.notes)
    assert bench.run(running, waiting) == Trained()
    assert "resumed" in bench.log("a-99")
    assert is_finished(waiting)


def test_the_handlers_of_signals_are_put_back(bench: Bench):
    before = signal.getsignal(signal.SIGINT)
    bench.run(bench.training("a-1"))
    assert signal.getsignal(signal.SIGINT) is before


def test_a_training_that_another_bench_is_at_is_not_started_a_second_time(bench: Bench):
    taken, free = bench.training("a-1"), bench.training("b-1")
    with taken.log_path.open("ab") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        trained = bench.run(taken, free)
    assert trained.failed == {"a-1": "another process is training it; wait for that, or end it"}
    assert not taken.folder.exists()
    assert is_finished(free)
    assert bench.run(taken) == Trained()


def test_a_training_that_outlives_its_killed_bench_is_still_not_started_a_second_time(bench: Bench):
    """The training itself holds the lock, through its log."""
    taken = bench.training("a-99")
    parent = os.fork()
    if parent == 0:
        try:
            bench.run(taken)
        finally:
            os._exit(0)
    later(lambda: os.kill(parent, signal.SIGKILL), (taken.folder / "pid").exists).join()
    os.waitpid(parent, 0)
    assert bench.run(taken).failed == {"a-99": "another process is training it; wait for that, or end it"}
    os.kill(int((taken.folder / "pid").read_text()), signal.SIGINT)
    deadline = time.monotonic() + 20
    while bench.run(taken).failed and time.monotonic() < deadline:
        time.sleep(0.05)
    assert is_finished(taken)
