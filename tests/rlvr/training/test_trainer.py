import copy
import math
from typing import Any

import pytest
import torch
from support.tiny_runs import MemorySink, ShareOfDigits, tiny_config, tiny_trainer

from rlvr.algorithms.presets import PRESETS
from rlvr.cli import wiring
from rlvr.errors import JudgingFailedError
from rlvr.models.reference import frozen_copy, weights_digest
from rlvr.rollout.types import Experience, Finish, Rollout
from rlvr.tracking.names import NAMES
from tasks.types import Problem
from verifiers.errors import VerifierError
from verifiers.types import Verdict

STEP_AREAS = ("reward", "rollout", "verify", "policy", "critic", "kl", "time")


def test_a_step_logs_every_documented_metric_of_a_step():
    sink = MemorySink()
    trainer = tiny_trainer(tiny_config("critic.warmup_steps=0"), sink=sink)
    numbers = trainer.step()
    documented = {name for name in NAMES if name.split("/")[0] in STEP_AREAS}
    assert numbers.keys() == documented
    assert all(number is not None for number in numbers.values())
    assert sink.lines == [(1, numbers)]


def test_steps_of_a_critic_free_algorithm_log_all_but_the_critics():
    config = tiny_config('algorithm.preset="grpo"', "rollout.samples_per_prompt=2")
    numbers = tiny_trainer(config).step()
    documented = {name for name in NAMES if name.split("/")[0] in STEP_AREAS}
    assert numbers.keys() == {name for name in documented if not name.startswith("critic/")}


def test_the_adaptive_kl_coefficient_follows_its_formula_and_is_saved():
    """checklist 12: coef *= 1 + clip(kl / target - 1, -.2, .2) n / horizon, on the KL per response in nats."""
    config = tiny_config(
        'algorithm.kl_control="adaptive"', "algorithm.kl_coef=0.1", "algorithm.kl_target=0.02",
        "algorithm.kl_horizon=100", "critic.warmup_steps=0", "optimizer.lr=1e-2",
    )  # fmt: skip
    trainer = tiny_trainer(config)
    coefficient, moves = 0.1, []
    for _ in range(6):
        numbers = trainer.step()
        assert numbers["kl/coef"] == pytest.approx(coefficient)
        assert numbers["kl/per_response"] is not None
        error = min(max(numbers["kl/per_response"] / 0.02 - 1, -0.2), 0.2)
        moves.append(error)
        coefficient *= 1 + error * 16 / 100
        assert trainer.kl_coef == pytest.approx(coefficient)
    assert min(moves) < 0 < max(moves)
    resumed = tiny_trainer(config)
    resumed.load_state_dict(copy.deepcopy(trainer.state_dict()))
    assert resumed.kl_coef == trainer.kl_coef != 0.1


def test_a_fixed_kl_coefficient_stays():
    """checklist 12."""
    trainer = tiny_trainer(tiny_config("algorithm.kl_coef=0.1"))
    assert [trainer.step()["kl/coef"] for _ in range(3)] == [0.1] * 3


def test_the_learning_rates_follow_their_schedule():
    """checklist 28: warm-up, then decay; policy and critic each from its own peak (checklist 31)."""
    config = tiny_config(
        "optimizer.lr=1e-3", "optimizer.critic_lr=4e-3", "optimizer.warmup_steps=2", 'optimizer.decay="linear"',
        "optimizer.final_lr_frac=0.2", "run.steps=6",
    )  # fmt: skip
    trainer = tiny_trainer(config)
    factors = [0.5, 1.0, 0.8, 0.6, 0.4, 0.2]
    for factor in factors:
        numbers = trainer.step()
        assert numbers["policy/lr"] == pytest.approx(1e-3 * factor)
        assert numbers["critic/lr"] == pytest.approx(4e-3 * factor)


