"""From findings to a verdict."""

import pytest

from sandbox.types import End, Execution
from verifiers.code.outcome import Finding, Word, finding_of, one_line, verdict_of, word_of
from verifiers.types import Outcome

PASS = Finding(word="pass")
FAIL = Finding(word="fail", detail="returned 1")


def test_all_passed_is_correct():
    verdict = verdict_of([PASS, PASS], total=2, program="x", partial=False)
    assert (verdict.outcome, verdict.score, verdict.answer) == (Outcome.CORRECT, 1.0, "x")
    assert word_of(verdict) == "pass"
    assert verdict.parts == {"tests passed": 1.0, "test 1": 1.0, "test 2": 1.0}


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("fail", Outcome.INCORRECT),
        ("timeout", Outcome.TIMED_OUT),
        ("memory", Outcome.CRASHED),
        ("error", Outcome.CRASHED),
        ("rejected", Outcome.CRASHED),
    ],
)
def test_the_first_test_that_did_not_pass_makes_the_verdict(word: Word, outcome: Outcome):
    verdict = verdict_of([PASS, Finding(word=word), FAIL], total=3, program="x", partial=False)
    assert (verdict.outcome, verdict.score, word_of(verdict)) == (outcome, 0.0, word)


def test_tests_that_were_not_run_did_not_pass():
    verdict = verdict_of([PASS, Finding(word="timeout")], total=4, program="x", partial=True)
    assert verdict.score == verdict.parts["tests passed"] == 0.25


def test_partial_scores_never_reach_one():
    assert verdict_of([PASS] * 999 + [FAIL], total=1000, program="x", partial=True).score < 1


def test_parts_are_bounded():
    assert len(verdict_of([PASS] * 5000, total=5000, program="x", partial=False).parts) < 200


def test_a_clean_end_says_nothing():
    assert finding_of(Execution(end=End.EXITED, exit_code=0, stdout=b"PASSED")) is None


@pytest.mark.parametrize(
    ("execution", "word"),
    [
        (Execution(end=End.TIMED_OUT), "timeout"),
        (Execution(end=End.OUT_OF_MEMORY), "memory"),
        (Execution(end=End.KILLED), "error"),
        (Execution(end=End.OUTPUT_LIMIT), "rejected"),
        (Execution(end=End.EXITED, exit_code=124), "error"),
        (Execution(end=End.EXITED, exit_code=137), "error"),
        (Execution(end=End.EXITED, exit_code=-9), "error"),
        (Execution(end=End.EXITED, exit_code=1, stderr=b"Traceback\nMemoryError\n"), "memory"),
        (Execution(end=End.EXITED, exit_code=1, stderr=b"\xff\n\n"), "error"),
    ],
)
def test_an_end_has_a_word_that_the_program_cannot_forge_by_its_exit_code(execution: Execution, word: Word):
    found = finding_of(execution)
    assert found is not None
    assert found.word == word


def test_details_are_one_short_line_of_ascii():
    assert one_line("a\nb\x1b[0m\u2028") == "a\\nb\\x1b[0m\\u2028"
    assert len(one_line("\U0001f600" * 1000)) <= 200
