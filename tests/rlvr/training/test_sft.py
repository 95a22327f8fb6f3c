import itertools
import math
import random

import pytest
import torch
from support.tiny_models import VOCABULARY, tiny_policy
from support.training import EOS

from rlvr.errors import NonFiniteLossError
from rlvr.models.causal_lm import CausalLM
from rlvr.models.reference import weights_digest
from rlvr.tracking.metrics import combine
from rlvr.training.sft import Demonstration, warm_start


def demonstrations(count: int, rng: random.Random) -> list[Demonstration]:
    """Responses that repeat the prompt's first token as often as it has tokens; lengths differ."""
    found = []
    for _ in range(count):
        prompt = [rng.randrange(2, VOCABULARY) for _ in range(rng.randint(1, 5))]
        found.append(Demonstration(prompt_ids=prompt, response_ids=[prompt[0]] * len(prompt) + [EOS]))
    return found


def learn(
    policy: CausalLM, *, steps: int, micro_batch_size: int = 0, lr: float = 1e-2, batch_size: int = 12
) -> list[dict[str, float | None]]:
    """Return the numbers of every step."""
    rng = random.Random(0)
    iterator = warm_start(
        policy, lambda count: demonstrations(count, rng),
        steps=steps, batch_size=batch_size, micro_batch_size=micro_batch_size, lr=lr, warmup_steps=2,
        weight_decay=0.0, max_grad_norm=1.0,
    )  # fmt: skip
    return [combine(metrics) for metrics in iterator]


def test_the_loss_falls():
    losses = [numbers["sft/loss"] or math.nan for numbers in learn(tiny_policy(), steps=60)]
    assert losses[0] > math.log(VOCABULARY)
    assert sum(losses[-5:]) / 5 < 0.75 * losses[0]


def test_only_response_tokens_are_learned_eos_included():
    """checklist 1: the mean over response tokens, from the model's own logits; prompts do not count."""
    policy = tiny_policy()
    batch = demonstrations(12, random.Random(0))
    terms = []
    for demonstration in batch:
        ids = [*demonstration.prompt_ids, *demonstration.response_ids]
        with torch.no_grad():
            logprobs = policy.module(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        terms += [-logprobs[at - 1, ids[at]].item() for at in range(len(demonstration.prompt_ids), len(ids))]
    assert learn(policy, steps=1)[0]["sft/loss"] == pytest.approx(sum(terms) / len(terms), rel=1e-5)


def test_tokens_of_the_prompt_get_no_gradient_of_their_own():
    """checklist 1: the head's row of a token that no response holds is only ever pushed down."""
    policy = tiny_policy()
    only_in_prompt, target = 7, 9
    demonstration = Demonstration(prompt_ids=[only_in_prompt] * 4, response_ids=[target, EOS])
    before = policy.logprobs(torch.tensor([[3, only_in_prompt]]), torch.tensor([[True]]), temperature=1.0)
    list(
        warm_start(
            policy, lambda count: [demonstration] * count, steps=10, batch_size=2, micro_batch_size=0, lr=1e-2,
            warmup_steps=0, weight_decay=0.0, max_grad_norm=1.0,
        )
    )  # fmt: skip
    after = policy.logprobs(torch.tensor([[3, only_in_prompt]]), torch.tensor([[True]]), temperature=1.0)
    assert after.item() < before.item()


@pytest.mark.parametrize("size", [1, 5])
def test_micro_batches_change_nothing(size: int):
    """checklist 26."""
    whole, parts = learn(tiny_policy(), steps=3), learn(tiny_policy(), steps=3, micro_batch_size=size)
    assert parts[0]["sft/grad_norm"] == pytest.approx(whole[0]["sft/grad_norm"], rel=1e-5)
    for one, other in zip(whole, parts, strict=True):
        assert other["sft/loss"] == pytest.approx(one["sft/loss"], rel=1e-4)


def test_the_learning_rate_warms_up_and_decays_to_zero():
    rates = [numbers["sft/lr"] or 0.0 for numbers in learn(tiny_policy(), steps=6, lr=0.1)]
    assert rates[:2] == [pytest.approx(0.05), pytest.approx(0.1)]
    assert all(later <= earlier for earlier, later in itertools.pairwise(rates[1:]))
    assert rates[-1] == pytest.approx(0.0)


def test_equal_starts_and_data_give_equal_policies():
    one, other = tiny_policy(), tiny_policy()
    learn(one, steps=3)
    learn(other, steps=3)
    assert weights_digest(one) == weights_digest(other)


def test_a_step_happens_when_the_iterator_is_advanced():
    policy = tiny_policy()
    before = weights_digest(policy)
    steps = warm_start(
        policy, lambda count: demonstrations(count, random.Random(0)), steps=2, batch_size=2, micro_batch_size=0,
        lr=0.01, warmup_steps=0, weight_decay=0.0, max_grad_norm=1.0,
    )  # fmt: skip
    assert weights_digest(policy) == before
    next(steps)
    assert weights_digest(policy) != before


def test_a_loss_that_is_not_finite_stops_before_the_weights_move():
    policy = tiny_policy()
    with torch.no_grad():
        policy.module.get_input_embeddings().weight[20, 0] = math.nan
    before = weights_digest(policy)
    with pytest.raises(NonFiniteLossError, match=r"SFT step 1: the loss is nan.*lower sft\.lr"):
        learn(policy, steps=2, batch_size=64)
    assert weights_digest(policy) == before
