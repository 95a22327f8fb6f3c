"""Per-token rewards: the terminal reward, and the KL penalty where it is placed in the reward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from rlvr.algorithms.kl import k1

if TYPE_CHECKING:
    from jaxtyping import Bool, Float


def terminal_rewards(scores: Float[Tensor, " B"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B T"]:
    """Return each row's score at the last action that counts (EOS, or where it was cut), and 0 elsewhere.

    A row without actions gets no reward.
    """
    actions_left = mask.long().flip(1).cumsum(1).flip(1)
    is_last = mask & (actions_left == 1)
    return torch.where(is_last, scores[:, None], torch.zeros_like(scores)[:, None])


def kl_shaped_rewards(
    terminal: Float[Tensor, "B T"],
    old_logprobs: Float[Tensor, "B T"],
    ref_logprobs: Float[Tensor, "B T"],
    mask: Bool[Tensor, "B T"],
    *,
    kl_coef: float,
) -> Float[Tensor, "B T"]:
    """Return terminal - kl_coef * (old_logprobs - ref_logprobs), 0 off the mask.

    The expected sum over a response is its expected reward minus kl_coef * KL(policy || ref), and the penalty is
    credited to the token that caused it. Ziegler et al. 2019, arXiv 1909.08593, eq. 2.

    Args:
        old_logprobs: of the policy that sampled, detached: a reward has no gradient.
    """
    return (terminal - kl_coef * k1(old_logprobs, ref_logprobs)).masked_fill(~mask, 0.0)
