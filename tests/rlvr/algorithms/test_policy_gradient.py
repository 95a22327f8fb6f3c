"""The parts together: on a policy small enough to enumerate, PPO's loss has the gradient of what RLVR maximises.

The policy is a table over responses of one or two tokens of a vocabulary of three, in which token 2 ends the response:
seven responses, so every expectation is a sum of seven terms, and one response is shorter than the others.
"""

from collections.abc import Callable

import pytest
import torch

from rlvr.algorithms.advantages import gae, group_centered, leave_one_out, reward_to_go
from rlvr.algorithms.kl import exact_kl, k2
from rlvr.algorithms.losses import aggregate, clipped_surrogate
from rlvr.algorithms.masking import action_mask
from rlvr.algorithms.ratios import log_ratios
from rlvr.algorithms.shaping import kl_shaped_rewards, terminal_rewards

PROMPT, END, PAD = 0, 2, 0
RESPONSES = [[END], *([first, second] for first in (0, 1) for second in (0, 1, 2))]
TOKENS = torch.tensor([[PROMPT, *response, *[PAD] * (2 - len(response))] for response in RESPONSES])
LENGTHS = torch.tensor([1 + len(response) for response in RESPONSES])
MASK = action_mask(torch.ones_like(LENGTHS), LENGTHS, TOKENS.shape[1])
STATES = torch.tensor([[0, 0 if response == [END] else 1 + response[0]] for response in RESPONSES])
"""[B T] the state before each action: 0 after the prompt, 1 and 2 after a first token 0 and 1."""
SCORES = torch.tensor([0.3, 1.0, 0.0, 0.5, -1.0, 0.2, 0.9], dtype=torch.float64)
KL_COEF = 0.3


