import pytest
import torch
from hypothesis import given
from support import slow_rl
from support.batches import Batch, batches, make_batch

from rlvr.algorithms.losses import clipped_surrogate
from rlvr.algorithms.ratios import log_ratios


@given(batches)
def test_token_level_is_the_difference_of_log_probabilities(batch: Batch):
    actual = log_ratios(batch.first, batch.second, batch.mask, level="token")
    torch.testing.assert_close(actual, (batch.first - batch.second).masked_fill(~batch.mask, 0.0), rtol=0, atol=0)


@given(batches)
def test_sequence_level_is_the_mean_over_the_response_at_each_of_its_tokens(batch: Batch):
    actual = log_ratios(batch.first, batch.second, batch.mask, level="sequence")
    for row, mask in enumerate(batch.mask.tolist()):
        differences = slow_rl.valid((batch.first - batch.second)[row].tolist(), mask)
        expected = slow_rl.scatter([slow_rl.mean(differences)] * len(differences), mask)
        assert actual[row].tolist() == pytest.approx(expected)


def test_sequence_level_ratio_is_the_length_normalised_ratio_of_the_response():
    """GSPO, eq. 7: s = (pi(y) / pi_old(y)) ** (1 / |y|)."""
    old = torch.tensor([[0.5, 0.25, 0.9]]).log()
    new = torch.tensor([[0.6, 0.5, 0.1]]).log()
    mask = torch.tensor([[True, True, False]])
    ratios = log_ratios(new, old, mask, level="sequence").exp()
    expected = (0.6 * 0.5 / (0.5 * 0.25)) ** 0.5
    assert ratios[0, :2].tolist() == pytest.approx([expected, expected])


def test_sequence_level_gradient_is_that_of_gspo():
    """d s / d log pi(y_t) = s / |y| at every token of the response."""
    batch = make_batch(3, 5, seed=7)
    logprobs = batch.first.clone().requires_grad_()
    ratios = log_ratios(logprobs, batch.second, batch.mask, level="sequence").exp()
    lengths = batch.mask.sum(1, keepdim=True)
    row_ratios = ratios.masked_fill(~batch.mask, 0.0).sum(1, keepdim=True) / lengths
    (gradient,) = torch.autograd.grad(row_ratios.sum(), logprobs)
    torch.testing.assert_close(gradient, (row_ratios / lengths).expand_as(gradient).masked_fill(~batch.mask, 0.0))


@pytest.mark.parametrize("level", ["token", "sequence"])
def test_before_the_first_update_the_ratio_is_one_and_the_loss_minus_the_advantage(level: str):
    """checklist 8"""
    batch = make_batch(3, 5, seed=8)
    ratios = log_ratios(batch.first, batch.first.clone(), batch.mask, level=level)
    losses, clipped = clipped_surrogate(ratios, batch.second, clip_low=0.2, clip_high=0.2)
    assert (ratios.exp() == 1).all()
    assert not clipped.any()
    torch.testing.assert_close(losses, -batch.second, rtol=0, atol=0)


@pytest.mark.parametrize("level", ["token", "sequence"])
def test_nan_under_the_mask_reaches_neither_ratios_nor_gradients(level: str):
    batch = make_batch(3, 5, seed=9)
    logprobs = batch.first.masked_fill(~batch.mask, float("nan")).requires_grad_()
    old_logprobs = batch.second.masked_fill(~batch.mask, float("nan"))
    advantages = batch.third.masked_fill(~batch.mask, float("nan"))
    ratios = log_ratios(logprobs, old_logprobs, batch.mask, level=level)
    losses, _ = clipped_surrogate(ratios, advantages, clip_low=0.2, clip_high=0.2)
    (gradient,) = torch.autograd.grad(losses.masked_fill(~batch.mask, 0.0).sum(), logprobs)
    assert (ratios[~batch.mask] == 0).all()
    assert (gradient[~batch.mask] == 0).all()
    assert gradient.isfinite().all()


@pytest.mark.parametrize("level", ["token", "sequence"])
def test_the_gradients_are_those_of_the_formulas(level: str):
    batch = make_batch(3, 4, seed=10)
    assert torch.autograd.gradcheck(
        lambda x: log_ratios(x, batch.second, batch.mask, level=level), batch.first.clone().requires_grad_()
    )


def test_an_unknown_level_is_refused_with_the_known_ones():
    batch = make_batch(1, 1, seed=0)
    with pytest.raises(ValueError, match='"token" or "sequence"'):
        log_ratios(batch.first, batch.second, batch.mask, level="word")
