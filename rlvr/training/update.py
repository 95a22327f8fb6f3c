"""The update: epochs of minibatches over one batch, gradients accumulated over micro-batches, clipped, applied."""

import math
from collections.abc import Callable
from functools import partial

import torch

from rlvr.algorithms.losses import aggregate, explained_variance
from rlvr.errors import NonFiniteLossError
from rlvr.models.actor_critic import ActorCritic
from rlvr.models.causal_lm import CausalLM
from rlvr.rollout.types import Experience
from rlvr.seeding import derive_seed
from rlvr.tracking.metrics import Last, Mean, Metric, Sum, combine
from rlvr.training.algorithm import Algorithm
from rlvr.training.batches import cut, micro_batches
from rlvr.training.objective import objective

RatioCheck = Callable[[torch.Tensor], None]
"""Given the log-ratios [N] of a first micro-batch, before any weight has moved; raises if they are not 0."""


def update(
    actor_critic: ActorCritic,
    optimizer: torch.optim.Optimizer,
    experience: Experience,
    algorithm: Algorithm,
    *,
    reference: CausalLM,
    kl_coef: float,
    seed: int,
    train_policy: bool = True,
    check_ratio: RatioCheck | None = None,
) -> list[Metric]:
    """Learn from one batch of experience; return what was measured, and leave the ratios seen in the experience.

    The optimizer's parameter groups are named "policy" and "critic"; the gradients of each are clipped apart. A
    minibatch whose gradient is not finite is skipped and counted.

    Args:
        reference: read for the exact KL in the loss only.
        seed: of the order of minibatches.
        train_policy: False trains the critic alone (value warm-up).

    Raises:
        NonFiniteLossError: a loss is NaN or infinite, and weights and optimizer are as they were before that minibatch;
            or no minibatch had a finite gradient.
    """
    metrics: list[Metric] = []
    epochs_done = 0
    while epochs_done < algorithm.epochs:
        generator = torch.Generator().manual_seed(derive_seed(seed, "minibatches", epochs_done))
        order = torch.randperm(len(experience.tokens), generator=generator)
        epoch_kl = Mean(0.0, 0)
        for minibatch in order.tensor_split(algorithm.minibatches):
            if not experience.mask[minibatch].any():
                continue  # every response in it is masked out
            measured, approximate_kl = _accumulate_gradients(
                actor_critic,
                experience,
                algorithm,
                minibatch,
                reference=reference,
                kl_coef=kl_coef,
                train_policy=train_policy,
                check_ratio=check_ratio,
            )
            check_ratio = None
            metrics += measured
            metrics += _apply_gradients(optimizer, algorithm.max_grad_norm)
            epoch_kl = epoch_kl.merge(approximate_kl)
        epochs_done += 1
        if algorithm.target_kl and (epoch_kl.number or 0.0) > algorithm.target_kl:
            break
    counts = combine(metrics)
    if counts.get("policy/skipped_updates") and not counts["policy/updates"]:
        raise NonFiniteLossError(
            "no minibatch had a finite gradient, so nothing was learned; lower optimizer.lr, and look at "
            "policy/grad_norm and kl/per_response of the steps before"
        )
    metrics.append(Metric("policy/epochs", Last(epochs_done)))
    if actor_critic.critic is not None:
        explained = explained_variance(experience.values, experience.returns, experience.mask)
        metrics += [
            Metric("critic/explained_variance", Last(math.nan if explained is None else explained)),
            Metric("critic/value_mean", Mean.of(experience.values[experience.mask])),
            Metric("critic/return_mean", Mean.of(experience.returns[experience.mask])),
        ]
    return metrics


def _accumulate_gradients(
    actor_critic: ActorCritic,
    experience: Experience,
    algorithm: Algorithm,
    minibatch: torch.Tensor,
    *,
    reference: CausalLM,
    kl_coef: float,
    train_policy: bool,
    check_ratio: RatioCheck | None,
) -> tuple[list[Metric], Mean]:
    """Leave the minibatch's gradient in the parameters; return what was measured and the approximate KL."""
    valid = experience.mask[minibatch]
    average = partial(
        aggregate,
        mode=algorithm.aggregation,
        total_tokens=int(valid.sum()),
        total_rows=int(valid.any(dim=1).sum()),
        constant=algorithm.constant_length,
    )
    metrics: list[Metric] = []
    policy_loss = value_loss = 0.0
    approximate_kl = Mean(0.0, 0)
    for rows, width in micro_batches(minibatch, experience.lengths.cpu(), algorithm.micro_batch_size):
        part = objective(
            actor_critic,
            cut(experience, rows, width),
            algorithm,
            average,
            reference=reference,
            kl_coef=kl_coef,
            train_policy=train_policy,
        )
        if part.log_ratios is not None:
            if check_ratio is not None:
                check_ratio(part.log_ratios[experience.mask[rows, : width - 1]])
            experience.update_log_ratios[rows, : width - 1] = part.log_ratios
        if not torch.isfinite(part.loss):
            raise NonFiniteLossError(
                f"the loss became {part.loss.item()}; lower optimizer.lr or raise algorithm.kl_coef, and look at "
                "policy/ratio_max, kl/per_response and policy/grad_norm of the steps before"
            )
        part.loss.backward()
        metrics += part.metrics
        policy_loss += part.policy_loss
        value_loss += part.value_loss
        approximate_kl = approximate_kl.merge(part.approximate_kl)
    if train_policy:
        metrics.append(Metric("policy/loss", Mean.of(policy_loss)))
    if actor_critic.critic is not None:
        metrics.append(Metric("critic/loss", Mean.of(value_loss)))
    return metrics, approximate_kl


def _apply_gradients(optimizer: torch.optim.Optimizer, max_norm: float) -> list[Metric]:
    """Clip, step, and forget the gradients; return norms before clipping and what became of the step."""
    metrics: list[Metric] = []
    finite, moves_policy = True, False
    for group in optimizer.param_groups:
        gradients = [p for p in group["params"] if p.grad is not None]
        if not gradients:
            continue
        norm = torch.nn.utils.clip_grad_norm_(gradients, max_norm).item()
        finite = finite and math.isfinite(norm)
        moves_policy = moves_policy or group["name"] == "policy"
        metrics.append(Metric(f"{group['name']}/grad_norm", Mean.of(norm)))
    if finite:
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return [
        *metrics,
        Metric("policy/updates", Sum(int(finite and moves_policy))),
        Metric("policy/skipped_updates", Sum(int(not finite))),
    ]
