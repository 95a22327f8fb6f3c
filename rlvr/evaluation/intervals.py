"""How far a measured pass rate can be trusted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """A confidence interval, both ends included."""

    low: float
    high: float


def wilson(successes: float, n: int, *, confidence: float = 0.95) -> Interval:
    """Return the Wilson score interval of a proportion; right also near 0 and 1, where +-1.96 standard errors is not.

    (p + z^2/2n +- z sqrt(p(1 - p)/n + z^2/4n^2)) / (1 + z^2/n), p = successes / n (Wilson 1927).
    It supposes independent trials: one response per problem. For several, use `cluster_wilson`.

    Raises:
        ValueError: n is not positive, or successes lies outside [0, n].
    """
    if n <= 0:
        raise ValueError(f"an interval needs at least one trial, got n = {n}")
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie between 0 and n = {n}, got {successes}")
    return score_interval(successes / n, n, _normal_quantile(confidence))


def cluster_wilson(per_problem_means: Sequence[float], *, confidence: float = 0.95) -> Interval:
    """Return the score interval of a mean pass rate (or pass@k) when each problem has several responses.

    The responses to one problem resemble each other: counting them as independent makes an interval too narrow. Here
    problems are the unit, and their spread says how many single responses they are worth: Wilson's interval at
    n / deff trials, deff = s^2 / (p(1 - p)), s^2 the variance between the problems' means (Kott and Carr 1997; Franco,
    Little, Louis and Slud 2019, for proportions in clustered surveys). When every problem has the same rate there is no
    spread to see; the answer is then the Wilson interval of one trial per problem, which is never too narrow.

    Simulated with 50 to 500 problems of Beta-distributed difficulty, skewed ones included, and 2 to 16 responses each,
    95 % intervals cover the truth 93 to 97 times in 100, where the percentile bootstrap falls to 90. It does NOT hold
    where n * min(p, 1 - p) is below about 5, as pass@8 of a policy that solves nearly everything: there the problems
    seen may all agree, and coverage falls below 90 %, in the worst cases below 70 %. Nor does the interval count what
    another training seed would change.

    Args:
        per_problem_means: the pass rate of each problem, in [0, 1].

    Raises:
        ValueError: there are no problems, or a rate lies outside [0, 1].
    """
    means = _rates(per_problem_means)
    n, p = means.size, float(means.mean())
    # Equal rates that were worked out in different ways may differ in their last digit.
    if means.max() - means.min() < 1e-12:
        return wilson(float(means[0]) * n, n, confidence=confidence)
    worth = n * p * (1 - p) / float(means.var(ddof=1))
    return score_interval(p, worth, _normal_quantile(confidence))


def score_interval(p: float, n: float, quantile: float) -> Interval:
    """Return the score interval of a proportion that is worth `n` trials, whole or not.

    Args:
        quantile: how many standard errors it reaches: 1.96, or Student's where the spread is known from few numbers.
    """
    z = quantile
    centre = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At the edges the formula gives 0 and 1 exactly, but floating point does not.
    low = 0.0 if p == 0 else (centre - half) / scale
    high = 1.0 if p == 1 else (centre + half) / scale
    return Interval(low=low, high=high)


def _normal_quantile(confidence: float) -> float:
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def _rates(per_problem_means: Sequence[float]) -> npt.NDArray[np.float64]:
    means = np.asarray(per_problem_means, dtype=np.float64)
    if means.size == 0:
        raise ValueError("an interval needs at least one problem, got none")
    if not bool(np.all((means >= 0) & (means <= 1))):
        raise ValueError("every per-problem pass rate must lie in [0, 1]")
    return means