@pytest.mark.parametrize("kind", ["shared", "separate"])
def test_the_policy_holds_still_during_the_critics_warm_up_and_moves_after(kind: str):
    """checklist 22."""
    config = tiny_config("critic.warmup_steps=2", f'critic.kind="{kind}"')
    trainer = tiny_trainer(config)
    policy = trainer.actor_critic.policy
    digests = [weights_digest(policy)]
    updates = []
    for _ in range(3):
        updates.append(trainer.step()["policy/updates"])
        digests.append(weights_digest(policy))
    assert digests[0] == digests[1] == digests[2] != digests[3]
    assert updates == [0, 0, 4]


def test_without_a_critic_there_is_no_warm_up():
    trainer = tiny_trainer(tiny_config('algorithm.preset="reinforce"', "critic.warmup_steps=2"))
    before = weights_digest(trainer.actor_critic.policy)
    trainer.step()
    assert weights_digest(trainer.actor_critic.policy) != before


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("truncation", ["fail", "mask"])
def test_every_preset_takes_steps(preset: str, truncation: str):
    config = tiny_config(
        f'algorithm.preset="{preset}"', "rollout.samples_per_prompt=4", "rollout.prompts_per_step=4",
        f'reward.truncation="{truncation}"', "critic.warmup_steps=0", "rollout.max_new_tokens=64",
    )  # fmt: skip
    trainer = tiny_trainer(config)
    before = weights_digest(trainer.actor_critic.policy)
    for _ in range(2):
        numbers = trainer.step()
        assert numbers["policy/skipped_updates"] in (0, None)
    assert trainer.rollouts_drawn == 32
    assert weights_digest(trainer.actor_critic.policy) != before


def test_the_reference_is_unchanged_by_a_run():
    """checklist 13."""
    config = tiny_config("critic.warmup_steps=0")
    model = wiring.build_model(config)
    reference = frozen_copy(model.policy)
    digest = weights_digest(reference)
    trainer = tiny_trainer(config, model=model, reference=reference)
    for _ in range(3):
        trainer.step()
    assert weights_digest(model.policy) != digest
    assert weights_digest(reference) == digest


class SometimesBroken(ShareOfDigits):
    """Fails for good on problems whose first operand is even."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        if problem.metadata["a"] % 2 == 0:
            raise VerifierError("the judge is broken")
        return super().verify(problem, response)


def test_responses_that_could_not_be_judged_are_counted_and_left_out():
    """checklist 34: a verifier's error is no reward of zero."""
    recorded: list[Rollout] = []
    config = tiny_config("rollout.max_failed_frac=0.9", "rollout.judge_retries=0")
    trainer = tiny_trainer(
        config, verifier=SometimesBroken(), record=lambda _, rollouts, __: recorded.extend(rollouts)
    )  # fmt: skip
    numbers = trainer.step()
    assert 0 < len(recorded) < 16
    assert all(r.problem.metadata["a"] % 2 for r in recorded)
    assert numbers["verify/failed_frac"] == pytest.approx(1 - len(recorded) / 16)
    assert numbers["reward/mean"] == pytest.approx(sum(r.reward for r in recorded) / len(recorded))
    assert trainer.rollouts_drawn == 16


def test_too_many_that_could_not_be_judged_stop_the_run():
    """checklist 34."""
    trainer = tiny_trainer(tiny_config("rollout.judge_retries=0"), verifier=SometimesBroken())
    with pytest.raises(JudgingFailedError, match=r"could not be judged .* the judge is broken"):
        trainer.step()


def test_what_is_recorded_is_what_was_learned_from():
    steps: list[tuple[int, list[Rollout], Experience]] = []
    trainer = tiny_trainer(
        tiny_config(), record=lambda step, rs, experience: steps.append((step, list(rs), experience))
    )
    trainer.step()
    trainer.step()
    assert [step for step, _, _ in steps] == [1, 2]
    for step, rollouts, experience in steps:
        assert {r.policy_step for r in rollouts} == {step - 1}
        rows = [(*r.response.prompt_ids, *r.response.token_ids) for r in rollouts]
        assert [tuple(row[: len(ids)].tolist()) for row, ids in zip(experience.tokens, rows, strict=True)] == rows


