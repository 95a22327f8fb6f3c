"""Policy and critic together, so that a shared trunk is run once for both."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

from rlvr.models.causal_lm import CausalLM, TrunkOutput
from rlvr.models.logprobs import TokenStatistics, token_statistics
from rlvr.models.value_head import TrunkCritic


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """Policy and critic on a batch."""

    statistics: TokenStatistics
    values: torch.Tensor
    """[B L] V(tokens[: t + 1]) at every position, padding included; zeros without a critic."""


class ActorCritic:
    """The policy and, where the algorithm uses one, its critic.

    Args:
        policy: what is trained.
        critic: a head on the policy's trunk (no backbone), a critic of its own, or None.
    """

    def __init__(self, policy: CausalLM, critic: TrunkCritic | None) -> None:
        self.policy = policy
        self.critic = critic

    def evaluate(
        self, tokens: torch.Tensor, mask: torch.Tensor, *, temperature: float, reference: TrunkOutput | None = None
    ) -> Evaluation:
        """Score `tokens` [B L] where `mask` [B T] selects them, and value every state."""
        output = self.policy.forward(tokens)
        statistics = token_statistics(output, tokens, mask, temperature=temperature, reference=reference)
        return Evaluation(statistics=statistics, values=self._values(tokens, output.hidden))

    def values(self, tokens: torch.Tensor) -> torch.Tensor:
        """Value every state [B L] with gradients for the critic alone: a shared trunk is held fixed."""
        if self.critic is not None and self.critic.backbone is not None:
            return self._values(tokens, None)
        with torch.no_grad():
            hidden = self.policy.forward(tokens).hidden
        return self._values(tokens, hidden)

    def _values(self, tokens: torch.Tensor, hidden: torch.Tensor | None) -> torch.Tensor:
        if self.critic is None:
            return torch.zeros(tokens.shape, dtype=torch.float32, device=tokens.device)
        if self.critic.backbone is not None:
            hidden = self.critic.backbone.forward(tokens).hidden
        assert hidden is not None
        return self.critic.values_from(hidden)

    def policy_parameters(self) -> list[nn.Parameter]:
        """Return the trained parameters of the policy."""
        return [p for p in self.policy.module.parameters() if p.requires_grad]

    def critic_parameters(self) -> list[nn.Parameter]:
        """Return the parameters that only the critic has."""
        return list(self._critic_parameters())

    def _critic_parameters(self) -> Iterator[nn.Parameter]:
        if self.critic is not None:
            yield from self.critic.parameters()
