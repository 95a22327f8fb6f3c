"""Divergence of the policy from the reference: estimators from sampled actions, and the exact sum.

With x = logprobs - ref_logprobs of an action drawn from the policy, all of k1, k2, k3 estimate KL(policy || ref)
(Schulman, "Approximating KL divergence", 2020), but they are not interchangeable. As a *loss*, differentiated at the
sampled actions, k1's expected gradient is 0, k2's is the gradient of KL(policy || ref) in the states as they were
sampled, and k3's is that of the forward KL(ref || policy). Hence k1 in the reward (where it also counts how an action
leads to states of greater divergence), k2 or the exact sum in the loss, k3 for logging.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from jaxtyping import Float

_LOG_RATIO_LIMIT = 20.0
"""exp(20) is 5e8: beyond it a log-ratio says "far apart" and nothing more, and exp overflows float32 at 89."""


def k1(logprobs: Float[Tensor, "*shape"], ref_logprobs: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return x = logprobs - ref_logprobs: unbiased, but of either sign. For the reward."""
    return logprobs - ref_logprobs


def k2(logprobs: Float[Tensor, "*shape"], ref_logprobs: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return x^2 / 2: biased in value, right in gradient. For the loss."""
    return 0.5 * (logprobs - ref_logprobs).square()


def k3(logprobs: Float[Tensor, "*shape"], ref_logprobs: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return exp(-x) - 1 + x: unbiased and never negative, wrong in gradient. For logging.

    x is clamped to +-20, so values and gradients are finite (the gradient beyond is 0).
    """
    # Clamped before exp: clamping exp's value afterwards leaves inf * 0 = NaN in the backward pass.
    log_ratios = (ref_logprobs - logprobs).clamp(-_LOG_RATIO_LIMIT, _LOG_RATIO_LIMIT)
    return torch.expm1(log_ratios) - log_ratios


def exact_kl(logits: Float[Tensor, "*shape V"], ref_logits: Float[Tensor, "*shape V"]) -> Float[Tensor, "*shape"]:
    """Return KL(policy || ref) = sum over the vocabulary of p * (log p - log p_ref), in nats, float32 at least.

    Tokens that the policy excludes (logit -inf) contribute 0.
    """
    logprobs = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
    ref_logprobs = ref_logits.to(logprobs.dtype).log_softmax(-1)
    differences = (logprobs - ref_logprobs).masked_fill(logprobs == float("-inf"), 0.0)
    return (logprobs.exp() * differences).sum(-1)


def adaptive_kl_coef(coef: float, *, kl_per_sequence: float, target: float, rollouts: int, horizon: float) -> float:
    """Return the next coefficient of the KL penalty, moved so that the KL approaches its target.

        coef * (1 + clip(kl / target - 1, -0.2, 0.2) * rollouts / horizon)

    Ziegler et al. 2019, arXiv 1909.08593, section 2.2.

    Args:
        kl_per_sequence: KL summed over a response, mean over responses, in nats; not the mean per token.
        target: in the same unit.
        rollouts: rollouts since the last change.
        horizon: rollouts over which the controller acts.
    """
    error = min(max(kl_per_sequence / target - 1.0, -0.2), 0.2)
    return coef * (1.0 + error * rollouts / horizon)
