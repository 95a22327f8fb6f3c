import numpy as np
import pytest

from rlvr.evaluation.curve_statistics import area_under_curve, first_place, place_of_threshold, problem_areas
from rlvr.evaluation.intervals import cluster_wilson


def test_the_area_is_the_mean_height():
    """A triangle over twice its width's rest at 1: (0 + 1) / 2 over 10, then 1 over 10."""
    areas = problem_areas([0, 10, 20], [[0.0], [1.0], [1.0]])
    assert areas == pytest.approx([0.75])


def test_points_far_apart_count_for_more():
    assert problem_areas([0, 1, 11], [[1.0], [1.0], [0.0]]) == pytest.approx([(1 + 5) / 11])


def test_a_part_of_the_range_is_interpolated_at_its_ends():
    assert problem_areas([0, 10, 20], [[0.0], [1.0], [1.0]], first=5, last=15) == pytest.approx([0.875])


def test_the_area_of_the_mean_curve_has_the_interval_of_the_problems_areas():
    generator = np.random.default_rng(0)
    places, table = [0, 3, 10], generator.uniform(size=(3, 40)).tolist()
    rate, areas = area_under_curve(places, table), problem_areas(places, table)
    assert rate.value == pytest.approx(np.trapezoid(np.mean(table, axis=1), places) / 10)
    assert rate.interval == cluster_wilson(areas)


def test_the_threshold_is_reached_between_two_points():
    table = [[0.0] * 10, [0.4] * 10, [0.8] * 10]
    reached = place_of_threshold([0, 100, 300], table, 0.6)
    assert reached is not None
    # All problems alike: every resample is the same curve.
    assert (reached.value, reached.low, reached.high, reached.reached_frac) == pytest.approx((200, 200, 200, 1))


def test_the_first_crossing_counts_even_when_the_curve_falls_back():
    reached = place_of_threshold([0, 1, 2, 3], [[0.0] * 4, [1.0] * 4, [0.0] * 4, [1.0] * 4], 0.5)
    assert reached is not None
    assert reached.value == 0.5


def test_a_curve_that_begins_above_has_reached_it_at_its_beginning():
    reached = place_of_threshold([5, 6], [[0.95] * 3, [0.99] * 3], 0.9)
    assert reached is not None
    assert (reached.value, reached.high) == (5, 5)


def test_a_threshold_met_exactly_by_a_sum_that_rounds_is_reached():
    reached = place_of_threshold([0, 1], [[0.0] * 10, [1.0] * 9 + [0.0]], 0.9)
    assert reached is not None
    assert reached.value == pytest.approx(1)


def test_a_single_point_has_reached_what_lies_below_it():
    assert first_place([7], [0.3], 0.1 + 0.2) == 7
    assert first_place([7], [0.3], 0.31) is None


def test_a_curve_that_never_comes_so_far_has_no_place():
    assert place_of_threshold([0, 1], [[0.0] * 10, [0.5] * 10], 0.6) is None


def test_an_end_of_the_interval_may_be_that_it_is_not_reached():
    solved = [1.0] * 19 + [0.0]
    reached = place_of_threshold([0, 100], [[0.0] * 20, solved], 0.94)
    assert reached is not None
    assert reached.high is None
    assert 0.4 < reached.reached_frac < 0.95


def test_the_interval_holds_the_true_place():
    """Problems whose rates rise from Beta-distributed starts: the mean curve reaches 0.7 at a known place."""
    generator = np.random.default_rng(0)
    places = np.linspace(0, 10, 6)
    starts = generator.beta(1, 1.5, size=200_000)
    means = [float((starts + (0.95 - starts) * place / 10).mean()) for place in places]
    truth = float(np.interp(0.7, means, places))
    covered = 0
    for seed in range(150):
        start = generator.beta(1, 1.5, size=150)
        rates = start + (0.95 - start) * places[:, None] / 10
        reached = place_of_threshold(
            places.tolist(), (generator.binomial(4, rates) / 4).tolist(), 0.7, resamples=400, seed=seed
        )
        assert reached is not None
        covered += reached.low <= truth <= (reached.high or np.inf)
    assert 0.91 <= covered / 150 <= 0.985


def test_the_same_seed_gives_the_same_interval():
    table = np.random.default_rng(0).uniform(size=(4, 30)).tolist()
    assert place_of_threshold([0, 1, 2, 3], table, 0.52) == place_of_threshold([0, 1, 2, 3], table, 0.52)


@pytest.mark.parametrize(
    ("places", "table", "message"),
    [
        ([0], [[0.5]], "at least two points"),
        ([0, 0], [[0.5], [0.5]], "must grow"),
        ([0, 1], [[0.5], [0.5, 0.6]], "the same problems"),
        ([0, 1], [[], []], "at least one problem"),
        ([0, 1], [[0.5], [1.5]], r"\[0, 1\]"),
    ],
)
def test_what_is_no_curve_is_an_error(places, table, message):
    for call in (lambda: area_under_curve(places, table), lambda: place_of_threshold(places, table, 0.5)):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_range_beyond_the_curve_and_an_impossible_threshold_are_errors():
    with pytest.raises(ValueError, match="runs from 0 to 1"):
        problem_areas([0, 1], [[0.5], [0.5]], first=0, last=2)
    with pytest.raises(ValueError, match=r"above 0 and at most 1, got 1\.5"):
        place_of_threshold([0, 1], [[0.5], [0.5]], 1.5)
