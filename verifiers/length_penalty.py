"""Judge the length of a response alone: the soft overlong punishment of DAPO."""

from typing import Literal

from tasks.types import Problem
from verifiers.errors import VerifierOptionError
from verifiers.types import Outcome, Verdict


def soft_overlong_penalty(length: int, *, max_length: int, cache: int) -> float:
    """Return 0 up to max_length - cache, then what falls evenly to -1 at max_length and stays there.

    DAPO, arXiv 2503.14476, equation 13.

    Args:
        cache: width of the interval in which the penalty grows; from 1 to `max_length`.
    """
    return max(-1.0, min(0, max_length - cache - length) / cache)


class LengthPenalty:
    """Scores 1 + soft_overlong_penalty(length) whatever the response says; parts["length_penalty"] is the penalty.

    The outcome is CORRECT while there is no penalty. No reference is read. A verifier sees text alone and cannot count
    tokens: for a penalty in exact tokens set reward.overlong_cache, which needs no verifier.

    Args:
        max_length: length from which the whole penalty is due.
        cache: how far below `max_length` it begins.
        unit: what is counted, in all of the response, its reasoning included.

    Raises:
        VerifierOptionError: `cache` is not between 1 and `max_length`.
    """

    def __init__(self, *, max_length: int, cache: int, unit: Literal["characters", "words"] = "characters") -> None:
        if not 1 <= cache <= max_length:
            raise VerifierOptionError(
                f"task.verifier_options.cache: must be between 1 and max_length, which is {max_length}, got {cache}"
            )
        self._max_length = max_length
        self._cache = cache
        self._unit = unit

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on the length of `response`."""
        length = len(response) if self._unit == "characters" else len(response.split())
        penalty = soft_overlong_penalty(length, max_length=self._max_length, cache=self._cache)
        return Verdict(
            outcome=Outcome.CORRECT if penalty == 0 else Outcome.INCORRECT,
            score=1.0 + penalty,
            detail=f"{length} {self._unit}; {self._max_length - self._cache} are free, {self._max_length} the limit",
            parts={"length_penalty": penalty},
        )
