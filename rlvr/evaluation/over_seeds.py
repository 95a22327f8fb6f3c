"""Means over training seeds and held-out problems, with intervals that count both as drawn at random."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlvr.evaluation.intervals import Interval, wilson

_GRID = 20001


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
    same problem under several seeds as several problems.

    Args:
        measured: [S P] a rate or a difference; paired comparisons are made by handing in differences.
        rates: whether these are rates in [0, 1] and not differences of such. Where all are equal the interval is then
            Wilson's, of as many trials as there are problems: no spread seen is not certainty.

    Raises:
        ValueError: it is empty, or not a table.
    """
    table = np.asarray(measured, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(f"expected a table of seeds by problems, got shape {table.shape}")
    seeds, problems = table.shape
    value = float(table.mean())
    lowest = 0.0 if rates else -1.0

    def interval(half: float) -> Interval:
        return Interval(low=max(lowest, value - half), high=min(1.0, value + half))

    parts = [(float(table.mean(axis=0).var(ddof=1)) / problems, problems - 1)] if problems > 1 else []
    over_seeds = None
    if seeds > 1:
        of_seeds = float(table.mean(axis=1).var(ddof=1)) / seeds
        parts.append((of_seeds, seeds - 1))
        over_seeds = interval(t_quantile(0.975, seeds - 1) * math.sqrt(of_seeds))
    squared = sum(variance for variance, _ in parts)
    half = 0.0
    if squared > 0:
        freedom = squared**2 / sum(variance**2 / degrees for variance, degrees in parts)
        half = t_quantile(0.975, freedom) * math.sqrt(squared)
    return SeedMean(
        value=value,
        interval=wilson(value * problems, problems) if rates and table.min() == table.max() else interval(half),
        over_seeds=over_seeds,
        per_seed=tuple(float(mean) for mean in table.mean(axis=1)),
        problems=problems,
    )


def t_quantile(p: float, freedom: float) -> float:
    """Return the quantile of Student's t for 0.5 <= p < 1 and at least one degree of freedom, whole or not.

    Under t = sqrt(freedom) tan(angle) the density is cos(angle) ** (freedom - 1), smooth on a finite range; good to
    five digits.
    """
    if freedom > 1e4:
        freedom = 1e4  # the normal's quantile to four digits, and cosines to higher powers underflow
    angles = np.linspace(0.0, math.pi / 2, _GRID)
    density = np.cos(angles) ** (freedom - 1)
    area = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    angle = float(np.interp((2 * p - 1) * area[-1], area, angles))
    return math.sqrt(freedom) * math.tan(angle)
