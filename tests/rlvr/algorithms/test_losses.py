import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from support import slow_rl
from support.batches import Batch, batches, make_batch

from rlvr.algorithms.losses import aggregate, clipped_surrogate, entropy, explained_variance, value_losses

MODES = ["token_mean", "sequence_mean", "sequence_sum", "constant"]


def loss_and_slope(ratio: float, advantage: float, **clips: float) -> tuple[float, float, bool]:
    """Return the loss, its derivative by the ratio (not by its logarithm), and whether it counts as clipped."""
    ratios = torch.tensor([ratio], dtype=torch.float64, requires_grad=True)
    losses, clipped = clipped_surrogate(ratios.log(), torch.tensor([advantage], dtype=torch.float64), **clips)
    (slope,) = torch.autograd.grad(losses.sum(), ratios)
    return losses.item(), slope.item(), bool(clipped.item())


@pytest.mark.parametrize(
    ("advantage", "ratio", "dual_clip", "loss", "slope"),
    [
        (1.0, 0.5, 0.0, -0.5, -1.0),
        (1.0, 1.5, 0.0, -1.2, 0.0),
        (-1.0, 0.5, 0.0, 0.8, 0.0),
        (-1.0, 1.5, 0.0, 1.5, 1.0),
        (-1.0, 4.0, 0.0, 4.0, 1.0),
        (-1.0, 4.0, 3.0, 3.0, 0.0),
    ],
)
def test_the_clip_table(advantage: float, ratio: float, dual_clip: float, loss: float, slope: float):
    """checklist 25"""
    actual = loss_and_slope(ratio, advantage, clip_low=0.2, clip_high=0.2, dual_clip=dual_clip)
    assert actual[:2] == pytest.approx((loss, slope))
    assert actual[2] == (slope == 0.0)


def test_clip_higher_leaves_more_room_above_than_below():
    """checklist 25: DAPO's .2 / .28"""
    assert loss_and_slope(1.25, 1.0, clip_low=0.2, clip_high=0.28) == pytest.approx((-1.25, -1.0, False))
    assert loss_and_slope(1.5, 1.0, clip_low=0.2, clip_high=0.28) == pytest.approx((-1.28, 0.0, True))


@given(st.floats(0.01, 6), st.floats(-3, 3), st.sampled_from([0.1, 0.2]), st.sampled_from([0.0, 1.5, 3.0]))
def test_the_surrogate_equals_its_cases(ratio: float, advantage: float, clip_low: float, dual_clip: float):
    assume(all(abs(ratio - kink) > 1e-6 for kink in (1 - clip_low, 1.28, dual_clip)))
    assume(advantage == 0 or abs(advantage) > 1e-9)
    clips = {"clip_low": clip_low, "clip_high": 0.28, "dual_clip": dual_clip}
    loss, slope, clipped = loss_and_slope(ratio, advantage, **clips)
    assert (loss, slope) == pytest.approx(slow_rl.clipped_surrogate(ratio, advantage, **clips), abs=1e-12)
    assert clipped == (slope == 0 and advantage != 0)


def test_a_huge_log_ratio_gives_no_nan_even_where_the_advantage_is_zero():
    ratios = torch.tensor([500.0, 500.0, -500.0], requires_grad=True)
    losses, clipped = clipped_surrogate(ratios, torch.tensor([0.0, -1.0, 1.0]), clip_low=0.2, clip_high=0.2)
    (gradient,) = torch.autograd.grad(losses.sum(), ratios)
    assert losses.isfinite().all()
    assert gradient.tolist() == [0.0, 0.0, 0.0]
    assert clipped.tolist() == [False, True, False]


def test_the_clipped_value_loss():
    """checklist 23"""
    losses = value_losses(torch.tensor([1.0]), torch.tensor([0.2]), torch.tensor([1.0]), clip=0.2)
    assert losses.item() == pytest.approx(0.18)


