import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr.evaluation.intervals import cluster_bootstrap, wilson


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


def test_the_bootstrap_covers_the_true_rate_about_95_times_in_100():
    """Problems differ in difficulty (a Beta distribution), four responses each, n = 100 problems."""
    generator = np.random.default_rng(1)
    covered = 0
    for seed in range(600):
        rates = generator.binomial(4, generator.beta(1, 2, size=100)) / 4
        interval = cluster_bootstrap(rates.tolist(), resamples=400, seed=seed)
        covered += interval.low <= 1 / 3 <= interval.high
    assert 0.92 <= covered / 600 <= 0.975


def test_responses_to_one_problem_do_not_count_as_independent_trials():
    """Every problem always or never solved: 8 responses each tell no more than one."""
    means = [1.0] * 40 + [0.0] * 60
    interval, single, naive = cluster_bootstrap(means, seed=0), wilson(40, 100), wilson(320, 800)
    assert interval.high - interval.low == pytest.approx(single.high - single.low, rel=0.05)
    assert interval.high - interval.low > 2 * (naive.high - naive.low)


def test_the_bootstrap_narrows_when_problems_agree():
    apart, close = cluster_bootstrap([0.0, 1.0] * 50, seed=0), cluster_bootstrap([0.4, 0.6] * 50, seed=0)
    assert close.high - close.low < 0.25 * (apart.high - apart.low)


@pytest.mark.parametrize("rate", [0.0, 0.25, 1.0])
def test_equal_problems_fall_back_on_wilson_instead_of_certainty(rate):
    assert cluster_bootstrap([rate] * 20, seed=0) == wilson(rate * 20, 20)


def test_the_same_seed_gives_the_same_interval():
    means = [index / 100 for index in range(101)]
    assert cluster_bootstrap(means, seed=3) == cluster_bootstrap(means, seed=3)
    assert cluster_bootstrap(means, seed=3) != cluster_bootstrap(means, seed=4)


def test_no_trials_are_an_error():
    with pytest.raises(ValueError, match="at least one trial, got n = 0"):
        wilson(0, 0)
    with pytest.raises(ValueError, match="at least one problem"):
        cluster_bootstrap([], seed=0)


def test_impossible_counts_and_rates_are_an_error():
    with pytest.raises(ValueError, match="between 0 and n = 3, got 4"):
        wilson(4, 3)
    for bad in (1.5, float("nan")):
        with pytest.raises(ValueError, match=r"\[0, 1\]"):
            cluster_bootstrap([0.5, bad], seed=0)