def drawn(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def token_logprobs(table: torch.Tensor) -> torch.Tensor:
    """Return [B T] log pi(action | state), 0 off the mask, of a policy with logits [state, token]."""
    logprobs = table.log_softmax(-1)[STATES, TOKENS[:, 1:]]
    return logprobs.masked_fill(~MASK, 0.0)


def objective(table: torch.Tensor, ref_table: torch.Tensor, kl_coef: float) -> torch.Tensor:
    """Return the expected score minus kl_coef * KL(policy || ref), KL over whole responses, by enumeration."""
    logprobs, ref_logprobs = token_logprobs(table).sum(1), token_logprobs(ref_table).sum(1)
    probabilities = logprobs.exp()
    return (probabilities * (SCORES - kl_coef * (logprobs - ref_logprobs))).sum()


def surrogate_gradient(table: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    """Return the gradient of the expected surrogate loss at ratio 1, each response weighted by its probability."""
    logprobs = token_logprobs(table)
    ratios = log_ratios(logprobs, logprobs.detach(), MASK, level="token")
    losses, clipped = clipped_surrogate(ratios, advantages, clip_low=0.2, clip_high=0.2)
    assert not clipped.any()
    return expected_gradient(table, losses)


def expected_gradient(table: torch.Tensor, losses: torch.Tensor) -> torch.Tensor:
    """Return the gradient of E[sum over the response of losses], the sampling distribution held fixed."""
    probabilities = token_logprobs(table).sum(1).exp().detach()
    weighted = losses * probabilities[:, None]
    loss = aggregate(weighted, MASK, mode="sequence_sum", total_tokens=13, total_rows=1, constant=2)
    (gradient,) = torch.autograd.grad(loss, table)
    return gradient


def shaped_rewards(table: torch.Tensor, ref_table: torch.Tensor, kl_coef: float) -> torch.Tensor:
    old_logprobs = token_logprobs(table).detach()
    # Padding holds NaN here: it must not matter.
    ref_logprobs = token_logprobs(ref_table).masked_fill(~MASK, float("nan"))
    return kl_shaped_rewards(terminal_rewards(SCORES, MASK), old_logprobs, ref_logprobs, MASK, kl_coef=kl_coef)


def by_reward_to_go(rewards: torch.Tensor) -> torch.Tensor:
    return reward_to_go(rewards, MASK, gamma=1.0)


def by_gae_with_an_arbitrary_critic(rewards: torch.Tensor) -> torch.Tensor:
    """Use lambda 1, where any function of the state is an unbiased baseline."""
    advantages, _ = gae(rewards, drawn(3, 3)[STATES], MASK, gamma=1.0, gae_lambda=1.0)
    return advantages


def test_the_seven_responses_have_probability_one():
    assert token_logprobs(drawn(1, 3, 3)).sum(1).exp().sum().item() == pytest.approx(1.0)
    assert MASK.sum().item() == 13


@pytest.mark.parametrize("kl_coef", [0.0, KL_COEF])
@pytest.mark.parametrize("estimator", [by_reward_to_go, by_gae_with_an_arbitrary_critic])
def test_the_surrogate_with_kl_in_the_reward_has_the_gradient_of_the_objective(estimator: Callable, kl_coef: float):
    table, ref_table = drawn(1, 3, 3).requires_grad_(), drawn(2, 3, 3)
    (expected,) = torch.autograd.grad(objective(table, ref_table, kl_coef), table)
    advantages = estimator(shaped_rewards(table, ref_table, kl_coef))
    torch.testing.assert_close(-surrogate_gradient(table, advantages), expected)


@pytest.mark.parametrize("gae_lambda", [0.0, 0.5, 0.95])
def test_with_the_true_values_any_lambda_gives_the_gradient_of_the_objective(gae_lambda: float):
    table, ref_table = drawn(1, 3, 3).requires_grad_(), drawn(2, 3, 3)
    (expected,) = torch.autograd.grad(objective(table, ref_table, KL_COEF), table)
    rewards = shaped_rewards(table, ref_table, KL_COEF)
    to_go = reward_to_go(rewards, MASK, gamma=1.0)
    probabilities = token_logprobs(table).sum(1).exp().detach()[:, None].expand_as(MASK)
    visited = [MASK & STATES.eq(state) for state in range(3)]
    visits = torch.stack([probabilities[where].sum() for where in visited])
    gains = torch.stack([(probabilities * to_go)[where].sum() for where in visited])
    advantages, _ = gae(rewards, (gains / visits)[STATES], MASK, gamma=1.0, gae_lambda=gae_lambda)
    torch.testing.assert_close(-surrogate_gradient(table, advantages), expected)


def test_k2_in_the_loss_has_the_expected_gradient_of_the_exact_kl_of_each_state():
    table, ref_table = drawn(1, 3, 3).requires_grad_(), drawn(2, 3, 3)
    by_k2 = expected_gradient(table, k2(token_logprobs(table), token_logprobs(ref_table)))
    by_exact = expected_gradient(table, exact_kl(table, ref_table)[STATES])
    torch.testing.assert_close(by_k2, by_exact)


@pytest.mark.parametrize(("estimator", "scale"), [(leave_one_out, 1.0), (group_centered, 0.5)])
def test_group_baselines_keep_the_direction_of_the_gradient(estimator: Callable, scale: float):
    """All 49 pairs of responses as groups of two: leave-one-out is unbiased, centring shrinks by (n - 1) / n."""
    table = drawn(1, 3, 3).requires_grad_()
    (expected,) = torch.autograd.grad(objective(table, drawn(2, 3, 3), 0.0), table)
    first, second = torch.cartesian_prod(torch.arange(7), torch.arange(7)).unbind(1)
    groups = torch.arange(49).repeat(2)
    advantages = estimator(SCORES[torch.cat([first, second])], groups)
    probabilities = token_logprobs(table).sum(1).exp().detach()
    # Given the first response, the mean over the second of the first one's advantage.
    mean_advantages = torch.stack([(probabilities[second] * advantages[:49])[first == k].sum() for k in range(7)])
    gradient = surrogate_gradient(table, mean_advantages[:, None].expand(7, 2))
    torch.testing.assert_close(-gradient, scale * expected)


def test_off_policy_the_unclipped_ratio_still_gives_the_gradient_of_the_objective():
    """Importance sampling: responses of an older policy, ratios of whole responses, no clip."""
    table, old_table = drawn(1, 3, 3).requires_grad_(), drawn(4, 3, 3) * 0.1
    (expected,) = torch.autograd.grad(objective(table, drawn(2, 3, 3), 0.0), table)
    old_logprobs = token_logprobs(old_table)
    ratios = log_ratios(token_logprobs(table), old_logprobs, MASK, level="token").sum(1)
    losses, _ = clipped_surrogate(ratios, SCORES, clip_low=1e6, clip_high=1e6)
    (gradient,) = torch.autograd.grad((old_logprobs.sum(1).exp() * losses).sum(), table)
    torch.testing.assert_close(-gradient, expected)
