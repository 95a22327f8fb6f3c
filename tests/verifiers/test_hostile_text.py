"""Whatever a policy writes is judged, in bounded time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks import MathAnswer, Problem
from verifiers import Outcome, Verdict
from verifiers.exact import Exact
from verifiers.numeric import Numeric

FORMATS = ("boxed", "marker:####", "tag:answer", "last_number")
LENGTH = 100_000

PIECES = [
    *(
        "9",
        "1 ",
        "1,",
        "1,1",
        "1.",
        "1 1/",
        "1/",
        "1e",
        "1e9",
        "10^",
        "x10^",
        "-",
        "$",
        "%",
        "\u00bd",
        "1\u2009",
        "5 a",
    ),
    *("{", "}", "\\", "\\\\", "\\boxed", "\\boxed{", "\\boxed{1}", "\\boxed{1", "\\frac", "\\frac{1", "\\frac{1}{"),
    *("\\text{", "\\text ", "^", "^ ", "#", "####", "#### 1\n", "<answer>", "</answer>", "<answer>1</answer>"),
    *("<think>", "</think>", " ", "\n", "\u2009", "~", "*", "a.", "a-", "\x00", "\ud800", "\u0663"),
]


def problem(answer_format: str) -> Problem:
    reference = MathAnswer(value="5", answer_format=answer_format)
    return Problem(id="toy", prompt="?", reference=reference, verifier="numeric")


def judge(response: str, answer_format: str) -> list[Verdict]:
    verifiers = (Numeric(), Numeric(rel_tol=0.01), Exact())
    return [verifier.verify(problem(answer_format), response) for verifier in verifiers]


@pytest.mark.parametrize("answer_format", FORMATS)
def test_no_repeated_piece_takes_long(answer_format: str):
    for piece in PIECES:
        body = (piece * LENGTH)[:LENGTH]
        for response in (body, f"\\boxed{{<answer>#### 5{body}!</answer>}}"):
            start = time.process_time()
            Numeric().verify(problem(answer_format), response)
            assert time.process_time() - start < 2.0, repr(piece)


def test_nesting_of_any_depth_is_read():
    deep = "\\boxed{" * 10_000 + "5" + "}" * 10_000
    assert judge(deep, "boxed")[0].outcome is Outcome.CORRECT
    brackets = "\\boxed{" + "(" * 10_000 + "5" + ")" * 10_000 + "}"
    assert judge(brackets, "boxed")[0].outcome is Outcome.INCORRECT


@pytest.mark.parametrize(
    "answer", ["10^10^10", "9^{9^{9^9}}", "1e999999999", "100000000!", "9" * 5000, "1/" + "9" * 900]
)
def test_numbers_of_any_size_cost_nothing(answer: str):
    start = time.process_time()
    assert judge(f"\\boxed{{{answer}}}", "boxed")[0].outcome is Outcome.INCORRECT
    assert time.process_time() - start < 0.1


surrogates = st.characters(categories=["Cs"])
anything = st.text(st.characters() | surrogates | st.sampled_from("0123456789{}\\<>/#$,.-"), max_size=80)
mixed = st.lists(st.sampled_from(PIECES) | anything, max_size=12).map("".join)


@given(mixed, st.sampled_from(FORMATS))
def test_any_text_gets_a_verdict_of_one_printable_line(response: str, answer_format: str):
    for verdict in judge(response, answer_format):
        assert verdict.score in (0.0, 1.0)
        assert (verdict.score == 1.0) == (verdict.outcome is Outcome.CORRECT)
        assert (verdict.answer is None) == (verdict.outcome is Outcome.NO_ANSWER)
        assert verdict.detail.isprintable()
        assert verdict.detail.isascii()


@given(mixed)
def test_nothing_in_the_reasoning_makes_an_answer(response: str):
    for answer_format in FORMATS:
        assert judge(response.replace("</think>", "") + "</think> I do not know.", answer_format)[0].answer is None
