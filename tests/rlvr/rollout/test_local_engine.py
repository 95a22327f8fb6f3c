from collections.abc import Sequence

import pytest
import torch
from support.tiny_models import ARCHITECTURES, IdTokenizer, random_tokens, tiny_policy
from transformers.utils import logging as transformers_logging

from rlvr.models.causal_lm import CausalLM
from rlvr.models.loading import TinyShape, load_model
from rlvr.rollout.local_engine import LocalEngine
from rlvr.rollout.types import Finish, Response, Sampling

transformers_logging.set_verbosity_error()

GREEDY = Sampling(max_new_tokens=10, temperature=0.0)
STOPS = (1, 2, 3)
PROMPTS = [random_tokens(1, width, seed=width)[0].tolist() for width in (3, 7, 1, 5, 9)]


def engine_of(policy: CausalLM, stop_ids: Sequence[int] = STOPS, batch_size: int = 0) -> LocalEngine:
    return LocalEngine(policy, IdTokenizer(), stop_ids=stop_ids, batch_size=batch_size)


def forced(policy: CausalLM, favourite: int, margin: float) -> None:
    """Make `favourite` likelier by `margin` nats in every state."""
    head = policy.module.get_output_embeddings()
    bias = torch.nn.Parameter(torch.zeros(policy.vocabulary_size))
    with torch.no_grad():
        bias[favourite] = margin
    head.bias = bias


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_greedy_responses_are_transformers_own_token_for_token(architecture: str):
    policy = tiny_policy(architecture)
    responses = engine_of(policy).generate(PROMPTS, GREEDY, seed=0)
    for prompt, response in zip(PROMPTS, responses, strict=True):
        tokens = torch.tensor([prompt])
        expected = policy.module.generate(
            input_ids=tokens, attention_mask=torch.ones_like(tokens), do_sample=False, max_new_tokens=10,
            eos_token_id=list(STOPS), pad_token_id=0,
        )  # fmt: skip
        assert list(response.token_ids) == expected[0, len(prompt) :].tolist()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_batch_size_changes_no_greedy_response(architecture: str):
    policy = tiny_policy(architecture)
    whole = engine_of(policy).generate(PROMPTS, GREEDY, seed=0)
    for batch_size in (1, 2, 3, 100):
        found = engine_of(policy, batch_size=batch_size).generate(PROMPTS, GREEDY, seed=0)
        assert [r.token_ids for r in found] == [r.token_ids for r in whole]


