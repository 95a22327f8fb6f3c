import pytest
from support.run_folders import evaluation

from rlvr.tracking.held_out_numbers import held_out_numbers
from rlvr.tracking.names import NAMES


def test_gaps_are_measured_against_the_strictest_audit():
    record = {**evaluation(10, "ppo", 120, 100), "train_pass_rate": 0.75}
    record["sampled"]["audit"] = {
        "math": {"pass_rate": 0.45},
        "exact": {"pass_rate": 0.4},
        "broken": {"pass_rate": None},
    }
    found = held_out_numbers(record)
    assert found["eval/greedy_pass_rate"] == 0.6
    assert found["eval/audited_pass_rate"] == 0.4
    assert found["eval/audit_gap"] == pytest.approx(0.1)
    assert found["eval/train_gap"] == pytest.approx(0.35)
    assert found.keys() <= NAMES.keys()


def test_without_audits_training_is_held_against_the_sampled_rate():
    found = held_out_numbers({**evaluation(10, "ppo", 120, 100), "train_pass_rate": 0.75})
    assert found["eval/train_gap"] == pytest.approx(0.25)
    assert not {"eval/audit_gap", "eval/audited_pass_rate"} & found.keys()


def test_what_could_not_be_judged_has_no_number():
    record = evaluation(0, "sft", 0, 0)
    for mode in ("greedy", "sampled"):
        record[mode] |= {"pass_rate": None, "low": None, "high": None, "n": 0, "failed": 200}
    found = held_out_numbers(record)
    assert found["eval/failed_frac"] == 1.0
    assert not {"eval/greedy_pass_rate", "eval/sampled_pass_rate", "eval/train_gap"} & found.keys()


def test_an_evaluation_of_an_older_version_gives_what_it_has():
    assert held_out_numbers({"step": 0, "phase": "sft", "greedy": {"pass_rate": 0.5}}) == {"eval/greedy_pass_rate": 0.5}
