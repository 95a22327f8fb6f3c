"""Each rule on a series made to break it, and all of them on series in which nothing is wrong."""

from collections.abc import Sequence
from typing import Any

import pytest
from support.report_runs import metric_lines
from support.run_folders import evaluation

from rlvr.tracking.findings import Setting
from rlvr.tracking.run_findings import COURSE_METRICS, course_findings, run_findings

SETTING = Setting(max_new_tokens=40, samples_per_prompt=4)
STALLED = (0.5, 0.5)


def kinds(metrics: Sequence[dict[str, Any]], evaluations: Sequence[dict[str, Any]] = ()) -> dict[str, str]:
    return {found.kind: found.level for found in run_findings(metrics, evaluations, SETTING)}


def curve(*rates: int, trained: Sequence[float] = ()) -> list[dict[str, Any]]:
    """Evaluations with so many right of 200, the first before PPO."""
    records = [evaluation(10 * place, "ppo" if place else "sft", rate, rate) for place, rate in enumerate(rates)]
    for record, rate in zip(records, [None, *trained], strict=False):
        record["train_pass_rate"] = rate
    return records


def test_a_healthy_run_calls_for_nothing():
    assert kinds(metric_lines(), curve(80, 120, 160, 180, trained=[0.6, 0.8, 0.9])) == {}


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_a_run_that_has_just_begun_calls_for_nothing(steps: int):
    assert kinds(metric_lines(steps)) == {}


def spike(start: float, end: float) -> list[float]:
    return [start] * 26 + [end] * 4


@pytest.mark.parametrize(
    ("kind", "level", "changes"),
    [
        ("kl", "alarm", {"per_response": spike(1.0, 30.0), "k1": spike(0.04, 1.2)}),
        ("kl", "warning", {"per_response": (0.0, 12.0), "k1": (0.0, 0.4)}),
        ("kl", "alarm", {"per_response": 40.0, "k1": 1.5}),
        ("entropy", "warning", {"entropy": (0.5, 0.001), "pass_rate": STALLED}),
        ("critic", "note", {"explained_variance": -0.005}),
        ("critic", "warning", {"explained_variance": -0.005, "pass_rate": STALLED}),
        ("critic", "warning", {"explained_variance": -0.5}),
        ("clipping", "warning", {"clip_frac": 0.4}),
        ("clipping", "note", {"clip_frac": 0.0, "approx_kl": 0.0}),
        ("lengths", "warning", {"response_tokens": (200.0, 20.0)}),
        ("lengths", "note", {"response_tokens": (20.0, 200.0)}),
        ("lengths", "warning", {"response_tokens": (20.0, 200.0), "pass_rate": STALLED}),
        ("truncated", "warning", {"truncated_frac": 0.3}),
        ("truncated", "alarm", {"truncated_frac": 0.93}),
        ("nothing right", "alarm", {"pass_rate": 0.0}),
        ("all right", "note", {"pass_rate": 0.999}),
        ("equal groups", "warning", {"zero_variance_groups_frac": 0.9}),
        ("failed", "warning", {"failed_frac": [0.0] * 29 + [0.1]}),
        ("timed out", "warning", {"timed_out_frac": 0.2}),
        ("skipped", "warning", {"skipped_updates": [0.0] * 10 + [1.0] + [0.0] * 19}),
        ("logprob gap", "warning", {"logprob_gap": 0.3}),
        ("ratio", "warning", {"ratio_max": [2.0] * 10 + [900.0] + [2.0] * 19}),
    ],
)
def test_each_rule_fires_on_a_series_that_breaks_it_and_alone(kind: str, level: str, changes: dict[str, Any]):
    assert kinds(metric_lines(**changes)) == {kind: level}


def test_long_responses_may_be_many_nats_away():
    assert kinds(metric_lines(per_response=(0.0, 40.0), k1=(0.0, 0.03), response_tokens=1200.0)) == {}


def test_long_responses_may_move_away_fast_while_each_token_stays_close():
    assert kinds(metric_lines(per_response=spike(2.0, 30.0), k1=spike(0.002, 0.03), response_tokens=1200.0)) == {}


def test_entropy_that_bought_a_higher_pass_rate_has_not_collapsed():
    assert kinds(metric_lines(entropy=(0.5, 0.001))) == {}


def test_one_update_a_step_clips_nothing_and_that_is_right():
    assert kinds(metric_lines(clip_frac=0.0, approx_kl=0.0, updates=1.0)) == {}


def test_a_control_run_with_learning_rate_zero_may_stand_still():
    assert kinds(metric_lines(clip_frac=0.0, approx_kl=0.0, lr=0.0)) == {}


def test_a_critic_may_take_its_first_steps_to_learn():
    assert kinds(metric_lines(15, explained_variance=-0.5, pass_rate=STALLED)) == {}


def test_what_is_rare_is_placed_at_its_worst_step():
    lines = metric_lines(ratio_max=[2.0] * 10 + [900.0] + [2.0] * 19)
    (found,) = run_findings(lines, [], SETTING)
    assert found.step == 11
    assert "900" in found.title


def test_truncation_early_in_a_run_is_over():
    assert kinds(metric_lines(truncated_frac=[0.9] * 10 + [0.0] * 20)) == {}


def test_reward_that_rises_while_held_out_falls_is_suspected_of_hacking():
    (found,) = run_findings([], curve(80, 160, 90, trained=[0.6, 0.9]), SETTING)
    assert (found.kind, found.level, found.step) == ("held-out falls", "alarm", 20)
    assert "Step 10 was the best" in found.text


def test_a_held_out_fall_with_the_reward_is_a_warning():
    assert kinds([], curve(80, 160, 90, trained=[0.6, 0.5])) == {"held-out falls": "warning"}


def test_a_fall_within_the_intervals_is_no_fall():
    assert kinds([], curve(80, 160, 150, trained=[0.6, 0.9])) == {}


def test_held_out_truncation_is_told_apart_from_training():
    records = curve(80, 160)
    records[-1]["sampled"]["truncated_frac"] = 0.6
    (found,) = run_findings([], records, SETTING)
    assert (found.kind, found.level, found.metric) == ("held-out truncated", "alarm", "eval/truncated_frac")


def test_alarms_come_before_warnings_before_notes():
    lines = metric_lines(explained_variance=-0.005, failed_frac=0.01, truncated_frac=0.9)
    assert [found.level for found in run_findings(lines, [], SETTING)] == ["alarm", "warning", "note"]


def test_rules_of_the_course_look_at_no_other_metrics_than_they_say():
    lines = metric_lines(entropy=(0.5, 0.001), pass_rate=STALLED, clip_frac=0.4, per_response=40.0, k1=1.5)
    kept = [{"step": line["step"], **{name: line[name] for name in COURSE_METRICS}} for line in lines]
    assert course_findings(kept) == course_findings(lines)
