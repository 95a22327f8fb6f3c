"""Verifiers with the faults that an audit must find; importable by name, for it makes them in another process."""

import os
import re
import time

from tasks.types import Problem
from verifiers.errors import BadReferenceError
from verifiers.types import Outcome, Verdict

CORRECT = Verdict(outcome=Outcome.CORRECT, score=1.0)
INCORRECT = Verdict(outcome=Outcome.INCORRECT, score=0.0)


class GoldAnywhere:
    """Looks for the gold text anywhere in the response."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        return CORRECT if problem.reference.value in response else INCORRECT


class FirstNumber:
    """Takes the first run of digits for the answer."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        first = re.search(r"\d+", response)
        return CORRECT if first and first[0] == problem.reference.value else INCORRECT


class Evaluating:
    """Evaluates what stands behind the last marker as Python."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        code = response.rpartition("#")[2].strip()
        if len(code) > 200 or "**" in code:
            return INCORRECT
        try:
            return CORRECT if str(eval(code)) == problem.reference.value else INCORRECT
        except BaseException:
            return INCORRECT


class Generous:
    """Accepts everything."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        return CORRECT


class Strict:
    """Accepts nothing."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        return INCORRECT


class HalfMarks:
    """Gives every response half a score."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        return Verdict(outcome=Outcome.INCORRECT, score=0.5)


class FullMarksForWrong:
    """Says that every response is wrong, and gives it the full score."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        return Verdict(outcome=Outcome.INCORRECT, score=1.0)


class Hanging:
    """Never comes back from a response with a NUL, and holds the interpreter meanwhile."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        if "\x00" in response:
            re.match(r"(a|a)*b", "a" * 60)
        return INCORRECT


class Dying:
    """Takes its process with it on a response with a NUL."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        if "\x00" in response:
            os._exit(3)
        return INCORRECT


class Raising:
    """Raises on lone surrogates, which cannot be encoded."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        response.encode()
        return INCORRECT


class Refusing:
    """Can use no reference."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        raise BadReferenceError(f"problem {problem.id}: not for me")


class Forgetful:
    """Returns no verdict."""

    def verify(self, problem: Problem, response: str) -> bool:
        return True


class Slow:
    """Takes two milliseconds for any response."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        time.sleep(0.002)
        return INCORRECT


class Unmakeable:
    """Cannot be made."""

    def __init__(self) -> None:
        raise RuntimeError("no licence")
