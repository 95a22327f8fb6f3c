"""Rollouts, critics and optimizers for tests of the training code."""

import math
from collections.abc import Sequence

import torch
from support.tiny_models import IdTokenizer, random_tokens, tiny_policy
from torch import nn

from rlvr.models.actor_critic import ActorCritic
from rlvr.models.causal_lm import CausalLM
from rlvr.models.reference import frozen_copy
from rlvr.models.value_head import TrunkCritic, value_head
from rlvr.rollout.local_engine import LocalEngine
from rlvr.rollout.rewards import Truncation
from rlvr.rollout.types import Experience, Finish, Response, Rollout, Sampling
from rlvr.training.algorithm import Algorithm
from rlvr.training.collate import collate
from tasks.types import Problem
from verifiers.types import Outcome, Verdict

EOS = 1


def problem(name: str) -> Problem:
    return Problem(id=f"made/{name}", prompt=name, reference=None, verifier="made")


def rollout(
    prompt_ids: Sequence[int],
    token_ids: Sequence[int],
    reward: float = 0.0,
    *,
    name: str = "a",
    mask: Sequence[bool] | None = None,
    logprobs: Sequence[float] | None = None,
    finish: Finish = Finish.STOP,
) -> Rollout:
    """Return a rollout made by hand; correct where its reward is above 0."""
    response = Response(
        prompt_ids=tuple(prompt_ids),
        token_ids=tuple(token_ids),
        logprobs=tuple(logprobs or [0.0] * len(token_ids)),
        mask=tuple(mask or [True] * len(token_ids)),
        text=" ".join(map(str, token_ids)),
        finish=finish,
    )
    verdict = Verdict(
        outcome=Outcome.CORRECT if reward > 0 else Outcome.INCORRECT, score=min(1.0, max(0.0, reward)), answer="1"
    )
    return Rollout(problem=problem(name), response=response, verdict=verdict, reward=reward, policy_step=0)


def sampled_rollouts(policy: CausalLM, count: int = 6, *, seed: int = 0) -> list[Rollout]:
    """Sample responses of up to 6 tokens to pairs of equal prompts of unlike lengths; rewards differ in each pair."""
    engine = LocalEngine(policy, IdTokenizer(), stop_ids=[EOS, 2, 3, 4, 5])
    prompts = [random_tokens(1, 2 + index % 4, seed=seed + index)[0].tolist() for index in range(math.ceil(count / 2))]
    responses = engine.generate(prompts, Sampling(max_new_tokens=6, samples_per_prompt=2), seed=seed)
    return [
        rollout(
            response.prompt_ids, response.token_ids, float(index % 2),
            name=str(index // 2), logprobs=response.logprobs, finish=response.finish,
        )
        for index, response in enumerate(responses[:count])
    ]  # fmt: skip


def actor_critic(kind: str = "shared", *, policy: CausalLM | None = None, seed: int = 0) -> ActorCritic:
    """Return a policy with a "shared", "separate" or "no" critic whose values are not all 0."""
    policy = policy or tiny_policy(seed=seed)
    if kind == "no":
        return ActorCritic(policy, None)
    head = value_head(policy.hidden_size, "mlp", seed=seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        nn.init.normal_(head[-1].weight, std=0.3)  # pyright: ignore[reportArgumentType]
    backbone = None
    if kind == "separate":
        backbone = frozen_copy(policy)
        backbone.module.base_model.requires_grad_(True)
    return ActorCritic(policy, TrunkCritic(head, backbone))


class TableHead(nn.Sequential):
    """A value head that says what a table [B L] says, whatever the hidden states are; the table is its parameter."""

    def __init__(self, table: Sequence[Sequence[float]]) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.tensor(table))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self.table[: input.shape[0], : input.shape[1], None]


def with_values(table: Sequence[Sequence[float]]) -> ActorCritic:
    """Return a policy whose critic gives the states of a batch these values [B L]."""
    return ActorCritic(tiny_policy(), TrunkCritic(TableHead(table)))


def perturbed(policy: CausalLM, *, scale: float = 0.05, seed: int = 7) -> CausalLM:
    """Return a frozen copy of the policy whose weights are a little off."""
    copy = frozen_copy(policy)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in copy.module.parameters():
            parameter += scale * torch.randn(parameter.shape, generator=generator)
    return copy


def collated(
    rollouts: Sequence[Rollout],
    models: ActorCritic,
    algorithm: Algorithm,
    *,
    reference: CausalLM | None = None,
    kl_coef: float = 0.0,
    truncation: Truncation = Truncation.FAIL,
) -> Experience:
    """Return the experience alone; the reference is the policy unless given."""
    reference = reference or frozen_copy(models.policy)
    return collate(rollouts, models, reference, algorithm, kl_coef=kl_coef, truncation=truncation)[0]


class CapturingSGD(torch.optim.SGD):
    """Plain gradient descent that remembers the gradients of every step, by group name."""

    def __init__(self, models: ActorCritic, *, lr: float = 0.0) -> None:
        groups = [
            {"name": "policy", "params": models.policy_parameters()},
            {"name": "critic", "params": models.critic_parameters()},
        ]
        super().__init__([group for group in groups if group["params"]], lr=lr)
        self.seen: list[dict[str, torch.Tensor]] = []

    def step(self, closure: None = None) -> None:
        self.seen.append({group["name"]: flat_gradient(group["params"]) for group in self.param_groups})
        super().step(closure)


def flat_gradient(parameters: Sequence[nn.Parameter]) -> torch.Tensor:
    """Return a copy of all gradients as one vector."""
    return torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad.clone()).flatten() for p in parameters])


def flat_weights(parameters: Sequence[nn.Parameter]) -> torch.Tensor:
    """Return a copy of all weights as one vector."""
    return torch.cat([p.detach().clone().flatten() for p in parameters])
