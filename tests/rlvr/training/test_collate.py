import math

import pytest
import torch
from support import slow_rl
from support.tiny_models import tiny_policy
from support.training import EOS, actor_critic, collated, perturbed, rollout, sampled_rollouts, with_values

from rlvr.models.causal_lm import CausalLM
from rlvr.models.reference import frozen_copy
from rlvr.rollout.rewards import Truncation
from rlvr.rollout.types import Finish
from rlvr.tracking.metrics import combine
from rlvr.training.algorithm import Algorithm
from rlvr.training.collate import collate

PLAIN = Algorithm(whiten_advantages=False, gae_lambda=0.95, critic_gae_lambda=0.95)
POISON = 100.0
"""Stands where no value may be read."""


def whole_logprobs(policy: CausalLM, tokens: torch.Tensor, *, temperature: float = 1.0) -> torch.Tensor:
    """Log-probabilities [B T V] of everything, from the model's own logits."""
    with torch.no_grad():
        return torch.log_softmax(policy.module(input_ids=tokens).logits[:, :-1] / temperature, dim=-1)


def test_every_column_speaks_of_the_token_after_it_and_the_state_before_that():
    """checklist 2: log-probs from logits t - 1, values of the state before the action."""
    models = with_values([[POISON, 0.5, 0.6, 0.7, POISON], [0.1, 0.2, POISON, POISON, POISON]])
    experience = collated([rollout([9, 8], [7, 6, EOS], 1.0), rollout([9], [5, EOS], 0.0)], models, PLAIN)
    assert experience.tokens.tolist() == [[9, 8, 7, 6, EOS], [9, 5, EOS, 0, 0]]
    assert experience.mask.tolist() == [[False, True, True, True], [True, True, False, False]]
    expected = whole_logprobs(models.policy, experience.tokens).gather(-1, experience.tokens[:, 1:, None])[..., 0]
    torch.testing.assert_close(experience.old_logprobs, expected.masked_fill(~experience.mask, 0.0))
    assert experience.values.tolist() == [
        [0.0, pytest.approx(0.5), pytest.approx(0.6), pytest.approx(0.7)],
        [pytest.approx(0.1), pytest.approx(0.2), 0.0, 0.0],
    ]


def test_the_terminal_reward_stands_on_the_last_action_stopped_or_cut():
    """checklist 1 and 9: EOS is an action, even where its id is also the pad's, and no reward falls on padding."""
    rollouts = [
        rollout([9, 8], [EOS], 1.0),
        rollout([9], [7, 6, 5], 0.5, finish=Finish.LENGTH),
        rollout([EOS], [EOS, EOS], 0.25),
    ]
    experience = collated(rollouts, actor_critic("no"), Algorithm(advantage="reward_to_go"))
    assert experience.rewards.tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.5], [0.0, 0.25, 0.0]]
    assert experience.mask.tolist() == [[False, True, False], [True, True, True], [True, True, False]]


def test_the_kl_penalty_in_the_reward_is_per_token_from_the_rollout_policy():
    """checklist 9: r_t = -beta (log pi_old - log pi_ref)_t + [t = T] R."""
    models = actor_critic("no")
    reference = perturbed(models.policy)
    rollouts = sampled_rollouts(models.policy)
    algorithm = Algorithm(advantage="reward_to_go", whiten_advantages=False)
    experience = collated(rollouts, models, algorithm, reference=reference, kl_coef=0.3)
    actions = experience.tokens[:, 1:, None]
    old = whole_logprobs(models.policy, experience.tokens).gather(-1, actions)[..., 0]
    ref = whole_logprobs(reference, experience.tokens).gather(-1, actions)[..., 0]
    for row, judged in enumerate(rollouts):
        penalties = (-0.3 * (old - ref))[row][experience.mask[row]]
        penalties[-1] += judged.reward
        torch.testing.assert_close(experience.rewards[row][experience.mask[row]], penalties)
    assert not experience.rewards.requires_grad


def test_with_the_kl_in_the_loss_the_reward_is_the_verdicts_alone():
    models = actor_critic("no")
    algorithm = Algorithm(advantage="reward_to_go", kl_in="loss", kl_estimator="k2")
    rollouts = sampled_rollouts(models.policy)
    experience = collated(rollouts, models, algorithm, reference=perturbed(models.policy), kl_coef=0.3)
    assert experience.rewards.sum(dim=1).tolist() == [r.reward for r in rollouts]


