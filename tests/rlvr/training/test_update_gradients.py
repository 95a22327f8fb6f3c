"""The gradient depends on the rollouts alone: not on how they are cut up, padded or ordered."""

import dataclasses
import math

import pytest
import torch
from support.training import (
    CapturingSGD,
    actor_critic,
    collated,
    flat_gradient,
    flat_weights,
    perturbed,
    sampled_rollouts,
)
from torch.nn.functional import pad

from rlvr.algorithms.losses import aggregate
from rlvr.models.reference import frozen_copy
from rlvr.rollout.records import PER_TOKEN
from rlvr.rollout.types import Experience
from rlvr.tracking.metrics import combine
from rlvr.training.algorithm import Algorithm
from rlvr.training.objective import objective
from rlvr.training.update import update

VARIANTS = {
    "ppo, shared critic": ("shared", Algorithm()),
    "ppo, separate critic": ("separate", Algorithm(entropy_coef=0.01)),
    "per-response means, k2 in the loss": (
        "no", Algorithm(advantage="group_normalized", aggregation="sequence_mean", kl_in="loss", kl_estimator="k2"),
    ),
    "constant, exact KL in the loss": (
        "no",
        Algorithm(
            advantage="group_centered", aggregation="constant", constant_length=6, kl_in="loss", kl_estimator="exact"
        ),
    ),
    "per-response ratio": (
        "no", Algorithm(advantage="leave_one_out", ratio_level="sequence", aggregation="sequence_sum"),
    ),
}  # fmt: skip


def off_policy(kind: str, algorithm: Algorithm):
    """Models whose policy has moved since the rollouts, so that ratios are not 1 and some are clipped."""
    models = actor_critic(kind)
    rollouts = sampled_rollouts(models.policy, 7)
    experience = collated(rollouts, models, algorithm, reference=perturbed(models.policy, seed=8), kl_coef=0.1)
    moved = actor_critic(kind, policy=perturbed(models.policy, scale=0.02))
    moved.policy.module.requires_grad_(True)
    return moved, perturbed(models.policy, seed=8), experience


def unchanged(experience: Experience) -> Experience:
    return experience


def gradient(kind: str, algorithm: Algorithm, *, change=unchanged) -> torch.Tensor:
    models, reference, experience = off_policy(kind, algorithm)
    optimizer = CapturingSGD(models)
    update(
        models, optimizer, change(experience), dataclasses.replace(algorithm, max_grad_norm=1e9),
        reference=reference, kl_coef=0.1, seed=0,
    )  # fmt: skip
    return torch.cat(list(optimizer.seen[0].values()))


