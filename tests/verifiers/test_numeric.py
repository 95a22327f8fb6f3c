import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shared_data import shared_file

from tasks import MathAnswer, Problem, load_task
from verifiers import BadReferenceError, Outcome, Verifier
from verifiers.numeric import Numeric


def problem(gold: str, answer_format: str = "boxed") -> Problem:
    reference = MathAnswer(value=gold, answer_format=answer_format)
    return Problem(id="toy/train/1", prompt="?", reference=reference, verifier="numeric")


def outcome(gold: str, answer: str, verifier: Numeric | None = None) -> Outcome:
    return (verifier or Numeric()).verify(problem(gold), rf"\boxed{{{answer}}}").outcome


def test_it_keeps_the_verifier_contract():
    assert isinstance(Numeric(), Verifier)


def test_a_right_answer_scores_one():
    verdict = Numeric().verify(problem("1,000"), r"It is \boxed{1000.0}.")
    assert (verdict.outcome, verdict.score, verdict.answer) == (Outcome.CORRECT, 1.0, "1000.0")


def test_a_wrong_answer_scores_zero_and_says_why():
    verdict = Numeric().verify(problem("72"), r"It is \boxed{73}.")
    assert (verdict.outcome, verdict.score, verdict.answer) == (Outcome.INCORRECT, 0.0, "73")
    assert verdict.detail == "'73' is not '72'"


def test_no_answer_in_the_declared_place_is_no_answer():
    verdict = Numeric().verify(problem("72"), "It is 72.")
    assert (verdict.outcome, verdict.score, verdict.answer) == (Outcome.NO_ANSWER, 0.0, None)


def test_an_answer_that_is_no_number_is_incorrect():
    verdict = Numeric().verify(problem("72"), r"\boxed{seventy-two}")
    assert (verdict.outcome, verdict.answer) == (Outcome.INCORRECT, "seventy-two")


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("28", "28%", Outcome.CORRECT),
        ("0.28", "28%", Outcome.CORRECT),
        ("28%", "28", Outcome.CORRECT),
        ("28%", "0.28", Outcome.CORRECT),
        ("28%", "28%", Outcome.CORRECT),
        ("0.28", "28", Outcome.INCORRECT),
        ("0.28%", "28%", Outcome.INCORRECT),
    ],
)
def test_a_percent_sign_on_one_side_may_be_meant_either_way(gold: str, answer: str, expected: Outcome):
    assert outcome(gold, answer) is expected


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("5", "5 cm", Outcome.CORRECT),
        ("5 cm", "5", Outcome.CORRECT),
        ("5 cm", "5cm", Outcome.CORRECT),
        ("$5", "5 dollars", Outcome.CORRECT),
        ("5 cm", "5 m", Outcome.INCORRECT),
    ],
)
def test_units_count_only_where_both_sides_have_one(gold: str, answer: str, expected: Outcome):
    assert outcome(gold, answer) is expected


@pytest.mark.parametrize(
    ("answer_format", "response", "expected"),
    [
        ("boxed", r"\boxed{72} or \boxed{73}", Outcome.INCORRECT),
        ("boxed", r"\boxed{73} no, \boxed{72}", Outcome.INCORRECT),
        ("boxed", r"\boxed{72}, that is \boxed{72.0}", Outcome.CORRECT),
        ("boxed", r"\boxed{x}, that is \boxed{72}", Outcome.INCORRECT),
        ("boxed", r"\boxed{72, 73}", Outcome.INCORRECT),
        ("marker:####", "#### 73\n#### 72", Outcome.INCORRECT),
        ("marker:####", "#### 72\n#### 72.0", Outcome.CORRECT),
        ("marker:####", "#### 72 or 73", Outcome.INCORRECT),
        ("marker:####", "#### Step 1: add\n...\n#### 72", Outcome.CORRECT),
        ("tag:answer", "<answer>73</answer><answer>72</answer>", Outcome.INCORRECT),
        ("last_number", "73, no, 72", Outcome.CORRECT),
    ],
)
def test_declaring_several_answers_is_incorrect(answer_format: str, response: str, expected: Outcome):
    assert Numeric().verify(problem("72", answer_format), response).outcome is expected


