"""The nouns of a rollout, in the order in which they come to be.

Alignment: a row of L tokens has T = L - 1 predictions. Index t of every [B T] tensor speaks of the *action*
tokens[t + 1], taken in the *state* tokens[: t + 1]; `values[t]` is the value of that state, before the action.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import torch

from rlvr.models.causal_lm import CausalLM
from tasks.types import Problem
from verifiers.types import Verdict


class Finish(StrEnum):
    """Why a response ended."""

    STOP = "stop"
    """The policy sampled a stop token, which is the last of `token_ids`."""
    LENGTH = "length"
    """The length limit cut it: truncated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """How responses are drawn from the policy."""

    max_new_tokens: int
    temperature: float = 1.0
    """Logits are divided by it. 0 means greedy."""
    top_p: float = 1.0
    top_k: int = 0
    """0 means no limit."""
    samples_per_prompt: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Response:
    """What the policy (and, over several turns, an environment) wrote after a prompt. Ids are never re-encoded."""

    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    """Sampled tokens, the stop token included when there is one."""
    logprobs: tuple[float, ...]
    """log pi(token | prefix) of each token in nats, at the sampling temperature, full softmax."""
    mask: tuple[bool, ...]
    """True where the policy sampled the token, False where an environment fed it."""
    text: str
    """The decoded response without special tokens; what verifiers read."""
    finish: Finish


@dataclass(frozen=True, kw_only=True, slots=True)
class Rollout:
    """A judged response."""

    problem: Problem
    response: Response
    verdict: Verdict
    reward: float
    """Terminal reward, given at the last sampled token."""
    policy_step: int
    """Number of updates the sampling policy had seen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Experience:
    """A batch of rollouts as tensors, right-padded. Rows are rollouts; see the module docstring for the alignment."""

    tokens: torch.Tensor
    """[B L] int64."""
    lengths: torch.Tensor
    """[B] int64, prompt plus response; what lies beyond is padding."""
    mask: torch.Tensor
    """[B T] bool, True where the predicted token is an action that counts."""
    old_logprobs: torch.Tensor
    """[B T] of the policy that sampled, in nats at the sampling temperature."""
    ref_logprobs: torch.Tensor
    """[B T] of the frozen reference, at the same temperature."""
    values: torch.Tensor
    """[B T] of the critic at rollout time; zeros without a critic."""
    rewards: torch.Tensor
    """[B T] per-token rewards, the KL penalty included where it is placed in the reward."""
    advantages: torch.Tensor
    """[B T] as the policy loss uses them (whitened where configured)."""
    returns: torch.Tensor
    """[B T] the critic's targets."""
    entropies: torch.Tensor
    """[B T] of the next-token distribution of the policy that sampled, in nats."""
    exact_kls: torch.Tensor
    """[B T] KL of that policy from the reference, summed over the vocabulary, in nats."""
    update_log_ratios: torch.Tensor
    """[B T] log of the importance ratio that the update last saw at a token; 0 until `update` writes it here."""
    groups: torch.Tensor
    """[B] int64, equal for rollouts of the same problem in this batch."""


class RolloutEngine(Protocol):
    """Draws responses from a policy."""

    def generate(self, prompts: Sequence[Sequence[int]], sampling: Sampling, *, seed: int) -> list[Response]:
        """Return `samples_per_prompt` responses for each prompt of token ids; those of one prompt lie side by side.

        The same weights, prompts, sampling and seed give the same responses.
        """
        ...

    def update_weights(self, policy: CausalLM) -> None:
        """Sample from these weights from now on."""
        ...
