"""Advantage estimators: how much better an action was than expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int


def gae(
    rewards: Float[Tensor, "B T"],
    values: Float[Tensor, "B T"],
    mask: Bool[Tensor, "B T"],
    *,
    gamma: float,
    gae_lambda: float | Float[Tensor, " B"],
    bootstrap_values: Float[Tensor, " B"] | None = None,
) -> tuple[Float[Tensor, "B T"], Float[Tensor, "B T"]]:
    """Return generalized advantage estimates and the returns they imply (advantages + values), both 0 off the mask.

        delta_t = r_t + gamma * V_t+1 - V_t
        A_t     = delta_t + gamma * lambda * A_t+1

    where t + 1 is the next action that counts: tokens off the mask (padding, or what an environment fed) are stepped
    over, and neither discount nor contribute. Schulman et al. 2015, arXiv 1506.02438, eq. 16.

    Args:
        gae_lambda: one for all rows, or one per row.
        bootstrap_values: value of the state after the last token; absent means 0, the end of the episode.
    """
    next_values = torch.zeros_like(values[:, 0]) if bootstrap_values is None else bootstrap_values
    next_advantages = torch.zeros_like(next_values)
    columns: list[Tensor] = []
    for reward, value, counts in zip(
        reversed(rewards.unbind(1)), reversed(values.unbind(1)), reversed(mask.unbind(1)), strict=True
    ):
        deltas = reward + gamma * next_values - value
        advantages = deltas + gamma * gae_lambda * next_advantages
        next_advantages = torch.where(counts, advantages, next_advantages)
        next_values = torch.where(counts, value, next_values)
        columns.append(next_advantages)
    all_advantages = torch.stack(columns[::-1], dim=1).masked_fill(~mask, 0.0)
    return all_advantages, (all_advantages + values).masked_fill(~mask, 0.0)


def reward_to_go(rewards: Float[Tensor, "B T"], mask: Bool[Tensor, "B T"], *, gamma: float) -> Float[Tensor, "B T"]:
    """Return G_t = r_t + gamma * G_t+1 over the actions that count, 0 off the mask.

    REINFORCE's weight of an action: Williams 1992, doi 10.1007/BF00992696.
    """
    advantages, _ = gae(rewards, torch.zeros_like(rewards), mask, gamma=gamma, gae_lambda=1.0)
    return advantages


def length_adaptive_lambda(lengths: Int[Tensor, " B"], *, alpha: float) -> Float[Tensor, " B"]:
    """Return lambda = 1 - 1 / (alpha * length) for each response, not below 0.

    Longer responses need a longer horizon to hear of their terminal reward. VAPO, arXiv 2504.05118, section 4.2.
    """
    return (1.0 - 1.0 / (alpha * lengths)).clamp(min=0.0)


def group_normalized(
    scores: Float[Tensor, " B"], groups: Int[Tensor, " B"], *, eps: float = 1e-4
) -> Float[Tensor, " B"]:
    """Return (score - group mean) / (group std + eps), std unbiased; exactly 0 where a group's scores are all equal.

    GRPO: DeepSeekMath, arXiv 2402.03300, section 4.1.2. A group of one has no comparison, hence 0.

    Args:
        groups: an id per row, equal for responses to the same problem, in any order.
    """
    index, counts = _group_index(groups)
    deviations = group_centered(scores, groups)
    squares = torch.zeros_like(counts, dtype=scores.dtype).index_add(0, index, deviations.square())
    std = (squares / (counts - 1).clamp(min=1)).sqrt()
    return deviations / (std[index] + eps)


def group_centered(scores: Float[Tensor, " B"], groups: Int[Tensor, " B"]) -> Float[Tensor, " B"]:
    """Return score - group mean; exactly 0 where a group's scores are all equal, so also in a group of one.

    Dr. GRPO, arXiv 2503.20783: without the division by the std, which overweights problems that are nearly solved
    or nearly hopeless.
    """
    index, counts = _group_index(groups)
    zeros = torch.zeros_like(counts, dtype=scores.dtype)
    means = zeros.index_add(0, index, scores) / counts
    # The rounded mean of equal scores need not equal them; dividing that residue by eps would make it a signal.
    highest = zeros.scatter_reduce(0, index, scores, reduce="amax", include_self=False)
    lowest = zeros.scatter_reduce(0, index, scores, reduce="amin", include_self=False)
    return (scores - means[index]).masked_fill((highest == lowest)[index], 0.0)


def leave_one_out(scores: Float[Tensor, " B"], groups: Int[Tensor, " B"]) -> Float[Tensor, " B"]:
    """Return score - mean of the *other* scores of its group, which equals n / (n - 1) * (score - group mean).

    RLOO: Ahmadian et al. 2024, arXiv 2402.14740, eq. 9. A group of one has no others, hence no baseline: 0, so that
    such a row carries no signal rather than an unbaselined one.
    """
    index, counts = _group_index(groups)
    return group_centered(scores, groups) * (counts / (counts - 1).clamp(min=1)).to(scores.dtype)[index]


def _group_index(groups: Int[Tensor, " B"]) -> tuple[Int[Tensor, " B"], Int[Tensor, " G"]]:
    """Return each row's group numbered from 0, and the number of rows of each group."""
    _, index, counts = groups.unique(return_inverse=True, return_counts=True)
    return index, counts
