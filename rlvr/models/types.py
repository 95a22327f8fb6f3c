"""Contracts between the models and everything that learns from or samples with them."""

from typing import Protocol

import torch


class Policy(Protocol):
    """A language model as a policy: states are token prefixes, actions are next tokens."""

    def logprobs(self, tokens: torch.Tensor, mask: torch.Tensor, *, temperature: float) -> torch.Tensor:
        """Return log pi(tokens[t + 1] | tokens[: t + 1]) in nats, float32 [B T], T = L - 1; zero where mask is False.

        Args:
            tokens: [B L] int64, right-padded.
            mask: [B T] bool, the predictions that are wanted.
            temperature: the logits are divided by it.
        """
        ...


class Critic(Protocol):
    """A value function on token prefixes."""

    def values(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return V(tokens[: t + 1]) float32 [B L]; zero where mask [B L] is False."""
        ...