def assert_equal_gradients(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert expected.norm() > 0.1
    assert (found - expected).norm() <= 1e-6 * expected.norm()


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_gradient_does_not_depend_on_the_micro_batch_size(variant: str, size: int):
    """checklist 26: divided by the whole minibatch's counts, to 1e-6."""
    kind, algorithm = VARIANTS[variant]
    parts = gradient(kind, dataclasses.replace(algorithm, micro_batch_size=size))
    assert_equal_gradients(parts, gradient(kind, algorithm))


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_losses_do_not_depend_on_the_micro_batch_size(variant: str):
    """checklist 26."""
    kind, algorithm = VARIANTS[variant]
    found = []
    for size in (0, 2):
        models, reference, experience = off_policy(kind, algorithm)
        metrics = update(
            models, CapturingSGD(models), experience, dataclasses.replace(algorithm, micro_batch_size=size),
            reference=reference, kl_coef=0.1, seed=0,
        )  # fmt: skip
        found.append(combine(metrics))
    assert found[0].keys() == found[1].keys()
    for name, number in found[0].items():
        assert found[1][name] == pytest.approx(number, rel=1e-5, abs=1e-6), name


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_gradient_does_not_depend_on_the_order_of_rows(variant: str):
    """checklist 26."""
    kind, algorithm = VARIANTS[variant]

    def shuffled(experience: Experience) -> Experience:
        order = torch.randperm(len(experience.tokens), generator=torch.Generator().manual_seed(3))
        return Experience(
            **{field.name: getattr(experience, field.name)[order] for field in dataclasses.fields(Experience)}
        )

    assert_equal_gradients(gradient(kind, algorithm, change=shuffled), gradient(kind, algorithm))


def widened(experience: Experience, filler: float) -> Experience:
    """Add four columns of padding: ordinary tokens, and `filler` in everything that is off the mask."""
    changes: dict[str, torch.Tensor] = {"tokens": pad(experience.tokens, (0, 4), value=17)}
    mask = pad(experience.mask, (0, 4), value=False)
    for name in PER_TOKEN:
        changes[name] = pad(getattr(experience, name), (0, 4)).masked_fill(~mask, filler)
    return dataclasses.replace(experience, mask=mask, **changes)


def objective_gradient(kind: str, algorithm: Algorithm, filler: float | None) -> torch.Tensor:
    models, reference, experience = off_policy(kind, algorithm)
    batch = experience if filler is None else widened(experience, filler)

    def average(losses: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return aggregate(
            losses, mask, mode=algorithm.aggregation, total_tokens=int(batch.mask.sum()), total_rows=len(mask),
            constant=algorithm.constant_length,
        )  # fmt: skip

    # Below `update`, which cuts padding away before the forward.
    part = objective(models, batch, algorithm, average, reference=reference, kl_coef=0.1, train_policy=True)
    part.loss.backward()
    parameters = [*models.policy_parameters(), *models.critic_parameters()]
    return flat_gradient(parameters)


@pytest.mark.parametrize("filler", [1e6, math.nan])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_gradient_does_not_depend_on_the_padding_whatever_stands_there(variant: str, filler: float):
    """checklist 18 and 30: padding is never summed, NaN under the mask never leaks."""
    kind, algorithm = VARIANTS[variant]
    expected = objective_gradient(kind, algorithm, None)
    assert_equal_gradients(objective_gradient(kind, algorithm, filler), expected)


def test_the_exact_kl_in_the_loss_has_the_exact_gradient():
    """checklist 10: that of beta * mean KL(policy || reference), by autograd over whole distributions."""
    algorithm = Algorithm(advantage="group_centered", kl_in="loss", kl_estimator="exact", max_grad_norm=1e9)
    models, reference, experience = off_policy("no", algorithm)
    silent = dataclasses.replace(experience, advantages=torch.zeros_like(experience.advantages))
    optimizer = CapturingSGD(models)
    update(models, optimizer, silent, algorithm, reference=reference, kl_coef=0.7, seed=0)

    module = models.policy.module
    logits = module(input_ids=experience.tokens).logits[:, :-1].double()
    with torch.no_grad():
        ref_logits = reference.module(input_ids=experience.tokens).logits[:, :-1].double()
    p, q = logits.log_softmax(-1), ref_logits.log_softmax(-1)
    module.zero_grad()
    (0.7 * (p.exp() * (p - q)).sum(-1)[experience.mask].mean()).backward()
    expected = flat_gradient(models.policy_parameters())
    torch.testing.assert_close(optimizer.seen[0]["policy"], expected, rtol=1e-4, atol=1e-6)


def test_k2_in_the_loss_is_half_the_squared_log_ratio_to_the_reference_at_the_sampled_tokens():
    """checklist 10: equal to the exact sum in expectation only, so the gradient on one batch is another."""
    both = {}
    for estimator in ("k2", "exact"):
        algorithm = Algorithm(advantage="group_centered", kl_in="loss", kl_estimator=estimator, max_grad_norm=1e9)
        models, reference, experience = off_policy("no", algorithm)
        silent = dataclasses.replace(experience, advantages=torch.zeros_like(experience.advantages))
        optimizer = CapturingSGD(models)
        update(models, optimizer, silent, algorithm, reference=reference, kl_coef=0.7, seed=0)
        both[estimator] = optimizer.seen[0]["policy"]
    models, reference, experience = off_policy("no", Algorithm(advantage="group_centered", kl_in="loss"))
    p, q = (m.logprobs(experience.tokens, experience.mask, temperature=1.0) for m in (models.policy, reference))
    (0.7 * (0.5 * (p - q.detach()).square()).sum() / experience.mask.sum()).backward()
    torch.testing.assert_close(both["k2"], flat_gradient(models.policy_parameters()), rtol=1e-4, atol=1e-5)
    assert (both["exact"] - both["k2"]).abs().max() > 1e-3


def test_one_first_update_moves_along_the_policy_gradient():
    """checklist 21: with V = 0 and lambda = 1 the first update is REINFORCE without a baseline."""
    models = actor_critic("shared")
    assert models.critic is not None
    for parameter in models.critic.head[-1].parameters():
        torch.nn.init.zeros_(parameter)
    algorithm = Algorithm(gae_lambda=1.0, whiten_advantages=False, value_loss_coef=0.0, max_grad_norm=1e9)
    rollouts = sampled_rollouts(models.policy)
    experience = collated(rollouts, models, algorithm)
    optimizer = CapturingSGD(models)
    update(models, optimizer, experience, algorithm, reference=frozen_copy(models.policy), kl_coef=0.0, seed=0)
    logprobs = models.policy.logprobs(experience.tokens, experience.mask, temperature=1.0)
    scores = torch.tensor([r.reward for r in rollouts])
    models.policy.module.zero_grad()
    (-(scores * logprobs.sum(dim=1)).sum() / experience.mask.sum()).backward()
    expected = flat_gradient(models.policy_parameters())
    torch.testing.assert_close(optimizer.seen[0]["policy"], expected, rtol=1e-4, atol=1e-6)
    assert flat_weights(models.policy_parameters()).isfinite().all()
