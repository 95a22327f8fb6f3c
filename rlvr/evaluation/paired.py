"""Whether two policies measured on the same problems differ: paired difference, McNemar's test, the n needed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from rlvr.evaluation.intervals import Interval
from rlvr.evaluation.student import t_quantile


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A difference of two means over the same problems, with its 95 % interval."""

    value: float
    interval: Interval
    n: int
    """Problems."""

    @property
    def distinguishable(self) -> bool:
        """Whether the interval leaves out zero."""
        return not self.interval.low <= 0.0 <= self.interval.high

    def as_record(self) -> dict[str, float | int | bool]:
        return {
            "value": self.value, "low": self.interval.low, "high": self.interval.high, "n": self.n,
            "distinguishable": self.distinguishable,
        }  # fmt: skip


def paired_difference(
    a: Sequence[float], b: Sequence[float], *, seed: int = 0, confidence: float = 0.95, resamples: int = 4000
) -> Difference:
    """Return mean(b) - mean(a) over the same problems, with a bootstrap interval over problems.

    Pairs are resampled, so that how hard a problem is cancels. Two corrections to the percentile interval: its tails
    are expanded to the width of Student's interval (Hesterberg 2015), and half a problem that b gained and half one
    that it lost, each by as much as problems usually change, take part in the resampling (after Agresti and Min 2005,
    who add half a pair to each cell of McNemar's table). Without them few changed problems give an interval that is far
    too narrow, and none gives certainty.

    Simulated with 50 to 500 problems, 95 % intervals cover the truth 93 to 97 times in 100 when about ten problems or
    more changed; with fewer they cover more than that. Problems are what is drawn: that another training seed would
    give another policy is not counted.

    Args:
        a, b: what each policy reached on each problem, in [0, 1], in the same order.
        seed: of the resampling; a comparison repeated gives the same interval.

    Raises:
        ValueError: there are no problems, the lengths differ, or a value lies outside [0, 1].
    """
    first, second = _in_unit_range(a), _in_unit_range(b)
    if first.size != second.size:
        raise ValueError(
            f"a paired difference needs the same problems on both sides, got {first.size} and {second.size}"
        )
    if first.size == 0:
        raise ValueError("a difference needs at least one problem, got none")
    differences = _exact(second - first)
    interval = difference_interval(differences, seed=seed, confidence=confidence, resamples=resamples)
    return Difference(value=float(_exact(differences.mean())), interval=interval, n=differences.size)


def _in_unit_range(values: Sequence[float]) -> npt.NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if not bool(np.all((array >= 0) & (array <= 1))):
        raise ValueError("what a policy reached on a problem must lie in [0, 1]")
    return array


def _exact(numbers: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return numbers without what rounding left: 2/3 - 1/3 and 1 - 2/3 are one difference, and opposites cancel."""
    # Adding zero turns -0 into 0.
    return np.round(np.asarray(numbers, dtype=np.float64), 12) + 0.0


def difference_interval(
    differences: npt.ArrayLike, *, seed: int = 0, confidence: float = 0.95, resamples: int = 4000
) -> Interval:
    """Return the interval of the mean of per-problem differences, as `paired_difference` has it."""
    differences = _exact(differences)
    changed = differences[differences != 0]
    usual = math.sqrt(float((changed**2).mean())) if changed.size else 1.0
    # How often each value occurs is all that matters about a resample, and there are few values.
    values, counts = np.unique(differences, return_counts=True)
    values = np.concatenate([values, [-usual, usual]])
    weights = np.concatenate([counts, [0.5, 0.5]])
    n = differences.size + 1
    wide = math.sqrt(n / (n - 1)) * t_quantile(0.5 + confidence / 2, n - 1)
    tail = NormalDist().cdf(-wide)
    drawn = np.random.default_rng(seed).multinomial(n, weights / n, size=resamples)
    low, high = _exact(np.quantile(drawn @ values / n, [tail, 1 - tail]))
    return Interval(low=float(low), high=float(high))


def mcnemar(gained: int, lost: int) -> float:
    """Return the exact two-sided p of McNemar's test: how often chance alone splits the changed problems so unevenly.

    If neither policy is better, each changed problem was gained or lost with chance 1/2, and problems on which both
    agree say nothing: min(1, 2 * P(X <= min(gained, lost))) with X binomial over the changed ones (McNemar 1947).

    Raises:
        ValueError: a count is negative.
    """
    if gained < 0 or lost < 0:
        raise ValueError(f"counts of problems cannot be negative, got {gained} and {lost}")
    changed = gained + lost
    # Whole numbers, each from the one before: C(changed, fewer). As floats they would overflow; their ratio does not.
    ways, total = 1, 0
    for fewer in range(min(gained, lost) + 1):
        total += ways
        ways = ways * (changed - fewer) // (fewer + 1)
    return min(1.0, 2 * total / 2**changed)


def sign_flip_p(differences: Sequence[int]) -> float:
    """Return the exact two-sided p of the paired permutation test (Fisher 1935): McNemar's for several responses.

    If the policies do not differ, each problem's difference could as well have had the other sign: the p is the share
    of all sign patterns whose sum is at least as far from zero as the one seen. With differences of -1, 0 and 1 it is
    `mcnemar`.

    Args:
        differences: for each problem, how many more responses of b than of a are right, of equally many.
    """
    changed = [abs(difference) for difference in differences if difference]
    total = sum(changed)
    # chances[s] is that of the sum being s - total so far.
    chances = np.zeros(2 * total + 1)
    chances[total] = 1.0
    for size in changed:
        chances = (np.roll(chances, size) + np.roll(chances, -size)) / 2
    seen = abs(sum(differences))
    sums = np.abs(np.arange(-total, total + 1))
    return min(1.0, float(chances[sums >= seen].sum()))


def problems_needed(differences: Sequence[float], *, power: float = 0.8, confidence: float = 0.95) -> int | None:
    """Return how many problems would show the observed difference with this power; None when it is exactly zero.

    (z_a sqrt(m) + z_b sqrt(m - d^2))^2 / d^2 with d the mean difference, m the mean squared one. With one response per
    problem m is the share of problems that changed, and this is the sample size of McNemar's test (Connor 1987); with
    several it is that of the paired z test. It takes the observed difference for the true one: where that is small
    against its interval the number is a rough one.

    Args:
        differences: b - a for each problem.

    Raises:
        ValueError: there are no problems.
    """
    array = _exact(differences)
    if array.size == 0:
        raise ValueError("a difference needs at least one problem, got none")
    mean, squared = float(_exact(array.mean())), float((array**2).mean())
    if mean == 0:
        return None
    normal = NormalDist()
    z_level, z_power = normal.inv_cdf(0.5 + confidence / 2), normal.inv_cdf(power)
    root = z_level * math.sqrt(squared) + z_power * math.sqrt(max(0.0, squared - mean**2))
    return max(1, math.ceil((root / mean) ** 2))
