import dataclasses
import math

import pytest
import torch
from support.training import (
    CapturingSGD,
    actor_critic,
    collated,
    flat_weights,
    perturbed,
    rollout,
    sampled_rollouts,
    with_values,
)

from rlvr.algorithms.presets import PRESETS
from rlvr.errors import NonFiniteLossError
from rlvr.models.reference import frozen_copy, weights_digest
from rlvr.rollout.types import Experience
from rlvr.tracking.metrics import combine
from rlvr.training.algorithm import Algorithm
from rlvr.training.update import update

ONCE = Algorithm(max_grad_norm=1e9)


def first_experience(kind: str = "shared", algorithm: Algorithm = ONCE):
    models = actor_critic(kind)
    reference = perturbed(models.policy)
    experience = collated(sampled_rollouts(models.policy), models, algorithm, reference=reference, kl_coef=0.05)
    return models, reference, experience


def with_nan(experience: Experience, name: str) -> Experience:
    """Put NaN where the first row's last action is."""
    broken = getattr(experience, name).clone()
    broken[0, experience.mask[0].nonzero()[-1, 0]] = math.nan
    return dataclasses.replace(experience, **{name: broken})


def test_on_the_first_minibatch_the_ratio_is_1_and_the_loss_is_minus_the_mean_advantage():
    """checklist 8: approx_kl = 0, clip_frac = 0, loss = -mean(A); here A is not whitened, so its mean is not 0."""
    algorithm = dataclasses.replace(ONCE, whiten_advantages=False)
    models, reference, experience = first_experience("shared", algorithm)
    seen: list[torch.Tensor] = []
    metrics = update(
        models, CapturingSGD(models), experience, algorithm,
        reference=reference, kl_coef=0.05, seed=0, check_ratio=seen.append,
    )  # fmt: skip
    numbers = combine(metrics)
    assert len(seen) == 1
    assert len(seen[0]) == experience.mask.sum()
    assert seen[0].abs().max() < 1e-5
    assert numbers["policy/loss"] == pytest.approx(-experience.advantages[experience.mask].mean().item(), abs=1e-6)
    assert numbers["policy/loss"] != pytest.approx(0.0, abs=1e-3)
    assert numbers["policy/approx_kl"] == pytest.approx(0.0, abs=1e-8)
    assert numbers["policy/clip_frac"] == 0.0
    assert numbers["policy/ratio_max"] == pytest.approx(1.0, abs=1e-5)


def test_only_the_first_minibatch_is_checked():
    models, reference, experience = first_experience()
    seen: list[torch.Tensor] = []
    algorithm = dataclasses.replace(ONCE, minibatches=3, epochs=2)
    optimizer = CapturingSGD(models, lr=0.1)
    update(models, optimizer, experience, algorithm, reference=reference, kl_coef=0.0, seed=0, check_ratio=seen.append)
    assert len(optimizer.seen) == 6
    assert len(seen) == 1


def test_the_experience_keeps_the_ratio_that_each_token_was_last_seen_at():
    """Those of the second epoch, in which the policy of the first update is compared with the one that sampled."""
    models, reference, experience = first_experience()
    algorithm = dataclasses.replace(ONCE, epochs=2)
    assert not experience.update_log_ratios.any()
    update(models, CapturingSGD(models, lr=0.1), experience, ONCE, reference=reference, kl_coef=0.0, seed=0)
    now = models.evaluate(experience.tokens, experience.mask, temperature=ONCE.temperature).statistics.logprobs
    models, reference, experience = first_experience()
    update(models, CapturingSGD(models, lr=0.1), experience, algorithm, reference=reference, kl_coef=0.0, seed=0)
    wanted = (now.detach() - experience.old_logprobs).masked_fill(~experience.mask, 0.0)
    assert wanted.abs().max() > 1e-3
    torch.testing.assert_close(experience.update_log_ratios, wanted)


