"""What is drawn, by counting many single tokens after one prompt."""

import pytest
import torch
from support.tiny_models import VOCABULARY, IdTokenizer, tiny_policy

from rlvr.models.causal_lm import CausalLM
from rlvr.rollout.local_engine import LocalEngine
from rlvr.rollout.types import Sampling

PROMPT = [5, 9, 4]
DRAWS = 20_000


def next_probabilities(policy: CausalLM, temperature: float = 1.0) -> torch.Tensor:
    with torch.no_grad():
        logits = policy.module(input_ids=torch.tensor([PROMPT])).logits[0, -1]
    return torch.softmax(logits.double() / temperature, dim=-1)


def counts(policy: CausalLM, *, temperature: float = 1.0, top_p: float = 1.0, top_k: int = 0) -> torch.Tensor:
    """Draw DRAWS tokens after PROMPT; return how often each was drawn [V]."""
    sampling = Sampling(max_new_tokens=1, temperature=temperature, top_p=top_p, top_k=top_k, samples_per_prompt=DRAWS)
    responses = LocalEngine(policy, IdTokenizer(), stop_ids=()).generate([PROMPT], sampling, seed=0)
    return torch.bincount(torch.tensor([r.token_ids[0] for r in responses]), minlength=VOCABULARY).double()


def assert_drawn_from(drawn: torch.Tensor, probabilities: torch.Tensor) -> None:
    """Compare by chi-square, rare tokens pooled; four standard deviations are allowed."""
    expected = probabilities * drawn.sum()
    often = expected >= 5
    pooled = [(drawn[often], expected[often]), (drawn[~often].sum()[None], expected[~often].sum()[None])]
    found, wanted = (torch.cat(parts) for parts in zip(*pooled, strict=True))
    statistic = float(((found - wanted).square() / wanted.clamp(min=1e-9))[wanted > 1].sum())
    freedom = int((wanted > 1).sum()) - 1
    assert statistic < freedom + 4 * (2 * freedom) ** 0.5 + 4


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_are_drawn_from_the_softmax_at_the_temperature(temperature: float):
    """checklist 5."""
    policy = tiny_policy()
    drawn = counts(policy, temperature=temperature)
    assert_drawn_from(drawn, next_probabilities(policy, temperature))


def test_the_comparison_sees_a_temperature_that_is_ignored():
    policy = tiny_policy()
    with pytest.raises(AssertionError):
        assert_drawn_from(counts(policy), next_probabilities(policy, 0.9))


@pytest.mark.parametrize("top_k", [1, 3, VOCABULARY, 1000])
def test_top_k_draws_the_k_likeliest_and_no_other(top_k: int):
    """checklist 6."""
    policy = tiny_policy()
    probabilities = next_probabilities(policy)
    allowed = torch.zeros_like(probabilities)
    allowed[probabilities.argsort(descending=True)[:top_k]] = 1
    drawn = counts(policy, top_k=top_k)
    assert not drawn[allowed == 0].any()
    assert_drawn_from(drawn, probabilities * allowed / (probabilities * allowed).sum())


@pytest.mark.parametrize("top_p", [0.01, 0.3, 0.8, 0.99])
def test_top_p_draws_the_smallest_set_that_holds_the_mass_and_nothing_else(top_p: float):
    """checklist 6."""
    policy = tiny_policy()
    probabilities = next_probabilities(policy)
    nucleus: list[int] = []
    for token in probabilities.argsort(descending=True).tolist():
        nucleus.append(token)
        if float(probabilities[nucleus].sum()) >= top_p:
            break
    allowed = torch.zeros_like(probabilities)
    allowed[nucleus] = 1
    drawn = counts(policy, top_p=top_p)
    assert not drawn[allowed == 0].any()
    assert_drawn_from(drawn, probabilities * allowed / (probabilities * allowed).sum())


def test_top_p_counts_mass_among_what_top_k_left():
    policy = tiny_policy()
    probabilities = next_probabilities(policy)
    first, second, third = probabilities.argsort(descending=True)[:3].tolist()
    share = float(probabilities[first] / probabilities[[first, second, third]].sum())
    drawn = counts(policy, top_k=3, top_p=share + 0.01)
    assert set(drawn.nonzero()[:, 0].tolist()) == {first, second}


def test_greedy_takes_the_likeliest():
    policy = tiny_policy()
    assert int(counts(policy, temperature=0.0).argmax()) == int(next_probabilities(policy).argmax())
    assert int((counts(policy, temperature=0.0) > 0).sum()) == 1
