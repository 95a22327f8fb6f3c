import json
import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import typer
from support.bench_folders import finished_run
from support.finished_runs import lines, without_times
from support.processes import HOME, PATIENCE_S, rlvr_in
from support.tiny_runs import TINY

from rlvr.cli.bench_command import bench
from rlvr.cli.bench_grid import Training, trainings
from rlvr.config.document import annotated_toml
from rlvr.config.suites import load_suite
from rlvr.errors import ConfigError, RunFolderError
from tasks import register_task
from tasks.types import MathAnswer, Problem

SUITE = '[suite]\nseeds = [0, 1]\ncontrols = ["lr_zero", "random_reward"]\n[base]\nsft.steps = 9\n[arms.ppo]\n'


def run_bench(
    suite: Path, *, out: Path | None = None, only: Sequence[str] = (), parallel: int = 1, dry_run: bool = False
) -> None:
    bench(suite, out=out, only=list(only), parallel=parallel, dry_run=dry_run, plugin=None)


def written(folder: Path, text: str = SUITE) -> Path:
    path = folder / "my.toml"
    path.write_text(text, encoding="utf-8")
    return path


def make_finished(training: Training, curve: Sequence[int] = (10, 20)) -> None:
    curve = (10, 10) if training.arm == "lr_zero" else curve
    finished_run(training.folder, curve, config_toml=annotated_toml(training.config), seed=training.seed)


def grid(suite: Path, out: Path) -> Mapping[str, Training]:
    return {found.name: found for found in trainings(load_suite(suite, lambda _: "numeric"), out)}


def test_a_dry_run_says_what_is_done_and_what_would_be_and_writes_nothing(tmp_path: Path, capsys):
    suite = written(tmp_path)
    found = grid(suite, tmp_path / "out")
    make_finished(found["ppo/seed-0"])
    run_bench(suite, out=tmp_path / "out", only=["ppo"], dry_run=True)
    text = {line.partition(":")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert list(text) == list(found)
    assert "ppo/seed-0: done (50 steps" in text["ppo/seed-0"]
    assert "ppo/seed-1: to be trained (50 steps, from warm_starts/" in text["ppo/seed-1"]
    assert "lr_zero/seed-0: left out by --only" in text["lr_zero/seed-0"]
    assert not (tmp_path / "out" / "table.md").exists()


def test_a_bench_whose_runs_are_all_done_only_writes_its_table_and_figure(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    suite = written(tmp_path)
    for training in grid(suite, Path("runs/my")).values():
        make_finished(training)
    run_bench(suite)
    record = json.loads(Path("runs/my/table.json").read_text())
    assert [len(arm["seeds"]) for arm in record["arms"]] == [2, 2, 2]
    assert record["missing"] == {}
    assert record["stamp"]["command"] == "rlvr bench " + str(suite)
    assert record["warm_starts_s"] == [60.0, 60.0]
    for name in ("table.md", "figure.png", "figure.svg"):
        assert Path("runs/my", name).stat().st_size > 1000
    printed = capsys.readouterr().out
    assert "| ppo           | 2 of 2 |" in printed
    assert "lr_zero gained 0.0 points" in printed
    assert "table    runs/my/table.md" in printed


def test_a_changed_suite_is_refused_before_anything_is_trained(tmp_path: Path):
    make_finished(grid(written(tmp_path), tmp_path / "out")["ppo/seed-0"])
    changed = written(tmp_path, SUITE + "run.steps = 9\n")
    with pytest.raises(RunFolderError, match=r"ppo/seed-0 no longer matches the suite: run.steps is 50, now 9"):
        run_bench(changed, out=tmp_path / "out")
    assert not (tmp_path / "out/warm_starts").exists()


def test_an_arm_that_does_not_exist_cannot_be_chosen(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"--only: no arm is named 'pop'; there are ppo, lr_zero, random_reward"):
        run_bench(written(tmp_path), out=tmp_path / "out", only=["pop"])


@register_task("two_verifiers")
class TwoVerifiers:
    """Every other problem names another verifier."""

    name = "two_verifiers"

    def problems(self, split: str) -> Sequence[Problem]:
        return [
            Problem(id=f"two/{split}/{index}", prompt="?", reference=MathAnswer(value="1"), verifier=verifier)
            for index, verifier in enumerate(["numeric", "exact"])
        ]


def test_a_task_of_several_verifiers_cannot_be_shuffled(tmp_path: Path):
    text = '[suite]\ncontrols = ["shuffled_reward"]\n[arms.a]\ntask.name = "two_verifiers"\n'
    with pytest.raises(ConfigError, match=r"control shuffled_reward: .* name several verifiers, exact, numeric"):
        run_bench(written(tmp_path, text), out=tmp_path / "out", dry_run=True)
    run_bench(written(tmp_path, text + 'task.verifier = "exact"\n'), out=tmp_path / "out", dry_run=True)


@pytest.mark.slow
def test_a_bench_that_was_interrupted_goes_on_and_equals_plain_runs(tmp_path: Path, monkeypatch, capsys):
    """Two arms, one seed: Ctrl-C in the first arm, then the rest; the arm equals a run with a warm start of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(HOME))
    tables = "\n".join(override for override in TINY if not override.startswith("run.seed")).replace("=cpu", '="cpu"')
    suite = written(
        tmp_path,
        f'[suite]\nname = "tiny"\nseeds = [3]\ncontrols = ["random_reward"]\n[base]\n{tables}\ncheckpoint.keep = 0\n'
        "[arms.ppo]\n",
    )
    metrics = Path("runs/tiny/ppo/seed-3/metrics.jsonl")

    over = threading.Event()

    def interrupt() -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not (metrics.exists() and metrics.stat().st_size) and time.monotonic() < deadline:
            if over.wait(0.002):
                return  # the bench has failed, and nobody would catch the signal
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(typer.Exit) as ended:
            run_bench(suite)
    finally:
        over.set()
        thread.join()
    assert ended.value.exit_code == 130
    assert f"go on with: rlvr bench {suite}" in capsys.readouterr().err
    assert not Path("runs/tiny/random_reward").exists()

    run_bench(suite)
    record = json.loads(Path("runs/tiny/table.json").read_text())
    assert [len(arm["seeds"]) for arm in record["arms"]] == [1, 1]
    assert "random_reward" in record["sentences"][0]

    plain = rlvr_in(tmp_path, "train", *TINY, "run.name=plain", "checkpoint.keep=0")
    assert plain.end() == 0, plain.stderr
    whole, cell = tmp_path / "runs/plain", metrics.parent
    assert (cell / "reference/model.safetensors").read_bytes() == (whole / "reference/model.safetensors").read_bytes()
    assert [without_times(line) for line in lines(metrics)] == [
        without_times(line) for line in lines(whole / "metrics.jsonl")
    ]
    last = "checkpoints/step_000006/policy/model.safetensors"
    assert (cell / last).read_bytes() == (whole / last).read_bytes()
    sft, base = lines(whole / "evaluations.jsonl")[0], lines(cell / "evaluations.jsonl")[0]
    assert without_times(sft) | {"phase": "base"} == without_times(base)