def test_without_clip_the_value_loss_is_half_the_squared_error():
    batch = make_batch(2, 3, seed=11)
    actual = value_losses(batch.first, batch.second, batch.third, clip=0.0)
    torch.testing.assert_close(actual, 0.5 * (batch.first - batch.third) ** 2)


@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(-2, 2), st.sampled_from([0.0, 0.2, 1.0]))
def test_the_value_loss_equals_its_definition(value: float, old_value: float, target: float, clip: float):
    tensors = [torch.tensor([x], dtype=torch.float64) for x in (value, old_value, target)]
    expected = slow_rl.value_loss(value, old_value, target, clip=clip)
    assert value_losses(tensors[0], tensors[1], tensors[2], clip=clip).item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("mode", "expected"), [("token_mean", 1.2), ("sequence_mean", 1.5), ("sequence_sum", 3.0), ("constant", 0.375)]
)
def test_the_four_aggregations(mode: str, expected: float):
    """checklist 26"""
    losses = torch.tensor([[1.0, 1.0, 1.0, 1.0], [2.0, 9.0, 9.0, 9.0]])
    mask = torch.tensor([[True, True, True, True], [True, False, False, False]])
    actual = aggregate(losses, mask, mode=mode, total_tokens=5, total_rows=2, constant=8)
    assert actual.item() == pytest.approx(expected)


@pytest.mark.parametrize("mode", MODES)
@given(batch=batches)
def test_aggregation_equals_its_definition(mode: str, batch: Batch):
    total_tokens, total_rows = int(batch.mask.sum()), len(batch.mask)
    actual = aggregate(batch.first, batch.mask, mode=mode, total_tokens=total_tokens, total_rows=total_rows, constant=8)
    expected = slow_rl.aggregate(batch.first.tolist(), batch.mask.tolist(), mode=mode, constant=8)
    assert actual.item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("mode", MODES)
@given(batch=batches, micro_batch_size=st.integers(1, 4))
def test_loss_and_gradient_do_not_depend_on_the_micro_batch_size(mode: str, batch: Batch, micro_batch_size: int):
    """checklist 26"""
    totals = {"total_tokens": int(batch.mask.sum()), "total_rows": len(batch.mask), "constant": 8}
    losses = batch.first.clone().requires_grad_()
    whole = aggregate(losses, batch.mask, mode=mode, **totals)
    parts = [
        aggregate(rows, mask, mode=mode, **totals)
        for rows, mask in zip(losses.split(micro_batch_size), batch.mask.split(micro_batch_size), strict=True)
    ]
    summed = torch.stack(parts).sum()
    torch.testing.assert_close(summed, whole)
    torch.testing.assert_close(torch.autograd.grad(summed, losses), torch.autograd.grad(whole, losses))


@pytest.mark.parametrize("mode", MODES)
def test_a_row_without_valid_tokens_contributes_zero(mode: str):
    mask = torch.tensor([[False, False]])
    losses = torch.tensor([[float("nan"), 1.0]])
    assert aggregate(losses, mask, mode=mode, total_tokens=0, total_rows=0, constant=8) == 0


@pytest.mark.parametrize("mode", MODES)
def test_nan_under_the_mask_reaches_neither_the_loss_nor_its_gradient(mode: str):
    batch = make_batch(3, 5, seed=12)
    totals = {"total_tokens": int(batch.mask.sum()), "total_rows": 3, "constant": 8}
    losses = batch.first.masked_fill(~batch.mask, float("nan")).requires_grad_()
    loss = aggregate(losses, batch.mask, mode=mode, **totals)
    (gradient,) = torch.autograd.grad(loss, losses)
    torch.testing.assert_close(loss, aggregate(batch.first, batch.mask, mode=mode, **totals), rtol=0, atol=0)
    assert gradient.isfinite().all()
    assert (gradient[~batch.mask] == 0).all()


