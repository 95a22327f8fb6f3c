"""How far a measured pass rate can be trusted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """A confidence interval, both ends included."""

    low: float
    high: float


def wilson(successes: float, n: int, *, confidence: float = 0.95) -> Interval:
    """Return the Wilson score interval of a proportion; right also near 0 and 1, where +-1.96 standard errors is not.

    (p + z^2/2n +- z sqrt(p(1 - p)/n + z^2/4n^2)) / (1 + z^2/n), p = successes / n (Wilson 1927).
    It supposes independent trials: one response per problem. For several, use `cluster_bootstrap`.

    Raises:
        ValueError: n is not positive, or successes lies outside [0, n].
    """
    if n <= 0:
        raise ValueError(f"an interval needs at least one trial, got n = {n}")
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie between 0 and n = {n}, got {successes}")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    p = successes / n
    centre = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At the edges the formula gives 0 and 1 exactly, but floating point does not.
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == n else (centre + half) / scale
    return Interval(low=low, high=high)


def cluster_bootstrap(
    per_problem_means: Sequence[float], *, confidence: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the percentile bootstrap interval of the mean pass rate when each problem has several responses.

    Problems are resampled with replacement and keep their responses together, for those of one problem resemble each
    other: counting them as independent makes the interval too narrow. When every problem has the same rate, resampling
    shows no spread at all; the answer is then the Wilson interval of one trial per problem, which is never too narrow.

    Args:
        per_problem_means: the pass rate of each problem, in [0, 1].
        seed: of the resampling; a measurement repeated gives the same interval.

    Raises:
        ValueError: there are no problems, or a rate lies outside [0, 1].
    """
    means = np.asarray(per_problem_means, dtype=np.float64)
    n = means.size
    if n == 0:
        raise ValueError("an interval needs at least one problem, got none")
    if not bool(np.all((means >= 0) & (means <= 1))):
        raise ValueError("every per-problem pass rate must lie in [0, 1]")
    if means.min() == means.max():
        return wilson(float(means[0]) * n, n, confidence=confidence)
    # How often each problem occurs is all that matters about a resample.
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples)
    tail = (1 - confidence) / 2
    low, high = np.quantile(counts @ means / n, [tail, 1 - tail])
    return Interval(low=float(low), high=float(high))