@pytest.mark.parametrize(
    ("verifier", "answer", "expected"),
    [
        (Numeric(), "3.1416", Outcome.INCORRECT),
        (Numeric(abs_tol=0.01), "3.1416", Outcome.CORRECT),
        (Numeric(abs_tol=0.001), "3.1416", Outcome.INCORRECT),
        (Numeric(rel_tol=0.01), "3.11", Outcome.CORRECT),
        (Numeric(rel_tol=0.001), "3.11", Outcome.INCORRECT),
    ],
)
def test_tolerances_widen_what_is_right(verifier: Numeric, answer: str, expected: Outcome):
    assert outcome("3.14", answer, verifier) is expected


@pytest.mark.parametrize("gold", ["", "x", "1,23", "1/0", "72 or 73"])
def test_a_gold_answer_that_is_no_number_names_the_problem(gold: str):
    with pytest.raises(BadReferenceError, match=r"problem toy/train/1: the gold answer"):
        Numeric().verify(problem(gold), "anything")


def test_an_unknown_answer_format_names_the_problem():
    with pytest.raises(BadReferenceError, match=r"problem toy/train/1: unknown answer format 'box'"):
        Numeric().verify(problem("72", "box"), "anything")


def test_a_reference_of_another_kind_names_the_problem():
    other: Any = {"value": "72"}
    with pytest.raises(BadReferenceError, match="problem toy: this verifier needs a MathAnswer"):
        Numeric().verify(Problem(id="toy", prompt="?", reference=other, verifier="numeric"), "72")


def renderings(value: Fraction) -> list[str]:
    over, under = value.numerator, value.denominator
    written = [
        f"{over}/{under}",
        rf"\frac{{{over}}}{{{under}}}",
        rf"\dfrac{{{over:,}}}{{{under}}}",
        f"${over}/{under}$",
        rf"{over}/{under} \text{{ apples}}",
        f"\u2212{-over}/{under}" if over < 0 else f"+{over}/{under}",
    ]
    if under == 1:
        written += [f"{over:,}", f"{over}.0", f"{over}.", f"{over} clips", f"${over:,}", f"**{over}**", f"{over}e0"]
        written += [f"{over:,}".replace(",", "{,}"), f"{over:,}".replace(",", "\u2009")]
    return written


rationals = st.fractions(max_denominator=10**6) | st.integers(-(10**12), 10**12).map(Fraction)


@given(rationals)
def test_a_number_verifies_in_every_rendering(value: Fraction):
    for answer in renderings(value):
        assert outcome(str(value), answer) is Outcome.CORRECT, answer


@given(rationals, st.fractions(max_denominator=1000).filter(bool))
def test_a_perturbed_number_verifies_in_no_rendering(value: Fraction, change: Fraction):
    for answer in renderings(value + change):
        assert outcome(str(value), answer) is Outcome.INCORRECT, answer


@pytest.mark.parametrize(
    "options",
    [
        {"name": "gsm8k", "train_path": "data/gsm8k_train.jsonl", "test_path": "data/gsm8k_test.jsonl"},
        {"name": "svamp", "path": "data/svamp.jsonl"},
    ],
    ids=["gsm8k", "svamp"],
)
def test_every_public_gold_accepts_its_own_worked_solution(options: dict[str, str]):
    paths = {option: shared_file(path) for option, path in options.items() if option != "name"}
    task = load_task(options["name"], paths)
    problems = [*task.problems("train"), *task.problems("test")]
    assert len(problems) == {"gsm8k": 8792, "svamp": 1000}[options["name"]]
    refused = [
        problem.id
        for problem in problems
        if Numeric().verify(problem, problem.demonstration or f"#### {problem.reference.value}").score != 1.0
    ]
    assert refused == []


def test_no_public_case_of_a_wrong_box_is_accepted():
    lines = Path(shared_file("cases/math_public.jsonl")).read_text().splitlines()
    accepted = []
    for case in map(json.loads, lines):
        if case["correct"] or case["format"] != "boxed":
            continue
        try:
            if Numeric().verify(problem(case["gold"]), case["response"]).score > 0:
                accepted.append(case["id"])
        except BadReferenceError:
            continue  # a gold that is no number is another verifier's
    assert accepted == []
