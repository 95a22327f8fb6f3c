import math

from support.report_runs import rollout_record

from rlvr.report.token_numbers import TOKEN_NUMBERS, token_numbers


def test_k1_is_the_policys_log_probability_less_the_references_and_the_ratio_that_of_the_update():
    record = rollout_record(
        "p/0", [5, 6], old_logprobs=[-1.0, -2.0], ref_logprobs=[-1.5, -1.0], update_log_ratios=[0.0, math.log(2)]
    )
    found = token_numbers(record)
    assert list(found) == list(TOKEN_NUMBERS)
    assert found["k1"] == [0.5, -1.0]
    assert found["ratio"] == [1.0, 2.0]
    assert found["reward"] == record["rewards"]


def test_numbers_that_were_not_finite_stay_unknown():
    record = rollout_record(
        "p/0", [5, 6], old_logprobs=[None, -2.0], ref_logprobs=[-1.5, None], update_log_ratios=[None, 900.0]
    )
    found = token_numbers(record)
    assert found["k1"] == [None, None]
    assert found["ratio"][0] is None
    assert math.isfinite(found["ratio"][1] or math.inf)


def test_what_an_older_version_did_not_record_is_absent():
    record = rollout_record("p/0", [5])
    for name in ("ref_logprobs", "update_log_ratios", "entropies"):
        del record[name]
    assert not {"k1", "ref_logprob", "ratio", "entropy"} & token_numbers(record).keys()
