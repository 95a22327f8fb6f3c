"""Verdicts in their usual forms: right, wrong, nothing found."""

from collections.abc import Mapping

from verifiers.types import Outcome, Verdict


def correct(answer: str | None, detail: str, parts: Mapping[str, float] | None = None) -> Verdict:
    return Verdict(outcome=Outcome.CORRECT, score=1.0, answer=answer, detail=detail, parts=parts or {})


def incorrect(answer: str | None, detail: str, parts: Mapping[str, float] | None = None) -> Verdict:
    return Verdict(outcome=Outcome.INCORRECT, score=0.0, answer=answer, detail=detail, parts=parts or {})


def no_answer(place: str) -> Verdict:
    """Return the verdict on a response that has no answer in `place`."""
    return Verdict(outcome=Outcome.NO_ANSWER, score=0.0, detail=f"no answer in the place {place!r}")


def shown(text: str) -> str:
    """Return `text` for a detail: one line, printable, short."""
    return ascii(text if len(text) <= 60 else text[:57] + "...")
