"""Log-probability, entropy and exact KL of chosen tokens, in chunks: [tokens x vocabulary] is never in memory whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.utils.checkpoint import checkpoint

from rlvr.algorithms.kl import exact_kl
from rlvr.algorithms.losses import entropy

if TYPE_CHECKING:
    from rlvr.models.causal_lm import TrunkOutput

CHUNK_LOGITS = 2**25
"""Logits made at a time: 128 MiB in float32."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenStatistics:
    """What a forward pass says of the tokens that are in a batch. All float32 [B T], zero off the mask."""

    logprobs: torch.Tensor
    """log pi(token) in nats."""
    entropy: torch.Tensor
    """Entropy of the distribution it was drawn from, in nats."""
    ref_logprobs: torch.Tensor | None = None
    """log pi_ref(token) in nats; None without a reference."""
    exact_kl: torch.Tensor | None = None
    """KL(policy || reference) summed over the vocabulary, in nats; None without a reference."""


def token_statistics(
    output: TrunkOutput,
    tokens: torch.Tensor,
    mask: torch.Tensor,
    *,
    temperature: float,
    reference: TrunkOutput | None = None,
) -> TokenStatistics:
    """Score the tokens of `tokens` [B L] that `mask` [B T] selects (index t speaks of tokens[t + 1]).

    With gradients, each chunk's logits are made again in the backward pass instead of being kept.

    Args:
        temperature: divides the logits, the reference's too.
        reference: the reference's forward on the same tokens; gives its log-probs and the exact KL.
    """
    rows, columns = mask.nonzero(as_tuple=True)
    positions = rows * tokens.shape[1] + columns
    targets = tokens[rows, columns + 1]

    def chosen(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(logits, dim=-1).gather(-1, targets[:, None])[:, 0]

    def score(positions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        logits = output.logits_at(positions) / temperature
        scored = [chosen(logits, targets), entropy(logits)]
        if reference is not None:
            ref_logits = reference.logits_at(positions) / temperature
            scored += [chosen(ref_logits, targets), exact_kl(logits, ref_logits)]
        return torch.stack(scored)

    vocabulary = output.logits_at(positions[:1]).shape[-1] if len(positions) else 1
    chunk = max(1, CHUNK_LOGITS // vocabulary)
    if len(positions) <= chunk:
        scored = score(positions, targets)
    else:
        pieces = zip(positions.split(chunk), targets.split(chunk), strict=True)
        if torch.is_grad_enabled():
            scored = torch.cat([checkpoint(score, p, t, use_reentrant=False) for p, t in pieces], dim=1)  # pyright: ignore[reportArgumentType, reportCallIssue]
        else:
            scored = torch.cat([score(p, t) for p, t in pieces], dim=1)
    spread = torch.zeros(len(scored), *mask.shape, dtype=torch.float32, device=tokens.device)
    spread[:, rows, columns] = scored
    return TokenStatistics(
        logprobs=spread[0],
        entropy=spread[1],
        ref_logprobs=spread[2] if reference is not None else None,
        exact_kl=spread[3] if reference is not None else None,
    )
