import math
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlvr.evaluation.intervals import Interval
from rlvr.evaluation.paired import Difference, mcnemar, paired_difference, problems_needed, sign_flip_p


def greedy_pairs(generator, problems, gained, lost):
    """0 or 1 for each problem, of both policies."""
    kind = generator.choice(4, size=problems, p=[gained, lost, 0.5, 0.5 - gained - lost])
    return np.isin(kind, [1, 2]).astype(float), np.isin(kind, [0, 2]).astype(float)


def sampled_pairs(generator, problems, samples, shift):
    """Shares of right responses; how hard a problem is differs much, and b is better by `shift` logits or so."""
    rates = np.clip(generator.beta(0.6, 0.9, size=problems), 1e-6, 1 - 1e-6)
    logits = np.log(rates / (1 - rates)) + shift + 0.4 * generator.normal(size=problems)
    better = 1 / (1 + np.exp(-logits))
    return generator.binomial(samples, rates) / samples, generator.binomial(samples, better) / samples


def coverage(draw, truth, times):
    generator = np.random.default_rng(0)
    found = [paired_difference(*draw(generator), resamples=600, seed=seed).interval for seed in range(times)]
    return sum(interval.low <= truth <= interval.high for interval in found) / times


@pytest.mark.parametrize(("problems", "gained", "lost"), [(50, 0.2, 0.2), (100, 0.1, 0.05), (300, 0.08, 0.02)])
def test_the_interval_of_greedy_responses_covers_the_truth_93_to_97_times_in_100(problems, gained, lost):
    found = coverage(lambda generator: greedy_pairs(generator, problems, gained, lost), gained - lost, 400)
    assert 0.93 <= found <= 0.97


@pytest.mark.parametrize(("problems", "samples", "shift"), [(50, 4, 0.0), (100, 8, 0.5)])
def test_the_interval_of_sampled_responses_covers_the_truth_93_to_97_times_in_100(problems, samples, shift):
    a, b = sampled_pairs(np.random.default_rng(9), 400_000, 64, shift)
    found = coverage(lambda generator: sampled_pairs(generator, problems, samples, shift), np.mean(b - a), 400)
    assert 0.93 <= found <= 0.97


def test_where_hardly_a_problem_changed_the_interval_is_rather_too_wide():
    """The plain percentile interval holds the truth here 80 times in 100."""
    found = coverage(lambda generator: greedy_pairs(generator, 50, 0.03, 0.01), 0.02, 500)
    assert found >= 0.95


def test_the_interval_is_that_of_resampling_problems_one_by_one():
    generator = np.random.default_rng(3)
    a, b = sampled_pairs(generator, 80, 4, 0.4)
    found = paired_difference(a, b, resamples=40_000)
    changed = (b - a)[b != a]
    usual = math.sqrt(np.mean(changed**2))
    chances = np.array([1.0] * 80 + [0.5, 0.5]) / 81
    means = generator.choice([*(b - a), usual, -usual], size=(40_000, 81), p=chances).mean(axis=1)
    tail = NormalDist().cdf(-1.990 * math.sqrt(81 / 80))  # 1.990 is Student's quantile for 80 degrees of freedom
    low, high = np.quantile(means, [tail, 1 - tail])
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=0.003)


def test_pairs_hide_how_hard_problems_are():
    """The same problems 10 points better everywhere: unpaired the spread between problems would drown it."""
    a = [0.05 * (i % 18) for i in range(60)]
    found = paired_difference(a, [rate + 0.1 for rate in a])
    assert found.value == pytest.approx(0.1)
    assert found.distinguishable


def test_equal_policies_are_not_certain_to_be_equal():
    found = paired_difference([1.0] * 20 + [0.0] * 20, [1.0] * 20 + [0.0] * 20)
    assert (found.value, found.distinguishable) == (0.0, False)
    assert -0.2 < found.interval.low < -0.01 < 0.01 < found.interval.high < 0.2


def test_what_rounding_leaves_is_no_difference():
    """Two curves that are the same, on other grids: their areas differ in the last digit."""
    found = paired_difference([0.3] * 40, [0.1 + 0.2] * 40)
    assert (found.value, found.distinguishable) == (0.0, False)
    assert found.interval.low < -0.01 < 0.01 < found.interval.high


def test_one_problem_says_next_to_nothing():
    found = paired_difference([0.0], [1.0])
    assert (found.value, found.n) == (1.0, 1)
    assert not found.distinguishable


