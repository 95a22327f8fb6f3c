import pytest

from tasks import MathAnswer, Problem
from verifiers import BadReferenceError, Outcome, Verifier
from verifiers.exact import Exact


def problem(gold: str, answer_format: str = "tag:answer") -> Problem:
    reference = MathAnswer(value=gold, answer_format=answer_format)
    return Problem(id="toy/1", prompt="?", reference=reference, verifier="exact")


def test_it_keeps_the_verifier_contract():
    assert isinstance(Exact(), Verifier)


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("<answer>North East</answer>", Outcome.CORRECT),
        ("<answer>\n North   East </answer>", Outcome.CORRECT),
        ("<answer>north east</answer>", Outcome.INCORRECT),
        ("<answer>NorthEast</answer>", Outcome.INCORRECT),
        ("<answer>South</answer><answer>North East</answer>", Outcome.INCORRECT),
        ("North East", Outcome.NO_ANSWER),
    ],
)
def test_the_text_must_be_equal_but_for_blanks(response: str, expected: Outcome):
    verdict = Exact().verify(problem("North East"), response)
    assert verdict.outcome is expected
    assert verdict.score == float(expected is Outcome.CORRECT)


def test_case_can_be_ignored_in_answer_and_rivals():
    response = "<answer>EAST</answer> <answer>east</answer>"
    assert Exact(case_sensitive=False).verify(problem("East"), response).outcome is Outcome.CORRECT


def test_an_unknown_answer_format_names_the_problem():
    with pytest.raises(BadReferenceError, match="problem toy/1: unknown answer format"):
        Exact().verify(problem("East", "somewhere"), "East")