def test_temperature_divides_old_and_reference_logits():
    """checklist 5."""
    models = actor_critic("no")
    reference = perturbed(models.policy)
    algorithm = Algorithm(advantage="reward_to_go", temperature=0.7)
    experience = collated(sampled_rollouts(models.policy), models, algorithm, reference=reference)
    for policy, found in ((models.policy, experience.old_logprobs), (reference, experience.ref_logprobs)):
        whole = whole_logprobs(policy, experience.tokens, temperature=0.7)
        expected = whole.gather(-1, experience.tokens[:, 1:, None])[..., 0]
        torch.testing.assert_close(found, expected.masked_fill(~experience.mask, 0.0))


def test_gae_on_the_actions_alone():
    """checklist 16, with its values; padding and prompt values are poisoned (checklist 18)."""
    values = [0.5, 0.6, 0.7]
    models = with_values([[POISON, *values, POISON, POISON], [POISON] * 6])
    longer = rollout([9, 9, 9], [7, 6, EOS], 0.0, name="b")
    experience = collated([rollout([9, 8], [7, 6, EOS], 1.0), longer], models, PLAIN)
    advantages, returns = slow_rl.gae([0, 0, 1], values, [True] * 3, gamma=1.0, gae_lambda=0.95)
    assert experience.advantages[0].tolist() == pytest.approx([0.0, *advantages, 0.0])
    assert experience.returns[0].tolist() == pytest.approx([0.0, *returns, 0.0])


def test_values_under_the_padding_do_not_leak():
    """checklist 18: R [.95, 1] where an unmasked GAE gives [5.7, 6]."""
    models = with_values([[0.0, 0.0, POISON, POISON], [POISON] * 4])
    experience = collated([rollout([9], [7, EOS], 1.0), rollout([9], [7, 6, EOS], 0.0)], models, PLAIN)
    assert experience.returns[0].tolist() == pytest.approx([0.95, 1.0, 0.0])


