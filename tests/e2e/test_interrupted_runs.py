"""Interrupted, killed and resumed runs end up where the uninterrupted one does, bit for bit (checklist 12 and 33)."""

import random
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.finished_runs import RUN, SLOW_VERIFIER, assert_same_run, lines
from support.processes import PATIENCE_S, Command, rlvr_in, start_fresh
from support.tiny_runs import TINY

SLOW = ("--plugin", "my verifiers.py", "task.verifier=slow_numeric")

STUCK_VERIFIER = """
import time
from pathlib import Path

from verifiers import load_verifier, register_verifier


@register_verifier("stuck")
class Stuck:
    def verify(self, problem, response):
        if problem.id.startswith("arithmetic/train"):
            Path("stuck").touch()
            time.sleep(600)
        return load_verifier("numeric").verify(problem, response)
"""


def steps_done(run: Path) -> int:
    metrics = run / "metrics.jsonl"
    return metrics.read_bytes().count(b"\n") if metrics.exists() else 0


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A run in a fresh interpreter that got Ctrl-C once after at least two of its eight steps."""
    folder = tmp_path_factory.mktemp("interrupted")
    (folder / "my verifiers.py").write_text(SLOW_VERIFIER)
    process = start_fresh("train", *SLOW, *TINY, *RUN, "run.name=whole", folder=folder)
    deadline = time.monotonic() + PATIENCE_S
    while steps_done(folder / "runs/whole") < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    return folder, subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def test_ctrl_c_finishes_the_step_saves_and_exits_130_with_the_resume_command(interrupted):
    folder, done = interrupted
    assert done.returncode == 130, done.stderr
    assert "stopping: this step is finished and saved first; once more exits at once" in done.stderr
    command = "rlvr train --resume runs/whole --plugin 'my verifiers.py'"
    assert done.stderr.rstrip().endswith(f"interrupted and saved; go on with: {command}")
    assert "Traceback" not in done.stderr
    saved = sorted(path.name for path in (folder / "runs/whole/checkpoints").iterdir())
    assert saved[-1] == f"step_{steps_done(folder / 'runs/whole'):06d}"
    assert 2 <= steps_done(folder / "runs/whole") < 8
    assert "This run has not finished" in (folder / "runs/whole/README.md").read_text()


def test_interrupted_and_resumed_equals_uninterrupted_bit_for_bit(interrupted, whole_run):
    """checklist 12: the adaptive KL coefficient included."""
    folder, done = interrupted
    assert done.returncode == 130, done.stderr
    printed = shlex.split(done.stderr.rstrip().rpartition("go on with: ")[2])
    assert printed[0] == "rlvr"
    command = rlvr_in(folder, *printed[1:])
    assert command.end() == 0, command.stderr
    assert_same_run(folder / "runs/whole", whole_run.path)
    # One line for each step, although some may have been begun twice.
    assert [line["step"] for line in lines(folder / "runs/whole/metrics.jsonl")] == list(range(1, 9))


def kill_when(command: Command, condition: Callable[[], bool]) -> None:
    """Freeze the command once the condition holds, make sure that it still does, and kill it; else let it go on."""
    while True:
        command.wait_until(condition, pause_s=0.0005)
        command.send(signal.SIGSTOP)
        time.sleep(0.01)  # the signal is on its way
        if condition():
            command.send(signal.SIGKILL)
            assert command.end() == -signal.SIGKILL
            return
        command.send(signal.SIGCONT)


def test_a_run_that_is_killed_again_and_again_ends_up_the_same(tmp_path: Path, whole_run):
    """SIGKILL in the warm start, while the reference is written, while checkpoints are, and at random moments."""
    run = tmp_path / "runs/whole"
    (tmp_path / "my verifiers.py").write_text(SLOW_VERIFIER)
    start = ("train", *SLOW, *TINY, *RUN, "run.name=whole", "checkpoint.every=1")
    resume = ("train", "--resume", "runs/whole", *SLOW[:2])
    rng = random.Random(0)

    def some_sft() -> bool:
        return (run / "sft.jsonl").exists() and (run / "sft.jsonl").read_bytes().count(b"\n") >= 5

    def writing_reference() -> bool:
        return any(run.glob(".reference.writing/*"))

    def writing_checkpoint() -> bool:
        return any((run / "checkpoints").glob(".step_*.writing/*"))

    kill_when(Command(*start, folder=tmp_path), some_sft)
    kill_when(Command(*resume, folder=tmp_path), writing_reference)
    for _ in range(2):
        kill_when(Command(*resume, folder=tmp_path), writing_checkpoint)
        assert writing_checkpoint()
    for _ in range(3):
        command = Command(*resume, folder=tmp_path)
        before = (run / "metrics.jsonl").stat().st_mtime_ns
        command.wait_until(lambda before=before: (run / "metrics.jsonl").stat().st_mtime_ns != before)
        time.sleep(rng.uniform(0.0, 0.3))
        command.send(signal.SIGKILL)
        command.end()
    command = rlvr_in(tmp_path, *resume)
    assert command.end() == 0, command.stderr
    assert_same_run(run, whole_run.path)
    assert not writing_checkpoint()


@pytest.mark.parametrize("kind", ["separate critic", "no critic"])
def test_other_kinds_of_runs_resume_bit_for_bit_too(tmp_path: Path, kind: str):
    overrides = {
        "separate critic": ['critic.kind="separate"', 'optimizer.decay="cosine"'],
        "no critic": ['algorithm.preset="grpo"', "rollout.samples_per_prompt=4", "rollout.prompts_per_step=4"],
    }[kind]
    arguments = ["train", *TINY, "sft.steps=20", "run.steps=4", "checkpoint.every=1", *overrides]
    whole = rlvr_in(tmp_path, *arguments, "run.name=whole")
    assert whole.end() == 0, whole.stderr
    cut = Command(*arguments, "run.name=cut", folder=tmp_path)
    kill_when(cut, lambda: (tmp_path / "runs/cut/checkpoints/step_000002").exists())
    resumed = rlvr_in(tmp_path, "train", "--resume", "runs/cut")
    assert resumed.end() == 0, resumed.stderr
    names = ["policy/model.safetensors"] + (["critic.safetensors"] if kind == "separate critic" else [])
    for name in names:
        one, other = (tmp_path / f"runs/{run}/checkpoints/step_000004/{name}" for run in ("whole", "cut"))
        assert one.read_bytes() == other.read_bytes()


def test_a_second_ctrl_c_exits_at_once(tmp_path: Path):
    (tmp_path / "stuck.py").write_text(STUCK_VERIFIER)
    command = Command(
        "train", "--plugin", "stuck.py", *TINY, "sft.steps=5", "task.verifier=stuck", "run.name=stuck",
        folder=tmp_path,
    )  # fmt: skip
    command.wait_until((tmp_path / "stuck").exists)
    command.send(signal.SIGINT)
    command.wait_until(lambda: "once more exits at once" in command.stderr)
    command.send(signal.SIGINT)
    assert command.end(within_s=10) == 130


def test_a_damaged_checkpoint_is_an_error_of_one_line(tmp_path: Path):
    command = rlvr_in(tmp_path, "train", *TINY, "sft.steps=5", "run.steps=2", "run.name=damaged")
    assert command.end() == 0, command.stderr
    state = tmp_path / "runs/damaged/checkpoints/step_000002/trainer.pt"
    state.write_bytes(state.read_bytes()[:500])
    resumed = rlvr_in(tmp_path, "train", "--resume", "runs/damaged")
    assert resumed.end() == 2
    assert "error: runs/damaged/checkpoints/step_000002 cannot be read" in resumed.stderr
    assert "Traceback" not in resumed.stderr
