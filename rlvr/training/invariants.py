"""Identities that hold when masks, positions and log-probs are right; a run that breaks one must not go on."""

from collections.abc import Sequence

import torch

from rlvr.errors import InvariantError
from rlvr.rollout.types import Experience, Rollout

MEAN_TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}
"""Mean |log ratio|, in nats, allowed between two forwards of the same weights."""
MEAN_TOLERANCE_16_BIT = 0.05
LARGEST_OVER_MEAN = 100.0
"""One token in thousands may be further off: an unlikely one, in another batch, whose sums run in another order."""


def check_first_ratio(log_ratios: torch.Tensor, compute_dtype: torch.dtype) -> None:
    """Check that the policy that learns is the one that sampled: the first minibatch's ratio is 1.

    Args:
        log_ratios: [N] before any weight has moved.
        compute_dtype: of the matrix products.

    Raises:
        InvariantError: it is not.
    """
    if not len(log_ratios):
        return
    distance = log_ratios.abs()
    limit = MEAN_TOLERANCE.get(compute_dtype, MEAN_TOLERANCE_16_BIT)
    mean, largest = distance.mean().item(), distance.max().item()
    if not (mean <= limit and largest <= LARGEST_OVER_MEAN * limit):
        raise InvariantError(
            f"the first minibatch's importance ratio is not 1: |log ratio| has mean {mean:.2e}, allowed {limit:.0e}, "
            f"and maximum {largest:.2e}, allowed {LARGEST_OVER_MEAN * limit:.0e}. Old and new log-probs come from "
            "the same weights, so the forward pass is not a function of the tokens: look for dropout, batch-dependent "
            "layers, or attention to padding"
        )


def check_reference_kl(exact_kl_mean: float | None, compute_dtype: torch.dtype) -> None:
    """Check that policy and reference agree before the first update: KL is 0 at step 0.

    Raises:
        InvariantError: they do not.
    """
    limit = 1e-6 if compute_dtype in MEAN_TOLERANCE else 1e-3
    if exact_kl_mean is not None and not exact_kl_mean <= limit:
        raise InvariantError(
            f"the KL between policy and reference is {exact_kl_mean:.2e} per token before the first update, "
            f"allowed {limit:.0e}: the reference is not a copy of the policy that PPO starts from"
        )


def check_masks(experience: Experience, rollouts: Sequence[Rollout], *, masked_rows: int) -> None:
    """Check that exactly the sampled tokens count.

    Args:
        masked_rows: rollouts that are left out of the losses on purpose (truncation = "mask").

    Raises:
        InvariantError: the mask counts other tokens than the responses have.
    """
    rows = experience.mask.any(dim=1)
    expected = sum(sum(r.response.mask) for r, counts in zip(rollouts, rows.tolist(), strict=True) if counts)
    found = int(experience.mask.sum())
    if found != expected or int((~rows).sum()) != masked_rows:
        raise InvariantError(
            f"the action mask counts {found} tokens in {int(rows.sum())} responses, but the sampler drew {expected} "
            f"tokens, and {masked_rows} of {len(rollouts)} responses are left out: prompt lengths and padding disagree"
        )
