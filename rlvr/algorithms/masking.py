"""Masks and statistics over the tokens that count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int


def action_mask(prompt_lengths: Int[Tensor, " B"], lengths: Int[Tensor, " B"], width: int) -> Bool[Tensor, "B T"]:
    """Return True where a right-padded row of `width` tokens predicts a token of its response; T = width - 1.

    Index t predicts token t + 1, so a response tokens[prompt_length : length] is predicted at
    prompt_length - 1 <= t < length - 1. The mask comes from lengths, never from comparing ids with the pad id,
    which in many tokenizers is the EOS id: and EOS is an action that must be learned.
    """
    positions = torch.arange(width - 1, device=lengths.device)
    return (positions >= prompt_lengths[:, None] - 1) & (positions < lengths[:, None] - 1)


def masked_sum(x: Float[Tensor, "*shape"], mask: Bool[Tensor, "*shape"]) -> Float[Tensor, ""]:
    """Return the sum of x where mask is True."""
    return x.masked_fill(~mask, 0.0).sum()


def masked_mean(x: Float[Tensor, "*shape"], mask: Bool[Tensor, "*shape"]) -> Float[Tensor, ""]:
    """Return the mean of x where mask is True; 0 when it is nowhere True."""
    return masked_sum(x, mask) / mask.sum().clamp(min=1)


def masked_variance(x: Float[Tensor, "*shape"], mask: Bool[Tensor, "*shape"]) -> Float[Tensor, ""]:
    """Return the population variance of x where mask is True; exactly 0 when those values are all equal."""
    return masked_mean(_deviations(x, mask).square(), mask).masked_fill(_is_constant(x, mask), 0.0)


def whiten(x: Float[Tensor, "*shape"], mask: Bool[Tensor, "*shape"], *, eps: float = 1e-8) -> Float[Tensor, "*shape"]:
    """Return x with mean 0 and variance 1 over the entries where mask is True, and 0 elsewhere.

    Formula: (x - mean) / sqrt(variance + eps), population variance. Equal values, a single one among them, give 0.
    """
    whitened = _deviations(x, mask) * (masked_variance(x, mask) + eps).rsqrt()
    return whitened.masked_fill(_is_constant(x, mask), 0.0)


def _deviations(x: Float[Tensor, "*shape"], mask: Bool[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return x - mean, 0 off the mask. Filled here, for later 0 * NaN would reach every gradient through the mean."""
    return (x - masked_mean(x, mask)).masked_fill(~mask, 0.0)


def _is_constant(x: Float[Tensor, "*shape"], mask: Bool[Tensor, "*shape"]) -> Bool[Tensor, ""]:
    """Tell whether all entries that count are equal. The rounded mean of equal values need not equal them."""
    highest = x.masked_fill(~mask, float("-inf")).amax()
    lowest = x.masked_fill(~mask, float("inf")).amin()
    return highest <= lowest
