import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shared_data import shared_file

from tasks import MathAnswer, Problem
from verifiers import BadReferenceError, Outcome, Verifier, VerifierOptionError, load_verifier
from verifiers.multiple_choice import MultipleChoice


def problem(gold: str = "C", answer_format: str = "boxed", metadata: Mapping[str, Any] | None = None) -> Problem:
    reference = MathAnswer(value=gold, answer_format=answer_format)
    return Problem(id="toy/1", prompt="?", reference=reference, verifier="multiple_choice", metadata=metadata or {})


def outcome(answer: str, gold: str = "C", choices: object = None) -> Outcome:
    metadata = {} if choices is None else {"choices": choices}
    return MultipleChoice().verify(problem(gold, metadata=metadata), rf"\boxed{{{answer}}}").outcome


def test_it_keeps_the_verifier_contract():
    assert isinstance(load_verifier("multiple_choice"), Verifier)


@pytest.mark.parametrize(
    "answer",
    [
        *("C", "c", "(C)", "[C]", "C.", "C)", "C:", "(c)", r"\text{C}", r"\text{(C)}", r"\textbf{C}", r"\textbf{(C)}"),
        *(r"\textbf{\text{(C)}}", r"\mathrm{C}", "$C$", r"\(C\)", "**C**", "**(C)**", " C ", "{C}", r"(\text{C})"),
        *("option C", "Option (C)", "choice (C)", "the answer is C", "The correct answer is (C).", "Answer: C"),
        *("C: the text", "C) 12", "(C) 12", "C. 12", r"C.\frac{1}{2}", r"\text{C: } 12 \text{ cm}", r"\text{C) 17}"),
        *("(C) A dog", "C: I am", "C: f(d)", "C) $x < 5$", "C, C"),
    ],
)
def test_a_label_is_read_in_the_forms_people_write(answer: str):
    assert outcome(answer) is Outcome.CORRECT


@pytest.mark.parametrize(
    "answer",
    [
        *("A", "B.", "(D)", "Cat", "Correct", "CC", "c.c.", "C 12", r"C \frac{1}{2}", "C dog", "C4", "C++", "C'", "12"),
        *("not C", "Not (C)", "not the answer C", "C or D", "A or C", r"A \text{ or } C", "C, D", "C and D", "CD"),
        *("C/D", "C?", "C: D", "C) 12, D) 13", "C: not", "C: no, D", "C. Actually it is d: no, option d", "(C) or (d)"),
        *("C: or B", "ABCDEFGHIJ", "A, B, C, D", "Z", "(", "()", "\\text{}", "c.f. 7", "F(C)", "C(D)"),
    ],
)
def test_words_quantities_negations_and_several_labels_are_not_the_choice(answer: str):
    assert outcome(answer) is Outcome.INCORRECT


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("A", Outcome.CORRECT),
        ("A.", Outcome.CORRECT),
        ("A: dog", Outcome.CORRECT),
        ("A dog", Outcome.INCORRECT),
        ("a dog", Outcome.INCORRECT),
        ("a.m.", Outcome.INCORRECT),
    ],
)
def test_the_article_is_no_label(answer: str, expected: Outcome):
    assert outcome(answer, gold="A") is expected


@pytest.mark.parametrize("gold", ["C", "(C)", r"\text{C}", r"\textbf{(C)}", "(C) Cecile", "c"])
def test_the_gold_may_be_written_as_labels_are(gold: str):
    assert outcome("C", gold) is Outcome.CORRECT
    assert outcome("D", gold) is Outcome.INCORRECT


@pytest.mark.parametrize("gold", ["A, C", "AC", "A and C", "(A), (C)"])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        *((answer, Outcome.CORRECT) for answer in ("A, C", "C, A", "A and C", "(A), (C)", "AC", "CA", "a & c", "A C")),
        *((answer, Outcome.CORRECT) for answer in (r"\{A, C\}", r"\text{A, C}", "$A$, $C$", "the answer is A and C")),
        *((answer, Outcome.INCORRECT) for answer in ("A", "C", "A, B, C", "ABC", "A or C", "A, not C", "ac", "AAC")),
    ],
)
def test_a_gold_of_several_labels_wants_them_all_and_no_other(gold: str, answer: str, expected: Outcome):
    assert outcome(answer, gold) is expected


@pytest.mark.parametrize(
    "choices",
    [["12 cm", "13 cm", r"14\text{ cm}", "a cat"], {"A": "12 cm", "b": "13 cm", "C": "14 cm", "D": "A cat."}],
)
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        *((answer, Outcome.CORRECT) for answer in ("C", "14 cm", "14  CM", r"14 \text{ cm}", "C: 14 cm", "(C) 14 CM.")),
        *((answer, Outcome.CORRECT) for answer in ("C. it is the longest", "the answer is 14 cm")),
        *((answer, Outcome.INCORRECT) for answer in ("13 cm", "a cat", "C: 13 cm", "C) A cat", "B: 14 cm", "14", "D")),
        *((answer, Outcome.INCORRECT) for answer in ("E", "C 14 cm or 13 cm", "14 cm, 13 cm")),
    ],
)
def test_texts_of_the_choices_count_as_their_labels(choices: object, answer: str, expected: Outcome):
    assert outcome(answer, choices=choices) is expected


