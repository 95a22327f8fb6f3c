"""Losses of policy and critic per token, and how they become one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from rlvr.algorithms.masking import masked_sum, masked_variance

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

_LOG_RATIO_LIMIT = 20.0
"""exp(20) is 5e8; without a limit exp overflows and inf times an advantage of 0 is NaN."""


def clipped_surrogate(
    log_ratios: Float[Tensor, "*shape"],
    advantages: Float[Tensor, "*shape"],
    *,
    clip_low: float,
    clip_high: float,
    dual_clip: float = 0.0,
) -> tuple[Float[Tensor, "*shape"], Bool[Tensor, "*shape"]]:
    """Return PPO's loss of each token, and where the clip is active: there the loss has no gradient.

        ratio = exp(log_ratio)
        loss  = max(-A * ratio, -A * clip(ratio, 1 - clip_low, 1 + clip_high))
        loss  = min(loss, -A * dual_clip)                                        where A < 0, if dual_clip > 0

    PPO: arXiv 1707.06347, eq. 7. Clip-higher (two bounds): DAPO, arXiv 2503.14476, eq. 10. Dual clip: Ye et al. 2020,
    arXiv 1912.09729, eq. 5; it bounds the loss of an action that turned out bad and became far likelier, and is
    meant to be above 1 + clip_high. Ratios are limited to exp(20).
    """
    ratios = log_ratios.clamp(max=_LOG_RATIO_LIMIT).exp()
    losses = torch.maximum(-advantages * ratios, -advantages * ratios.clamp(1.0 - clip_low, 1.0 + clip_high))
    rises, falls = advantages > 0, advantages < 0
    clipped = (rises & (ratios > 1.0 + clip_high)) | (falls & (ratios < 1.0 - clip_low))
    clipped = clipped | (falls & (log_ratios > _LOG_RATIO_LIMIT))
    if dual_clip > 0:
        losses = torch.where(falls, torch.minimum(losses, -advantages * dual_clip), losses)
        clipped = clipped | (falls & (ratios > dual_clip))
    return losses, clipped


def value_losses(
    values: Float[Tensor, "*shape"],
    old_values: Float[Tensor, "*shape"],
    returns: Float[Tensor, "*shape"],
    *,
    clip: float,
) -> Float[Tensor, "*shape"]:
    """Return the critic's loss of each token: half the squared error, pessimistically clipped around the old value.

        0.5 * max((V - R)^2, (V_old + clip(V - V_old, -c, c) - R)^2)

    clip 0 takes 0.5 * (V - R)^2. `old_values` are those at rollout time. As in OpenAI baselines' ppo2.
    """
    errors = (values - returns).square()
    if clip > 0:
        near_values = old_values + (values - old_values).clamp(-clip, clip)
        errors = torch.maximum(errors, (near_values - returns).square())
    return 0.5 * errors


def aggregate(
    losses: Float[Tensor, "B T"],
    mask: Bool[Tensor, "B T"],
    *,
    mode: str,
    total_tokens: int,
    total_rows: int,
    constant: int,
) -> Float[Tensor, ""]:
    """Return one number for the losses of a micro-batch; those of all micro-batches add up to the minibatch's loss.

    mode "token_mean": sum / total_tokens (DAPO). "sequence_mean": per-row means, their sum / total_rows (GRPO).
    "sequence_sum": sum / total_rows. "constant": sum / (total_rows * constant) (Dr. GRPO, arXiv 2503.20783).
    A row without valid tokens contributes 0.

    Args:
        total_tokens: valid tokens of the whole minibatch, not of this micro-batch: a mean of means over micro-batches
            of unequal lengths is another loss.
        total_rows: rows of the whole minibatch.
        constant: a length, the same for all steps, such as the limit on new tokens.
    """
    match mode:
        case "token_mean":
            return masked_sum(losses, mask) / max(total_tokens, 1)
        case "sequence_mean":
            means = losses.masked_fill(~mask, 0.0).sum(1) / mask.sum(1).clamp(min=1)
            return means.sum() / max(total_rows, 1)
        case "sequence_sum":
            return masked_sum(losses, mask) / max(total_rows, 1)
        case "constant":
            return masked_sum(losses, mask) / (max(total_rows, 1) * constant)
        case _:
            known = '"token_mean", "sequence_mean", "sequence_sum" or "constant"'
            raise ValueError(f"unknown aggregation {mode!r}: take {known}")


def entropy(logits: Float[Tensor, "*shape V"]) -> Float[Tensor, "*shape"]:
    """Return -sum over the vocabulary of p * log p, in nats, float32 at least; logits already divided by temperature.

    Excluded tokens (logit -inf) contribute 0.
    """
    logprobs = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
    return -(logprobs.exp() * logprobs.masked_fill(logprobs == float("-inf"), 0.0)).sum(-1)


def explained_variance(
    values: Float[Tensor, "*shape"], returns: Float[Tensor, "*shape"], mask: Bool[Tensor, "*shape"]
) -> float | None:
    """Return 1 - Var(returns - values) / Var(returns) over valid tokens, None when the returns do not vary.

    1 is a perfect critic, 0 one that is no better than a constant.
    """
    variance = masked_variance(returns, mask).item()
    if variance == 0.0:
        return None
    return 1.0 - masked_variance(returns - values, mask).item() / variance
