"""What rows add up to: who counts, with which interval."""

import pytest

from rlvr.evaluation.intervals import cluster_wilson, wilson
from rlvr.evaluation.pass_rate import pass_rate


def row(problem: int, outcome: str | None, **columns) -> dict:
    return {
        "problem": f"made/test/{problem}", "sample": 0, "prompt": "", "text": "", "finish": "stop", "tokens": 3,
        "prompt_tokens": 5, "outcome": outcome, **columns,
    }  # fmt: skip


def test_one_response_per_problem_has_a_wilson_interval():
    rate = pass_rate([row(i, "correct" if i % 4 else "incorrect") for i in range(20)], temperature=0.0)
    assert (rate.correct, rate.n, rate.problems, rate.samples_per_problem) == (15, 20, 20, 1)
    assert rate.interval == wilson(15, 20)
    assert not rate.pass_at_k


def test_several_responses_per_problem_are_clustered_by_problem():
    rows = [row(i, "correct" if i % 4 and sample == 0 else "incorrect") for i in range(20) for sample in (0, 1)]
    rate = pass_rate(rows, temperature=1.0)
    assert (rate.correct, rate.n, rate.problems) == (15, 40, 20)
    assert {k: found.value for k, found in rate.pass_at_k.items()} == {1: 0.375, 2: 0.75}
    assert {k: found.value for k, found in rate.pass_hat_k.items()} == {1: 0.375, 2: 0.0}
    assert rate.interval == cluster_wilson([0.5 if i % 4 else 0.0 for i in range(20)])


def test_what_could_not_be_judged_is_neither_right_nor_wrong():
    rate = pass_rate([row(0, None), row(1, "correct"), row(2, "no_answer")], temperature=0.0)
    assert (rate.failed, rate.n, rate.correct, rate.no_answer_frac) == (1, 2, 1, 0.5)


def test_nothing_judged_has_no_rate_and_no_interval():
    record = pass_rate([row(0, None)], temperature=0.0).as_record()
    assert (record["pass_rate"], record["low"], record["n"], record["failed"]) == (None, None, 0, 1)


def test_responses_cut_by_the_limit_are_counted():
    assert pass_rate([row(0, "correct", finish="length"), row(1, "correct")], temperature=0.0).truncated_frac == 0.5


def test_audits_count_the_same_responses_with_their_own_verdicts():
    rows = [
        row(0, "correct", audit={"math": {"outcome": "incorrect"}}),
        row(1, "correct", audit={"math": {"outcome": "correct"}}),
        row(2, None, audit={"math": {"outcome": None, "error": "the worker died"}}),
    ]
    audit = pass_rate(rows, temperature=0.0).as_record()["audit"]
    assert audit == {
        "math": {"pass_rate": 0.5, "low": wilson(1, 2).low, "high": wilson(1, 2).high, "n": 2, "failed": 1}
    }


def test_the_largest_k_is_the_number_of_responses():
    rows = [row(i, "correct" if s == 0 else "incorrect", answer=str(s)) for i in range(3) for s in range(6)]
    rate = pass_rate(rows, temperature=1.0)
    assert list(rate.pass_at_k) == list(rate.pass_hat_k) == list(rate.maj_at_k) == [1, 2, 4, 6]
    assert rate.pass_at_k[6].value == 1.0
    assert list(pass_rate([*rows[:-1], row(2, None)], temperature=1.0).pass_at_k) == [1, 2, 4]


@pytest.mark.parametrize("samples", [1, 4])
def test_records_are_plain_json(samples: int):
    rows = [row(i, "correct") for i in range(3) for _ in range(samples)]
    record = pass_rate(rows, temperature=1.0).as_record()
    assert set(record["pass_at_k"]) == (set() if samples == 1 else {"1", "2", "4"})
    assert record["maj_at_k"] == {}


def test_the_commonest_answer_is_voted_for():
    answers = [("7", "correct"), ("8", "incorrect"), ("7", "correct"), ("9", "incorrect")]
    rows = [row(i, outcome, answer=answer) for i in range(3) for answer, outcome in answers]
    rate = pass_rate(rows, temperature=1.0)
    assert {k: found.value for k, found in rate.maj_at_k.items()} == {1: 0.5, 2: 0.5, 4: 1.0}


@pytest.mark.parametrize(
    "program", ["def f(a):return sum(a)+19", "a = 1\nb = 2", "print(input())", "x = " + "1 + " * 40 + "1"]
)
def test_programs_are_no_votes(program: str):
    rows = [row(i, "correct", answer=program) for i in range(3) for _ in range(4)]
    assert not pass_rate(rows, temperature=1.0).maj_at_k
    # One odd answer among numbers does not take the votes away.
    mixed = [row(i, "correct", answer=answer) for i in range(3) for answer in (program, "7", "7", "7")]
    assert set(pass_rate(mixed, temperature=1.0).maj_at_k) == {1, 2, 4}
