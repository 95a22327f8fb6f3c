import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support import slow_rl
from support.batches import Batch, batches, make_batch

from rlvr.algorithms.advantages import (
    gae,
    group_centered,
    group_normalized,
    leave_one_out,
    length_adaptive_lambda,
    reward_to_go,
)

discounts = st.sampled_from([0.0, 0.9, 1.0])
lambdas = st.sampled_from([0.0, 0.5, 0.95, 1.0])
ALL = torch.ones(1, 3, dtype=torch.bool)
REWARDS = torch.tensor([[-0.01, -0.02, 1.0]])
VALUES = torch.tensor([[0.5, 0.6, 0.7]])


def close(actual: torch.Tensor, expected: list) -> None:
    torch.testing.assert_close(actual, torch.tensor(expected, dtype=actual.dtype), atol=1e-4, rtol=0)


@given(batches, discounts, lambdas, st.booleans())
def test_gae_equals_its_double_sum(batch: Batch, gamma: float, gae_lambda: float, bootstraps: bool):
    bootstrap_values = batch.third[:, 0] if bootstraps else None
    advantages, returns = gae(
        batch.first,
        batch.second,
        batch.mask,
        gamma=gamma,
        gae_lambda=gae_lambda,
        bootstrap_values=bootstrap_values,
    )
    for row in range(len(batch.mask)):
        expected_advantages, expected_returns = slow_rl.gae(
            batch.first[row].tolist(),
            batch.second[row].tolist(),
            batch.mask[row].tolist(),
            gamma=gamma,
            gae_lambda=gae_lambda,
            bootstrap=batch.third[row, 0].item() if bootstraps else 0.0,
        )
        assert advantages[row].tolist() == pytest.approx(expected_advantages)
        assert returns[row].tolist() == pytest.approx(expected_returns)


@given(batches, discounts)
def test_reward_to_go_equals_its_definition(batch: Batch, gamma: float):
    actual = reward_to_go(batch.first, batch.mask, gamma=gamma)
    for row in range(len(batch.mask)):
        expected = slow_rl.reward_to_go(batch.first[row].tolist(), batch.mask[row].tolist(), gamma=gamma)
        assert actual[row].tolist() == pytest.approx(expected)


@given(batches, discounts)
def test_lambda_one_is_reward_to_go_minus_value(batch: Batch, gamma: float):
    advantages, returns = gae(batch.first, batch.second, batch.mask, gamma=gamma, gae_lambda=1.0)
    to_go = reward_to_go(batch.first, batch.mask, gamma=gamma)
    torch.testing.assert_close(returns, to_go)
    torch.testing.assert_close(advantages, (to_go - batch.second).masked_fill(~batch.mask, 0.0))


def test_lambda_zero_is_the_one_step_error():
    batch = make_batch(3, 6, seed=3)
    mask = torch.ones_like(batch.mask)
    advantages, _ = gae(batch.first, batch.second, mask, gamma=0.9, gae_lambda=0.0)
    next_values = torch.cat([batch.second[:, 1:], torch.zeros(3, 1, dtype=torch.float64)], dim=1)
    torch.testing.assert_close(advantages, batch.first + 0.9 * next_values - batch.second)


def test_a_critic_that_starts_at_zero_gives_reinforce():
    """checklist 21: V = 0 and lambda = 1 is REINFORCE with baseline 0."""
    batch = make_batch(3, 6, seed=4)
    advantages, _ = gae(batch.first, torch.zeros_like(batch.first), batch.mask, gamma=1.0, gae_lambda=1.0)
    torch.testing.assert_close(advantages, reward_to_go(batch.first, batch.mask, gamma=1.0), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("gae_lambda", "advantages", "returns"),
    [(0.95, [0.43675, 0.365, 0.3], [0.93675, 0.965, 1.0]), (1.0, [0.47, 0.38, 0.3], [0.97, 0.98, 1.0])],
)
def test_gae_of_a_finished_response(gae_lambda: float, advantages: list, returns: list):
    """checklist 16"""
    actual = gae(REWARDS, VALUES, ALL, gamma=1.0, gae_lambda=gae_lambda)
    close(actual[0], [advantages])
    close(actual[1], [returns])


def test_a_truncated_response_can_bootstrap_from_the_state_after_it():
    """checklist 17"""
    advantages, returns = gae(
        torch.zeros(1, 3), VALUES, ALL, gamma=1.0, gae_lambda=0.95, bootstrap_values=torch.tensor([0.8])
    )
    close(advantages, [[0.28525, 0.195, 0.1]])
    close(returns, [[0.78525, 0.795, 0.8]])


def test_without_bootstrap_truncation_counts_as_failure():
    """checklist 17"""
    advantages, _ = gae(torch.zeros(1, 3), VALUES, ALL, gamma=1.0, gae_lambda=0.95)
    close(advantages, [[-0.43675, -0.565, -0.7]])


