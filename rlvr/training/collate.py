"""From rollouts to experience: reference log-probs, values, KL-shaped rewards, advantages."""

from collections.abc import Sequence

import torch

from rlvr.algorithms.advantages import (
    gae,
    group_centered,
    group_normalized,
    leave_one_out,
    length_adaptive_lambda,
    reward_to_go,
)
from rlvr.algorithms.kl import k1, k2, k3
from rlvr.algorithms.masking import action_mask, whiten
from rlvr.algorithms.shaping import kl_shaped_rewards, terminal_rewards
from rlvr.models.actor_critic import ActorCritic
from rlvr.models.causal_lm import CausalLM
from rlvr.rollout.rewards import Truncation
from rlvr.rollout.types import Experience, Finish, Rollout
from rlvr.tracking.metrics import Last, Mean, Metric
from rlvr.training.algorithm import Algorithm
from rlvr.training.batches import micro_batches, right_pad


@torch.no_grad()
def collate(
    rollouts: Sequence[Rollout],
    actor_critic: ActorCritic,
    reference: CausalLM,
    algorithm: Algorithm,
    *,
    kl_coef: float,
    truncation: Truncation,
) -> tuple[Experience, list[Metric]]:
    """Return the rollouts as one batch, ready for the update, and what is worth knowing of it.

    The old log-probs are those of the training forward, not the sampler's: the first ratio is then exactly 1 whatever
    the sampler's precision, top_p or top_k were.
    """
    device = actor_critic.policy.device
    tokens, lengths = right_pad([(*r.response.prompt_ids, *r.response.token_ids) for r in rollouts], device)
    prompt_lengths = torch.tensor([len(r.response.prompt_ids) for r in rollouts], device=device)
    mask = action_mask(prompt_lengths, lengths, tokens.shape[1])
    sampled = torch.zeros_like(mask)
    sampler_logprobs = torch.zeros(mask.shape, device=device)
    for row, rollout in enumerate(rollouts):
        start, stop = len(rollout.response.prompt_ids) - 1, int(lengths[row]) - 1
        sampled[row, start:stop] = torch.tensor(rollout.response.mask)
        sampler_logprobs[row, start:stop] = torch.tensor(rollout.response.logprobs)
    mask &= sampled
    truncated = torch.tensor([r.response.finish is Finish.LENGTH for r in rollouts], device=device)

    old_logprobs, ref_logprobs, entropies, exact = (torch.zeros(mask.shape, device=device) for _ in range(4))
    states = torch.zeros(tokens.shape, device=device)
    for rows, width in micro_batches(torch.arange(len(rollouts)), lengths.cpu(), algorithm.micro_batch_size):
        part, part_mask = tokens[rows, :width], mask[rows, : width - 1]
        seen = actor_critic.evaluate(
            part, part_mask, temperature=algorithm.temperature, reference=reference.forward(part)
        )
        assert seen.statistics.ref_logprobs is not None
        assert seen.statistics.exact_kl is not None
        old_logprobs[rows, : width - 1] = seen.statistics.logprobs
        ref_logprobs[rows, : width - 1] = seen.statistics.ref_logprobs
        entropies[rows, : width - 1] = seen.statistics.entropy
        exact[rows, : width - 1] = seen.statistics.exact_kl
        states[rows, :width] = seen.values
    values = states[:, :-1].masked_fill(~mask, 0.0)
    final_values = states.gather(1, (lengths - 1)[:, None])[:, 0]

    scores = torch.tensor([r.reward for r in rollouts], dtype=torch.float32, device=device)
    rewards = terminal_rewards(scores, mask)
    if algorithm.kl_in == "reward":
        rewards = kl_shaped_rewards(rewards, old_logprobs, ref_logprobs, mask, kl_coef=kl_coef)
    if truncation is Truncation.MASK:
        mask = mask & ~truncated[:, None]
    groups = _groups(rollouts).to(device)
    advantages, returns = _advantages(
        algorithm, rewards, values, mask, groups, lengths - prompt_lengths,
        bootstrap=final_values.masked_fill(~truncated, 0.0) if truncation is Truncation.BOOTSTRAP else None,
    )  # fmt: skip
    kept = advantages[mask]
    experience = Experience(
        tokens=tokens,
        lengths=lengths,
        mask=mask,
        old_logprobs=old_logprobs,
        ref_logprobs=ref_logprobs,
        values=values,
        rewards=rewards.masked_fill(~mask, 0.0),
        advantages=whiten(advantages, mask) if algorithm.whiten_advantages else advantages,
        returns=returns,
        entropies=entropies,
        exact_kls=exact,
        update_log_ratios=torch.zeros_like(old_logprobs),
        groups=groups,
    )
    estimates = {
        f"kl/{name}": function(old_logprobs, ref_logprobs)[mask]
        for name, function in (("k1", k1), ("k2", k2), ("k3", k3))
    }
    metrics = [
        *(Metric(name, Mean.of(values)) for name, values in estimates.items()),
        Metric("kl/exact", Mean.of(exact[mask])),
        Metric(
            "kl/per_response",
            Mean.of(k1(old_logprobs, ref_logprobs).masked_fill(~mask, 0.0).sum(dim=1)[mask.any(dim=1)]),
        ),
        Metric("kl/coef", Last(kl_coef)),
        Metric("rollout/logprob_gap", Mean.of((sampler_logprobs - old_logprobs).abs()[mask])),
        Metric("reward/shaped_mean", Mean.of(experience.rewards.sum(dim=1)[mask.any(dim=1)])),
        Metric("policy/advantage_mean", Mean.of(kept)),
        Metric("policy/advantage_std", Last(float(kept.std(correction=0)) if len(kept) else 0.0)),
    ]
    return experience, metrics


def _groups(rollouts: Sequence[Rollout]) -> torch.Tensor:
    numbers: dict[str, int] = {}
    return torch.tensor([numbers.setdefault(r.problem.id, len(numbers)) for r in rollouts])


def _advantages(
    algorithm: Algorithm,
    rewards: torch.Tensor,
    values: torch.Tensor,
    mask: torch.Tensor,
    groups: torch.Tensor,
    response_lengths: torch.Tensor,
    *,
    bootstrap: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return advantages and the critic's targets, both [B T]."""
    gamma = algorithm.gamma
    if algorithm.uses_critic:
        policy_lambda: float | torch.Tensor = algorithm.gae_lambda
        if algorithm.length_adaptive_alpha > 0:
            policy_lambda = length_adaptive_lambda(response_lengths, alpha=algorithm.length_adaptive_alpha)
        advantages, _ = gae(rewards, values, mask, gamma=gamma, gae_lambda=policy_lambda, bootstrap_values=bootstrap)
        _, returns = gae(
            rewards, values, mask, gamma=gamma, gae_lambda=algorithm.critic_gae_lambda, bootstrap_values=bootstrap
        )
        return advantages, returns
    to_go = reward_to_go(rewards, mask, gamma=gamma)
    if algorithm.advantage == "reward_to_go":
        return to_go, to_go
    # One advantage per response: what it earned, KL penalties included, beside the others of its group.
    compare = {"group_normalized": group_normalized, "group_centered": group_centered, "leave_one_out": leave_one_out}
    counts = mask.any(dim=1)  # what is left out of the losses is nothing to compare with either
    compared = torch.zeros_like(rewards[:, 0])
    compared[counts] = compare[algorithm.advantage](rewards.masked_fill(~mask, 0.0).sum(dim=1)[counts], groups[counts])
    return compared[:, None].expand_as(mask).masked_fill(~mask, 0.0), to_go
