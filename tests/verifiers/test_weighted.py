from typing import Any

import pytest

from tasks import MathAnswer, Problem
from verifiers import (
    BadReferenceError,
    Outcome,
    Verdict,
    Verifier,
    VerifierError,
    VerifierOptionError,
    load_verifier,
    register_verifier,
)

PROBLEM = Problem(
    id="toy/1", prompt="?", reference=MathAnswer(value="72", answer_format="tag:answer"), verifier="weighted"
)
RIGHT = "<think>t</think><answer>72</answer>"
WRONG = "<think>t</think><answer>71</answer>"
RIGHT_BUT_UNFORMED = "<answer>72</answer>"
NOTHING = "72"

NUMERIC: dict[str, Any] = {"name": "numeric"}
FORM: dict[str, Any] = {"name": "answer_format", "weight": 0.25}


@register_verifier("test-broken")
class Broken:
    def verify(self, problem: Problem, response: str) -> Verdict:
        raise VerifierError("the worker died")


def combine(name: str, *parts: dict[str, Any]) -> Verifier:
    return load_verifier(name, {"parts": list(parts)})


@pytest.mark.parametrize(
    ("response", "outcome", "score"),
    [
        (RIGHT, Outcome.CORRECT, 1.0),
        (RIGHT_BUT_UNFORMED, Outcome.CORRECT, 0.8),
        (WRONG, Outcome.INCORRECT, 0.2),
        (NOTHING, Outcome.NO_ANSWER, 0.0),
    ],
)
def test_the_first_part_says_whether_the_answer_is_right_and_all_pay(response: str, outcome: Outcome, score: float):
    verdict = combine("weighted", NUMERIC, FORM).verify(PROBLEM, response)
    assert verdict.outcome is outcome
    assert verdict.score == pytest.approx(score)
    assert verdict.answer == load_verifier("numeric").verify(PROBLEM, response).answer


def test_options_reach_their_part():
    near = {"name": "numeric", "options": {"abs_tol": 1.0}}
    assert combine("weighted", near).verify(PROBLEM, WRONG).outcome is Outcome.CORRECT


def test_each_parts_score_is_in_parts_and_a_repeated_name_is_numbered():
    near = {"name": "numeric", "options": {"abs_tol": 1.0}}
    verdict = combine("weighted", NUMERIC, FORM, near).verify(PROBLEM, WRONG)
    assert verdict.parts == {"numeric": 0.0, "answer_format": 1.0, "numeric#2": 1.0}
    assert verdict.score == pytest.approx(1.25 / 2.25)


def test_parts_of_parts_are_named_by_their_path():
    inner = {"name": "all", "options": {"parts": [NUMERIC, {"name": "answer_format"}]}}
    short = {"name": "length_penalty", "options": {"max_length": 10, "cache": 5}}
    verdict = combine("weighted", inner, short).verify(PROBLEM, RIGHT)
    assert verdict.parts == {
        "all": 1.0,
        "all/numeric": 1.0,
        "all/answer_format": 1.0,
        "length_penalty": 0.0,
        "length_penalty/length_penalty": -1.0,
    }


def test_the_detail_tells_what_each_part_found():
    verdict = combine("weighted", NUMERIC, FORM).verify(PROBLEM, RIGHT_BUT_UNFORMED)
    assert verdict.detail == "numeric: equals '72'; answer_format: <think> occurs 0 times, not once"


@pytest.mark.parametrize(
    ("response", "outcome", "score"),
    [
        (RIGHT, Outcome.CORRECT, 1.0),
        (RIGHT_BUT_UNFORMED, Outcome.INCORRECT, 0.0),
        (WRONG, Outcome.INCORRECT, 0.0),
        (NOTHING, Outcome.NO_ANSWER, 0.0),
    ],
)
def test_all_wants_every_part(response: str, outcome: Outcome, score: float):
    verdict = combine("all", NUMERIC, {"name": "answer_format"}).verify(PROBLEM, response)
    assert (verdict.outcome, verdict.score) == (outcome, score)


