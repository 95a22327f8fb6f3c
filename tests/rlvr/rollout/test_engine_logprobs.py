"""The sampler's log-probabilities against those of the training forward: two code paths, one policy."""

from collections.abc import Sequence

import pytest
import torch
from support.tiny_models import ARCHITECTURES, IdTokenizer, random_tokens, tiny_module, tiny_policy

from rlvr.models.causal_lm import CausalLM
from rlvr.rollout.local_engine import LocalEngine
from rlvr.rollout.types import Response, Sampling

STOPS = (1, 2, 3)
PROMPTS = [random_tokens(1, width, seed=width)[0].tolist() for width in (3, 7, 1, 5, 9)]
"""Of mixed lengths, so that most are padded on the left."""


def trained_logprobs(policy: CausalLM, responses: Sequence[Response], temperature: float) -> list[torch.Tensor]:
    """Score each response alone, with no padding."""
    scored = []
    for response in responses:
        tokens = torch.tensor([[*response.prompt_ids, *response.token_ids]])
        mask = torch.arange(tokens.shape[1] - 1)[None] >= len(response.prompt_ids) - 1
        with torch.no_grad():
            scored.append(policy.logprobs(tokens, mask, temperature=temperature)[mask])
    return scored


def largest_gap(policy: CausalLM, responses: Sequence[Response], temperature: float) -> float:
    scored = trained_logprobs(policy, responses, temperature)
    return max(
        float((torch.tensor(response.logprobs) - row).abs().max())
        for response, row in zip(responses, scored, strict=True)
    )


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_sampled_logprobs_are_the_training_forwards(architecture: str, temperature: float):
    """checklist 3, 5, 8: left padding (absolute positions included), temperature, and the batch that shrinks.

    Without position ids the padding alone would move GPT-2's log-probabilities by whole nats.
    """
    policy = tiny_policy(architecture)
    widths: list[int] = []
    policy.module.register_forward_pre_hook(
        lambda module, args, inputs: widths.append(len(inputs["input_ids"])), with_kwargs=True
    )
    engine = LocalEngine(policy, IdTokenizer(), stop_ids=STOPS)
    sampling = Sampling(max_new_tokens=12, temperature=temperature, samples_per_prompt=4)
    responses = engine.generate(PROMPTS, sampling, seed=1)
    assert widths[0] == len(PROMPTS)
    assert widths[1] > widths[-1], "no row was dropped from the batch"
    assert largest_gap(policy, responses, temperature) < 1e-5


@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_the_limits_of_top_p_and_top_k_leave_the_full_softmax_in_the_logprobs(architecture: str):
    """checklist 6: log-probs over the nucleus alone would be higher by its -log mass, about 0.2 nats."""
    policy = tiny_policy(architecture)
    engine = LocalEngine(policy, IdTokenizer(), stop_ids=STOPS)
    for limit in (Sampling(max_new_tokens=8, top_p=0.6), Sampling(max_new_tokens=8, top_k=3)):
        responses = engine.generate(PROMPTS, limit, seed=2)
        assert largest_gap(policy, responses, 1.0) < 1e-5


def test_greedy_logprobs_are_those_at_temperature_one():
    policy = tiny_policy()
    engine = LocalEngine(policy, IdTokenizer(), stop_ids=STOPS)
    responses = engine.generate(PROMPTS, Sampling(max_new_tokens=8, temperature=0.0), seed=0)
    assert largest_gap(policy, responses, 1.0) < 1e-5


def test_a_16_bit_copy_turns_far_positions_as_the_policy_does():
    """Rotary frequencies belong in float32 whatever the weights are: rounded, they drift with the position."""
    module = tiny_module(
        "llama", hidden_size=128, head_dim=32, num_hidden_layers=1, max_position_embeddings=512, initializer_range=0.2,
        rope_parameters={"rope_type": "default", "rope_theta": 100.0},
    )  # fmt: skip
    policy = CausalLM(module, autocast=torch.bfloat16)
    engine = LocalEngine(policy, IdTokenizer(), stop_ids=())
    prompts = random_tokens(30, 400).tolist()
    gaps = []
    for length in (10, 400):
        responses = engine.generate([row[:length] for row in prompts], Sampling(max_new_tokens=1), seed=0)
        sampled = torch.tensor([response.logprobs for response in responses])[:, 0]
        gaps.append(float((sampled - torch.cat(trained_logprobs(policy, responses, 1.0))).abs().mean()))
    near, far = gaps
    assert far < 2.5 * near
