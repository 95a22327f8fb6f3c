import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rlvr.tracking.metrics import Last, Max, Mean, Metric, Sum, combine


def test_means_of_unequal_batches_merge_to_the_mean_of_all_values():
    metrics = [Metric("policy/loss", Mean.of([1.0, 2.0, 3.0])), Metric("policy/loss", Mean.of(10.0))]
    assert combine(metrics) == {"policy/loss": 4.0}


@given(st.lists(st.lists(st.floats(-1e6, 1e6), max_size=5), min_size=1, max_size=5))
def test_how_values_are_split_into_batches_does_not_matter(batches):
    values = [value for batch in batches for value in batch]
    number = combine(Metric("policy/loss", Mean.of(batch)) for batch in batches)["policy/loss"]
    assert number == (pytest.approx(sum(values) / len(values), abs=1e-6) if values else None)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_a_mean_is_taken_of_tensors_of_any_type(dtype):
    assert Mean.of(torch.tensor([[1, 0], [1, 1]]).to(dtype)) == Mean(3.0, 4)


def test_a_mean_lets_go_of_the_graph():
    assert isinstance(Mean.of(torch.ones(3, requires_grad=True) * 2).total, float)


def test_a_long_float32_tensor_is_summed_without_drift():
    assert Mean.of(torch.full((3_000_000,), 0.1)).number == pytest.approx(float(torch.tensor(0.1)), rel=1e-12)


@pytest.mark.parametrize("empty", [[], torch.zeros(0), torch.zeros(3)[torch.zeros(3, dtype=torch.bool)]])
def test_a_mean_of_nothing_has_no_number(empty):
    assert Mean.of(empty).number is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", [Mean.of, Sum, Max, Last])
def test_a_number_that_is_not_finite_is_none(kind, bad):
    assert kind(bad).number is None


def test_sums_add_and_maxima_compete_and_the_last_wins():
    metrics = [
        Metric("policy/updates", Sum(2)),
        Metric("policy/updates", Sum(3)),
        Metric("policy/ratio_max", Max(1.5)),
        Metric("policy/ratio_max", Max(1.2)),
        Metric("policy/lr", Last(0.1)),
        Metric("policy/lr", Last(0.05)),
    ]
    assert combine(metrics) == {"policy/updates": 5.0, "policy/ratio_max": 1.5, "policy/lr": 0.05}


@pytest.mark.parametrize("values", [(math.nan, 1.0), (1.0, math.nan)])
def test_a_maximum_never_hides_nan(values):
    assert combine(Metric("policy/ratio_max", Max(value)) for value in values) == {"policy/ratio_max": None}


def test_one_value_given_twice_counts_twice():
    seconds = Sum(1.5)
    assert combine([Metric("time/judge_s", seconds), Metric("time/judge_s", seconds)]) == {"time/judge_s": 3.0}


def test_a_metric_without_a_documented_name_cannot_be_made():
    with pytest.raises(AssertionError, match=r"policy/speed.*names\.py"):
        Metric("policy/speed", Sum(1.0))


def test_one_name_cannot_be_reduced_in_two_ways():
    with pytest.raises(AssertionError, match="cannot be merged"):
        combine([Metric("policy/loss", Sum(1.0)), Metric("policy/loss", Mean.of(1.0))])
