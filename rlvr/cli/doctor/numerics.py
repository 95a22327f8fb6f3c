"""One forward and backward on real responses, and what they must agree on; no weight is moved."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch

from rlvr.algorithms.losses import aggregate
from rlvr.models.actor_critic import ActorCritic
from rlvr.models.causal_lm import CausalLM
from rlvr.rollout.rewards import Truncation
from rlvr.rollout.types import Experience, Rollout, RolloutEngine, Sampling
from rlvr.tracking.metrics import combine
from rlvr.training.algorithm import Algorithm
from rlvr.training.batches import cut, right_pad
from rlvr.training.collate import collate
from rlvr.training.objective import objective

_TOKEN_BUDGET = 1e11
"""Tokens times parameters of one forward and backward: seconds on a few cores."""
_INVARIANCE_ROWS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Numerics:
    """What was measured on a small batch."""

    experience: Experience
    exact_kl: float | None
    """Policy and reference, mean per token in nats."""
    logprob_gap: float | None
    """|sampler - training forward|, mean per token in nats."""
    log_ratios: torch.Tensor
    """[N] of the same weights, batched otherwise."""
    loss: float
    gradient_norm: float
    rows: int
    experience_s: float
    update_s: float


def few_tokens(policy: CausalLM) -> int:
    """Return how many tokens a model of this size goes through in seconds, forward and backward."""
    parameters = sum(parameter.numel() for parameter in policy.module.parameters())
    return int(min(8192, max(256, _TOKEN_BUDGET / parameters)))


def few_of(rollouts: Sequence[Rollout], *, most_rows: int, most_tokens: int) -> list[Rollout]:
    """Return the first rollouts that are no more than so many rows and tokens, at least two."""
    kept: list[Rollout] = []
    tokens = 0
    for rollout in rollouts:
        tokens += len(rollout.response.prompt_ids) + len(rollout.response.token_ids)
        if len(kept) >= 2 and (len(kept) >= most_rows or tokens > most_tokens):
            break
        kept.append(rollout)
    return kept


def measure_numerics(
    rollouts: Sequence[Rollout],
    actor_critic: ActorCritic,
    reference: CausalLM,
    algorithm: Algorithm,
    *,
    kl_coef: float,
) -> Numerics:
    """Collate the rollouts, then compute the first update's objective and gradient in two parts of the batch.

    Every response counts, whatever reward.truncation says: this is about the arithmetic.
    """
    started = time.perf_counter()
    experience, metrics = collate(
        rollouts, actor_critic, reference, algorithm, kl_coef=kl_coef, truncation=Truncation.FAIL
    )
    experience_s = time.perf_counter() - started
    numbers = combine(metrics)
    started = time.perf_counter()
    log_ratios: list[torch.Tensor] = []
    loss = 0.0
    average = partial(
        aggregate,
        mode=algorithm.aggregation,
        total_tokens=int(experience.mask.sum()),
        total_rows=len(rollouts),
        constant=algorithm.constant_length,
    )
    # Two parts, in the opposite order: rows get other batch mates and other padding than when they were collated.
    for rows in torch.arange(len(rollouts)).flip(0).tensor_split(min(2, len(rollouts))):
        width = int(experience.lengths[rows].max())
        part = cut(experience, rows, width)
        found = objective(
            actor_critic, part, algorithm, average, reference=reference, kl_coef=kl_coef, train_policy=True
        )
        # Equal rewards give no advantages and so no gradient; the responses' own log-probs always have one.
        probe_loss = actor_critic.policy.logprobs(part.tokens, part.mask, temperature=algorithm.temperature).sum()
        (found.loss - probe_loss / int(experience.mask.sum())).backward()
        loss += found.loss.item()
        assert found.log_ratios is not None
        log_ratios.append(found.log_ratios[part.mask])
    parameters = [*actor_critic.policy_parameters(), *actor_critic.critic_parameters()]
    norms = [parameter.grad.norm() for parameter in parameters if parameter.grad is not None]
    gradient_norm = torch.stack([norm.float().cpu() for norm in norms]).norm().item()
    for parameter in parameters:
        parameter.grad = None
    return Numerics(
        experience=experience,
        exact_kl=numbers["kl/exact"],
        logprob_gap=numbers["rollout/logprob_gap"],
        log_ratios=torch.cat(log_ratios),
        loss=loss,
        gradient_norm=gradient_norm,
        rows=len(rollouts),
        experience_s=experience_s,
        # The log-probs above are a second forward and backward.
        update_s=(time.perf_counter() - started) / 2,
    )


@torch.no_grad()
def alone_and_together(policy: CausalLM, rollouts: Sequence[Rollout], *, temperature: float) -> torch.Tensor:
    """Return how far the training forward's log-probs of a row alone are from those in a padded batch, [N] in nats."""
    rows = [(*r.response.prompt_ids, *r.response.token_ids) for r in _unlike(rollouts)]
    tokens, lengths = right_pad(rows, policy.device)
    mask = torch.arange(tokens.shape[1] - 1, device=policy.device) < (lengths - 1)[:, None]
    together = policy.logprobs(tokens, mask, temperature=temperature)
    gaps = []
    for index, row in enumerate(rows):
        alone_tokens = torch.tensor([row], device=policy.device)
        alone_mask = torch.ones(1, len(row) - 1, dtype=torch.bool, device=policy.device)
        alone = policy.logprobs(alone_tokens, alone_mask, temperature=temperature)[0]
        gaps.append((alone - together[index, : len(row) - 1]).abs())
    return torch.cat(gaps)


def sampled_alone_and_together(
    engine: RolloutEngine, rollouts: Sequence[Rollout], *, max_new_tokens: int
) -> torch.Tensor:
    """Return how far the sampler's log-probs of a prompt alone are from those in a left-padded batch, [N] in nats.

    Greedy responses are compared up to the first token in which they differ, that one included: where two tokens are
    nearly as likely, rounding may choose, and then their log-probs are close all the same.
    """
    prompts = list(dict.fromkeys(r.response.prompt_ids for r in _unlike(rollouts)))
    sampling = Sampling(max_new_tokens=max_new_tokens, temperature=0.0)
    together = engine.generate(prompts, sampling, seed=0)
    gaps: list[float] = []
    for prompt, batched in zip(prompts, together, strict=True):
        (alone,) = engine.generate([prompt], sampling, seed=0)
        for place in range(min(len(alone.token_ids), len(batched.token_ids))):
            gaps.append(abs(alone.logprobs[place] - batched.logprobs[place]))
            if alone.token_ids[place] != batched.token_ids[place]:
                break
    return torch.tensor(gaps)


def _unlike(rollouts: Sequence[Rollout]) -> list[Rollout]:
    """Return a few rollouts from the shortest to the longest prompt."""
    ordered = sorted(rollouts, key=lambda r: len(r.response.prompt_ids))
    step = max(1, (len(ordered) - 1) // (_INVARIANCE_ROWS - 1))
    return ordered[::step][: _INVARIANCE_ROWS - 1] + ordered[-1:]
