"""Two measured policies compared on the problems that both were asked, as records for commands, pages and suites."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rlvr.errors import ConfigError
from rlvr.evaluation import comparison_words as words
from rlvr.evaluation.comparison_checks import check_comparable, differing_prompts, warnings_about
from rlvr.evaluation.curve_comparison import CurveComparison, compare_curves
from rlvr.evaluation.curves.recorded_runs import distinct_names
from rlvr.evaluation.intervals import cluster_wilson, wilson
from rlvr.evaluation.measured import MODES, Measured
from rlvr.evaluation.paired import Difference, mcnemar, paired_difference, problems_needed, sign_flip_p
from rlvr.evaluation.pass_at_k import pass_at_k
from rlvr.evaluation.pass_rate import Rate
from rlvr.evaluation.run_curve import Axis
from rlvr.tracking.run_folder import RunFolder
from verifiers.types import Outcome

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A response and where it lies."""

    path: Path
    line: int
    """Counted from 1."""
    row: Row

    def as_record(self) -> dict[str, Any]:
        columns = ("text", "outcome", "answer", "detail")
        return {"path": str(self.path), "line": self.line, **{name: self.row.get(name) for name in columns}}


@dataclass(frozen=True, kw_only=True, slots=True)
class Flip:
    """A problem that one policy solves more often than the other, with a response of each that shows it."""

    problem: str
    prompt: str
    a_rate: float
    b_rate: float
    a: Place
    b: Place

    def as_record(self) -> dict[str, Any]:
        return {
            "problem": self.problem, "prompt": self.prompt, "a_rate": self.a_rate, "b_rate": self.b_rate,
            "a": self.a.as_record(), "b": self.b.as_record(),
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class PairedRate:
    """One quantity of both policies over the same problems."""

    a: Rate
    b: Rate
    difference: Difference
    """b - a."""

    def as_record(self) -> dict[str, Any]:
        return {"a": self.a.as_record(), "b": self.b.as_record(), "difference": self.difference.as_record()}


@dataclass(frozen=True, kw_only=True, slots=True)
class ModeComparison:
    """Greedy or sampled responses of two policies, compared."""

    mode: str
    n: int
    """Problems with a judged response of both."""
    only_a: int
    """Problems that only a was asked."""
    only_b: int
    unjudged: int
    """Problems that both were asked, but no response of one of them could be judged."""
    samples: tuple[int, int]
    """Most responses to a problem, of a and of b."""
    rate: PairedRate
    gained: Sequence[Flip]
    """Problems that b solves more often, the largest changes first."""
    lost: Sequence[Flip]
    p: float | None
    """Exact McNemar test; with several responses per problem the exact paired permutation test, over the problems of
    which both have as many judged; None where the policies have different numbers, for then neither holds."""
    problems_needed: int | None
    """For 80 % power if the observed difference is the true one; None when that is zero."""
    pass_at_k: Mapping[int, PairedRate]
    """By k = 2, 4, ... where both have as many responses; pass@1 is `rate`."""
    sentence: str

    def as_record(self) -> dict[str, Any]:
        """Return it as a JSON-like dict; flips come in full."""
        return {
            "n": self.n, "only_a": self.only_a, "only_b": self.only_b, "unjudged": self.unjudged,
            "samples": list(self.samples), **self.rate.as_record(),
            "gained": [flip.as_record() for flip in self.gained], "lost": [flip.as_record() for flip in self.lost],
            "p": self.p, "problems_needed": self.problems_needed,
            "pass_at_k": {str(k): found.as_record() for k, found in self.pass_at_k.items()},
            "sentence": self.sentence,
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Everything that is known about how b differs from a."""

    a: Measured
    b: Measured
    warnings: Sequence[str]
    """What may make the comparison unfair."""
    modes: Mapping[str, ModeComparison]
    curves: Mapping[str, CurveComparison]
    """By mode; of two runs that were compared as a whole."""

    @property
    def sentence(self) -> str:
        """The answer in words, of the first mode."""
        return next(iter(self.modes.values())).sentence

    def as_record(self) -> dict[str, Any]:
        """Return it as a JSON-like dict."""
        return {
            "a": _side(self.a), "b": _side(self.b), "sentence": self.sentence, "warnings": list(self.warnings),
            "modes": {mode: found.as_record() for mode, found in self.modes.items()},
            "curves": {mode: found.as_record() for mode, found in self.curves.items()},
        }  # fmt: skip


def compare(
    a: Measured, b: Measured, *, modes: Sequence[str] | None = None, x: Axis = "rollouts", threshold: float = 0.9
) -> Comparison:
    """Compare two policies on the problems that both were asked; differences are b - a.

    Args:
        modes: "greedy", "sampled"; those that both have unless given.
        x: what the curves of two runs go over.
        threshold: a pass rate; where the curves first reach it is told.

    Raises:
        ConfigError: they were measured on different tasks or splits, or have no problem or no mode in common.
        RunFolderError: responses were not recorded, or their file is damaged.
    """
    check_comparable(a, b)
    a, b = _told_apart(a, b)
    wanted = modes if modes is not None else [mode for mode in MODES if mode in a.records and mode in b.records]
    for mode in wanted:
        for own in (a, b):
            if mode not in own.records:
                raise ConfigError(f"{own.name} was not measured {mode}; it has {', '.join(own.records) or 'nothing'}")
    if not wanted:
        raise ConfigError(f"{a.name} and {b.name} have no mode in common, so there is nothing to compare")
    rows = {mode: (a.rows(mode), b.rows(mode)) for mode in wanted}
    warnings = [*warnings_about(a, b, wanted), *differing_prompts(*rows[wanted[0]])]
    return Comparison(
        a=a,
        b=b,
        warnings=warnings,
        modes={mode: _compare_mode(a, b, mode, *rows[mode]) for mode in wanted},
        curves=dict(_curves(a, b, wanted, x, threshold)),
    )


def _told_apart(a: Measured, b: Measured) -> tuple[Measured, Measured]:
    """Return both under other names where these are the same, as those of two seed-0 of a bench."""
    if a.name != b.name or a.origin.resolve() == b.origin.resolve():
        return a, b
    one, other = (
        replace(own, name=name if own.moment is None else f"{name}@{own.moment}")
        for own, name in zip((a, b), distinct_names([a.origin, b.origin]), strict=True)
    )
    return one, other


def _curves(
    a: Measured, b: Measured, modes: Sequence[str], x: Axis, threshold: float
) -> Iterator[tuple[str, CurveComparison]]:
    are_runs = a.phase == b.phase == "ppo" and a.moment is b.moment is None and a.origin.resolve() != b.origin.resolve()
    for mode in modes if are_runs else ():
        found = compare_curves(RunFolder.open(a.origin), RunFolder.open(b.origin), mode, x=x, threshold=threshold)
        if found is not None:
            yield mode, found


def _compare_mode(a: Measured, b: Measured, mode: str, a_rows: Sequence[Row], b_rows: Sequence[Row]) -> ModeComparison:
    first, second = _by_problem(a_rows, a.files[mode]), _by_problem(b_rows, b.files[mode])
    both = [problem for problem in first if problem in second]
    if not both:
        raise ConfigError(
            f"{a.name} and {b.name} have no problem in common ({mode}: {len(first)} and {len(second)} problems, "
            f"such as {next(iter(first), None)} and {next(iter(second), None)}); measure both on the same ones"
        )
    judged = [problem for problem in both if _judged(first[problem]) and _judged(second[problem])]
    if not judged:
        raise ConfigError(f"{a.name} and {b.name}: no problem in common could be judged for both ({mode})")
    a_counts = [_count(first[problem]) for problem in judged]
    b_counts = [_count(second[problem]) for problem in judged]
    rate = _paired_rate(a_counts, b_counts, 1)
    flips = [flip for problem in judged if (flip := _flip(problem, first[problem], second[problem])) is not None]
    flips.sort(key=lambda flip: -abs(flip.b_rate - flip.a_rate))
    gained, lost = ([flip for flip in flips if (flip.b_rate > flip.a_rate) is up] for up in (True, False))
    needed = problems_needed(
        [right_b / n_b - right_a / n_a for (n_a, right_a), (n_b, right_b) in zip(a_counts, b_counts, strict=True)]
    )
    fewest = min(n for n, _ in [*a_counts, *b_counts])
    ks = [k for k in (2**power for power in range(1, fewest.bit_length())) if k <= fewest]
    p = _exact_p(a_counts, b_counts)
    return ModeComparison(
        mode=mode,
        n=len(judged),
        only_a=len(first) - len(both),
        only_b=len(second) - len(both),
        unjudged=len(both) - len(judged),
        samples=(max(n for n, _ in a_counts), max(n for n, _ in b_counts)),
        rate=rate,
        gained=gained,
        lost=lost,
        p=p,
        problems_needed=needed,
        pass_at_k={k: _paired_rate(a_counts, b_counts, k) for k in ks},
        sentence=words.sentence(a.name, b.name, rate.difference, needed, p=p),
    )


def _exact_p(a_counts: Sequence[tuple[int, int]], b_counts: Sequence[tuple[int, int]]) -> float | None:
    samples = max(n for n, _ in a_counts)
    if samples != max(n for n, _ in b_counts):
        return None
    # With a response missing that could not be judged, a problem's two sides could not as well have been exchanged.
    differences = [
        right_b - right_a for (n_a, right_a), (n_b, right_b) in zip(a_counts, b_counts, strict=True) if n_a == n_b
    ]
    return mcnemar(differences.count(1), differences.count(-1)) if samples == 1 else sign_flip_p(differences)


def _by_problem(rows: Sequence[Row], path: Path) -> dict[str, list[Place]]:
    places: dict[str, list[Place]] = {}
    for line, row in enumerate(rows, start=1):
        places.setdefault(row["problem"], []).append(Place(path=path, line=line, row=row))
    return places


def _judged(places: Sequence[Place]) -> list[Place]:
    return [place for place in places if place.row["outcome"] is not None]


def _count(places: Sequence[Place]) -> tuple[int, int]:
    """Return (responses judged, of these right)."""
    judged = _judged(places)
    return len(judged), sum(_is_right(place) for place in judged)


def _is_right(place: Place) -> bool:
    return place.row["outcome"] == Outcome.CORRECT.value


def _flip(problem: str, a: Sequence[Place], b: Sequence[Place]) -> Flip | None:
    (a_n, a_right), (b_n, b_right) = _count(a), _count(b)
    a_rate, b_rate = a_right / a_n, b_right / b_n
    if a_rate == b_rate:
        return None
    gained = b_rate > a_rate
    return Flip(
        problem=problem,
        prompt=str(a[0].row.get("prompt", "")),
        a_rate=a_rate,
        b_rate=b_rate,
        # The better one has a right response and the worse one a wrong one, or their rates could not differ so.
        a=next(place for place in _judged(a) if _is_right(place) is not gained),
        b=next(place for place in _judged(b) if _is_right(place) is gained),
    )


def _paired_rate(a_counts: Sequence[tuple[int, int]], b_counts: Sequence[tuple[int, int]], k: int) -> PairedRate:
    """Return pass@k of both; with k = 1 it is the mean pass rate, every problem counting alike."""
    a, b = ([pass_at_k(n, right, k) for n, right in counts] for counts in (a_counts, b_counts))
    return PairedRate(a=_rate(a, a_counts), b=_rate(b, b_counts), difference=paired_difference(a, b))


def _rate(values: Sequence[float], counts: Sequence[tuple[int, int]]) -> Rate:
    single = all(n == 1 for n, _ in counts)
    interval = wilson(sum(values), len(values)) if single else cluster_wilson(values)
    return Rate(value=sum(values) / len(values), interval=interval)


def _side(measured: Measured) -> dict[str, Any]:
    return {
        "name": measured.name, "origin": str(measured.origin), "phase": measured.phase, "step": measured.step,
        "task": measured.task, "split": measured.split,
    }  # fmt: skip
