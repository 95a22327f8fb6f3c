"""Student's t against printed tables, and the interval of a mean over seeds."""

import statistics

import numpy as np
import pytest

from rlvr.evaluation.student import seed_interval, t_quantile


@pytest.mark.parametrize(
    ("freedom", "expected"), [(1, 12.7062), (2, 4.30265), (3, 3.18245), (10, 2.22814), (100, 1.98397), (1e9, 1.95996)]
)
def test_quantiles_of_t_are_those_of_the_tables(freedom: float, expected: float):
    assert t_quantile(0.975, freedom) == pytest.approx(expected, rel=3e-4)


def test_a_fractional_degree_of_freedom_lies_between_its_neighbours():
    assert t_quantile(0.975, 3) < t_quantile(0.975, 2.5) < t_quantile(0.975, 2)


def test_the_interval_over_seeds_is_the_t_interval_by_plain_python():
    rates = [0.61, 0.7, 0.64, 0.66]
    half = 3.18245 * statistics.stdev(rates) / 4**0.5
    interval = seed_interval(rates)
    assert interval.low == pytest.approx(statistics.mean(rates) - half, abs=1e-4)
    assert interval.high == pytest.approx(statistics.mean(rates) + half, abs=1e-4)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_interval_over_seeds_covers_the_true_mean_as_often_as_it_says(n):
    drawn = np.random.default_rng(0).normal(0.5, 0.03, size=(4000, n))
    covered = sum(interval.low <= 0.5 <= interval.high for interval in map(seed_interval, drawn.tolist()))
    assert 0.94 < covered / 4000 < 0.96


def test_the_interval_over_seeds_stays_within_what_a_rate_can_be():
    interval = seed_interval([0.9, 1.0])
    assert interval.high == 1.0
    assert interval.low == pytest.approx(0.95 - 12.706 * 0.05, abs=1e-4)


def test_the_interval_of_a_difference_may_reach_below_zero():
    assert seed_interval([-0.1, 0.1]).low == 0.0
    assert seed_interval([-0.1, 0.1], lowest=-1.0).low == -1.0


def test_one_seed_has_no_interval_over_seeds():
    with pytest.raises(ValueError, match="at least two, got 1"):
        seed_interval([0.5])
