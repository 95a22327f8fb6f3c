"""Stored responses judged again: which verdicts another verifier would have given, and what the figures would be."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlvr.errors import RunFolderError
from rlvr.evaluation.evaluate import verdict_columns
from rlvr.evaluation.pass_rate import PassRate, Row, pass_rate
from rlvr.evaluation.problems_by_id import ProblemsById
from rlvr.rollout.judge import judge
from rlvr.rollout.rewards import RewardRule, terminal_reward
from rlvr.rollout.types import Finish
from tasks.types import Problem
from verifiers.types import Outcome, Verdict, Verifier

AT_ONCE = 512
"""Responses of one call to `judge`."""

_NEEDED = ("problem", "prompt", "text", "finish", "outcome")


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredResponse:
    """A response as a run folder keeps it, with what a problem's position among its like is."""

    place: str
    """For people, such as "step 12" or "ppo 20 sampled"."""
    row: Row
    sample: int
    """Which of the problem's responses at this place, from 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejudged:
    """A stored response with its new verdict."""

    stored: StoredResponse
    new: Row
    """Columns outcome, score, answer and detail, or outcome None and the error."""

    @property
    def compares(self) -> bool:
        """Whether it has a verdict of both."""
        return self.stored.row["outcome"] is not None and self.new["outcome"] is not None

    @property
    def flipped(self) -> bool:
        return self.compares and self.stored.row["outcome"] != self.new["outcome"]

    def as_record(self) -> dict[str, Any]:
        """Return it as a line of a file: where it lies, its text, old_ and new_ columns of the verdicts."""
        row = self.stored.row
        columns = ("outcome", "score", "answer", "detail", "error")
        return {
            "place": self.stored.place,
            "problem": row["problem"],
            "sample": self.stored.sample,
            "text": row["text"],
            "finish": row["finish"],
            "flipped": self.flipped,
            **{f"old_{name}": row[name] for name in columns if name in row},
            **{f"new_{name}": self.new[name] for name in columns if name in self.new},
        }


@dataclass(kw_only=True, slots=True)
class Changes:
    """How the verdicts on some responses changed."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Responses with a verdict of both, by old and new outcome."""
    scores_alone: int = 0
    """Of these, how many kept their outcome and have another score."""
    failed: Counter[str] = field(default_factory=Counter)
    """Responses that could not be judged now, by the first line of the error."""
    unjudged_before: int = 0
    """Responses that had no verdict before: they have nothing to be compared with."""

    def add(self, rejudged: Rejudged) -> None:
        row, new = rejudged.stored.row, rejudged.new
        if new["outcome"] is None:
            self.failed[str(new["error"]).partition("\n")[0]] += 1
        elif row["outcome"] is None:
            self.unjudged_before += 1
        else:
            self.outcomes[row["outcome"], new["outcome"]] += 1
            same = row["outcome"] == new["outcome"]
            self.scores_alone += same and abs(row.get("score", new["score"]) - new["score"]) > 1e-9

    @property
    def n(self) -> int:
        """Responses with a verdict of both."""
        return self.outcomes.total()

    @property
    def flipped(self) -> int:
        return sum(count for (old, new), count in self.outcomes.items() if old != new)


@dataclass(frozen=True, kw_only=True, slots=True)
class StepChange:
    """What one step's training figures would have been, over the responses with a verdict of both."""

    step: int
    n: int
    flipped: int
    old_pass_rate: float
    new_pass_rate: float
    old_reward: float
    """Mean."""
    new_reward: float


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluationChange:
    """What one held-out pass rate would have been, over the responses with a verdict of both."""

    phase: str
    step: int
    mode: str
    flipped: int
    old: PassRate
    new: PassRate


