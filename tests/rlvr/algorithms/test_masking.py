import pytest
import torch
from hypothesis import given
from support import slow_rl
from support.batches import Batch, batches, make_batch

from rlvr.algorithms.masking import action_mask, masked_mean, masked_sum, masked_variance, whiten

NAN = float("nan")


def test_eos_is_an_action_and_what_follows_it_is_not():
    """checklist 1: after one prompt token, [a b EOS pad] is [1 1 1 0] and the truncated [a b c d] is all 1."""
    mask = action_mask(torch.tensor([1, 1]), torch.tensor([4, 5]), 5)
    assert mask.tolist() == [[True, True, True, False], [True, True, True, True]]


def test_the_first_action_is_predicted_at_the_last_prompt_token():
    """checklist 2: index t speaks of token t + 1, in the state before it."""
    mask = action_mask(torch.tensor([3]), torch.tensor([5]), 7)
    predicted_tokens = (mask[0].nonzero().flatten() + 1).tolist()
    assert predicted_tokens == [3, 4]


def test_a_response_without_tokens_has_no_actions():
    assert not action_mask(torch.tensor([3]), torch.tensor([3]), 5).any()


@given(batches)
def test_masked_statistics_equal_their_definitions(batch: Batch):
    entries = batch.first[batch.mask].tolist()
    assert masked_sum(batch.first, batch.mask).item() == pytest.approx(sum(entries))
    assert masked_mean(batch.first, batch.mask).item() == pytest.approx(slow_rl.mean(entries))
    assert masked_variance(batch.first, batch.mask).item() == pytest.approx(slow_rl.variance(entries))


@given(batches)
def test_whiten_equals_its_definition(batch: Batch):
    expected = slow_rl.whiten(batch.first[batch.mask].tolist(), eps=1e-8)
    whitened = whiten(batch.first, batch.mask)
    assert whitened[batch.mask].tolist() == pytest.approx(expected, abs=1e-9)
    assert (whitened[~batch.mask] == 0).all()


def test_whiten_counts_valid_tokens_of_the_whole_batch_only():
    """checklist 20: mean .6667 and population variance 1.5556; an unmasked mean would be .25."""
    x = torch.tensor([[1.0, -1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]])
    mask = torch.tensor([[True, True, False, False], [True, False, False, False]])
    assert masked_mean(x, mask).item() == pytest.approx(0.6667, abs=1e-4)
    assert masked_variance(x, mask).item() == pytest.approx(1.5556, abs=1e-4)
    expected = torch.tensor([[0.2673, -1.3363, 0.0, 0.0], [1.0690, 0.0, 0.0, 0.0]])
    torch.testing.assert_close(whiten(x, mask), expected, atol=1e-4, rtol=0)


def test_whitening_one_valid_token_gives_zero():
    """checklist 20"""
    mask = torch.tensor([[False, True, False]])
    assert whiten(torch.tensor([[5.0, 7.0, 9.0]]), mask).tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize("constant", [0.1, 1000.1, -3e7])
def test_whitening_equal_values_gives_exactly_zero_however_the_mean_rounds(constant: float):
    x = torch.full((7, 11), constant)
    assert (whiten(x, torch.ones(7, 11, dtype=torch.bool)) == 0).all()


def test_statistics_of_no_valid_token_are_zero():
    x, mask = torch.tensor([[NAN, 1.0]]), torch.zeros(1, 2, dtype=torch.bool)
    assert masked_sum(x, mask) == masked_mean(x, mask) == masked_variance(x, mask) == 0
    assert whiten(x, mask).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("function", [masked_sum, masked_mean, masked_variance, whiten])
@pytest.mark.parametrize("poison", [NAN, float("inf")])
def test_nothing_under_the_mask_reaches_a_value_or_a_gradient(function, poison: float):
    batch = make_batch(3, 5, seed=1)
    weights = batch.second

    def value_and_gradient(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = x.clone().requires_grad_()
        y = function(x, batch.mask)
        (gradient,) = torch.autograd.grad((y * weights).sum(), x)
        return y.detach(), gradient

    clean = value_and_gradient(batch.first.masked_fill(~batch.mask, 0.0))
    poisoned = value_and_gradient(batch.first.masked_fill(~batch.mask, poison))
    torch.testing.assert_close(poisoned, clean, rtol=0, atol=0)


def test_whiten_has_the_gradient_of_its_formula():
    batch = make_batch(3, 4, seed=2)
    assert torch.autograd.gradcheck(lambda x: whiten(x, batch.mask), batch.first.clone().requires_grad_())
