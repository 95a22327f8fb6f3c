"""Importance ratios between the policy being updated and the one that sampled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from jaxtyping import Bool, Float


def log_ratios(
    logprobs: Float[Tensor, "B T"], old_logprobs: Float[Tensor, "B T"], mask: Bool[Tensor, "B T"], *, level: str
) -> Float[Tensor, "B T"]:
    """Return the logarithms of the importance ratios, 0 off the mask.

    level "token": log pi(a_t) - log pi_old(a_t), as in PPO.
    level "sequence": the mean of these over the response at each of its tokens, log s_i(theta) of GSPO
    (arXiv 2507.18071, eq. 7); the gradient flows to every token of the response. With aggregation "sequence_mean" the
    clipped surrogate is GSPO's.
    """
    differences = (logprobs - old_logprobs).masked_fill(~mask, 0.0)
    match level:
        case "token":
            return differences
        case "sequence":
            means = differences.sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)
            return means.expand_as(differences).masked_fill(~mask, 0.0)
        case _:
            raise ValueError(f'unknown ratio level {level!r}: take "token" or "sequence"')