class Rejudging:
    """Judges stored responses with verifiers of its own; equal responses to the same problem are judged once.

    Args:
        verifiers: by the name that problems carry.
        workers: threads that call verifiers.
        retries: further tries after a VerifierError.
    """

    def __init__(
        self, problems: ProblemsById, verifiers: Mapping[str, Verifier], *, workers: int = 4, retries: int = 2
    ) -> None:
        self._problems = problems
        self._verifiers = verifiers
        self._workers = workers
        self._retries = retries
        self._verdicts: dict[bytes, dict[str, Any]] = {}
        self.unknown: Counter[str] = Counter()
        """Responses that were not judged, because the task has no problem of their id and prompt, by id."""

    @property
    def judged(self) -> int:
        """How many different responses were judged so far."""
        return len(self._verdicts)

    def rejudge(
        self, stored: Sequence[StoredResponse], *, advance: Callable[[int], None] = lambda _: None
    ) -> Iterator[Rejudged]:
        """Yield the responses with their new verdicts, in order, without those whose problem is unknown.

        Args:
            advance: is told how many responses were done, as they are.
        """
        self._problems.look_up(response.row["problem"] for response in stored)
        for start in range(0, len(stored), AT_ONCE):
            part = stored[start : start + AT_ONCE]
            known = []
            for response in part:
                problem = self._problems.get(response.row)
                if problem is None:
                    self.unknown[response.row["problem"]] += 1
                else:
                    known.append((response, problem, _key(response.row)))
            self._judge({key: (problem, response.row) for response, problem, key in known})
            for response, _, key in known:
                yield Rejudged(stored=response, new=self._verdicts[key])
            advance(len(part))

    def _judge(self, wanted: Mapping[bytes, tuple[Problem, Row]]) -> None:
        new = {key: pair for key, pair in wanted.items() if key not in self._verdicts}
        found = judge(
            [problem for problem, _ in new.values()], [_Text(row["text"]) for _, row in new.values()],
            self._verifiers, workers=self._workers, retries=self._retries,
        )  # fmt: skip
        self._verdicts.update((key, verdict_columns(verdict)) for key, verdict in zip(new, found, strict=True))


@dataclass(frozen=True, slots=True)
class _Text:
    text: str


def stored_responses(rows: Sequence[Row], place: str) -> list[StoredResponse]:
    """Return the rows of a step or of an evaluation as stored responses.

    Raises:
        RunFolderError: the rows lack what judging needs.
    """
    seen: Counter[str] = Counter()
    stored = []
    for row in rows:
        missing = [name for name in _NEEDED if name not in row]
        if missing:
            raise RunFolderError(f"{place}: a stored response has no {missing[0]!r}; it cannot be judged again")
        stored.append(StoredResponse(place=place, row=row, sample=seen[row["problem"]]))
        seen[row["problem"]] += 1
    return stored


def step_change(step: int, rejudged: Sequence[Rejudged], rule: RewardRule) -> StepChange | None:
    """Return what a training step's figures would have been; None where no response has a verdict of both.

    Args:
        rule: makes rewards of the new verdicts.
    """
    both = [one for one in rejudged if one.compares]
    if not both:
        return None
    return StepChange(
        step=step,
        n=len(both),
        flipped=sum(one.flipped for one in both),
        old_pass_rate=_mean(one.stored.row["outcome"] == Outcome.CORRECT.value for one in both),
        new_pass_rate=_mean(one.new["outcome"] == Outcome.CORRECT.value for one in both),
        old_reward=_mean(one.stored.row["reward"] for one in both),
        new_reward=_mean(_reward(one, rule) for one in both),
    )


def evaluation_change(phase: str, step: int, mode: str, rejudged: Sequence[Rejudged]) -> EvaluationChange | None:
    """Return what a held-out pass rate would have been; None where no response has a verdict of both."""
    if not any(one.compares for one in rejudged):
        return None
    # Lengths play no part here, and rows of older runs have none.
    lengths = {"tokens": 0, "prompt_tokens": 0, "audit": {}}
    old = [
        {**one.stored.row, **lengths, "outcome": one.stored.row["outcome"] if one.compares else None}
        for one in rejudged
    ]
    new = [
        {**row, "outcome": one.new["outcome"] if one.compares else None} for row, one in zip(old, rejudged, strict=True)
    ]
    return EvaluationChange(
        phase=phase, step=step, mode=mode, flipped=sum(one.flipped for one in rejudged),
        old=pass_rate(old, temperature=0.0), new=pass_rate(new, temperature=0.0),
    )  # fmt: skip


def _reward(rejudged: Rejudged, rule: RewardRule) -> float:
    row, new = rejudged.stored.row, rejudged.new
    verdict = Verdict(outcome=Outcome(new["outcome"]), score=new["score"])
    return terminal_reward(verdict, Finish(row["finish"]), rule, tokens=len(row["token_ids"]))


def _key(row: Row) -> bytes:
    text = f"{row['problem']}\0{row['text']}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _mean(numbers: Iterable[float]) -> float:
    values = list(numbers)
    return sum(values) / len(values)
