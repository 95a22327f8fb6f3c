"""Student's t: quantiles, and the interval of a mean of few numbers."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from rlvr.evaluation.intervals import Interval

_GRID = 20001


@lru_cache
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


def seed_interval(means: Sequence[float], *, confidence: float = 0.95, lowest: float = 0.0) -> Interval:
    """Return the t-interval of the mean of one number per seed, cut to [lowest, 1].

    mean +- t s / sqrt(n), with s the standard deviation over n - 1. It says how far the mean over these seeds is from
    that over all seeds *on the same held-out problems*; what other problems would change is not in it.

    Args:
        means: pass rates, or differences of such with lowest = -1.

    Raises:
        ValueError: there are fewer than two seeds.
    """
    n = len(means)
    if n < 2:
        raise ValueError(f"an interval over seeds needs at least two, got {n}")
    mean = math.fsum(means) / n
    deviation = math.sqrt(math.fsum((own - mean) ** 2 for own in means) / (n - 1))
    half = t_quantile(0.5 + confidence / 2, n - 1) * deviation / math.sqrt(n)
    return Interval(low=max(lowest, mean - half), high=min(1.0, mean + half))
