import numpy as np
import pytest

from rlvr.evaluation.intervals import wilson
from rlvr.evaluation.over_seeds import seed_mean, t_quantile


@pytest.mark.parametrize(
    ("freedom", "expected"), [(1, 12.7062), (2, 4.30265), (3, 3.18245), (10, 2.22814), (100, 1.98397), (1e9, 1.95996)]
)
def test_quantiles_of_t_are_those_of_the_tables(freedom: float, expected: float):
    assert t_quantile(0.975, freedom) == pytest.approx(expected, rel=3e-4)


def test_a_fractional_degree_of_freedom_lies_between_its_neighbours():
    assert t_quantile(0.975, 3) < t_quantile(0.975, 2.5) < t_quantile(0.975, 2)


def test_one_seed_has_an_interval_over_problems_and_none_over_seeds():
    found = seed_mean([[0.0, 1.0, 1.0, 0.0] * 25])
    assert found.value == 0.5
    assert found.over_seeds is None
    assert found.interval.high - 0.5 == pytest.approx(1.984 * np.sqrt(0.25 * 100 / 99 / 100), rel=1e-3)


def test_the_same_problems_under_more_seeds_are_not_more_problems():
    row = [0.0, 1.0] * 50
    assert seed_mean([row] * 8).interval.low == pytest.approx(seed_mean([row]).interval.low)


def test_seeds_that_disagree_widen_the_interval():
    agreeing = seed_mean([[0.5] * 50, [0.5] * 50, [0.5] * 50])
    apart = seed_mean([[0.3] * 50, [0.5] * 50, [0.7] * 50])
    assert agreeing.interval.low == agreeing.interval.high == 0.5
    assert apart.over_seeds is not None
    assert apart.over_seeds.high - 0.5 == pytest.approx(4.30265 * 0.2 / np.sqrt(3), rel=1e-3)
    assert apart.interval.high == pytest.approx(apart.over_seeds.high)


def test_an_interval_ends_where_a_rate_ends():
    found = seed_mean([[0.0] * 9 + [1.0], [0.0] * 10], rates=True)
    assert found.interval.low == 0.0


def test_rates_that_are_all_equal_are_not_certain_and_differences_may_be():
    assert seed_mean(np.ones((3, 20)), rates=True).interval == wilson(20, 20)
    unchanged = seed_mean(np.zeros((3, 20)))
    assert (unchanged.interval.low, unchanged.interval.high) == (0.0, 0.0)


def test_no_difference_anywhere_is_not_distinguishable_and_a_clear_one_is():
    assert not seed_mean(np.zeros((3, 40))).distinguishable
    assert seed_mean(np.ones((2, 40)) * 0.2).distinguishable


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (4,)])
def test_what_is_no_table_is_refused(shape: tuple[int, ...]):
    with pytest.raises(ValueError, match="seeds by problems"):
        seed_mean(np.zeros(shape))


@pytest.mark.parametrize("spread", [0.0, 0.03, 0.1])
def test_intervals_cover_the_truth_for_seeds_that_differ_little_or_much(spread: float):
    """Three seeds, 60 problems, one response each; at least 93 % (they are a little wide by construction)."""
    rng = np.random.default_rng(0)
    tries, covered = 600, 0
    for _ in range(tries):
        problems = rng.beta(2, 2, size=60)
        seeds = rng.normal(0.0, spread, size=3)
        chances = np.clip(problems[None] + seeds[:, None], 0, 1)
        found = seed_mean(rng.random((3, 60)) < chances, rates=True)
        covered += found.interval.low <= 0.5 <= found.interval.high
    assert covered / tries >= 0.93
