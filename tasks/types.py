"""The nouns of a task: what is asked, and what a right answer is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, kw_only=True, slots=True)
class MathAnswer:
    """The reference of a problem whose answer is a value."""

    value: str
    """The gold answer as the data set gives it, for instance "72" or "1,000"."""
    answer_format: str = "last_number"
    r"""Where a response must put its answer: "boxed" (the last \boxed{...}), "marker:####" (what follows the last
    "####" on its line), "tag:answer" (inside the last <answer>...</answer>), "last_number" (wherever it stands) or
    "lenient" (wherever a response announces it: for outputs of models that were not told where to put it)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CountdownTarget:
    """The reference of a countdown problem: numbers to combine with + - * / into the target."""

    numbers: tuple[int, ...]
    """The numbers given; each may be used as often as it stands here."""
    target: int
    answer_format: str = "tag:answer"
    """Where a response must put its expression; see MathAnswer."""
    use_all: bool = True
    """Whether every number must be used; False lets some be left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One question with its reference answer."""

    id: str
    """Unique and stable, for instance "gsm8k/train/17"."""
    prompt: str
    """What the policy is asked, before any chat template."""
    reference: Any
    """MathAnswer, or a plug-in's own record; read by the verifier alone, never shown to the policy."""
    verifier: str
    """Name of the verifier that judges responses to this problem."""
    demonstration: str | None = None
    """A response to imitate in the SFT warm start; None where the task has none."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Anything worth keeping with the problem (difficulty, source row); never read by the pipeline."""


@runtime_checkable
class Task(Protocol):
    """A named source of problems."""

    @property
    def name(self) -> str:
        """The name the task is known by, the first part of its problems' ids."""
        ...

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the problems of `split` ("train" or "test"), the same ones in the same order at every call.

        The sequence may be virtual: problems made when indexed, as many as `len` says.

        Raises:
            TaskError: the split does not exist, or its data cannot be read.
        """
        ...
