import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks import Problem
from verifiers import Outcome, Verifier, VerifierOptionError, load_verifier
from verifiers.answer_format import AnswerFormat

PROBLEM = Problem(id="toy/1", prompt="?", reference=None, verifier="answer_format")
GOOD = "<think>2 and 2</think>\n<answer>4</answer>"


def accepts(response: str, verifier: AnswerFormat | None = None) -> bool:
    verdict = (verifier or AnswerFormat()).verify(PROBLEM, response)
    assert verdict.outcome in (Outcome.CORRECT, Outcome.INCORRECT)
    assert verdict.score == float(verdict.outcome is Outcome.CORRECT)
    return verdict.score == 1.0


def test_it_keeps_the_verifier_contract_and_needs_no_gold():
    assert isinstance(load_verifier("answer_format"), Verifier)
    verdict = AnswerFormat().verify(PROBLEM, GOOD)
    assert (verdict.outcome, verdict.answer) == (Outcome.CORRECT, "4")


@pytest.mark.parametrize("response", [GOOD, f"\n {GOOD}\n\n", "<think>\na < b\n</think><answer>\n4\n</answer>"])
def test_thinking_then_an_answer_is_accepted(response: str):
    assert accepts(response)


@pytest.mark.parametrize(
    "response",
    [
        *("", "4", "<answer>4</answer>", "<think>t</think>", "<think>t</think> 4", "<think>t</think><answer>4"),
        *(
            "<think></think><answer>4</answer>",
            "<think> \n</think><answer>4</answer>",
            "<think>t</think><answer> </answer>",
        ),
        *(f"So: {GOOD}", f"{GOOD} done", "<think>t</think> so <answer>4</answer>", f"{GOOD}\x00"),
        *(
            "<answer>4</answer><think>t</think>",
            "</think>t<think><answer>4</answer>",
            "<think>t<answer>4</answer></think>",
        ),
        *("<think>t</answer><answer>4</think>", "<think>t</think><answer>4</answer></answer>", f"<think>{GOOD}"),
        *("<Think>t</Think><Answer>4</Answer>", "<think >t</think><answer>4</answer>", "t</think><answer>4</answer>"),
    ],
)
def test_anything_else_is_not(response: str):
    assert not accepts(response)


@pytest.mark.parametrize("tag", ["<think>", "</think>", "<answer>", "</answer>"])
def test_a_tag_that_occurs_again_anywhere_is_refused(tag: str):
    for position in range(len(GOOD) + 1):
        assert not accepts(GOOD[:position] + tag + GOOD[position:])


def test_more_tags_never_earn_more():
    assert not accepts(GOOD * 2)
    assert not accepts("<think>t</think>" * 50 + "<answer>4</answer>" * 50)


def test_a_response_to_a_prompt_that_opens_the_thinking_begins_inside_it():
    verifier = AnswerFormat(prompt_opens_think=True)
    assert accepts("2 and 2</think>\n<answer>4</answer>", verifier)
    assert not accepts(GOOD, verifier)
    assert not accepts("</think><answer>4</answer>", verifier)
    assert not accepts("<answer>4</answer>", verifier)


def test_a_least_amount_of_thinking_can_be_asked_for():
    assert accepts(GOOD, AnswerFormat(min_think_characters=len("2 and 2")))
    assert not accepts(GOOD, AnswerFormat(min_think_characters=len("2 and 2") + 1))
    assert accepts("<think></think><answer>4</answer>", AnswerFormat(min_think_characters=0))
    with pytest.raises(VerifierOptionError, match=r"task\.verifier_options\.min_think_characters"):
        AnswerFormat(min_think_characters=-1)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (r"\boxed{4}", True),
        (r"It is $\boxed{\frac{1}{2}}$.", True),
        ("4", False),
        (r"\boxed{4} \boxed{4}", False),
        (r"\boxed{4} \boxed{5}", False),
        (r"\boxed{\boxed{4}}", False),
        (r"\boxed{4", False),
        (r"\boxed{ }", False),
    ],
)
def test_one_balanced_box_can_be_asked_for(answer: str, expected: bool):
    response = f"<think>\\boxed{{9}}</think><answer>{answer}</answer>"
    assert accepts(response, AnswerFormat(boxed=True)) is expected
    assert accepts(response)


blanks = st.text(" \n\t", max_size=3)
words = st.text("ab <>/", min_size=1, max_size=10).filter(str.strip)


@given(blanks, words, blanks, words, blanks)
def test_blanks_around_and_between_do_not_matter(before: str, thinking: str, between: str, answer: str, after: str):
    assert accepts(f"{before}<think>{thinking}</think>{between}<answer>{answer}</answer>{after}")
