import dataclasses
import re

import pytest
import torch
from support.tiny_runs import tiny_config, tiny_trainer
from support.training import actor_critic, collated, perturbed, rollout, sampled_rollouts
from transformers import GPT2Config, GPT2LMHeadModel

from rlvr.cli import wiring
from rlvr.errors import InvariantError
from rlvr.models.causal_lm import CausalLM
from rlvr.models.loading import LoadedModel
from rlvr.rollout.types import Finish
from rlvr.training.algorithm import Algorithm
from rlvr.training.invariants import check_first_ratio, check_masks, check_reference_kl


def gpt2(vocabulary: int) -> GPT2LMHeadModel:
    config = GPT2Config(vocab_size=vocabulary, n_positions=64, n_embd=32, n_layer=1, n_head=2)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return GPT2LMHeadModel(config)


def with_dropout_on(model: LoadedModel) -> LoadedModel:
    """Put a GPT-2, whose default dropout is .1, in the model's place and switch it to training mode behind our back."""
    policy = CausalLM(gpt2(len(model.tokenizer)))
    policy.module.train()
    return dataclasses.replace(model, policy=policy)


def test_a_policy_with_dropout_on_stops_the_run_at_its_first_update():
    """checklist 4 and 8."""
    config = tiny_config("critic.warmup_steps=0")
    model = with_dropout_on(wiring.build_model(config))
    clean = CausalLM(gpt2(len(model.tokenizer)))
    trainer = tiny_trainer(config, model=model, reference=clean)
    trainer.step_number = 1  # a resumed run: the KL to the reference need not be 0 any more
    with pytest.raises(InvariantError, match=r"ratio is not 1: \|log ratio\| has mean .* look for dropout"):
        trainer.step()


def test_a_reference_that_is_no_copy_of_the_policy_stops_the_run():
    """checklist 8: KL to the reference is 0 at step 0."""
    config = tiny_config()
    model = wiring.build_model(config)
    trainer = tiny_trainer(config, model=model, reference=perturbed(model.policy))
    with pytest.raises(InvariantError, match=r"before the first update, allowed 1e-06: the reference is not a copy"):
        trainer.step()


def test_a_run_whose_parts_agree_passes_every_check():
    """checklist 8."""
    trainer = tiny_trainer(tiny_config("critic.warmup_steps=0"))
    trainer.step()
    trainer.step()
    assert trainer.step_number == 2


def test_the_ratio_is_checked_at_the_first_update_of_the_policy_even_after_a_critic_warm_up():
    """checklist 8."""
    config = tiny_config("critic.warmup_steps=2")
    model = wiring.build_model(config)
    trainer = tiny_trainer(config, model=model)
    trainer.step()
    trainer.step()
    embedding = model.policy.module.get_input_embeddings()
    embedding.register_forward_hook(lambda *call: torch.nn.functional.dropout(call[2], 0.1))
    with pytest.raises(InvariantError, match="ratio is not 1"):
        trainer.step()


@pytest.mark.parametrize(
    ("dtype", "log_ratios", "passes"),
    [
        (torch.float32, [0.0, 9e-6], True),
        (torch.float32, [-2e-5, 2e-5], False),
        # One unlikely token of a large model in thousands, as measured on SmolLM2-135M: rounding, not a defect.
        (torch.float32, [1.4e-5] + [1e-7] * 100, True),
        (torch.float32, [2e-3] + [0.0] * 1000, False),
        (torch.float32, [0.0, float("nan")], False),
        (torch.float32, [], True),
        (torch.bfloat16, [0.2, 0.0, 0.0, 0.0, 0.0], True),
        (torch.bfloat16, [0.2, 0.2], False),
        (torch.bfloat16, [float("nan"), 0.0], False),
    ],
)
def test_the_first_ratio_is_held_to_what_the_precision_allows(
    dtype: torch.dtype, log_ratios: list[float], passes: bool
):
    """checklist 8: 1e-5 in fp32."""
    if passes:
        check_first_ratio(torch.tensor(log_ratios), dtype)
    else:
        with pytest.raises(InvariantError):
            check_first_ratio(torch.tensor(log_ratios), dtype)


@pytest.mark.parametrize(
    ("kl", "passes"), [(0.0, True), (None, True), (5e-7, True), (1e-4, False), (float("nan"), False)]
)
def test_the_reference_kl_is_held_to_zero(kl: float | None, passes: bool):
    """checklist 8."""
    if passes:
        check_reference_kl(kl, torch.float32)
    else:
        with pytest.raises(InvariantError):
            check_reference_kl(kl, torch.float32)


def test_a_mask_that_misses_the_eos_is_found():
    """checklist 1."""
    models = actor_critic("no")
    rollouts = sampled_rollouts(models.policy)
    experience = collated(rollouts, models, Algorithm(advantage="reward_to_go"))
    check_masks(experience, rollouts, masked_rows=0)
    mask = experience.mask.clone()
    mask[0, mask[0].nonzero()[-1, 0]] = False
    tokens = sum(len(r.response.token_ids) for r in rollouts)
    message = f"counts {tokens - 1} tokens in {len(rollouts)} responses, but the sampler drew {tokens} tokens"
    if not mask[0].any():
        message = "prompt lengths and padding disagree"
    with pytest.raises(InvariantError, match=re.escape(message)):
        check_masks(dataclasses.replace(experience, mask=mask), rollouts, masked_rows=0)


def test_a_mask_that_counts_padding_or_prompts_is_found():
    """checklist 1 and 18."""
    rollouts = [rollout([9, 8], [7, 1]), rollout([9], [7, 6, 1])]
    experience = collated(rollouts, actor_critic("no"), Algorithm(advantage="reward_to_go"))
    everything = dataclasses.replace(experience, mask=torch.ones_like(experience.mask))
    with pytest.raises(InvariantError, match="counts 6 tokens in 2 responses, but the sampler drew 5"):
        check_masks(everything, rollouts, masked_rows=0)


def test_a_response_that_vanished_from_the_mask_is_found():
    rollouts = [rollout([9, 8], [7, 1]), rollout([9], [7, 6, 1], finish=Finish.LENGTH)]
    experience = collated(rollouts, actor_critic("no"), Algorithm(advantage="reward_to_go"))
    mask = experience.mask.clone()
    mask[1] = False
    without = dataclasses.replace(experience, mask=mask)
    check_masks(without, rollouts, masked_rows=1)
    with pytest.raises(InvariantError, match="0 of 2 responses are left out"):
        check_masks(without, rollouts, masked_rows=0)