def test_the_logged_policy_loss_includes_the_entropy_and_kl_terms():
    algorithm = dataclasses.replace(ONCE, entropy_coef=0.1, kl_in="loss", kl_estimator="exact")
    models, reference, experience = first_experience("no", dataclasses.replace(algorithm, advantage="reward_to_go"))

    def loss(algorithm: Algorithm) -> float:
        metrics = update(
            models, CapturingSGD(models), experience, algorithm, reference=reference, kl_coef=2.0, seed=0
        )  # fmt: skip
        numbers = combine(metrics)
        assert numbers["policy/loss"] is not None
        assert numbers["policy/entropy"] is not None
        return numbers["policy/loss"] + algorithm.entropy_coef * numbers["policy/entropy"]

    tokens = experience.tokens
    with torch.no_grad():
        p, q = (m.module(input_ids=tokens).logits[:, :-1].log_softmax(-1) for m in (models.policy, reference))
    kl = (p.exp() * (p - q)).sum(-1)[experience.mask].mean().item()
    assert loss(algorithm) - loss(ONCE) == pytest.approx(2.0 * kl, rel=1e-3)


def test_gradients_of_policy_and_critic_are_clipped_apart_and_logged_before():
    """checklist 28."""
    models, reference, experience = first_experience("separate")
    free, tight = CapturingSGD(models), CapturingSGD(models)
    update(models, free, experience, ONCE, reference=reference, kl_coef=0.0, seed=0)
    clipping = dataclasses.replace(ONCE, max_grad_norm=1e-3)
    numbers = combine(update(models, tight, experience, clipping, reference=reference, kl_coef=0.0, seed=0))
    for name in ("policy", "critic"):
        norm = free.seen[0][name].norm().item()
        assert norm > 1e-2
        assert numbers[f"{name}/grad_norm"] == pytest.approx(norm, rel=1e-4)
        assert tight.seen[0][name].norm().item() == pytest.approx(1e-3, rel=1e-2)


def test_an_update_whose_gradient_is_not_finite_is_skipped_and_counted():
    """checklist 28."""
    models, reference, experience = first_experience()
    before = weights_digest(models.policy)
    algorithm = dataclasses.replace(ONCE, epochs=2)
    calls = iter([math.inf, 1.0])
    handle = models.policy_parameters()[0].register_hook(lambda gradient: gradient * next(calls))
    optimizer = CapturingSGD(models, lr=0.1)
    numbers = combine(update(models, optimizer, experience, algorithm, reference=reference, kl_coef=0.0, seed=0))
    handle.remove()
    assert len(optimizer.seen) == 1
    assert torch.isfinite(optimizer.seen[0]["policy"]).all()
    assert (numbers["policy/updates"], numbers["policy/skipped_updates"]) == (1, 1)
    assert weights_digest(models.policy) != before
    assert torch.isfinite(flat_weights(models.policy_parameters())).all()


def test_an_update_that_learned_nothing_because_no_gradient_was_finite_stops_the_run():
    models, reference, experience = first_experience()
    before = weights_digest(models.policy)
    handle = models.policy_parameters()[0].register_hook(lambda gradient: gradient * math.inf)
    with pytest.raises(NonFiniteLossError, match="no minibatch had a finite gradient"):
        update(models, CapturingSGD(models, lr=0.1), experience, ONCE, reference=reference, kl_coef=0.0, seed=0)
    handle.remove()
    assert weights_digest(models.policy) == before


def test_target_kl_ends_the_epochs():
    """checklist 29: the first epoch's KL is 0, the second's is not."""
    models, reference, experience = first_experience()
    algorithm = dataclasses.replace(ONCE, epochs=5, target_kl=1e-6)
    optimizer = CapturingSGD(models, lr=0.1)
    numbers = combine(update(models, optimizer, experience, algorithm, reference=reference, kl_coef=0.0, seed=0))
    assert numbers["policy/epochs"] == 2
    assert len(optimizer.seen) == 2


def test_without_target_kl_all_epochs_are_done():
    """checklist 29."""
    models, reference, experience = first_experience()
    algorithm = dataclasses.replace(ONCE, epochs=5)
    optimizer = CapturingSGD(models, lr=0.1)
    numbers = combine(update(models, optimizer, experience, algorithm, reference=reference, kl_coef=0.0, seed=0))
    assert numbers["policy/epochs"] == 5
    assert len(optimizer.seen) == 5