@pytest.mark.parametrize(
    ("response", "outcome", "score"),
    [
        (RIGHT, Outcome.CORRECT, 1.0),
        (RIGHT_BUT_UNFORMED, Outcome.CORRECT, 1.0),
        (WRONG, Outcome.CORRECT, 1.0),
        (NOTHING, Outcome.NO_ANSWER, 0.0),
    ],
)
def test_any_wants_one_part(response: str, outcome: Outcome, score: float):
    verdict = combine("any", NUMERIC, {"name": "answer_format"}).verify(PROBLEM, response)
    assert (verdict.outcome, verdict.score) == (outcome, score)


@pytest.mark.parametrize("name", ["weighted", "all", "any"])
def test_the_scores_lie_between_the_lowest_and_the_highest_and_are_ordered(name: str):
    short = {"name": "length_penalty", "options": {"max_length": 60, "cache": 60}}
    verdict = combine(name, {"name": "answer_format"}, short).verify(PROBLEM, RIGHT)
    low = 1 - len(RIGHT) / 60
    assert verdict.score == pytest.approx({"weighted": (1 + low) / 2, "all": low, "any": 1.0}[name])


@pytest.mark.parametrize("name", ["weighted", "all", "any"])
def test_a_part_that_fails_is_never_a_score(name: str):
    with pytest.raises(VerifierError, match="the worker died"):
        combine(name, NUMERIC, {"name": "test-broken"}).verify(PROBLEM, RIGHT)
    other = Problem(id="toy/2", prompt="?", reference=None, verifier="all")
    with pytest.raises(BadReferenceError, match="toy/2"):
        combine(name, NUMERIC).verify(other, RIGHT)


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ([], r"parts: needs at least one"),
        (["numeric"], r"parts\[0\]: expected a table"),
        ([{}], r"parts\[0\]\.name: a part needs one"),
        ([{"name": 3}], r"parts\[0\]\.name: expected the name of a verifier, got 3"),
        ([NUMERIC, {"name": "numerik"}], r"parts\[1\]\.name: no verifier named 'numerik' \(did you mean 'numeric'\?\)"),
        ([{"name": "numeric", "wait": 1}], r"parts\[0\]\.wait: .*did you mean 'weight'"),
        ([{"name": "numeric", "weight": -1}], r"parts\[0\]\.weight: must be a finite number of at least 0, got -1"),
        ([{"name": "numeric", "weight": True}], r"parts\[0\]\.weight"),
        ([{"name": "numeric", "weight": float("nan")}], r"parts\[0\]\.weight"),
        ([{"name": "numeric", "weight": 0}], r"parts: at least one weight must be above 0"),
        ([{"name": "numeric", "options": 3}], r"parts\[0\]\.options: expected a table, got 3"),
        ([{"name": "numeric", "options": {"abs": 1}}], r"parts\[0\]\.options\.abs: .*did you mean"),
        ([{"name": "numeric", "options": {"abs_tol": -1}}], r"parts\[0\]\.options\.abs_tol: must be at least 0"),
        (
            [{"name": "any", "options": {"parts": [{"name": "numeric", "options": {"rel_tol": "1"}}]}}],
            r"parts\[0\]\.options\.parts\[0\]\.options\.rel_tol: expected a number",
        ),
    ],
)
def test_what_cannot_be_a_part_is_named_with_its_place(parts: list[Any], complaint: str):
    with pytest.raises(VerifierOptionError, match=rf"task\.verifier_options\.{complaint}"):
        load_verifier("weighted", {"parts": parts})


def test_every_mistake_is_reported_at_once():
    with pytest.raises(VerifierOptionError) as refused:
        load_verifier("weighted", {"parts": [{"name": "x"}, {"name": "numeric", "options": {"abs_tol": -1}}, 3]})
    assert [line.split(":")[0].rpartition("options.parts")[2] for line in str(refused.value).splitlines()] == [
        "[0].name", "[1].options.abs_tol", "[2]",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["all", "any"])
def test_all_and_any_have_no_weights(name: str):
    with pytest.raises(VerifierOptionError, match=r"parts\[0\]\.weight: a part has no such key"):
        load_verifier(name, {"parts": [FORM]})
