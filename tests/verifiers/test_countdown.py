from typing import Any

import pytest

from tasks import CountdownTarget, MathAnswer, Problem
from verifiers import BadReferenceError, Outcome, Verdict, Verifier, load_verifier
from verifiers.countdown import Countdown


def problem(
    numbers: tuple[int, ...] = (3, 5, 5, 8),
    target: int = 24,
    *,
    answer_format: str = "tag:answer",
    use_all: bool = True,
) -> Problem:
    reference = CountdownTarget(numbers=numbers, target=target, answer_format=answer_format, use_all=use_all)
    return Problem(id="toy/1", prompt="?", reference=reference, verifier="countdown")


def judge(answer: str, numbers: tuple[int, ...] = (1, 2, 3, 4), target: int = 24, *, use_all: bool = True) -> Verdict:
    return Countdown().verify(problem(numbers, target, use_all=use_all), f"<answer>{answer}</answer>")


def test_it_keeps_the_verifier_contract():
    assert isinstance(load_verifier("countdown"), Verifier)


@pytest.mark.parametrize(
    ("numbers", "target", "answer"),
    [
        ((1, 2, 3, 4), 24, "1*2*3*4"),
        ((1, 2, 3, 4), 24, "4 x 3 x 2 x 1 = 24"),
        ((3, 3, 8, 8), 24, "8/(3-8/3)"),
        ((3, 3, 8, 8), 24, r"\frac{8}{3-\frac{8}{3}}"),
        ((5,), 5, "5"),
        ((3, 5), -2, "3-5 = -2"),
        ((0, 5), 5, "0+5"),
    ],
)
def test_an_expression_of_the_numbers_that_makes_the_target_is_correct(
    numbers: tuple[int, ...], target: int, answer: str
):
    verdict = judge(answer, numbers, target)
    assert (verdict.outcome, verdict.score, verdict.answer) == (Outcome.CORRECT, 1.0, answer)


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        ("1+2+3+4", "makes '10', not 24"),
        ("4*3*2", "does not use '1'"),
        ("1*2*3*4*1", "uses '1' more often than given"),
        ("24", "uses '24' more often than given"),
        ("(1+2+3)*4 = 25", "claims to make '25', not 24"),
        ("1+2+3+4 = 24", "makes '10', not 24"),
        ("12*2", "uses '12' more often than given"),
        ("4!", "has '!' in it, which is no arithmetic"),
        ("1**2*3*4", "has '*' where a number should be"),
        ("-1*-2*3*4", "has '-' where a number should be"),
        ("24/(1-1)", "divides by zero"),
        ("12 34", "has a number where '=' should be"),
        ("print(24)", "has 'print(24)' in it, which is no arithmetic"),
    ],
)
def test_all_else_is_incorrect_and_says_why(answer: str, detail: str):
    verdict = judge(answer)
    assert (verdict.outcome, verdict.score) == (Outcome.INCORRECT, 0.0)
    assert detail in verdict.detail


def test_numbers_may_be_left_out_where_the_problem_allows_it():
    assert judge("4*3*2", use_all=False).outcome is Outcome.CORRECT
    assert judge("4*3*2*1", use_all=False).outcome is Outcome.CORRECT
    assert judge("4*3+4*3", use_all=False).outcome is Outcome.INCORRECT


def test_nothing_is_rounded():
    assert judge("10000000000000001/3*3", (10000000000000001, 3, 3), 10000000000000000).outcome is Outcome.INCORRECT


@pytest.mark.parametrize(
    ("answer_format", "response", "expected"),
    [
        ("tag:answer", "1*2*3*4", Outcome.NO_ANSWER),
        ("tag:answer", "<think><answer>1*2*3*4</answer></think>", Outcome.NO_ANSWER),
        ("tag:answer", "<answer>1+2</answer><answer>1*2*3*4</answer>", Outcome.INCORRECT),
        ("tag:answer", "<answer>4*3*2*1</answer><answer>1*2*3*4</answer>", Outcome.CORRECT),
        ("boxed", r"\boxed{1 \cdot 2 \cdot 3 \cdot 4}", Outcome.CORRECT),
        ("boxed", r"\boxed{\frac{4 \times 3 \times 2}{1}}", Outcome.CORRECT),
        ("marker:####", "#### Step 1: add\n#### (1+2+3)*4\n", Outcome.CORRECT),
        ("marker:####", "#### 1+2\n#### (1+2+3)*4\n", Outcome.INCORRECT),
    ],
)
def test_only_the_declared_place_counts(answer_format: str, response: str, expected: Outcome):
    assert Countdown().verify(problem((1, 2, 3, 4), answer_format=answer_format), response).outcome is expected


@pytest.mark.parametrize("reference", [MathAnswer(value="24"), None, {"numbers": [1], "target": 1}])
def test_a_reference_of_another_kind_names_the_problem(reference: Any):
    with pytest.raises(BadReferenceError, match="problem toy: this verifier needs a CountdownTarget"):
        Countdown().verify(
            Problem(id="toy", prompt="?", reference=reference, verifier="countdown"), "<answer>1</answer>"
        )


@pytest.mark.parametrize("bad", [problem(()), problem((1, -2)), problem(answer_format="box")])
def test_a_reference_that_cannot_be_used_names_the_problem(bad: Problem):
    with pytest.raises(BadReferenceError, match="problem toy/1: "):
        Countdown().verify(bad, "<answer>1</answer>")
