"""What judged responses to held-out problems add up to, with intervals and everything that could mislead about it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rlvr.evaluation.intervals import Interval, cluster_wilson, wilson
from rlvr.evaluation.majority import majority_at_k
from rlvr.evaluation.pass_at_k import pass_at_k, pass_hat_k
from rlvr.rollout.types import Finish
from verifiers.types import Outcome

_VOTE_CHARACTERS = 100
_PROGRAM = re.compile(r"\bdef \w+\(|\breturn\b|\bimport \w|\bprint\(|\binput\(|\blambda\b")

Row = Mapping[str, Any]
"""A response with its verdict, as `evaluate` makes it and JSONL files keep it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """An estimate with its 95 % interval."""

    value: float
    interval: Interval

    def as_record(self) -> dict[str, float]:
        return {"value": self.value, "low": self.interval.low, "high": self.interval.high}


@dataclass(frozen=True, kw_only=True, slots=True)
class Audited:
    """How often a verifier that does not feed the reward calls the same responses right."""

    pass_rate: float | None
    interval: Interval | None
    n: int
    failed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PassRate:
    """How often responses to a set of problems were right."""

    pass_rate: float | None
    """Share of judged responses that are correct (mean@n for n responses per problem); None when none was judged."""
    interval: Interval | None
    """95 %, with problems as the unit: Wilson with one response per problem, `cluster_wilson` otherwise."""
    problems: int
    n: int
    """Responses judged."""
    correct: int
    failed: int
    """Responses that could not be judged: our failure, in neither n nor correct."""
    truncated_frac: float
    no_answer_frac: float
    response_tokens: float
    """Mean."""
    prompt_tokens: float
    """Mean."""
    temperature: float
    samples_per_problem: int
    pass_at_k: Mapping[int, Rate]
    """Chance that at least one of k responses is right, unbiased, by k = 1, 2, 4, ... and the responses per problem;
    empty with one response per problem."""
    pass_hat_k: Mapping[int, Rate]
    """pass^k: chance that all of k responses are right, unbiased."""
    maj_at_k: Mapping[int, Rate]
    """maj@k: chance that the commonest answer of k responses is right; empty where answers are no votes, as programs,
    and with one response per problem."""
    audits: Mapping[str, Audited]
    """By name of the audit verifier."""

    def as_record(self) -> dict[str, Any]:
        """Return it as a JSON-like dict with `low` and `high` for the interval."""
        plain = (
            "n", "correct", "failed", "problems", "truncated_frac", "no_answer_frac", "response_tokens",
            "prompt_tokens", "temperature", "samples_per_problem",
        )  # fmt: skip
        return {
            "pass_rate": self.pass_rate,
            **_edges(self.interval),
            **{name: getattr(self, name) for name in plain},
            "pass_at_k": {str(k): rate.as_record() for k, rate in self.pass_at_k.items()},
            "pass_hat_k": {str(k): rate.as_record() for k, rate in self.pass_hat_k.items()},
            "maj_at_k": {str(k): rate.as_record() for k, rate in self.maj_at_k.items()},
            "audit": {
                name: {"pass_rate": found.pass_rate, **_edges(found.interval), "n": found.n, "failed": found.failed}
                for name, found in self.audits.items()
            },
        }


def pass_rate(rows: Sequence[Row], *, temperature: float) -> PassRate:
    """Add up the rows of one evaluation; those of one problem lie side by side, equally many of each.

    Args:
        temperature: at which they were drawn; 0 means greedy.
    """
    by_problem = [list(own) for _, own in groupby(rows, key=lambda row: row["problem"])]
    samples = len(by_problem[0])
    counts = _counts(by_problem, lambda row: row["outcome"])
    n, correct = sum(judged for judged, _ in counts), sum(right for _, right in counts)
    # A problem with a response that could not be judged has too few for the largest k.
    fewest = min((judged for judged, _ in counts), default=0)
    wanted = sorted({*(2**power for power in range(samples.bit_length())), samples}) if samples > 1 else []
    ks = [k for k in wanted if k <= fewest]
    judged_rows = [row for row in rows if row["outcome"] is not None]
    return PassRate(
        pass_rate=correct / n if n else None,
        interval=_interval(counts, samples),
        problems=len(by_problem),
        n=n,
        correct=correct,
        failed=len(rows) - n,
        truncated_frac=sum(row["finish"] == Finish.LENGTH.value for row in rows) / len(rows),
        no_answer_frac=sum(row["outcome"] == Outcome.NO_ANSWER.value for row in judged_rows) / max(1, n),
        response_tokens=sum(row["tokens"] for row in rows) / len(rows),
        prompt_tokens=sum(row["prompt_tokens"] for row in rows) / len(rows),
        temperature=temperature,
        samples_per_problem=samples,
        pass_at_k={k: _rate([pass_at_k(judged, right, k) for judged, right in counts]) for k in ks},
        pass_hat_k={k: _rate([pass_hat_k(judged, right, k) for judged, right in counts]) for k in ks},
        maj_at_k=_majorities(by_problem, ks) if _are_votes(judged_rows) else {},
        audits=_audits(by_problem, samples),
    )


def _audits(by_problem: Sequence[Sequence[Row]], samples: int) -> dict[str, Audited]:
    audits = {}
    for name in by_problem[0][0].get("audit") or {}:
        counts = _counts(by_problem, lambda row, name=name: row["audit"][name]["outcome"])
        n, correct = sum(judged for judged, _ in counts), sum(right for _, right in counts)
        audits[name] = Audited(
            pass_rate=correct / n if n else None,
            interval=_interval(counts, samples),
            n=n,
            failed=sum(map(len, by_problem)) - n,
        )
    return audits


def _majorities(by_problem: Sequence[Sequence[Row]], ks: Sequence[int]) -> dict[int, Rate]:
    votes = []
    for own in by_problem:
        judged = [row for row in own if row["outcome"] is not None]
        if judged:
            answers = [row.get("answer") for row in judged]
            votes.append((answers, [row["outcome"] == Outcome.CORRECT.value for row in judged]))
    return {k: _rate([majority_at_k(answers, correct, k) for answers, correct in votes]) for k in ks}


def _are_votes(rows: Sequence[Row]) -> bool:
    """Whether answers can be compared as they are written: most are one short line, and not one of a program."""
    answers = [row["answer"] for row in rows if row.get("answer") is not None]
    votes = sum(
        len(answer) <= _VOTE_CHARACTERS and "\n" not in answer and not _PROGRAM.search(answer) for answer in answers
    )
    return 2 * votes > len(answers)


def _counts(by_problem: Sequence[Sequence[Row]], outcome: Callable[[Row], str | None]) -> list[tuple[int, int]]:
    """Return (responses judged, of these correct) for each problem with at least one."""
    counts = []
    for own in by_problem:
        outcomes = [found for found in map(outcome, own) if found is not None]
        if outcomes:
            counts.append((len(outcomes), outcomes.count(Outcome.CORRECT.value)))
    return counts


def _interval(counts: Sequence[tuple[int, int]], samples: int) -> Interval | None:
    if not counts:
        return None
    if samples == 1:
        return wilson(sum(right for _, right in counts), len(counts))
    return cluster_wilson([right / judged for judged, right in counts])


def _rate(per_problem: Sequence[float]) -> Rate:
    return Rate(value=sum(per_problem) / len(per_problem), interval=cluster_wilson(per_problem))


def _edges(interval: Interval | None) -> dict[str, float | None]:
    return {"low": interval.low if interval else None, "high": interval.high if interval else None}
