"""The nouns of judging: a verdict, and what gives one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from tasks.types import Problem


class Outcome(StrEnum):
    """What became of a response. Everything here is caused by the response's text, never by our machinery."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    NO_ANSWER = "no_answer"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """A verifier's finding on one response."""

    outcome: Outcome
    score: float
    """In [0, 1]; 1.0 is fully right. What reward it earns is decided elsewhere."""
    answer: str | None = None
    """What was extracted from the response, None where nothing was found."""
    detail: str = ""
    """The reason in one line."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Scores of the parts, where a verifier combines several."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.score <= 1.0:
            raise ValueError(f"a verdict's score must lie in [0, 1], got {self.score}")


@runtime_checkable
class Verifier(Protocol):
    """Judges one response. Called from several threads at once."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on the `response` text to `problem`.

        Raises:
            VerifierError: our own failure (bad reference, dead worker), never something the response's text caused.
        """
        ...


@runtime_checkable
class BatchVerifier(Verifier, Protocol):
    """A verifier that is faster on many responses at once, for instance one backed by a model."""

    def verify_batch(self, problems: Sequence[Problem], responses: Sequence[str]) -> list[Verdict]:
        """Return one verdict for each pair, in order. Raises as `verify` does."""
        ...
