import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr.evaluation.intervals import Interval, cluster_wilson, wilson
from rlvr.evaluation.pass_at_k import pass_at_k


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (1, 1, 0.2065, 1.0)],
)
def test_wilson_gives_the_published_values(successes, n, low, high):
    interval = wilson(successes, n)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 10**7), st.floats(0, 1), st.floats(0.5, 0.999))
def test_wilson_stays_within_zero_and_one_and_contains_the_rate(n, share, confidence):
    successes = round(share * n)
    interval = wilson(successes, n, confidence=confidence)
    assert 0.0 <= interval.low <= successes / n <= interval.high <= 1.0


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_wilson_covers_the_true_rate_about_95_times_in_100(p):
    """Exactly, by the binomial distribution, averaged over sizes because coverage of a discrete variable oscillates."""
    coverages = []
    for n in range(150, 250, 5):
        k = np.arange(n + 1)
        log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
        log_choose = log_factorials[n] - log_factorials - log_factorials[::-1]
        mass = np.exp(log_choose + k * np.log(p) + (n - k) * np.log1p(-p))
        intervals = [wilson(int(successes), n) for successes in k]
        coverages.append(sum(mass[i] for i, interval in enumerate(intervals) if interval.low <= p <= interval.high))
    assert 0.93 <= np.mean(coverages) <= 0.97


def pass_at_k_of_beta(a, b, k):
    """1 - E[(1 - p)^k] over p from a Beta distribution."""
    return 1 - math.prod((b + i) / (a + b + i) for i in range(k))


def coverage(interval, a, b, *, problems, samples, k, times):
    """How often the interval of pass@k holds the truth when problems' rates are Beta(a, b)."""
    generator = np.random.default_rng(0)
    truth, covered = pass_at_k_of_beta(a, b, k), 0
    estimates = np.array([pass_at_k(samples, right, k) for right in range(samples + 1)])
    for _ in range(times):
        found = interval(estimates[generator.binomial(samples, generator.beta(a, b, size=problems))])
        covered += found.low <= truth <= found.high
    return covered / times


@pytest.mark.parametrize(
    ("a", "b", "problems", "samples", "k"),
    [
        (0.5, 0.5, 50, 4, 1), (0.5, 0.5, 50, 16, 8), (2, 2, 50, 2, 1), (2, 2, 200, 16, 4), (1, 2, 100, 4, 1),
        (0.3, 1.5, 50, 4, 1), (0.3, 1.5, 50, 16, 1), (0.3, 1.5, 100, 8, 8), (0.1, 0.9, 100, 4, 1),
        (0.1, 0.9, 200, 16, 4), (0.2, 4, 200, 16, 1), (0.2, 4, 500, 4, 4), (9, 1, 50, 8, 1), (9, 1, 200, 4, 1),
        (8, 12, 100, 16, 1), (0.05, 0.95, 200, 4, 2),
    ],
)  # fmt: skip
def test_the_clustered_interval_covers_the_truth_93_to_97_times_in_100(a, b, problems, samples, k):
    assert 0.93 <= coverage(cluster_wilson, a, b, problems=problems, samples=samples, k=k, times=1500) <= 0.97


def percentile_bootstrap(means):
    """The usual choice, over problems with replacement: not ours, for the reason that the next test shows."""
    n = len(means)
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=400)
    low, high = np.quantile(counts @ means / n, [0.025, 0.975])
    return Interval(low=low, high=high)


def test_the_percentile_bootstrap_covers_less_where_few_problems_are_solved():
    case = {"problems": 50, "samples": 4, "k": 1, "times": 500}
    bootstrap, ours = (coverage(interval, 0.2, 4, **case) for interval in (percentile_bootstrap, cluster_wilson))
    assert bootstrap < 0.93 <= ours <= 0.97


def test_the_clustered_interval_is_too_sure_where_hardly_a_problem_is_missed():
    """As its docstring says: n * (1 - p) is 2 here, and such samples often agree with each other."""
    assert coverage(cluster_wilson, 8, 12, problems=50, samples=16, k=8, times=1000) < 0.93


def test_responses_to_one_problem_do_not_count_as_independent_trials():
    """Every problem always or never solved: 8 responses each tell no more than one."""
    means = [1.0] * 40 + [0.0] * 60
    interval, single, naive = cluster_wilson(means), wilson(40, 100), wilson(320, 800)
    assert interval.high - interval.low == pytest.approx(single.high - single.low, rel=0.05)
    assert interval.high - interval.low > 2 * (naive.high - naive.low)


def test_the_interval_narrows_when_problems_agree():
    apart, close = cluster_wilson([0.0, 1.0] * 50), cluster_wilson([0.4, 0.6] * 50)
    assert close.high - close.low < 0.25 * (apart.high - apart.low)


@pytest.mark.parametrize("rate", [0.0, 0.25, 1.0])
def test_equal_problems_fall_back_on_wilson_instead_of_certainty(rate):
    assert cluster_wilson([rate] * 20) == wilson(rate * 20, 20)


def test_rates_that_differ_by_rounding_alone_are_equal():
    found, equal = cluster_wilson([0.3, 0.1 + 0.2] * 10), wilson(6, 20)
    assert (found.low, found.high) == pytest.approx((equal.low, equal.high))


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=60))
def test_the_clustered_interval_stays_within_zero_and_one_and_contains_the_mean(means):
    interval = cluster_wilson(means)
    assert 0.0 <= interval.low <= np.mean(means) + 1e-12
    assert np.mean(means) - 1e-12 <= interval.high <= 1.0


def test_no_trials_are_an_error():
    with pytest.raises(ValueError, match="at least one trial, got n = 0"):
        wilson(0, 0)
    with pytest.raises(ValueError, match="at least one problem"):
        cluster_wilson([])


def test_impossible_counts_and_rates_are_an_error():
    with pytest.raises(ValueError, match="between 0 and n = 3, got 4"):
        wilson(4, 3)
    for bad in (1.5, float("nan")):
        with pytest.raises(ValueError, match=r"\[0, 1\]"):
            cluster_wilson([0.5, bad])
