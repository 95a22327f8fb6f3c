"""Judge answers by a pattern that the problem gives, in bounded time whatever the pattern and the answer."""

import re
from functools import lru_cache
from typing import Any

from tasks.types import Problem
from verifiers.errors import BadReferenceError
from verifiers.extract import read_answer
from verifiers.types import Outcome, Verdict
from verifiers.verdicts import correct, incorrect, no_answer, shown
from verifiers.worker_pool import LimitReachedError, WorkerPool

LIMIT_S = 1.0
"""How long the pattern may be tried on one response's answers."""

QUICK_LENGTH = 200
"""Characters, of pattern and answers each, up to which a simple pattern is tried in this process."""

_QUANTIFIERS = 2
_SIMPLE = re.compile(
    r"""
    (?: \\[^0-9A-Za-z] | \\[dDwWsSnrt]         # an escaped sign or a kind of character
      | \[ \^? \]? (?:[^\]\[\\]|\\.)*+ \]      # a set of characters
      | [^\\\[\](){}|*+?]                      # any other character, and . ^ $
    )
    (?P<quantifier>[*+?][+?]?)? | \|
    """,
    re.VERBOSE | re.DOTALL,
)


class Regex:
    """Accepts an answer that the gold pattern (Python's `re`) matches as a whole, blanks around it apart.

    Of several different answers each must match. The pattern comes from the problem alone; nothing that the response
    says is compiled. A pattern that backtracks for too long makes the verdict TIMED_OUT: it runs in a process of its
    own, but for simple ones, which cannot.

    Args:
        ignore_case: whether "East" matches "east".
    """

    def __init__(self, *, ignore_case: bool = False) -> None:
        self._ignore_case = ignore_case
        self._pool = WorkerPool("verifiers.regex:match_all", wall_s=LIMIT_S, memory_mb=256)

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on `response`.

        Raises:
            BadReferenceError: the pattern does not compile, or the reference is no MathAnswer.
            WorkerLostError: no worker process can be started.
        """
        reference, extraction = read_answer(problem, response)
        pattern = reference.value
        mistake = _mistake(pattern)
        if mistake:
            raise BadReferenceError(f"problem {problem.id}: the gold pattern {shown(pattern)} is none: {mistake}")
        if extraction.text is None:
            return no_answer(reference.answer_format)
        texts = [extraction.text, *extraction.rivals]
        job = {"pattern": pattern, "ignore_case": self._ignore_case, "texts": texts}
        quick = sum(map(len, texts)) <= QUICK_LENGTH and is_quick(pattern)
        try:
            matches = match_all(job) if quick else self._pool.call(job)
        except LimitReachedError as error:
            detail = f"the pattern was stopped on {shown(extraction.text)}: {error}"
            return Verdict(outcome=Outcome.TIMED_OUT, score=0.0, answer=extraction.text, detail=detail)
        assert isinstance(matches, list)
        for text, matched in zip(texts, matches, strict=True):
            if not matched:
                return incorrect(extraction.text, f"{shown(text)} does not match {shown(pattern)}")
        return correct(extraction.text, f"matches {shown(pattern)}")


def match_all(job: Any) -> list[bool]:
    """Return which of job["texts"] the pattern matches as a whole; runs in a worker process."""
    pattern = re.compile(job["pattern"], re.IGNORECASE if job["ignore_case"] else 0)
    return [pattern.fullmatch(text) is not None for text in job["texts"]]


@lru_cache(maxsize=4096)
def is_quick(pattern: str) -> bool:
    """Return whether `pattern` surely takes a moment only: a proof for simple patterns, not a guess.

    Without groups, a branch is a row of single characters or sets, and at most two in the whole pattern are quantified.
    A text of n characters is then split in at most n^2 ways, each tried once in at most len(pattern) steps.
    """
    position = quantifiers = 0
    while quantifiers <= _QUANTIFIERS and (simple := _SIMPLE.match(pattern, position)):
        position = simple.end()
        quantifiers += simple["quantifier"] is not None
    return len(pattern) <= QUICK_LENGTH and quantifiers <= _QUANTIFIERS and position == len(pattern)


@lru_cache(maxsize=4096)
def _mistake(pattern: str) -> str:
    """Return why `pattern` does not compile, "" where it does."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return ""
