"""The critic: a value head on the policy's trunk, or on a backbone of its own."""

from collections.abc import Iterator

import torch
from torch import nn

from rlvr.models.causal_lm import CausalLM


def value_head(hidden_size: int, kind: str, *, seed: int) -> nn.Sequential:
    """Build a head from hidden states [... H] to values [... 1], with V = 0 everywhere at first.

    Args:
        kind: "linear", or "mlp" (one hidden layer of the same width).
        seed: of the hidden layer's weights; the last layer starts at zero (a random head would
            begin with noise for a baseline; "The N Implementation Details of RLHF with PPO").
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers: list[nn.Module] = [nn.Linear(hidden_size, hidden_size), nn.GELU()] if kind == "mlp" else []
        last = nn.Linear(hidden_size, 1)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(*layers, last)


class TrunkCritic:
    """Values from a value head on a language model's hidden states.

    Args:
        head: see `value_head`.
        backbone: the critic's own trunk; None reads the policy's.
    """

    def __init__(self, head: nn.Sequential, backbone: CausalLM | None = None) -> None:
        self.head = head
        self.backbone = backbone

    def values_from(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return values [B L] of hidden states [B L H]."""
        return self.head(hidden)[..., 0]

    def parameters(self) -> Iterator[nn.Parameter]:
        """Yield what the critic alone learns: the head, and its own backbone."""
        yield from self.head.parameters()
        if self.backbone is not None:
            trunk = self.backbone.module.base_model
            yield from (p for p in trunk.parameters() if p.requires_grad)
