import numpy as np
import pytest

from rlvr.evaluation.intervals import cluster_wilson, wilson
from rlvr.evaluation.over_seeds import seed_mean
from rlvr.evaluation.paired import paired_difference


def test_one_seed_has_the_interval_of_a_single_run_over_problems_and_none_over_seeds():
    found = seed_mean([[0.0, 1.0, 1.0, 0.0] * 25], rates=True)
    assert (found.value, found.over_seeds) == (0.5, None)
    assert found.interval == wilson(50, 100)
    several = [0.25, 1.0, 0.5, 0.0] * 10
    assert seed_mean([several], rates=True).interval == cluster_wilson(several)


def test_one_seed_has_the_interval_of_a_paired_difference():
    before, after = [0.0] * 30 + [1.0] * 20, [0.0] * 26 + [1.0] * 24
    gain = seed_mean([np.subtract(after, before)])
    assert gain.interval == paired_difference(before, after).interval
    # Four gained and none lost: McNemar's test says p = 0.125.
    assert not gain.distinguishable


def test_the_same_problems_under_more_seeds_are_not_more_problems():
    row = [0.0, 1.0] * 50
    one, eight = seed_mean([row], rates=True).interval, seed_mean([row] * 8, rates=True).interval
    assert eight.low == pytest.approx(one.low, abs=0.005)
    assert eight.high == pytest.approx(one.high, abs=0.005)


def test_seeds_that_disagree_widen_the_interval():
    agreeing = seed_mean([[0.4, 0.6] * 25, [0.4, 0.6] * 25, [0.4, 0.6] * 25])
    apart = seed_mean([[0.3] * 50, [0.5] * 50, [0.7] * 50])
    assert agreeing.interval.high - 0.5 == pytest.approx(2.00958 * np.sqrt(0.01 * 50 / 49 / 50), rel=1e-3)
    assert apart.over_seeds is not None
    assert apart.over_seeds.high - 0.5 == pytest.approx(4.30265 * 0.2 / np.sqrt(3), rel=1e-3)
    assert apart.interval.high == pytest.approx(apart.over_seeds.high)


def test_an_interval_of_a_rate_stays_within_what_a_rate_can_be_and_is_not_cut_off():
    found = seed_mean([[0.0] * 9 + [1.0], [0.0] * 10], rates=True)
    assert 0.0 < found.interval.low < 0.05 < found.interval.high < 1.0


@pytest.mark.parametrize("seeds", [1, 3])
def test_no_spread_at_all_is_no_certainty(seeds: int):
    assert seed_mean(np.ones((seeds, 20)), rates=True).interval == wilson(20, 20)
    for change in (0.0, 1.0):
        found = seed_mean(np.full((seeds, 20), change))
        assert found.interval.low < change - 0.02
        assert (found.value, found.distinguishable) == (change, change != 0)
    assert not seed_mean(np.ones((seeds, 1))).distinguishable


def test_seeds_that_cancel_problem_by_problem_are_no_certainty():
    assert seed_mean([[1.0, -1.0] * 10, [-1.0, 1.0] * 10]).interval.low < -0.1


def test_no_difference_anywhere_is_not_distinguishable_and_a_clear_one_is():
    assert not seed_mean(np.zeros((3, 40))).distinguishable
    assert seed_mean(np.ones((2, 40)) * 0.2).distinguishable


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (4,)])
def test_what_is_no_table_is_refused(shape: tuple[int, ...]):
    with pytest.raises(ValueError, match="seeds by problems"):
        seed_mean(np.zeros(shape))


@pytest.mark.parametrize(("a", "b"), [(2, 2), (0.2, 4), (8, 1)])
@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_intervals_cover_the_truth_for_seeds_that_differ_little_or_more(a: float, b: float, spread: float):
    """Three seeds, 60 problems, one response each; at least 93 % (they are a little wide by construction)."""
    rng = np.random.default_rng(0)

    def chances(problems: int, seeds: int):
        rates = np.clip(rng.beta(a, b, size=problems), 1e-9, 1 - 1e-9)
        logits = np.log(rates / (1 - rates))[None] + rng.normal(0.0, spread, size=seeds)[:, None]
        return 1 / (1 + np.exp(-logits))

    truth = chances(200_000, 40).mean() if spread == 0 else np.mean([chances(20_000, 1).mean() for _ in range(400)])
    found = [seed_mean(rng.random((3, 60)) < chances(60, 3), rates=True).interval for _ in range(500)]
    assert np.mean([interval.low <= truth <= interval.high for interval in found]) >= 0.93