def minibatch_gradients(seed: int) -> list[torch.Tensor]:
    models, reference, experience = first_experience()
    algorithm = dataclasses.replace(ONCE, epochs=2, minibatches=3)
    optimizer = CapturingSGD(models)
    update(models, optimizer, experience, algorithm, reference=reference, kl_coef=0.0, seed=seed)
    return [gradients["policy"] for gradients in optimizer.seen]


def test_the_order_of_minibatches_follows_from_the_seed_and_changes_with_the_epoch():
    """checklist 33."""
    first, again, other = minibatch_gradients(1), minibatch_gradients(1), minibatch_gradients(2)
    assert len(first) == 6
    assert all(torch.equal(*pair) for pair in zip(first, again, strict=True))
    assert not all(torch.allclose(*pair) for pair in zip(first, other, strict=True))
    assert not all(torch.allclose(*pair) for pair in zip(first[:3], first[3:], strict=True))


def test_every_epoch_goes_over_all_rows_once():
    """checklist 33: with weights that do not move, sums of per-response losses over an epoch are the batch's."""
    models, reference, experience = first_experience()
    algorithm = dataclasses.replace(ONCE, epochs=1, minibatches=3, aggregation="sequence_sum")
    parts, whole = CapturingSGD(models), CapturingSGD(models)
    update(models, parts, experience, algorithm, reference=reference, kl_coef=0.0, seed=0)
    update(
        models, whole, experience, dataclasses.replace(algorithm, minibatches=1),
        reference=reference, kl_coef=0.0, seed=0,
    )  # fmt: skip
    mean = torch.stack([gradients["policy"] for gradients in parts.seen]).mean(dim=0)
    torch.testing.assert_close(mean, whole.seen[0]["policy"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["shared", "separate"])
def test_critic_warm_up_teaches_the_critic_and_leaves_the_policy_bit_for_bit(kind: str):
    """checklist 22: also where the critic reads the policy's trunk."""
    models, reference, experience = first_experience(kind)
    before, critic = weights_digest(models.policy), flat_weights(models.critic_parameters())
    metrics = update(
        models, CapturingSGD(models, lr=0.1), experience, ONCE,
        reference=reference, kl_coef=0.0, seed=0, train_policy=False,
    )  # fmt: skip
    assert weights_digest(models.policy) == before
    assert not torch.equal(flat_weights(models.critic_parameters()), critic)
    numbers = combine(metrics)
    assert numbers["policy/updates"] == 0
    assert "policy/loss" not in numbers
    assert numbers["critic/loss"] is not None


def test_critic_warm_up_lowers_the_value_loss():
    """checklist 22."""
    models, reference, experience = first_experience("shared", dataclasses.replace(ONCE, value_clip=0.0))
    algorithm = dataclasses.replace(ONCE, value_clip=0.0)
    losses = []
    for _ in range(20):
        metrics = update(
            models, CapturingSGD(models, lr=0.1), experience, algorithm,
            reference=reference, kl_coef=0.0, seed=0, train_policy=False,
        )  # fmt: skip
        losses.append(combine(metrics)["critic/loss"])
    assert losses[-1] < 0.8 * losses[0]


def test_the_value_loss_is_clipped_around_the_values_at_rollout_time():
    """checklist 23: v = 1, old = .2, return = 1, eps = .2 gives .18, and no gradient."""
    models = with_values([[1.0, 1.0, 1.0]])
    experience = collated([rollout([9], [7, 1], 1.0)], models, ONCE)
    experience = dataclasses.replace(experience, values=torch.full((1, 2), 0.2), returns=torch.ones(1, 2))
    optimizer = CapturingSGD(models)
    metrics = update(models, optimizer, experience, ONCE, reference=models.policy, kl_coef=0.0, seed=0)
    numbers = combine(metrics)
    assert numbers["critic/loss"] == pytest.approx(0.18)
    assert numbers["critic/clip_frac"] == 1.0
    assert not optimizer.seen[0]["critic"].any()
    plain = dataclasses.replace(ONCE, value_clip=0.0)
    numbers = combine(update(models, optimizer, experience, plain, reference=models.policy, kl_coef=0.0, seed=0))
    assert numbers["critic/loss"] == 0.0
    assert numbers["critic/clip_frac"] == 0.0


def test_explained_variance_is_that_of_the_rollouts_and_none_when_returns_do_not_vary():
    """checklist 24."""
    models = with_values([[0.9, 0.9, 0.9], [0.1, 0.1, 0.1]])
    rollouts = [rollout([9], [7, 1], 1.0), rollout([9], [6, 1], 0.0)]
    experience = collated(rollouts, models, ONCE)
    numbers = combine(
        update(models, CapturingSGD(models), experience, ONCE, reference=models.policy, kl_coef=0, seed=0)
    )
    assert numbers["critic/explained_variance"] == pytest.approx(1 - 0.01 / 0.25, abs=1e-5)
    assert numbers["critic/value_mean"] == pytest.approx(0.5)
    assert numbers["critic/return_mean"] == pytest.approx(0.5)
    equal = collated([rollout([9], [7, 1], 1.0)] * 2, models, ONCE)
    numbers = combine(update(models, CapturingSGD(models), equal, ONCE, reference=models.policy, kl_coef=0, seed=0))
    assert numbers["critic/explained_variance"] is None


@pytest.mark.parametrize("name", ["advantages", "returns", "old_logprobs"])
def test_a_loss_that_is_not_finite_stops_the_run_and_leaves_the_weights(name: str):
    models, reference, experience = first_experience()
    before, critic = weights_digest(models.policy), flat_weights(models.critic_parameters())
    optimizer = CapturingSGD(models, lr=0.1)
    with pytest.raises(NonFiniteLossError, match=r"the loss became nan; lower optimizer\.lr"):
        update(models, optimizer, with_nan(experience, name), ONCE, reference=reference, kl_coef=0.0, seed=0)
    assert weights_digest(models.policy) == before
    assert torch.equal(flat_weights(models.critic_parameters()), critic)
    assert optimizer.seen == []


def test_a_minibatch_without_valid_tokens_is_passed_over():
    models, reference, experience = first_experience()
    empty = dataclasses.replace(experience, mask=torch.zeros_like(experience.mask))
    optimizer = CapturingSGD(models, lr=0.1)
    numbers = combine(update(models, optimizer, empty, ONCE, reference=reference, kl_coef=0.0, seed=0))
    assert optimizer.seen == []
    assert numbers["policy/epochs"] == 1
    assert numbers["critic/value_mean"] is None


@pytest.mark.parametrize("estimator", ["exact", "k2"])
def test_the_reference_is_unchanged_by_training(estimator: str):
    """checklist 13."""
    algorithm = Algorithm(advantage="reward_to_go", kl_in="loss", kl_estimator=estimator, epochs=3, minibatches=2)
    models = actor_critic("no")
    reference = frozen_copy(models.policy)
    digest = weights_digest(reference)
    experience = collated(sampled_rollouts(models.policy), models, algorithm, reference=reference)
    update(models, CapturingSGD(models, lr=0.1), experience, algorithm, reference=reference, kl_coef=0.5, seed=0)
    assert weights_digest(models.policy) != digest
    assert weights_digest(reference) == digest
    assert not any(p.requires_grad for p in reference.module.parameters())


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_makes_a_good_response_likelier_and_a_bad_one_less_likely(preset: str):
    fields = {field.name for field in dataclasses.fields(Algorithm)}
    settings = {name: value for name, value in PRESETS[preset].items() if name in fields}
    algorithm = dataclasses.replace(Algorithm(constant_length=6), **settings)  # pyright: ignore[reportArgumentType]
    models = actor_critic("shared" if algorithm.uses_critic else "no")
    rollouts = sampled_rollouts(models.policy)
    reference = frozen_copy(models.policy)
    experience = collated(rollouts, models, algorithm, reference=reference, kl_coef=0.04)
    metrics = update(
        models, CapturingSGD(models, lr=0.05), experience, algorithm, reference=reference, kl_coef=0.04, seed=0
    )
    assert combine(metrics)["policy/updates"] == 1
    after = collated(rollouts, models, algorithm, reference=reference)
    gains = (after.old_logprobs - experience.old_logprobs).sum(dim=1)
    good = torch.tensor([r.reward > 0 for r in rollouts])
    assert gains[good].mean() > gains[~good].mean()
