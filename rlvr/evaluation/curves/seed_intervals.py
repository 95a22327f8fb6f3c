"""The interval of a mean over seeds, by Student's t: with few seeds the normal distribution would be too sure."""

import math
from collections.abc import Sequence
from functools import lru_cache

from rlvr.evaluation.intervals import Interval
from rlvr.evaluation.over_seeds import t_quantile

# The same few numbers of seeds at every point of a curve.
_quantile = lru_cache(t_quantile)


def seed_interval(rates: Sequence[float], *, confidence: float = 0.95) -> Interval:
    """Return the t-interval of the mean of one pass rate per seed, cut to [0, 1].

    mean +- t s / sqrt(n), with s the standard deviation over n - 1. It says how far the mean over these seeds is from
    that over all seeds *on the same held-out problems*; what other problems would change is not in it.

    Raises:
        ValueError: there are fewer than two seeds.
    """
    n = len(rates)
    if n < 2:
        raise ValueError(f"an interval over seeds needs at least two, got {n}")
    mean = math.fsum(rates) / n
    deviation = math.sqrt(math.fsum((rate - mean) ** 2 for rate in rates) / (n - 1))
    half = _quantile(0.5 + confidence / 2, n - 1) * deviation / math.sqrt(n)
    return Interval(low=max(0.0, mean - half), high=min(1.0, mean + half))