@pytest.mark.parametrize(
    ("truncation", "advantages", "returns"),
    [
        (Truncation.BOOTSTRAP, [0.28525, 0.195, 0.1], [0.78525, 0.795, 0.8]),
        (Truncation.FAIL, [-0.43675, -0.565, -0.7], [0.06325, 0.035, 0.0]),
        (Truncation.MASK, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    ],
)
def test_a_truncated_response_fails_or_is_valued_after_its_last_token_or_is_left_out(
    truncation: Truncation, advantages: list[float], returns: list[float]
):
    """checklist 17: the bootstrap is V of the state after the last token."""
    models = with_values([[POISON, 0.5, 0.6, 0.7, 0.8, POISON], [POISON, POISON, 0.5, 0.5, 0.5, POISON]])
    cut = rollout([9, 8], [7, 6, 5], 0.0, finish=Finish.LENGTH)
    stopped = rollout([9, 9, 9], [7, 6, EOS], 1.0, name="b")
    experience = collated([cut, stopped], models, PLAIN, truncation=truncation)
    assert experience.advantages[0, 1:4].tolist() == pytest.approx(advantages)
    assert experience.returns[0, 1:4].tolist() == pytest.approx(returns)
    assert experience.mask[0].any() == (truncation is not Truncation.MASK)
    # The value after EOS is poisoned: a response that stopped is never bootstrapped.
    assert experience.returns[1, 2:].tolist() == pytest.approx([0.95**2 + 0.05 * 0.5 * 1.95, 0.975, 1.0])


def test_what_an_environment_fed_is_stepped_over():
    """checklist 19: returns [.95125, .975, ., ., 1], and nothing is learned on the fed tokens."""
    models = with_values([[0.5, 0.5, 0.9, 0.1, 0.5, POISON]])
    turns = rollout([9], [7, 6, 20, 21, EOS], 1.0, mask=[True, True, False, False, True])
    experience = collated([turns], models, PLAIN)
    assert experience.mask.tolist() == [[True, True, False, False, True]]
    assert experience.returns[0].tolist() == pytest.approx([0.95125, 0.975, 0.0, 0.0, 1.0])
    for fed in (experience.advantages, experience.old_logprobs, experience.ref_logprobs, experience.rewards):
        assert fed[0, 2:4].tolist() == [0.0, 0.0]


def test_a_reward_whose_last_tokens_were_fed_falls_on_the_last_sampled_one():
    experience = collated(
        [rollout([9], [7, 6, 20], 1.0, mask=[True, True, False], finish=Finish.LENGTH)], actor_critic("shared"), PLAIN
    )
    assert experience.rewards.tolist() == [[0.0, 1.0, 0.0]]


def test_advantages_are_whitened_over_the_batchs_valid_tokens_and_returns_are_not():
    """checklist 20: A = [[1, -1], [2]] becomes [.2673, -1.3363], [1.0690]."""
    models = with_values([[0.0, 1.0, POISON], [0.0, POISON, POISON]])
    rollouts = [rollout([9], [7, EOS], 0.0), rollout([9], [EOS], 2.0)]
    experience = collated(rollouts, models, Algorithm(gae_lambda=0.0, critic_gae_lambda=1.0))
    assert experience.advantages.tolist() == [
        pytest.approx([0.2673, -1.3363], abs=1e-4),
        pytest.approx([1.0690, 0.0], abs=1e-4),
    ]
    assert experience.returns.tolist() == [[0.0, 0.0], [2.0, 0.0]]


def test_a_batch_with_one_valid_token_whitens_to_zero():
    """checklist 20."""
    experience = collated([rollout([9], [EOS], 1.0)], actor_critic("shared"), Algorithm())
    assert experience.advantages.tolist() == [[0.0]]


def test_policy_and_critic_have_their_own_lambda_and_the_policys_can_follow_the_length():
    """checklist 22: decoupled lambda, 1 - 1 / (alpha l) per response."""
    values = [[0.1 * (column + row) for column in range(6)] for row in range(2)]
    rollouts = [rollout([9], [7, 6, 5, 8, EOS], 1.0), rollout([9], [7, EOS], 1.0)]
    algorithm = Algorithm(whiten_advantages=False, critic_gae_lambda=1.0, length_adaptive_alpha=0.5)
    experience = collated(rollouts, with_values(values), algorithm)
    for row, length in enumerate([5, 2]):
        rewards, mask = [0.0] * (length - 1) + [1.0], [True] * length
        own = slow_rl.gae(rewards, values[row][:length], mask, gamma=1.0, gae_lambda=max(0, 1 - 1 / (0.5 * length)))
        assert experience.advantages[row, :length].tolist() == pytest.approx(own[0], abs=1e-6)
        assert experience.returns[row, :length].tolist() == pytest.approx([1.0] * length)


GROUPS = {
    "group_normalized": lambda scores, groups: slow_rl.group_normalized(scores, groups, eps=1e-4),
    "leave_one_out": slow_rl.leave_one_out,
    "group_centered": lambda scores, groups: [
        score - slow_rl.mean(slow_rl.group_of(scores, groups, row)) for row, score in enumerate(scores)
    ],
}


@pytest.mark.parametrize("advantage", GROUPS)
def test_group_advantages_compare_what_responses_earned_penalties_included(advantage: str):
    """checklist 27, on shaped totals; rows of a problem need not lie side by side."""
    models = actor_critic("no")
    rollouts = sampled_rollouts(models.policy, 8)
    rollouts = [*rollouts[::2], *rollouts[1::2]]
    algorithm = Algorithm(advantage=advantage, whiten_advantages=False)
    experience = collated(rollouts, models, algorithm, reference=perturbed(models.policy), kl_coef=0.2)
    groups = [int(r.problem.id.split("/")[1]) for r in rollouts]
    totals = experience.rewards.sum(dim=1).tolist()
    assert totals != [r.reward for r in rollouts]
    for row, expected in enumerate(GROUPS[advantage](totals, groups)):
        found = experience.advantages[row][experience.mask[row]]
        assert found.tolist() == pytest.approx([expected] * len(found), rel=1e-3, abs=1e-4)
    assert not experience.advantages[~experience.mask].any()
    assert experience.groups.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


@pytest.mark.parametrize("advantage", GROUPS)
def test_a_response_that_is_masked_out_is_no_member_of_its_group(advantage: str):
    """checklist 17: left out means left out of the baseline too, not counted there as a failure."""
    rollouts = [
        rollout([9], [7, EOS], 1.0),
        rollout([9], [6, EOS], 1.0),
        rollout([9], [6, 5], 0.0, finish=Finish.LENGTH),
        rollout([9], [4, 5], 0.0, name="all cut", finish=Finish.LENGTH),
    ]
    algorithm = Algorithm(advantage=advantage, whiten_advantages=False)
    experience = collated(rollouts, actor_critic("no"), algorithm, truncation=Truncation.MASK)
    assert experience.advantages.tolist() == [[0.0, 0.0]] * 4


def test_a_batch_of_nothing_but_masked_responses_has_no_numbers():
    rollouts = [rollout([9], [7, 6], 0.0, finish=Finish.LENGTH)]
    for algorithm in (Algorithm(), Algorithm(advantage="group_normalized")):
        models = actor_critic("shared" if algorithm.uses_critic else "no")
        experience, metrics = collate(
            rollouts, models, frozen_copy(models.policy), algorithm, kl_coef=0.1, truncation=Truncation.MASK
        )
        assert not experience.advantages.any()
        assert combine(metrics)["kl/per_response"] is None


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("kind", ["shared", "separate"])
def test_micro_batches_change_nothing(size: int, kind: str):
    """checklist 8: the rest is rounding."""
    models = actor_critic(kind)
    reference = perturbed(models.policy)
    rollouts = sampled_rollouts(models.policy)
    whole = collated(rollouts, models, Algorithm(), reference=reference, kl_coef=0.1)
    parts = collated(rollouts, models, Algorithm(micro_batch_size=size), reference=reference, kl_coef=0.1)
    for name in ("mask", "old_logprobs", "ref_logprobs", "values", "rewards", "advantages", "returns"):
        torch.testing.assert_close(getattr(parts, name), getattr(whole, name), rtol=0, atol=2e-5, msg=name)


def test_the_logged_divergences_are_means_over_actions_and_sums_over_responses():
    """checklist 10: all estimators are logged, beside the exact sum over the vocabulary."""
    models = actor_critic("shared")
    reference = perturbed(models.policy)
    rollouts = sampled_rollouts(models.policy)
    experience, metrics = collate(
        rollouts, models, reference, Algorithm(), kl_coef=0.25, truncation=Truncation.FAIL
    )  # fmt: skip
    numbers = combine(metrics)
    old, ref = (whole_logprobs(policy, experience.tokens) for policy in (models.policy, reference))
    exact = (old.exp() * (old - ref)).sum(-1)[experience.mask].mean()
    x = (experience.old_logprobs - experience.ref_logprobs)[experience.mask]
    assert numbers["kl/exact"] == pytest.approx(exact.item(), rel=1e-4)
    assert numbers["kl/k1"] == pytest.approx(x.mean().item(), abs=1e-6)
    assert numbers["kl/k2"] == pytest.approx((x.square() / 2).mean().item(), rel=1e-5)
    assert numbers["kl/k3"] == pytest.approx((torch.expm1(-x) + x).mean().item(), rel=1e-4)
    assert numbers["kl/per_response"] == pytest.approx(x.sum().item() / len(rollouts), abs=1e-5)
    assert numbers["kl/coef"] == 0.25
    shaped = sum(r.reward for r in rollouts) / len(rollouts) - 0.25 * x.sum().item() / len(rollouts)
    assert numbers["reward/shaped_mean"] == pytest.approx(shaped, abs=1e-5)


def test_the_advantages_that_are_logged_are_those_before_whitening():
    models = actor_critic("shared")
    rollouts = sampled_rollouts(models.policy)
    _, metrics = collate(
        rollouts, models, frozen_copy(models.policy), Algorithm(), kl_coef=0.0, truncation=Truncation.FAIL
    )
    numbers = combine(metrics)
    plain = collated(rollouts, models, Algorithm(whiten_advantages=False))
    kept = plain.advantages[plain.mask]
    assert numbers["policy/advantage_mean"] == pytest.approx(kept.mean().item(), rel=1e-5)
    assert numbers["policy/advantage_std"] == pytest.approx(kept.std(correction=0).item(), rel=1e-5)


def test_the_samplers_log_probs_are_compared_with_the_training_forward():
    """checklist 6 and 8: the two agree to rounding, and a distance shows."""
    models = actor_critic("no", policy=tiny_policy("gpt2"))
    rollouts = sampled_rollouts(models.policy)
    algorithm = Algorithm(advantage="reward_to_go")
    reference = frozen_copy(models.policy)

    def gap(algorithm: Algorithm) -> float:
        _, metrics = collate(rollouts, models, reference, algorithm, kl_coef=0.0, truncation=Truncation.FAIL)
        found = combine(metrics)["rollout/logprob_gap"]
        assert found is not None
        return found

    assert gap(algorithm) < 1e-5
    assert gap(Algorithm(advantage="reward_to_go", temperature=0.7)) > 0.1


def test_divergence_from_an_equal_reference_is_exactly_zero():
    """checklist 8: KL to the reference is 0 at step 0."""
    models = actor_critic("shared")
    _, metrics = collate(
        sampled_rollouts(models.policy), models, frozen_copy(models.policy), Algorithm(micro_batch_size=2),
        kl_coef=0.1, truncation=Truncation.FAIL,
    )  # fmt: skip
    numbers = combine(metrics)
    assert [numbers[f"kl/{name}"] for name in ("k1", "k2", "k3", "per_response")] == [0.0] * 4
    assert math.isclose(numbers["kl/exact"] or 0.0, 0.0, abs_tol=1e-7)