def test_nan_in_padded_values_stays_with_the_padding():
    batch = make_batch(3, 5, seed=13)
    values = batch.first.masked_fill(~batch.mask, float("nan")).requires_grad_()
    losses = value_losses(values, batch.second, batch.third, clip=0.2)
    loss = aggregate(losses, batch.mask, mode="token_mean", total_tokens=9, total_rows=3, constant=8)
    (gradient,) = torch.autograd.grad(loss, values)
    assert loss.isfinite()
    assert gradient[batch.mask].isfinite().all()


def test_an_unknown_aggregation_is_refused_with_the_known_ones():
    batch = make_batch(1, 1, seed=0)
    with pytest.raises(ValueError, match='"token_mean"'):
        aggregate(batch.first, batch.mask, mode="mean", total_tokens=1, total_rows=1, constant=1)


@given(st.lists(st.lists(st.floats(-4, 4), min_size=3, max_size=3), min_size=1, max_size=3))
def test_entropy_equals_its_sum(rows: list[list[float]]):
    actual = entropy(torch.tensor(rows, dtype=torch.float64))
    assert actual.tolist() == pytest.approx([slow_rl.entropy(row) for row in rows])


def test_entropy_of_the_uniform_distribution_is_the_logarithm_of_its_size():
    assert entropy(torch.zeros(2, 7)).tolist() == pytest.approx([math.log(7)] * 2)


def test_entropy_is_computed_in_float32_from_bfloat16_logits():
    """checklist 30"""
    logits = torch.linspace(0, 3, 50).bfloat16()
    assert entropy(logits).dtype == torch.float32
    torch.testing.assert_close(entropy(logits), entropy(logits.float()), rtol=0, atol=0)


def test_excluded_tokens_add_nothing_to_the_entropy_or_its_gradient():
    logits = torch.tensor([0.2, -0.3, float("-inf")], requires_grad=True)
    value = entropy(logits)
    (gradient,) = torch.autograd.grad(value, logits)
    assert value.item() == pytest.approx(slow_rl.entropy([0.2, -0.3]), abs=1e-6)
    assert gradient.isfinite().all()


@given(batches)
def test_explained_variance_equals_its_definition(batch: Batch):
    assume(batch.mask.sum() > 1)
    actual = explained_variance(batch.first, batch.second, batch.mask)
    expected = slow_rl.explained_variance(batch.first[batch.mask].tolist(), batch.second[batch.mask].tolist())
    assert actual == pytest.approx(expected)


def test_explained_variance_is_one_for_a_perfect_critic_whatever_its_offset():
    """checklist 24"""
    batch = make_batch(3, 5, seed=14)
    assert explained_variance(batch.first + 3.0, batch.first, batch.mask) == pytest.approx(1.0)
    assert explained_variance(torch.zeros_like(batch.first), batch.first, batch.mask) == pytest.approx(0.0)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1.0])
def test_explained_variance_is_none_when_the_returns_do_not_vary(constant: float):
    """checklist 24"""
    mask = torch.ones(3, 7, dtype=torch.bool)
    mask[0, 0] = False
    returns = torch.full((3, 7), constant).masked_fill(~mask, float("nan"))
    assert explained_variance(torch.randn(3, 7), returns, mask) is None


@pytest.mark.parametrize("mode", MODES)
def test_the_gradients_are_those_of_the_formulas(mode: str):
    batch = make_batch(2, 3, seed=15)
    total_tokens = int(batch.mask.sum())

    def loss(log_ratios: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        policy_losses, _ = clipped_surrogate(log_ratios, batch.third, clip_low=0.2, clip_high=0.28, dual_clip=3.0)
        critic_losses = value_losses(values, batch.first, batch.fourth, clip=0.2)
        return aggregate(
            policy_losses + critic_losses,
            batch.mask,
            mode=mode,
            total_tokens=total_tokens,
            total_rows=2,
            constant=8,
        )

    assert torch.autograd.gradcheck(loss, (batch.first.clone().requires_grad_(), batch.second.clone().requires_grad_()))
    assert torch.autograd.gradcheck(entropy, batch.first.clone().requires_grad_())
