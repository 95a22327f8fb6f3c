import torch
from hypothesis import given
from support.batches import Batch, batches

from rlvr.algorithms.shaping import kl_shaped_rewards, terminal_rewards


def test_the_reward_lies_on_the_last_action_not_on_padding():
    """checklist 9: at EOS, or at the last token of a truncated response."""
    mask = torch.tensor([[False, True, True, False], [False, True, True, True]])
    rewards = terminal_rewards(torch.tensor([1.0, 0.5]), mask)
    assert rewards.tolist() == [[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.5]]


def test_the_reward_lies_on_the_last_sampled_token_when_an_environment_spoke_last():
    mask = torch.tensor([[True, True, False, True, False]])
    assert terminal_rewards(torch.tensor([1.0]), mask).tolist() == [[0.0, 0.0, 0.0, 1.0, 0.0]]


@given(batches)
def test_each_row_with_actions_gets_its_score_once(batch: Batch):
    scores = batch.first[:, 0]
    rewards = terminal_rewards(scores, batch.mask)
    torch.testing.assert_close(rewards.sum(1), scores.masked_fill(~batch.mask.any(1), 0.0), rtol=0, atol=0)


def test_the_penalty_is_per_token_and_on_the_sampling_policy():
    """checklist 9: r_t = -beta (log pi_old - log pi_ref)_t + [t = T] R."""
    mask = torch.tensor([[False, True, True, False]])
    old, ref = torch.tensor([[9.0, -1.0, -2.0, 9.0]]), torch.tensor([[0.0, -1.5, -1.0, 0.0]])
    rewards = kl_shaped_rewards(terminal_rewards(torch.tensor([1.0]), mask), old, ref, mask, kl_coef=0.1)
    torch.testing.assert_close(rewards, torch.tensor([[0.0, -0.05, 1.1, 0.0]]))


def test_no_divergence_leaves_the_terminal_reward():
    """checklist 8"""
    mask = torch.tensor([[True, True]])
    logprobs = torch.tensor([[-1.0, -2.0]])
    terminal = terminal_rewards(torch.tensor([1.0]), mask)
    assert kl_shaped_rewards(terminal, logprobs, logprobs, mask, kl_coef=0.5).tolist() == terminal.tolist()


@given(batches)
def test_nan_under_the_mask_reaches_no_reward(batch: Batch):
    poison = float("nan")
    old, ref = batch.first.masked_fill(~batch.mask, poison), batch.second.masked_fill(~batch.mask, poison)
    rewards = kl_shaped_rewards(terminal_rewards(batch.third[:, 0], batch.mask), old, ref, batch.mask, kl_coef=0.1)
    assert rewards.isfinite().all()
    assert (rewards[~batch.mask] == 0).all()
