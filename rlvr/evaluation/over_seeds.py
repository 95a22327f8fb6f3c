"""Means over training seeds and held-out problems, with intervals that count both as drawn at random."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlvr.evaluation.intervals import Interval, cluster_wilson, score_interval, wilson
from rlvr.evaluation.paired import difference_interval
from rlvr.evaluation.student import seed_interval, t_quantile


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedMean:
    """A mean over seeds and problems."""

    value: float
    interval: Interval
    """95 %, over seeds and problems; with one seed over problems alone."""
    over_seeds: Interval | None
    """95 %, over seeds alone (Student's t on the seeds' means); None with one seed."""
    per_seed: tuple[float, ...]
    problems: int

    @property
    def distinguishable(self) -> bool:
        """Whether the interval leaves out zero."""
        return not self.interval.low <= 0.0 <= self.interval.high

    def as_record(self) -> dict[str, object]:
        over = self.over_seeds
        return {
            "value": self.value,
            "low": self.interval.low,
            "high": self.interval.high,
            "over_seeds": None if over is None else {"low": over.low, "high": over.high},
            "per_seed": list(self.per_seed),
            "problems": self.problems,
        }


def seed_mean(measured: npt.ArrayLike, *, rates: bool = False) -> SeedMean:
    """Return the mean of what was measured on each problem after each seed's training.

    The squared standard error is var(seed means) / S + var(problem means) / P, with t quantiles at Satterthwaite's
    degrees of freedom. That counts the noise of a single response twice, hence is a little wide, and never treats the
    same problem under several seeds as several problems. Around a rate it becomes the score interval, which stays
    within [0, 1] by itself.

    One seed has the intervals of single measurements: `wilson` or `cluster_wilson` for rates, that of
    `paired_difference` for differences. So have seeds and problems that show no spread at all, for that is no
    certainty.

    Args:
        measured: [S P] a rate or a difference; paired comparisons are made by handing in differences.
        rates: whether these are rates in [0, 1] and not differences of such.

    Raises:
        ValueError: it is empty, or not a table.
    """
    table = np.asarray(measured, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(f"expected a table of seeds by problems, got shape {table.shape}")
    per_seed = tuple(float(mean) for mean in table.mean(axis=1))
    return SeedMean(
        value=float(table.mean()),
        interval=_interval(table, rates=rates),
        over_seeds=seed_interval(per_seed, lowest=0.0 if rates else -1.0) if len(per_seed) > 1 else None,
        per_seed=per_seed,
        problems=table.shape[1],
    )


def _interval(table: npt.NDArray[np.float64], *, rates: bool) -> Interval:
    seeds, problems = table.shape
    value = float(table.mean())
    if seeds == 1 or np.ptp(table) < 1e-12:
        row = table.mean(axis=0)
        if not rates:
            return difference_interval(row)
        return wilson(float(row.sum()), problems) if set(row) <= {0.0, 1.0} else cluster_wilson(row.tolist())
    parts = [(float(table.mean(axis=1).var(ddof=1)) / seeds, seeds - 1)]
    if problems > 1:
        parts.append((float(table.mean(axis=0).var(ddof=1)) / problems, problems - 1))
    squared = sum(variance for variance, _ in parts)
    if squared < 1e-24:
        # What one seed gained another lost, problem by problem: no spread of means, and still none of certainty.
        return cluster_wilson(table[0].tolist()) if rates else difference_interval(table[0])
    quantile = t_quantile(0.975, squared**2 / sum(variance**2 / degrees for variance, degrees in parts))
    if rates:
        return score_interval(value, value * (1 - value) / squared, quantile)
    half = quantile * math.sqrt(squared)
    return Interval(low=max(-1.0, value - half), high=min(1.0, value + half))
