"""What the run folders of a bench say: per arm and seed, before and after training, on the same held-out problems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rlvr.errors import RunFolderError
from rlvr.evaluation.curve_statistics import first_place
from rlvr.evaluation.measured import MODES
from rlvr.evaluation.over_seeds import SeedMean, seed_mean
from rlvr.evaluation.per_problem import rates_by_problem
from rlvr.evaluation.run_curve import curve_records
from rlvr.tracking.metrics import Mean
from rlvr.tracking.run_folder import RunFolder

ByProblem: TypeAlias = Mapping[str, float]
"""Share of right responses by problem id."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CurvePoint:
    """One evaluation on the curve."""

    rollouts: int
    rates: Mapping[str, ByProblem]
    """By mode, of the problems that every point of the run has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedRun:
    """One finished run of an arm."""

    seed: int
    folder: str
    """As shown."""
    before: Mapping[str, Mapping[str, Any]]
    """By mode: the record of the evaluation, as in evaluations.jsonl."""
    after: Mapping[str, Mapping[str, Any]]
    rates_before: Mapping[str, ByProblem]
    rates_after: Mapping[str, ByProblem]
    curve: Sequence[CurvePoint]
    rewarded: float | None
    """Mean share of training responses that the arm's own verifier called right."""
    rollouts: int
    wall_s: float
    commit: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """The finished runs of an arm."""

    name: str
    control: bool
    runs: Sequence[SeedRun]


def read_seed_run(path: Path, *, seed: int, shown: str) -> SeedRun:
    """Read a finished run.

    Raises:
        RunFolderError: it has no summary, or responses of an evaluation are missing.
    """
    folder = RunFolder.open(path)
    summary = folder.read_summary()
    points = curve_records(folder.read_evaluations())
    if summary is None or not points:
        raise RunFolderError(f"{path} has no finished run to read; train it first")
    rates = [
        {mode: rates_by_problem(folder.read_responses(record["phase"], record["step"], mode)) for mode in MODES}
        for record in points
    ]
    common = set.intersection(*(set(found) for point in rates for found in point.values()))
    paid = [row["verify/pass_rate"] for row in folder.read_metrics() if row.get("verify/pass_rate") is not None]
    return SeedRun(
        seed=seed,
        folder=shown,
        before={mode: points[0][mode] for mode in MODES},
        after={mode: points[-1][mode] for mode in MODES},
        rates_before=rates[0],
        rates_after=rates[-1],
        curve=[
            CurvePoint(
                rollouts=record["rollouts"],
                rates={mode: {name: point[mode][name] for name in sorted(common)} for mode in MODES},
            )
            for record, point in zip(points, rates, strict=True)
        ],
        rewarded=Mean.of(paid).number if paid else None,
        rollouts=summary["rollouts"],
        wall_s=summary["wall_s"],
        commit=summary.get("commit"),
    )


def mean_before(arm: Arm, mode: str) -> SeedMean | None:
    """Return the pass rate that training started from."""
    return _mean([run.rates_before[mode] for run in arm.runs])


def mean_after(arm: Arm, mode: str) -> SeedMean | None:
    """Return the pass rate that training ended with."""
    return _mean([run.rates_after[mode] for run in arm.runs])


def mean_gain(arm: Arm, mode: str) -> SeedMean | None:
    """Return after less before, of the same problems under the same seeds."""
    return _mean([run.rates_after[mode] for run in arm.runs], [run.rates_before[mode] for run in arm.runs])


def mean_lead(arm: Arm, other: Arm, mode: str) -> SeedMean | None:
    """Return how much higher `arm` ended than `other`, over the same problems and the seeds that both have."""
    others = {run.seed: run for run in other.runs}
    both = [(run, others[run.seed]) for run in arm.runs if run.seed in others]
    return _mean([run.rates_after[mode] for run, _ in both], [found.rates_after[mode] for _, found in both])


def curve_means(arm: Arm, mode: str) -> list[tuple[int, SeedMean]]:
    """Return the pass rate by rollouts drawn, at the points that all seeds have."""
    by_place = [{point.rollouts: point.rates[mode] for point in run.curve} for run in arm.runs]
    if not by_place:
        return []
    places = sorted(set.intersection(*(set(places) for places in by_place)))
    means = [(place, _mean([found[place] for found in by_place])) for place in places]
    return [(place, mean) for place, mean in means if mean is not None]


def rollouts_to(run: SeedRun, threshold: float) -> float | None:
    """Return the rollouts after which the greedy pass rate, drawn as straight lines, first reaches `threshold`."""
    rates = [list(point.rates["greedy"].values()) for point in run.curve]
    if not all(rates):
        return None
    return first_place([point.rollouts for point in run.curve], [sum(own) / len(own) for own in rates], threshold)


def changed_problems(arm: Arm, mode: str) -> int:
    """Return on how many problems, counted in each seed anew, training changed the pass rate at all."""
    return sum(
        run.rates_after[mode][problem] != rate
        for run in arm.runs
        for problem, rate in run.rates_before[mode].items()
        if problem in run.rates_after[mode]
    )


def _mean(rates: Sequence[ByProblem], less: Sequence[ByProblem] | None = None) -> SeedMean | None:
    """Return the mean over the problems that all have, of the rates or of their differences."""
    tables = [*rates, *(less or [])]
    problems = sorted(set.intersection(*(set(table) for table in tables))) if tables else []
    if not problems:
        return None

    def matrix(by_seed: Sequence[ByProblem]) -> npt.NDArray[np.float64]:
        return np.array([[table[problem] for problem in problems] for table in by_seed])

    return seed_mean(matrix(rates), rates=True) if less is None else seed_mean(matrix(rates) - matrix(less))