def test_values_of_padding_do_not_leak_into_returns():
    """checklist 18"""
    mask = torch.tensor([[True, True, False]])
    values = torch.tensor([[0.0, 0.0, 100.0]])
    _, returns = gae(torch.tensor([[0.0, 1.0, 0.0]]), values, mask, gamma=1.0, gae_lambda=0.95)
    close(returns, [[0.95, 1.0, 0.0]])


def test_observation_tokens_are_stepped_over():
    """checklist 19"""
    mask = torch.tensor([[True, True, False, False, True]])
    values = torch.tensor([[0.5, 0.5, 0.9, 0.1, 0.5]])
    rewards = torch.tensor([[0.0, 0.0, 0.0, 0.0, 1.0]])
    _, returns = gae(rewards, values, mask, gamma=1.0, gae_lambda=0.95)
    close(returns, [[0.95125, 0.975, 0.0, 0.0, 1.0]])


@given(batches)
def test_nan_under_the_mask_changes_nothing(batch: Batch):
    poison = float("nan")
    clean = gae(batch.first, batch.second, batch.mask, gamma=0.9, gae_lambda=0.95)
    poisoned = gae(
        batch.first.masked_fill(~batch.mask, poison),
        batch.second.masked_fill(~batch.mask, poison),
        batch.mask,
        gamma=0.9,
        gae_lambda=0.95,
    )
    torch.testing.assert_close(poisoned, clean, rtol=0, atol=0)


def test_nan_under_the_mask_reaches_no_gradient():
    batch = make_batch(3, 6, seed=5)
    rewards = batch.first.masked_fill(~batch.mask, float("nan")).requires_grad_()
    values = batch.second.masked_fill(~batch.mask, float("nan")).requires_grad_()
    advantages, returns = gae(rewards, values, batch.mask, gamma=0.9, gae_lambda=0.95)
    for gradient in torch.autograd.grad((advantages * batch.third + returns).sum(), (rewards, values)):
        assert gradient.isfinite().all()
        assert (gradient[~batch.mask] == 0).all()


def test_lambda_may_differ_between_rows():
    batch = make_batch(2, 5, seed=6)
    both, _ = gae(batch.first, batch.second, batch.mask, gamma=1.0, gae_lambda=torch.tensor([0.3, 0.9]).double())
    for row, gae_lambda in enumerate([0.3, 0.9]):
        one, _ = gae(batch.first, batch.second, batch.mask, gamma=1.0, gae_lambda=gae_lambda)
        torch.testing.assert_close(both[row], one[row], rtol=1e-6, atol=1e-6)


def test_length_adaptive_lambda_grows_with_the_response():
    """checklist 22"""
    lengths = torch.tensor([10, 20, 40, 100, 400, 1000, 4000])
    close(length_adaptive_lambda(lengths, alpha=0.05), [0.0, 0.0, 0.5, 0.8, 0.95, 0.98, 0.995])


def test_length_adaptive_lambda_of_an_empty_response_is_zero():
    assert length_adaptive_lambda(torch.tensor([0]), alpha=0.05).tolist() == [0.0]


def test_group_advantages_of_one_success_in_four():
    """checklist 27"""
    scores, groups = torch.tensor([1.0, 0.0, 0.0, 0.0]), torch.zeros(4, dtype=torch.int64)
    close(group_normalized(scores, groups), [1.4997, -0.4999, -0.4999, -0.4999])
    close(group_centered(scores, groups), [0.75, -0.25, -0.25, -0.25])
    close(leave_one_out(scores, groups), [1.0, -0.3333, -0.3333, -0.3333])


@pytest.mark.parametrize("function", [group_normalized, group_centered, leave_one_out])
@pytest.mark.parametrize("score", [0.1, 0.7, 1.0, 1000.1])
def test_a_group_of_equal_scores_gets_exactly_zero(function, score: float):
    """checklist 27"""
    scores = torch.full((21,), score)
    assert (function(scores, torch.arange(21) % 3) == 0).all()


@pytest.mark.parametrize("function", [group_normalized, group_centered, leave_one_out])
def test_a_group_of_one_gets_zero(function):
    actual = function(torch.tensor([1.0, 0.0, 1.0]), torch.tensor([7, 3, 3]))
    assert actual[0] == 0
    assert actual[2] > 0


@given(st.integers(1, 12), st.integers(0, 2**31 - 1))
def test_group_advantages_equal_their_definitions_in_any_row_order(rows: int, seed: int):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(rows, generator=generator, dtype=torch.float64)
    groups = torch.randint(-2, 3, (rows,), generator=generator)
    plain_scores, plain_groups = scores.tolist(), groups.tolist()
    centred = [s - slow_rl.mean(slow_rl.group_of(plain_scores, plain_groups, k)) for k, s in enumerate(plain_scores)]
    assert group_centered(scores, groups).tolist() == pytest.approx(centred)
    assert leave_one_out(scores, groups).tolist() == pytest.approx(slow_rl.leave_one_out(plain_scores, plain_groups))
    normalized = slow_rl.group_normalized(plain_scores, plain_groups, eps=1e-4)
    assert group_normalized(scores, groups).tolist() == pytest.approx(normalized)
