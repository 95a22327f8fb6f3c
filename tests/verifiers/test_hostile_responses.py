"""The verifiers beside the mathematical ones give a verdict on whatever a policy writes, in bounded time."""

import pickle
import threading
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks import CountdownTarget, MathAnswer, Problem
from verifiers import Outcome, Verdict, Verifier, load_verifier

LENGTH = 100_000
LIMIT_S = 2.0

GOLDS: dict[str, dict[str, Any]] = {
    "multiple_choice": {"value": "C"},
    "multiple_choice several": {"value": "A, C"},
    "regex": {"value": r"\d+"},
    "regex slow": {"value": r"(?:\w+\s?)+!"},
    "json_match": {"value": '{"a": [1, "x"]}'},
    "json_match fenced": {"value": '{"a": [1, "x"]}'},
    "json_match whole": {"value": "[[1, 2], [3, 4]]"},
    "countdown": {"numbers": (1, 2, 3), "target": 6},
    "answer_format": {"value": "5"},
    "length_penalty": {"value": "5"},
    "weighted": {"value": "5"},
    "all": {"value": "5"},
    "any": {"value": "5"},
    "random": {"value": "5"},
    "shuffled": {"value": "5"},
}
PARTS = [{"name": "numeric"}, {"name": "answer_format"}]
OPTIONS: dict[str, dict[str, object]] = {
    "json_match fenced": {"place": "fenced", "abs_tol": 0.5},
    "json_match whole": {"place": "whole", "unordered_lists": True, "subset": True},
    "answer_format": {"boxed": True},
    "length_penalty": {"max_length": 100, "cache": 20, "unit": "words"},
    "weighted": {"parts": PARTS},
    "all": {"parts": PARTS},
    "any": {"parts": PARTS},
    "shuffled": {"verifier": "numeric"},
}
VERIFIERS: dict[str, Verifier] = {name: load_verifier(name.split()[0], OPTIONS.get(name)) for name in GOLDS}
SLOW = "regex slow"  # its pattern is made to run into the limit

PIECES = [
    *("C", "(C)", "C:", "C) ", "A, ", "A and ", "(", "((", ")", "[", "]", "{", "}", "{}", "[1,", '{"a":', '"', '\\"'),
    *(
        "1",
        "1+",
        "(1+",
        "1/",
        "-",
        "*",
        "**",
        "$",
        "`",
        "\\",
        "\\frac{",
        "\\frac{1}{",
        "\\text{",
        "\\boxed{",
        "~",
        "\\,",
    ),
    *(
        "1,",
        "1e9",
        "e",
        "not ",
        "or ",
        "option ",
        "the answer is ",
        " ",
        "\n",
        "\t",
        "\u2009",
        "x",
        "=",
        "1=",
        "a ",
        "a",
    ),
    *("<think>", "</think>", "<answer>", "</answer>", "<answer>1</answer>", "```json\n", "```\n", "```json\n1\n```\n"),
    *("\x00", "\ud800", "\u0663", "\u00bd", "\u202e", "\U0001f600", "\\u0000", "NaN", "true,", "null "),
]


def problem(name: str, answer_format: str = "tag:answer") -> Problem:
    make = CountdownTarget if name == "countdown" else MathAnswer
    reference = make(**GOLDS[name], answer_format=answer_format)
    return Problem(id="toy", prompt="?", reference=reference, verifier=name)


def judge(name: str, response: str, answer_format: str = "tag:answer") -> Verdict:
    verdict = VERIFIERS[name].verify(problem(name, answer_format), response)
    assert 0.0 <= verdict.score <= 1.0
    assert verdict.outcome is not Outcome.CORRECT or verdict.score > 0
    assert verdict.detail.isascii()
    assert verdict.detail.isprintable()
    return verdict


@pytest.mark.parametrize("name", [name for name in GOLDS if name != SLOW])
def test_no_repeated_piece_takes_long(name: str):
    for piece in PIECES:
        body = (piece * LENGTH)[:LENGTH]
        several = "".join(f"<answer>{body[:size]}</answer>" for size in range(950, 1050))
        for response in (body, f"<think>t</think><answer>{body}</answer>", several):
            start = time.thread_time()
            judge(name, response)
            assert time.thread_time() - start < LIMIT_S, repr(piece)


def test_a_pattern_that_backtracks_is_stopped():
    assert judge(SLOW, f"<answer>{'a' * LENGTH}</answer>").outcome is Outcome.TIMED_OUT


@pytest.mark.parametrize("name", [name for name in GOLDS if name != SLOW])
@pytest.mark.parametrize(
    "opening", ["(", "[", "{", '{"a":', "\\text{", "\\frac{", "\\boxed{", "<answer>", "<think>", "$", "**"]
)
def test_nesting_of_any_depth_gets_a_verdict(name: str, opening: str):
    closing = {"(": ")", "[": "]", "<answer>": "</answer>", "<think>": "</think>", "$": "$", "**": "**"}.get(
        opening, "}"
    )
    deep = opening * 10_000 + "1" + closing * 10_000
    for response in (deep, f"<answer>{deep}</answer>", f"<answer>{opening * 10_000}</answer>", f"```json\n{deep}\n```"):
        judge(name, response)


surrogates = st.characters(categories=["Cs"])
anything = st.text(st.characters() | surrogates | st.sampled_from('0123456789{}[]()\\<>/#$,.-+*"ABC'), max_size=60)
mixed = st.lists(st.sampled_from(PIECES) | anything, max_size=10).map("".join)
formats = st.sampled_from(["tag:answer", "boxed", "marker:####"])


@pytest.mark.parametrize("name", [name for name in GOLDS if name != SLOW])
@settings(max_examples=50)
@given(text=mixed, answer_format=formats)
def test_any_text_gets_a_verdict_of_one_printable_line(name: str, text: str, answer_format: str):
    for response in (text, f"\\boxed{{{text}}}", f"#### {text}", f"<think>t</think><answer>{text}</answer>"):
        judge(name, response, answer_format)


@pytest.mark.parametrize("name", [name for name in GOLDS if name != SLOW])
def test_a_copy_made_by_pickle_and_other_threads_find_the_same(name: str):
    copy = pickle.loads(pickle.dumps(VERIFIERS[name]))
    responses = [f"<think>t</think><answer>{piece}</answer>" for piece in PIECES]
    expected = [judge(name, response) for response in responses]
    assert [copy.verify(problem(name), response) for response in responses] == expected
    found: list[list[Verdict]] = []
    threads = [
        threading.Thread(target=lambda: found.append([judge(name, response) for response in responses]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