@pytest.mark.parametrize("batch_size", [0, 4])
def test_a_seed_gives_the_same_responses_and_another_seed_others(batch_size: int):
    engine = engine_of(tiny_policy(), batch_size=batch_size)
    sampling = Sampling(max_new_tokens=10, samples_per_prompt=2)
    first, again, other = (engine.generate(PROMPTS, sampling, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_sampling_leaves_the_global_generator_alone():
    engine, before = engine_of(tiny_policy()), torch.get_rng_state()
    engine.generate(PROMPTS, Sampling(max_new_tokens=4), seed=1)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("batch_size", [0, 1, 5])
def test_the_responses_to_one_prompt_lie_side_by_side_and_differ(batch_size: int):
    engine = engine_of(tiny_policy(), stop_ids=(), batch_size=batch_size)
    responses = engine.generate(PROMPTS, Sampling(max_new_tokens=10, samples_per_prompt=3), seed=1)
    assert [list(r.prompt_ids) for r in responses] == [prompt for prompt in PROMPTS for _ in range(3)]
    assert len({r.token_ids for r in responses}) == len(responses)


def test_a_batch_never_holds_more_responses_than_its_size_unless_one_prompt_has_more():
    policy, rows = tiny_policy(), []
    policy.module.register_forward_pre_hook(
        lambda module, args, inputs: rows.append(len(inputs["input_ids"])), with_kwargs=True
    )
    for batch_size, samples, most in ((4, 2, 4), (5, 2, 4), (2, 3, 3)):
        rows.clear()
        sampling = Sampling(max_new_tokens=4, samples_per_prompt=samples)
        engine_of(policy, stop_ids=(), batch_size=batch_size).generate(PROMPTS, sampling, seed=0)
        assert max(rows) == most


def response_of(policy: CausalLM, stop_ids: Sequence[int], limit: int) -> Response:
    sampling = Sampling(max_new_tokens=limit, temperature=0.0)
    return engine_of(policy, stop_ids).generate([PROMPTS[0]], sampling, seed=0)[0]


def test_a_response_ends_with_its_stop_token_which_is_an_action_like_any_other():
    """checklist 1: [a, b, EOS] has a mask of three, whatever the pad id is: here it is the EOS id."""
    policy = tiny_policy()
    a, b, c, *_ = response_of(policy, (), 5).token_ids
    assert len({a, b, c}) == 3
    assert policy.module.config.pad_token_id == policy.module.config.eos_token_id
    stopped = response_of(policy, (c,), 5)
    assert stopped.token_ids == (a, b, c)
    assert stopped.mask == (True, True, True)
    assert len(stopped.logprobs) == 3
    assert stopped.finish is Finish.STOP


def test_a_response_that_the_limit_cuts_is_truncated_and_counts_whole():
    """checklist 1: [a, b, c, d] truncated has a mask of four."""
    response = response_of(tiny_policy(), (0,), 4)
    assert 0 not in response.token_ids
    assert len(response.token_ids) == len(response.logprobs) == 4
    assert response.mask == (True,) * 4
    assert response.finish is Finish.LENGTH


def test_a_stop_token_at_the_limit_is_a_stop():
    policy = tiny_policy()
    last = response_of(policy, (), 3).token_ids[2]
    response = response_of(policy, (last,), 3)
    assert len(response.token_ids) == 3
    assert response.finish is Finish.STOP


def test_any_of_several_stop_tokens_ends_a_response():
    responses = engine_of(tiny_policy(), (1, 2, 3, 4, 5)).generate(
        PROMPTS, Sampling(max_new_tokens=30, samples_per_prompt=20), seed=0
    )
    last = {r.token_ids[-1] for r in responses if r.finish is Finish.STOP}
    assert last == {1, 2, 3, 4, 5}
    for response in responses:
        assert not set(response.token_ids[:-1]) & {1, 2, 3, 4, 5}
        assert (response.token_ids[-1] in {1, 2, 3, 4, 5}) == (response.finish is Finish.STOP)


def test_a_prompt_may_hold_stop_tokens():
    """Chat templates end every turn with one."""
    response = engine_of(tiny_policy(), (1,)).generate([[5, 1, 7, 1]], Sampling(max_new_tokens=6), seed=0)[0]
    assert response.prompt_ids == (5, 1, 7, 1)
    assert len(response.token_ids) > 1


def test_a_limit_of_one_token_is_kept():
    policy = tiny_policy()
    forced(policy, 2, 5.0)
    responses = engine_of(policy, (2,)).generate(PROMPTS, Sampling(max_new_tokens=1, samples_per_prompt=20), seed=0)
    assert {len(r.token_ids) for r in responses} == {1}
    assert {(r.token_ids == (2,), r.finish) for r in responses} == {(True, Finish.STOP), (False, Finish.LENGTH)}


def test_token_ids_are_kept_as_sampled_though_their_text_encodes_otherwise():
    """checklist 7: unknown tokens decode to nothing and would be lost if the text were encoded again."""
    model = load_model("tiny", tiny=TinyShape(hidden=16, layers=1, heads=2))
    unknown, letter = model.tokenizer.unk_token_id, model.tokenizer("7")["input_ids"][0]
    forced(model.policy, unknown, 4.0)  # pyright: ignore[reportArgumentType]
    engine = LocalEngine(model.policy, model.tokenizer, stop_ids=model.stop_ids)
    response = engine.generate([[letter]], Sampling(max_new_tokens=20), seed=0)[0]
    assert unknown in response.token_ids
    assert len(response.token_ids) == len(response.logprobs) == 20
    assert len(model.tokenizer(response.text)["input_ids"]) < 20


def test_no_prompts_give_no_responses():
    assert engine_of(tiny_policy()).generate([], GREEDY, seed=0) == []


def test_without_autocast_the_engine_samples_from_the_policy_itself():
    policy = tiny_policy()
    engine = engine_of(policy, (2,))
    forced(policy, 2, 100.0)
    assert [r.token_ids for r in engine.generate(PROMPTS, GREEDY, seed=0)] == [(2,)] * 5


def test_with_autocast_the_engine_samples_from_a_copy_until_it_is_given_new_weights():
    policy = tiny_policy(autocast=torch.bfloat16)
    engine = engine_of(policy, ())
    before = engine.generate(PROMPTS, GREEDY, seed=0)
    with torch.no_grad():
        for parameter in policy.module.parameters():
            parameter.neg_()
    assert engine.generate(PROMPTS, GREEDY, seed=0) == before
    engine.update_weights(policy)
    after = engine.generate(PROMPTS, GREEDY, seed=0)
    assert [r.token_ids for r in after] != [r.token_ids for r in before]
    assert after == engine_of(policy, ()).generate(PROMPTS, GREEDY, seed=0)


def test_building_the_copy_leaves_the_policy_and_the_global_generator_alone():
    policy, before = tiny_policy(autocast=torch.bfloat16), torch.get_rng_state()
    engine_of(policy)
    assert torch.equal(torch.get_rng_state(), before)
    assert policy.module.dtype == torch.float32