def test_probing_scores_the_same_problems_and_leaves_the_training_as_it_is():
    config = tiny_config("critic.warmup_steps=0", 'algorithm.preset="grpo"', "rollout.samples_per_prompt=2")
    plain, probed = tiny_trainer(config), tiny_trainer(config)
    problems = wiring.build_task(config).problems("test")[:3]
    first = probed.probe(problems)
    for trainer in (plain, probed):
        trainer.step()
    rollouts, experience = probed.probe(problems)
    assert [r.problem.id for r in rollouts] == [p.id for p in problems for _ in range(2)]
    assert {r.policy_step for r in rollouts} == {1}
    assert not experience.update_log_ratios.any()
    assert not torch.equal(experience.old_logprobs, first[1].old_logprobs)
    for trainer in (plain, probed):
        trainer.step()
    assert weights_digest(plain.actor_critic.policy) == weights_digest(probed.actor_critic.policy)


def test_rewards_rise():
    trainer = tiny_trainer(tiny_config("run.steps=25", "rollout.prompts_per_step=32", "optimizer.lr=3e-3"))
    rewards = [trainer.step()["reward/mean"] or 0.0 for _ in range(25)]
    assert sum(rewards[-5:]) / 5 > 2 * sum(rewards[:5]) / 5


def weights_of(trainer: Any) -> dict[str, torch.Tensor]:
    critic = trainer.actor_critic.critic
    return {
        **{f"policy.{name}": tensor for name, tensor in trainer.actor_critic.policy.module.state_dict().items()},
        **{f"head.{name}": tensor for name, tensor in critic.head.state_dict().items()},
    }


def test_a_state_goes_on_bit_for_bit():
    """checklist 12 and 33: train(4) == train(2) + load + train(2), numbers and weights."""
    config = tiny_config('algorithm.kl_control="adaptive"', "algorithm.kl_horizon=100", 'optimizer.decay="cosine"')
    whole = tiny_trainer(config)
    for _ in range(2):
        whole.step()
    state, weights = copy.deepcopy(whole.state_dict()), copy.deepcopy(weights_of(whole))
    rest = [whole.step() for _ in range(2)]

    resumed = tiny_trainer(config)
    for name, tensor in weights_of(resumed).items():
        tensor.copy_(weights[name])
    resumed.load_state_dict(state)
    assert (resumed.step_number, resumed.rollouts_drawn) == (2, 32)
    for expected in rest:
        found = resumed.step()
        for name, number in expected.items():
            if not name.startswith("time/") and not name.endswith("_per_s"):
                assert found[name] == number, name
    for name, tensor in weights_of(whole).items():
        assert torch.equal(weights_of(resumed)[name], tensor), name


def test_the_configured_overlong_penalty_is_taken_from_every_reward_by_its_length():
    """checklist 15, from the configuration to the rollouts."""
    config = tiny_config("reward.overlong_cache=12", "reward.overlong_weight=0.5", "rollout.max_new_tokens=16")
    seen: list[Rollout] = []
    trainer = tiny_trainer(config, record=lambda step, rollouts, experience: seen.extend(rollouts))
    numbers = trainer.step()
    penalties = []
    for rollout in seen:
        cut = rollout.response.finish is Finish.LENGTH
        penalties.append(-0.5 * min(1.0, max(0, len(rollout.response.token_ids) - 4) / 12))
        assert rollout.reward == pytest.approx((0.0 if cut else rollout.verdict.score) + penalties[-1])
    assert len(set(penalties)) > 1
    assert numbers["reward/overlong_penalty"] == pytest.approx(sum(penalties) / len(penalties))


def test_another_seed_is_another_run():
    def rewards(*overrides: str) -> list[float | None]:
        trainer = tiny_trainer(tiny_config(*overrides))
        return [trainer.step()["reward/mean"] for _ in range(2)]

    first = rewards("run.seed=1")
    assert rewards("run.seed=1") == first
    assert rewards("run.seed=2") != first
    assert all(math.isfinite(reward or math.nan) for reward in first)
