from pathlib import Path

import pytest
from support.report_runs import metric_lines
from support.run_folders import evaluation

from rlvr.report.facts import facts, times
from rlvr.report.run_data import RunData, read_run
from rlvr.tracking.jsonl import write_records
from rlvr.tracking.run_folder import RunFolder

CONFIG = "[run]\nsteps = 40\n[rollout]\nprompts_per_step = 64\nsamples_per_prompt = 8\n"


def stopped_at(path: Path, step: int, *, finished: bool = False, now_at: int) -> RunData:
    """A run that wrote its summary at `step`, and has logged `now_at` steps."""
    folder = RunFolder.create(path / "run", CONFIG)
    folder.write_summary(
        {
            "steps": step, "finished": finished, "rollouts": 512 * step, "tokens": 5120 * step, "wall_s": 100.0,
            "stage_times_s": {"rollout": 60.0}, "peak_memory_mb": 300.0, "started": "2026-01-02T03:04:05+00:00",
        }
    )  # fmt: skip
    write_records(folder.metrics_path, metric_lines(now_at, response_tokens=10.0))
    folder.append_evaluation(evaluation(0, "sft", 100, 100))
    return read_run(folder)


def test_a_run_that_stopped_is_told_by_its_summary(tmp_path: Path):
    run = stopped_at(tmp_path, 12, now_at=12)
    found = dict(facts(run))
    assert not run.finished
    assert (found["rollouts"], found["tokens drawn"], found["took"]) == ("6,144", "61,440", "1m40s")
    assert times(run)[0]["seconds"] == 60.0


def test_of_a_run_that_has_gone_on_since_the_summary_of_its_stop_says_nothing_about_now(tmp_path: Path):
    run = stopped_at(tmp_path, 12, now_at=20)
    found = dict(facts(run))
    assert (found["steps"], found["rollouts"], found["tokens drawn"]) == ("20 of 40", "10,240", "102,400")
    assert found["started"] == "2026-01-02T03:04:05+00:00"
    assert not {"took", "peak memory"} & found.keys()
    assert "rollout" not in {row["stage"] for row in times(run)}


@pytest.mark.parametrize(("step", "now_at", "finished"), [(40, 40, True), (30, 30, False), (30, 35, False)])
def test_a_finished_run_that_was_made_longer_has_not_finished(tmp_path: Path, step: int, now_at: int, finished: bool):
    assert stopped_at(tmp_path, step, finished=True, now_at=now_at).finished is finished
