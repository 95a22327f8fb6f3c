import pickle
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks import MathAnswer, Problem
from verifiers import BadReferenceError, Outcome, Verdict, Verifier, load_verifier
from verifiers.regex import LIMIT_S, QUICK_LENGTH, Regex, is_quick, match_all

SHARED = Regex()  # its worker processes are started once


def problem(pattern: str) -> Problem:
    reference = MathAnswer(value=pattern, answer_format="tag:answer")
    return Problem(id="toy/1", prompt="?", reference=reference, verifier="regex")


def judge(pattern: str, answer: str) -> Verdict:
    return SHARED.verify(problem(pattern), f"<answer>{answer}</answer>")


def test_it_keeps_the_verifier_contract():
    assert isinstance(load_verifier("regex"), Verifier)


@pytest.mark.parametrize(
    ("pattern", "answer", "expected"),
    [
        (r"\d+", "123", Outcome.CORRECT),
        (r"\d+", " 123 ", Outcome.CORRECT),
        (r"\d+", "123 apples", Outcome.INCORRECT),
        (r"\d+", "x123", Outcome.INCORRECT),
        ("yes|no", "no", Outcome.CORRECT),
        ("yes|no", "yesno", Outcome.INCORRECT),
        (r"(?:19|20)\d{2}", "1999", Outcome.CORRECT),
        (r"(?:19|20)\d{2}", "2199", Outcome.INCORRECT),
        (r"(?i)east", "EAST", Outcome.CORRECT),
        (r"(\w+) \1", "so so", Outcome.CORRECT),
        ("East", "east", Outcome.INCORRECT),
    ],
)
def test_the_pattern_must_match_the_whole_answer(pattern: str, answer: str, expected: Outcome):
    assert judge(pattern, answer).outcome is expected


def test_case_can_be_ignored():
    assert Regex(ignore_case=True).verify(problem("East"), "<answer>eAST</answer>").outcome is Outcome.CORRECT


def test_only_the_declared_place_counts():
    assert SHARED.verify(problem(r"\d+"), "123").outcome is Outcome.NO_ANSWER


def test_each_of_several_answers_must_match():
    assert SHARED.verify(problem(r"\d+"), "<answer>1</answer><answer>2</answer>").outcome is Outcome.CORRECT
    assert SHARED.verify(problem("1|2"), "<answer>3</answer><answer>2</answer>").outcome is Outcome.INCORRECT


def test_a_pattern_in_the_response_is_only_text():
    assert judge(r"a\.b", ".*").outcome is Outcome.INCORRECT
    assert judge("abc", ".*").outcome is Outcome.INCORRECT


@pytest.mark.parametrize(("pattern", "answer"), [(r"(a+)+b", "a" * 60), (r"(a|a)*b", "a" * 60)])
def test_a_pattern_that_backtracks_for_ever_times_out(pattern: str, answer: str):
    start = time.monotonic()
    assert judge(pattern, answer).outcome is Outcome.TIMED_OUT
    assert time.monotonic() - start < 10 * LIMIT_S  # the limit, and a busy machine's delays
    assert judge(pattern, "aab").outcome is Outcome.CORRECT


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "a{2,1}", "(?P<1>a)", "\\", "a{99999999999999999999}"])
def test_a_pattern_that_does_not_compile_names_the_problem(pattern: str):
    with pytest.raises(BadReferenceError, match="problem toy/1: the gold pattern"):
        judge(pattern, "a")


@pytest.mark.parametrize(
    "pattern", ["", "abc", "yes|no", r"\d+", r"-?\d+", r"[^\]a]*x.", r"[]a]+", r"\$\d+|free", "a*+b"]
)
def test_simple_patterns_are_known_to_be_quick(pattern: str):
    re.compile(pattern)
    assert is_quick(pattern)


@pytest.mark.parametrize(
    "pattern", ["(a+)+", "a?" * 3, r"a*b*c*", r"(\w)\1", "a{1,9}", "(a|b)", "[[a]", r"\bx", "a" * (QUICK_LENGTH + 1)]
)
def test_all_other_patterns_run_in_a_process_of_their_own(pattern: str):
    assert not is_quick(pattern)


@pytest.mark.parametrize("pattern", ["a*a*" + "a" * 100 + "b", "[ab]*[ab]*" + "." * 100 + "c", "|".join("a" * 100)])
def test_what_is_said_to_be_quick_is_quick_at_its_worst(pattern: str):
    assert is_quick(pattern)
    start = time.process_time()
    match_all({"pattern": pattern, "ignore_case": False, "texts": ["a" * QUICK_LENGTH]})
    assert time.process_time() - start < 0.5


atoms = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\w", r"\.", "|"])
quantified = st.tuples(atoms, st.sampled_from(["", "", "*", "+", "?", "*?", "++"])).map("".join)


@given(st.lists(quantified, max_size=12).map("".join), st.text("ab.", max_size=30))
def test_a_quick_patterns_verdict_is_that_of_re(pattern: str, text: str):
    try:
        compiled = re.compile(pattern)
    except re.error:
        return
    if is_quick(pattern):
        matched = compiled.fullmatch(text.strip()) is not None
        expected = (Outcome.CORRECT if matched else Outcome.INCORRECT) if text.strip() else Outcome.NO_ANSWER
        assert judge(pattern, text).outcome is expected


def test_a_copy_made_by_pickle_judges_the_same():
    copy = pickle.loads(pickle.dumps(Regex(ignore_case=True)))
    assert copy.verify(problem("(East)"), "<answer>east</answer>").outcome is Outcome.CORRECT
