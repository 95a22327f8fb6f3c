"""What the adapters exchange with a trainer: gold strings become problems, and rewards become verdicts."""

import math
from dataclasses import dataclass
from typing import Any

from tasks.types import MathAnswer, Problem
from verifiers.errors import BadReferenceError, VerifierError
from verifiers.types import Outcome, Verdict


def problem_of(gold: object, *, id: str, prompt: str, answer_format: str, verifier: str) -> Problem:
    """Return a problem whose right answer is `gold`, a string or an integer, as data sets have them.

    Raises:
        BadReferenceError: it is neither.
    """
    if isinstance(gold, bool) or not isinstance(gold, str | int):
        raise BadReferenceError(
            f"problem {id}: the gold answer must be a string or an integer, not a {type(gold).__name__}"
        )
    reference = MathAnswer(value=str(gold), answer_format=answer_format)
    return Problem(id=id, prompt=prompt, reference=reference, verifier=verifier)


def gold_of(problem: Problem) -> str:
    """Return the gold answer of a problem.

    Raises:
        BadReferenceError: the reference is no MathAnswer.
    """
    if not isinstance(problem.reference, MathAnswer):
        raise BadReferenceError(
            f"problem {problem.id}: the reference must be a MathAnswer, not a {type(problem.reference).__name__}"
        )
    return problem.reference.value


def name_of(function: object) -> str:
    """Return what to call a reward function in messages."""
    return getattr(function, "__name__", type(function).__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class RewardScale:
    """How the rewards of a foreign function are to be read.

    Raises:
        ValueError: not low < threshold <= high.
    """

    low: float
    """The least reward; score 0."""
    high: float
    """The highest; score 1."""
    threshold: float
    """The least reward of a right response."""

    def __post_init__(self) -> None:
        if not self.low < self.threshold <= self.high:
            raise ValueError(
                "the scale of a reward function needs low < threshold <= high,"
                f" got low={self.low}, threshold={self.threshold}, high={self.high}"
            )

    def verdict(self, reward: Any, problem: Problem, source: str) -> Verdict:
        """Return what `reward` says of a response to `problem`.

        Raises:
            VerifierError: it is None or not a number, which is how a reward function says that it cannot tell.
            ValueError: it lies outside the scale.
        """
        number = math.nan if reward is None else float(reward)
        if math.isnan(number):
            raise VerifierError(f"problem {problem.id}: {source} gave no reward")
        if not self.low <= number <= self.high:
            raise ValueError(
                f"{source} gave the reward {number}, outside of [{self.low}, {self.high}]: set low and high"
            )
        outcome = Outcome.CORRECT if number >= self.threshold else Outcome.INCORRECT
        score = (number - self.low) / (self.high - self.low)
        return Verdict(outcome=outcome, score=score, detail=f"reward {number:g} from {source}")
