from pathlib import Path

import pytest
from support.report_runs import metric_lines
from support.run_folders import evaluation

from rlvr.report.run_data import RunData, read_run
from rlvr.report.series import MAX_POINTS, step_columns
from rlvr.tracking.jsonl import write_records
from rlvr.tracking.run_folder import RunFolder

CONFIG = "[rollout]\nprompts_per_step = 64\nsamples_per_prompt = 8\n"


def run_with(path: Path, steps: int, *, evaluated: tuple[int, ...], config: str = CONFIG) -> RunData:
    folder = RunFolder.create(path / "run", config)
    write_records(folder.metrics_path, metric_lines(steps, response_tokens=10.0, step_s=2.0))
    for step in evaluated:
        folder.append_evaluation(evaluation(step, "ppo" if step else "sft", 100, 100) | {"tokens": 5120 * step})
    return read_run(folder)


def test_axes_and_metrics_have_a_value_for_each_step(tmp_path: Path):
    axes, metrics, note = step_columns(run_with(tmp_path, 20, evaluated=(0, 10, 20)))
    assert note is None
    assert axes["step"] == list(range(1, 21))
    assert {len(column) for column in [*axes.values(), *metrics.values()]} == {20}
    assert metrics["verify/pass_rate"][0] == pytest.approx(0.4)


def test_steps_lie_between_evaluations_by_interpolation(tmp_path: Path):
    axes, _, _ = step_columns(run_with(tmp_path, 20, evaluated=(0, 10, 20)))
    assert axes["rollouts"] == [512 * step for step in range(1, 21)]
    assert axes["wall_s"] == [30.0 + 4.0 * step for step in range(1, 21)]


def test_after_the_last_evaluation_steps_add_what_they_drew_and_took(tmp_path: Path):
    axes, _, _ = step_columns(run_with(tmp_path, 12, evaluated=(0, 10)))
    assert axes["rollouts"][-3:] == [5120, 5632, 6144]
    assert axes["tokens"][-3:] == [51200, 56320, 61440]
    assert axes["wall_s"][-3:] == [70.0, 72.0, 74.0]


def test_before_the_first_evaluation_steps_add_up_from_nothing(tmp_path: Path):
    axes, _, _ = step_columns(run_with(tmp_path, 3, evaluated=()))
    assert axes["rollouts"] == [512, 1024, 1536]


def test_what_cannot_be_known_is_null(tmp_path: Path):
    axes, _, _ = step_columns(run_with(tmp_path, 3, evaluated=(), config=""))
    assert axes["rollouts"] == axes["tokens"] == [None] * 3


def test_long_series_are_thinned_with_a_note_and_keep_both_ends(tmp_path: Path):
    axes, metrics, note = step_columns(run_with(tmp_path, 5000, evaluated=(0, 5000)))
    assert len(axes["step"]) == len(metrics["kl/k1"]) == MAX_POINTS
    assert (axes["step"][0], axes["step"][-1]) == (1, 5000)
    assert note is not None
    assert "of 5,000 steps" in note


def test_metrics_without_any_number_are_left_out(tmp_path: Path):
    run = run_with(tmp_path, 5, evaluated=(0,))
    for line in run.metrics:
        line["critic/loss"] = None
    _, metrics, _ = step_columns(run)
    assert "critic/loss" not in metrics
    assert "sandbox/runs" not in metrics
