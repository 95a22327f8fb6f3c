import pytest
import torch
from support.tiny_models import ARCHITECTURES, VOCABULARY, gradients, random_tokens, tiny_module, tiny_policy

from rlvr.errors import ModelError
from rlvr.models.causal_lm import CausalLM

ALL = pytest.mark.parametrize("architecture", ARCHITECTURES)


def whole_model_logprobs(module: torch.nn.Module, tokens: torch.Tensor, temperature: float) -> torch.Tensor:
    """Return [B T] log pi(tokens[t + 1] | tokens[: t + 1]) from the logits that the model itself makes."""
    logits = module(input_ids=tokens, use_cache=False).logits.float() / temperature
    return torch.log_softmax(logits[:, :-1], dim=-1).gather(-1, tokens[:, 1:, None])[..., 0]


@ALL
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_logprobs_are_those_of_the_whole_model(architecture: str, temperature: float):
    """checklist 2: logits at t score the action at t + 1; checklist 5: the temperature divides the logits."""
    policy, tokens = tiny_policy(architecture), random_tokens(3, 9)
    mask = torch.ones(3, 8, dtype=torch.bool)
    expected = whole_model_logprobs(policy.module, tokens, temperature)
    torch.testing.assert_close(policy.logprobs(tokens, mask, temperature=temperature), expected, rtol=0, atol=1e-5)


@ALL
def test_gradients_are_those_of_the_whole_model(architecture: str):
    policy, tokens = tiny_policy(architecture), random_tokens(2, 7)
    weights = torch.randn(2, 6, generator=torch.Generator().manual_seed(0))
    (policy.logprobs(tokens, torch.ones(2, 6, dtype=torch.bool), temperature=0.7) * weights).sum().backward()
    found = gradients(policy)
    policy.module.zero_grad()
    (whole_model_logprobs(policy.module, tokens, 0.7) * weights).sum().backward()
    expected = gradients(policy)
    assert float((found - expected).norm() / expected.norm()) < 1e-5


@ALL
def test_what_the_mask_leaves_out_is_zero(architecture: str):
    policy, tokens = tiny_policy(architecture), random_tokens(2, 6)
    mask = torch.tensor([[False, False, True, True, False], [True, False, False, False, True]])
    logprobs = policy.logprobs(tokens, mask, temperature=1.0)
    assert torch.equal(logprobs != 0, mask)
    assert logprobs.dtype == torch.float32


@ALL
def test_padding_on_the_right_changes_neither_logprobs_nor_gradients(architecture: str):
    """checklist 8: the first ratio is 1 although the rollout's and the update's batches have other widths."""
    policy, tokens = tiny_policy(architecture), random_tokens(2, 8)
    mask = torch.tensor([[True] * 7, [False, True, True, True, False, False, False]])
    found = []
    for junk in (0, 5):
        policy.module.zero_grad()
        padded = torch.cat([tokens, random_tokens(2, junk, seed=9)], dim=1)
        wide_mask = torch.cat([mask, torch.zeros(2, junk, dtype=torch.bool)], dim=1)
        logprobs = policy.logprobs(padded, wide_mask, temperature=1.0)[:, :7]
        logprobs.sum().backward()
        found.append((logprobs.detach(), gradients(policy)))
    (bare, bare_gradients), (padded, padded_gradients) = found
    torch.testing.assert_close(padded, bare, rtol=0, atol=1e-5)
    assert float((padded_gradients - bare_gradients).norm() / bare_gradients.norm()) < 1e-5


@ALL
def test_hidden_states_come_after_the_final_norm(architecture: str):
    policy, tokens = tiny_policy(architecture), random_tokens(2, 5)
    expected = policy.module.base_model(input_ids=tokens, use_cache=False).last_hidden_state
    torch.testing.assert_close(policy.forward(tokens).hidden, expected)
    assert expected.shape[-1] == policy.hidden_size


def test_a_gpt2_with_dropout_gives_equal_forwards_in_the_update():
    """checklist 4 and 32: with GPT-2's default dropout of 0.1 two forwards would differ by tenths of a nat."""
    module, tokens = tiny_module("gpt2"), random_tokens(2, 8)
    assert module.config.resid_pdrop == 0.1
    mask = torch.ones(2, 7, dtype=torch.bool)
    assert not torch.equal(whole_model_logprobs(module, tokens, 1.0), whole_model_logprobs(module, tokens, 1.0))
    policy = CausalLM(module)
    first = policy.logprobs(tokens, mask, temperature=1.0)
    assert first.requires_grad
    first.sum().backward()
    assert torch.equal(policy.logprobs(tokens, mask, temperature=1.0), first)


def test_logits_that_are_capped_after_the_head_stay_capped_however_small_they_start():
    """Logits of an untrained model lie where the cap does next to nothing; training takes them out of there."""
    policy, tokens = (
        CausalLM(tiny_module("gemma2", initializer_range=0.02, final_logit_softcapping=30.0)),
        random_tokens(1, 6),
    )
    with torch.no_grad():
        policy.module.base_model.norm.weight.fill_(1000.0)
    expected = whole_model_logprobs(policy.module, tokens, 1.0)
    found = policy.logprobs(tokens, torch.ones(1, 5, dtype=torch.bool), temperature=1.0)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("architecture", ["llama", "gpt2", "opt"])
def test_bfloat16_products_keep_a_float32_log_softmax(architecture: str):
    """checklist 30: the probabilities of the whole vocabulary add up to 1; rounded to bfloat16 they would not."""
    policy = tiny_policy(architecture, autocast=torch.bfloat16)
    prefix = random_tokens(1, 5).expand(VOCABULARY, -1)
    tokens = torch.cat([prefix, torch.arange(VOCABULARY)[:, None]], dim=1)
    mask = torch.zeros(VOCABULARY, 5, dtype=torch.bool)
    mask[:, -1] = True
    logprobs = policy.logprobs(tokens, mask, temperature=0.7)[:, -1].detach()
    assert logprobs.dtype == torch.float32
    assert float(logprobs.exp().sum()) == pytest.approx(1.0, abs=1e-5)
    exact = tiny_policy(architecture).logprobs(tokens, mask, temperature=0.7)[:, -1].detach()
    assert 1e-4 < float((logprobs - exact).abs().max()) < 0.3


def test_autocast_leaves_float32_weights_and_gradients():
    policy, tokens = tiny_policy("llama", autocast=torch.bfloat16), random_tokens(2, 6)
    policy.logprobs(tokens, torch.ones(2, 5, dtype=torch.bool), temperature=1.0).sum().backward()
    assert policy.compute_dtype == torch.bfloat16
    for parameter in policy.module.parameters():
        assert parameter.dtype == torch.float32
        assert parameter.grad is not None
        assert parameter.grad.dtype == torch.float32


def test_damaged_weights_are_refused():
    module = tiny_module("llama")
    with torch.no_grad():
        module.model.norm.weight[0] = torch.nan
    with pytest.raises(ModelError, match="not finite"):
        CausalLM(module)
