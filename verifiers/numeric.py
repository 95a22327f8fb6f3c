"""Judge answers that are one number, by value."""

import math
from fractions import Fraction
from functools import lru_cache

from tasks.types import Problem
from verifiers.errors import BadReferenceError, VerifierOptionError
from verifiers.extract import Extraction, read_answer
from verifiers.numerals import Numeral, parse_number, read_numeral
from verifiers.types import Outcome, Verdict

__all__ = ["Numeric", "parse_number"]


class Numeric:
    """Compares the response's number with the gold number as exact fractions; nothing is rounded.

    A percent sign on one side alone may be meant either way: "28%" answers both 28 and 0.28. Units are compared only
    where both sides have one. A response that declares several answers of different value is incorrect.

    Args:
        abs_tol: how far the answer may lie from the gold number.
        rel_tol: the same as a share of the gold number; the wider of the two holds.

    Raises:
        VerifierOptionError: a tolerance is negative or not finite.
    """

    def __init__(self, *, abs_tol: float = 0.0, rel_tol: float = 0.0) -> None:
        for name, value in (("abs_tol", abs_tol), ("rel_tol", rel_tol)):
            if not (math.isfinite(value) and value >= 0):
                raise VerifierOptionError(f"task.verifier_options.{name}: must be at least 0 and finite, got {value}")
        self._abs_tol = Fraction(abs_tol)
        self._rel_tol = Fraction(rel_tol)

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on `response`.

        Raises:
            BadReferenceError: the gold answer is not a number, or the reference is of another kind.
        """
        reference, extraction = read_answer(problem, response)
        gold = _gold_numeral(reference.value)
        if gold is None:
            raise BadReferenceError(f"problem {problem.id}: the gold answer {reference.value[:80]!r} is not a number")
        if extraction.text is None:
            return Verdict(
                outcome=Outcome.NO_ANSWER, score=0.0, detail=f"no answer in the place {reference.answer_format!r}"
            )
        numeral = read_numeral(extraction.text)
        if numeral is None:
            return _incorrect(extraction, f"not one number: {_shown(extraction.text)}")
        rival = self._rival(numeral, extraction, headings_allowed=reference.answer_format.startswith("marker:"))
        if rival is not None:
            return _incorrect(extraction, f"several answers: {_shown(rival)} and {_shown(extraction.text)}")
        if not self._equal(numeral, gold):
            return _incorrect(extraction, f"{_shown(extraction.text)} is not {_shown(reference.value)}")
        return Verdict(
            outcome=Outcome.CORRECT, score=1.0, answer=extraction.text, detail=f"equals {_shown(reference.value)}"
        )

    def _rival(self, numeral: Numeral, extraction: Extraction, *, headings_allowed: bool) -> str | None:
        """Return an answer of another value that the response also declares, if there is one.

        "#### Step 1" is a heading of markdown, so that after a marker only numbers are answers.
        """
        for rival in extraction.rivals:
            other = read_numeral(rival)
            if (other is None and not headings_allowed) or (other is not None and not self._equal(other, numeral)):
                return rival
        return None

    def _equal(self, numeral: Numeral, gold: Numeral) -> bool:
        if numeral.unit and gold.unit and numeral.unit != gold.unit:
            return False
        if self._close(numeral.value, gold.value):
            return True
        if numeral.percent and not gold.percent:
            return self._close(numeral.value * 100, gold.value)
        return gold.percent and not numeral.percent and self._close(numeral.value, gold.value * 100)

    def _close(self, value: Fraction, gold: Fraction) -> bool:
        if not (self._abs_tol or self._rel_tol):
            return value == gold
        return abs(value - gold) <= max(self._abs_tol, self._rel_tol * abs(gold))


@lru_cache(maxsize=4096)
def _gold_numeral(value: str) -> Numeral | None:
    return read_numeral(value)


def _incorrect(extraction: Extraction, detail: str) -> Verdict:
    return Verdict(outcome=Outcome.INCORRECT, score=0.0, answer=extraction.text, detail=detail)


def _shown(text: str) -> str:
    """Return `text` for a detail: one line, printable, short."""
    return ascii(text if len(text) <= 60 else text[:57] + "...")
