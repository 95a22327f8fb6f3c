"""What an update minimises: clipped surrogate, entropy bonus and KL term of the policy, squared error of the critic."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from rlvr.algorithms.kl import k2, k3
from rlvr.algorithms.losses import clipped_surrogate, value_losses
from rlvr.algorithms.ratios import log_ratios
from rlvr.models.actor_critic import ActorCritic
from rlvr.models.causal_lm import CausalLM
from rlvr.models.logprobs import TokenStatistics
from rlvr.rollout.types import Experience
from rlvr.tracking.metrics import Max, Mean, Metric
from rlvr.training.algorithm import Algorithm

Average = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Makes one number of losses [B T] and mask [B T]; over the micro-batches of a minibatch the numbers add up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Objective:
    """The objective on one micro-batch."""

    loss: torch.Tensor
    """Scalar with gradient; those of a minibatch's micro-batches add up."""
    policy_loss: float = 0.0
    value_loss: float = 0.0
    approximate_kl: Mean
    """KL (k3) of the policy that sampled from the policy as it is, per token in nats."""
    log_ratios: torch.Tensor | None = None
    """[B T] before any averaging over the response, 0 where no token counts; None where the policy does not train."""
    metrics: list[Metric]


def objective(
    actor_critic: ActorCritic,
    batch: Experience,
    algorithm: Algorithm,
    average: Average,
    *,
    reference: CausalLM,
    kl_coef: float,
    train_policy: bool,
) -> Objective:
    """Return the objective on `batch`; with `train_policy` False the critic's alone, a shared trunk held fixed."""
    if not train_policy:
        value_loss, metrics = _value_loss(actor_critic.values(batch.tokens), batch, algorithm, average)
        return Objective(
            loss=algorithm.value_loss_coef * value_loss,
            value_loss=value_loss.item(),
            approximate_kl=Mean(0.0, 0),
            metrics=metrics,
        )
    uses_exact_kl = algorithm.kl_in == "loss" and algorithm.kl_estimator == "exact"
    with torch.no_grad():
        reference_output = reference.forward(batch.tokens) if uses_exact_kl else None
    seen = actor_critic.evaluate(
        batch.tokens, batch.mask, temperature=algorithm.temperature, reference=reference_output
    )
    policy_loss, metrics = _policy_loss(seen.statistics, batch, algorithm, average)
    if algorithm.entropy_coef:
        policy_loss = policy_loss - algorithm.entropy_coef * average(seen.statistics.entropy, batch.mask)
    if algorithm.kl_in == "loss" and kl_coef:
        divergences = seen.statistics.exact_kl
        if divergences is None:
            divergences = k2(seen.statistics.logprobs, batch.ref_logprobs)
        policy_loss = policy_loss + kl_coef * average(divergences, batch.mask)
    loss, value_loss = policy_loss, torch.zeros(())
    if actor_critic.critic is not None:
        value_loss, value_metrics = _value_loss(seen.values, batch, algorithm, average)
        loss = loss + algorithm.value_loss_coef * value_loss
        metrics += value_metrics
    logprobs = seen.statistics.logprobs.detach()
    approximate_kl = Mean.of(k3(batch.old_logprobs, logprobs)[batch.mask])
    return Objective(
        loss=loss,
        policy_loss=policy_loss.item(),
        value_loss=value_loss.item(),
        approximate_kl=approximate_kl,
        log_ratios=(logprobs - batch.old_logprobs).masked_fill(~batch.mask, 0.0),
        metrics=[
            *metrics,
            Metric("policy/approx_kl", approximate_kl),
            Metric("policy/entropy", Mean.of(seen.statistics.entropy[batch.mask])),
        ],
    )


def _policy_loss(
    statistics: TokenStatistics, batch: Experience, algorithm: Algorithm, average: Average
) -> tuple[torch.Tensor, list[Metric]]:
    ratios = log_ratios(statistics.logprobs, batch.old_logprobs, batch.mask, level=algorithm.ratio_level)
    losses, clipped = clipped_surrogate(
        ratios,
        batch.advantages,
        clip_low=algorithm.clip_low,
        clip_high=algorithm.clip_high,
        dual_clip=algorithm.dual_clip,
    )
    largest = ratios.detach().masked_fill(~batch.mask, -torch.inf).max().exp().item()
    metrics = [
        Metric("policy/clip_frac", Mean.of(clipped[batch.mask].float())),
        Metric("policy/ratio_max", Max(largest)),
    ]
    return average(losses, batch.mask), metrics


def _value_loss(
    values: torch.Tensor, batch: Experience, algorithm: Algorithm, average: Average
) -> tuple[torch.Tensor, list[Metric]]:
    # Padding is no state: whatever the critic says of it must not reach the gradient.
    values = values[:, :-1].masked_fill(~batch.mask, 0.0)
    losses = value_losses(values, batch.values, batch.returns, clip=algorithm.value_clip)
    clipped = losses > value_losses(values, batch.values, batch.returns, clip=0.0)
    return average(losses, batch.mask), [Metric("critic/clip_frac", Mean.of(clipped[batch.mask].float()))]