def test_a_text_that_two_choices_have_names_neither():
    assert outcome("12", gold="A", choices=["12", "12"]) is Outcome.INCORRECT
    assert outcome("A: 12", gold="A", choices=["12", "12"]) is Outcome.CORRECT


def test_a_text_that_mentions_a_label_is_accepted_once_it_is_known_as_the_choices():
    assert outcome("C: vitamin D") is Outcome.INCORRECT
    assert outcome("C: vitamin D", choices=["vitamin A", "vitamin B", "vitamin D"]) is Outcome.CORRECT


def test_a_letter_that_is_one_label_and_anothers_text_is_ambiguous():
    choices = ["B", "A", "C"]
    assert outcome("B", gold="B", choices=choices) is Outcome.INCORRECT
    assert outcome("(B)", gold="B", choices=choices) is Outcome.CORRECT
    assert outcome("C", gold="C", choices=choices) is Outcome.CORRECT


@pytest.mark.parametrize(
    ("answer_format", "response", "expected"),
    [
        ("boxed", r"\boxed{C} or \boxed{D}", Outcome.INCORRECT),
        ("boxed", r"\boxed{C}, that is \boxed{(C)}", Outcome.CORRECT),
        ("boxed", r"\boxed{12}, that is \boxed{C}", Outcome.INCORRECT),
        ("boxed", r"<think>\boxed{C}</think> no idea", Outcome.NO_ANSWER),
        ("tag:answer", "<answer>D</answer><answer>C</answer>", Outcome.INCORRECT),
        ("tag:answer", "A and B fail. <answer>C</answer>", Outcome.CORRECT),
        ("marker:####", "#### Step 1: look\n#### C", Outcome.CORRECT),
        ("marker:####", "#### D\n#### C", Outcome.INCORRECT),
        ("marker:Answer:", "Answer: (C) 12\n", Outcome.CORRECT),
        ("boxed", "The answer is C.", Outcome.NO_ANSWER),
    ],
)
def test_only_the_declared_place_counts_and_only_one_answer(answer_format: str, response: str, expected: Outcome):
    assert MultipleChoice().verify(problem("C", answer_format), response).outcome is expected


def test_other_labels_can_be_set():
    numbered = MultipleChoice(choices="1234")
    assert numbered.verify(problem("2"), r"\boxed{(2)}").outcome is Outcome.CORRECT
    assert numbered.verify(problem("2"), r"\boxed{22}").outcome is Outcome.INCORRECT
    with pytest.raises(BadReferenceError):
        numbered.verify(problem("C"), "anything")


@pytest.mark.parametrize("choices", ["", "AA", "aA", "A B", "A,B", "\u00e9"])
def test_labels_that_cannot_be_told_apart_are_refused(choices: str):
    with pytest.raises(VerifierOptionError, match=r"task\.verifier_options\.choices: "):
        MultipleChoice(choices=choices)


@pytest.mark.parametrize("gold", ["", "12", "Cat", "Z", "C or D", "not C", "C: D", "D. C"])
def test_a_gold_that_names_no_choice_names_the_problem(gold: str):
    with pytest.raises(BadReferenceError, match=r"problem toy/1: the gold answer"):
        MultipleChoice().verify(problem(gold), "anything")


@pytest.mark.parametrize(
    "choices", ["ABC", 3, [], {}, [1, 2, 3], {"A": 1}, {"one": "x"}, {"A": "x", "a": "y"}, ["x"] * 11]
)
def test_choices_that_cannot_be_read_name_the_problem(choices: object):
    with pytest.raises(BadReferenceError, match=r"problem toy/1: metadata\['choices'\]"):
        MultipleChoice().verify(problem(metadata={"choices": choices}), "anything")


def test_an_answer_format_that_finds_no_labels_names_the_problem_and_the_cure():
    with pytest.raises(BadReferenceError, match=r"problem toy/1: the answer format 'last_number'.*'boxed'"):
        MultipleChoice().verify(problem(answer_format="last_number"), "C")


@given(
    st.sampled_from("ABCDE"),
    st.sampled_from("ABCDE"),
    st.sampled_from(["{}", "({})", "{}.", r"\text{{({})}}", "{}: 7"]),
)
def test_a_label_is_right_exactly_if_it_is_the_golds(gold: str, answer: str, style: str):
    assert (outcome(style.format(answer), gold) is Outcome.CORRECT) == (gold == answer)


def test_the_public_boxed_cases_are_judged_as_labelled():
    lines = Path(shared_file("cases/math_public.jsonl")).read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["kind"] == "mcq" and case["format"] == "boxed"]
    assert len(cases) > 10
    wrong = [
        case["id"]
        for case in cases
        if MultipleChoice().verify(problem(case["gold"]), case["response"]).score != float(case["correct"])
    ]
    assert wrong == []
