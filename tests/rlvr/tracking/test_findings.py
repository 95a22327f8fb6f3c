"""The rules of a step and of an evaluation. Those of a run's course are in test_run_findings.py."""

import pytest
from support.report_runs import metric_lines

from rlvr.tracking.findings import Setting, evaluation_findings, percent, step_findings, truncation

SETTING = Setting(max_new_tokens=40, samples_per_prompt=4)


def step_kinds(**changes: float) -> list[str]:
    return [found.kind for found in step_findings(metric_lines(1, **changes)[0], SETTING)]


def record(passed: float, audited: float, trained: float | None = None) -> dict:
    audit = {"math": {"pass_rate": audited, "low": audited - 0.05, "high": audited + 0.05, "n": 200, "failed": 0}}
    return {"step": 20, "train_pass_rate": trained, "sampled": {"pass_rate": passed, "audit": audit}}


def test_a_healthy_step_calls_for_nothing():
    assert step_kinds() == []


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("truncated_frac", 0.2, "truncated"),
        ("pass_rate", 0.0, "nothing right"),
        ("pass_rate", 1.0, "all right"),
        ("zero_variance_groups_frac", 0.95, "equal groups"),
        ("failed_frac", 0.001, "failed"),
        ("timed_out_frac", 0.2, "timed out"),
        ("skipped_updates", 1.0, "skipped"),
        ("logprob_gap", 0.2, "logprob gap"),
        ("ratio_max", 5000.0, "ratio"),
    ],
)
def test_each_number_past_its_limit_calls_for_one_thing(name: str, value: float, kind: str):
    assert step_kinds(**{name: value}) == [kind]


def test_truncation_says_how_many_are_cut_where_and_what_to_raise():
    found = truncation(0.93, SETTING)
    assert found is not None
    assert found.level == "alarm"
    assert found.title == "93 % of the responses are cut off"
    assert "reached the limit of 40 tokens" in found.text
    assert "raise rollout.max_new_tokens (to 80, say)" in found.text


def test_groups_of_one_response_are_not_blamed_for_being_equal():
    numbers = metric_lines(1, zero_variance_groups_frac=1.0)[0]
    assert step_findings(numbers, Setting(samples_per_prompt=1)) == []


def test_numbers_that_do_not_exist_call_for_nothing():
    assert step_findings({"verify/pass_rate": None}, SETTING) == []


def test_an_audit_that_confirms_far_less_is_reward_hacking():
    (found,) = evaluation_findings(record(0.9, 0.5))
    assert (found.level, found.step, found.metric) == ("alarm", 20, "eval/audit_gap")
    assert "Reward hacking suspected: 90 % pass, the audit confirms 50 %" in found.title
    assert "'math'" in found.text


def test_an_audit_within_its_interval_is_not_suspicious():
    assert evaluation_findings(record(0.54, 0.5)) == []


def test_training_far_above_what_is_confirmed_is_learning_by_heart():
    above = record(0.52, 0.5, trained=0.9)
    (found,) = evaluation_findings(above, above)
    assert (found.kind, found.level) == ("train math", "warning")


def test_a_training_rate_that_falls_is_not_taken_for_learning_by_heart():
    """Its mean over the steps since the evaluation before lies above where they ended."""
    assert evaluation_findings(record(0.52, 0.5, trained=0.9), record(0.9, 0.9, trained=0.9)) == []


def test_evaluations_of_older_versions_call_for_nothing():
    assert evaluation_findings({"step": 3, "sampled": {"pass_rate": 0.5}}) == []


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0 %"), (0.0042, "0.42 %"), (0.051, "5.1 %"), (0.934, "93 %"), (1.0, "100 %")]
)
def test_shares_keep_the_digits_that_tell_them_from_nothing(share: float, text: str):
    assert percent(share) == text