def test_exchanging_the_policies_turns_the_difference_round():
    generator = np.random.default_rng(5)
    a, b = sampled_pairs(generator, 60, 4, 0.4)
    there, back = paired_difference(a, b, resamples=20_000), paired_difference(b, a, resamples=20_000)
    assert there.value == -back.value
    assert there.interval.low == pytest.approx(-back.interval.high, abs=0.005)


def test_the_same_seed_gives_the_same_interval():
    a, b = sampled_pairs(np.random.default_rng(5), 60, 4, 0.4)
    assert paired_difference(a, b) == paired_difference(a, b)
    assert paired_difference(a, b) != paired_difference(a, b, seed=1)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [([], [], "at least one problem"), ([0.1], [0.1, 0.2], "got 1 and 2"), ([0.1], [1.5], r"\[0, 1\]")],
)
def test_what_cannot_be_compared_is_an_error(a, b, message):
    with pytest.raises(ValueError, match=message):
        paired_difference(a, b)


@pytest.mark.parametrize(("low", "high", "expected"), [(0.01, 0.2, True), (-0.2, -0.01, True), (-0.1, 0.1, False)])
def test_a_difference_is_distinguishable_when_its_interval_leaves_out_zero(low, high, expected):
    assert Difference(value=0.0, interval=Interval(low=low, high=high), n=9).distinguishable is expected


def mcnemar_by_enumeration(gained, lost):
    patterns = list(product([0, 1], repeat=gained + lost))
    return sum(abs(2 * sum(pattern) - gained - lost) >= abs(gained - lost) for pattern in patterns) / len(patterns)


@given(st.integers(0, 6), st.integers(0, 6))
def test_mcnemar_equals_enumeration_of_all_splits(gained, lost):
    assert mcnemar(gained, lost) == pytest.approx(mcnemar_by_enumeration(gained, lost))


def test_mcnemar_gives_the_published_value_and_many_problems_do_not_overflow():
    assert mcnemar(8, 3) == pytest.approx(0.2265625)
    assert mcnemar(5000, 5000) == 1.0
    assert 0.0 <= mcnemar(6000, 4000) < 1e-80


def test_mcnemar_of_negative_counts_is_an_error():
    with pytest.raises(ValueError, match="-1 and 2"):
        mcnemar(-1, 2)


@given(st.lists(st.integers(-4, 4), max_size=9))
@settings(deadline=None)
def test_the_permutation_test_equals_enumeration_of_all_signs(differences):
    signs = list(product([-1, 1], repeat=len(differences)))
    sums = [abs(sum(sign * own for sign, own in zip(pattern, differences, strict=True))) for pattern in signs]
    expected = sum(found >= abs(sum(differences)) for found in sums) / len(sums)
    assert sign_flip_p(differences) == pytest.approx(expected)


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_permutation_test_of_single_responses_is_mcnemars(gained, lost):
    assert sign_flip_p([1] * gained + [-1] * lost + [0] * 5) == pytest.approx(mcnemar(gained, lost))


def share_found(population, problems, times=2000):
    """How often a two-sided test at 5 % tells the difference with so many problems drawn from a population."""
    drawn = np.random.default_rng(1).choice(population, size=(times, problems))
    return np.mean(np.abs(drawn.sum(axis=1)) > 1.96 * np.sqrt((drawn**2).sum(axis=1)))


@pytest.mark.parametrize(
    "population",
    [
        [1.0] * 15 + [-1.0] * 8 + [0.0] * 77,
        [1.0] * 6 + [-1.0] * 2 + [0.0] * 92,
        [0.25] * 30 + [-0.25] * 20 + [0.5] * 5 + [0.0] * 45,
    ],
)
def test_so_many_problems_find_the_difference_80_times_in_100(population):
    needed = problems_needed(population)
    assert needed is not None
    assert 0.77 <= share_found(population, needed) <= 0.83


def test_the_number_needed_is_connors_for_single_responses():
    """Of 200 pairs 24 gained and 12 lost: p_d = 0.18, d = 0.06."""
    needed = problems_needed([1.0] * 24 + [-1.0] * 12 + [0.0] * 164)
    expected = ((1.959964 * math.sqrt(0.18) + 0.841621 * math.sqrt(0.18 - 0.06**2)) / 0.06) ** 2
    assert needed == math.ceil(expected) == 391


def test_more_power_needs_more_problems_and_no_difference_has_no_number():
    differences = [1.0] * 24 + [-1.0] * 12 + [0.0] * 164
    assert (problems_needed(differences, power=0.95) or 0) > (problems_needed(differences) or 0)
    assert problems_needed([1.0, -1.0, 0.0]) is None
    assert problems_needed([1 - 2 / 3, 1 / 3 - 2 / 3]) is None
    with pytest.raises(ValueError, match="at least one problem"):
        problems_needed([])
