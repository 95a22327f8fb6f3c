from collections.abc import Callable

import pytest
import torch
from support import slow_rl
from support.tiny_models import VOCABULARY, gradients, random_tokens, tiny_policy

from rlvr.models import logprobs
from rlvr.models.causal_lm import CausalLM, TrunkOutput
from rlvr.models.logprobs import TokenStatistics, token_statistics

MASK = torch.tensor([[False, False, True, True, True, False], [False, True, True, True, True, True]])


@pytest.fixture
def in_chunks(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes logits for as many tokens at a time as told."""
    return lambda tokens: monkeypatch.setattr(logprobs, "CHUNK_LOGITS", tokens * VOCABULARY)


def loss_of(statistics: TokenStatistics) -> torch.Tensor:
    assert statistics.exact_kl is not None
    return (statistics.logprobs + 0.3 * statistics.entropy + 0.2 * statistics.exact_kl).square().sum()


def statistics_of(policy: CausalLM, reference: CausalLM, tokens: torch.Tensor) -> TokenStatistics:
    with torch.no_grad():
        seen_by_reference = reference.forward(tokens)
    return token_statistics(policy.forward(tokens), tokens, MASK, temperature=0.7, reference=seen_by_reference)


def test_entropy_and_exact_kl_are_their_sums_over_the_vocabulary():
    """checklist 10, 30: by definition, from the full logits over the temperature."""
    policy, reference, tokens = tiny_policy(seed=1), tiny_policy(seed=2), random_tokens(2, 7)
    with torch.no_grad():
        found = statistics_of(policy, reference, tokens)
    assert found.exact_kl is not None
    logits, ref_logits = (
        (model.module(input_ids=tokens).logits / 0.7).double().tolist() for model in (policy, reference)
    )
    for row, column in MASK.nonzero().tolist():
        p, q = logits[row][column], ref_logits[row][column]
        assert float(found.entropy[row, column]) == pytest.approx(slow_rl.entropy(p), abs=1e-5)
        assert float(found.exact_kl[row, column]) == pytest.approx(slow_rl.kl(p, q), abs=1e-5)


def test_reference_logprobs_are_the_references_own_at_the_same_temperature():
    """checklist 5: the temperature divides the reference's logits too."""
    policy, reference, tokens = tiny_policy(seed=1), tiny_policy(seed=2), random_tokens(2, 7)
    found = statistics_of(policy, reference, tokens).ref_logprobs
    torch.testing.assert_close(found, reference.logprobs(tokens, MASK, temperature=0.7))


def test_a_copy_of_the_policy_has_no_kl_at_all():
    """checklist 8: the KL to the reference is 0 at step 0."""
    tokens = random_tokens(2, 7)
    found = statistics_of(tiny_policy(), tiny_policy(), tokens)
    assert found.exact_kl is not None
    assert float(found.exact_kl.detach().abs().max()) < 1e-6


@pytest.mark.parametrize("architecture", ["llama", "gemma2"])
@pytest.mark.parametrize("tokens_at_once", [1, 3, 8])
def test_chunks_change_neither_values_nor_gradients(
    architecture: str, tokens_at_once: int, in_chunks: Callable[[int], None]
):
    policy, reference, tokens = tiny_policy(architecture, seed=1), tiny_policy(seed=2), random_tokens(2, 7)
    found = []
    for chunk in (10**6, tokens_at_once):
        in_chunks(chunk)
        policy.module.zero_grad()
        statistics = statistics_of(policy, reference, tokens)
        loss_of(statistics).backward()
        found.append((statistics, gradients(policy)))
    (whole, whole_gradients), (chunked, chunked_gradients) = found
    for name in ("logprobs", "entropy", "ref_logprobs", "exact_kl"):
        torch.testing.assert_close(getattr(chunked, name), getattr(whole, name), rtol=1e-5, atol=1e-6)
    assert float((chunked_gradients - whole_gradients).norm() / whole_gradients.norm()) < 1e-5


def test_chunks_without_gradients_give_the_same_values(in_chunks: Callable[[int], None]):
    policy, reference, tokens = tiny_policy(seed=1), tiny_policy(seed=2), random_tokens(2, 7)
    whole = statistics_of(policy, reference, tokens)
    in_chunks(3)
    with torch.no_grad():
        chunked = statistics_of(policy, reference, tokens)
    torch.testing.assert_close(chunked.logprobs, whole.logprobs)
    torch.testing.assert_close(chunked.exact_kl, whole.exact_kl)


def test_chunks_under_autocast_give_the_same_values_and_gradients(in_chunks: Callable[[int], None]):
    """The backward pass, which makes the logits again, runs outside the forward's autocast."""
    policy, reference = (tiny_policy(seed=seed, autocast=torch.bfloat16) for seed in (1, 2))
    tokens, found = random_tokens(2, 7), []
    for chunk in (10**6, 3):
        in_chunks(chunk)
        policy.module.zero_grad()
        statistics = statistics_of(policy, reference, tokens)
        loss_of(statistics).backward()
        found.append((statistics.logprobs.detach(), gradients(policy)))
    (whole, whole_gradients), (chunked, chunked_gradients) = found
    torch.testing.assert_close(chunked, whole)
    assert float((chunked_gradients - whole_gradients).norm() / whole_gradients.norm()) < 0.01


def test_nothing_off_the_mask_reaches_values_or_gradients():
    """checklist 18: NaN in padding stays there."""
    generator = torch.Generator().manual_seed(0)
    head = torch.randn(4, VOCABULARY, generator=generator)
    hidden = torch.randn(2, 7, 4, generator=generator)
    counts = torch.cat([MASK, torch.zeros(2, 1, dtype=torch.bool)], dim=1)
    hidden = hidden.masked_fill(~counts[..., None], torch.nan).requires_grad_()
    output = TrunkOutput(hidden=hidden, logits_at=lambda positions: hidden.flatten(0, 1)[positions] @ head)
    found = token_statistics(output, random_tokens(2, 7), MASK, temperature=1.0)
    (found.logprobs.sum() + found.entropy.sum()).backward()
    assert hidden.grad is not None
    for statistic in (found.logprobs, found.entropy):
        assert torch.equal(statistic != 0, MASK)
    assert torch.equal(hidden.grad.abs().sum(dim=-1) != 0, counts)
    assert torch.isfinite(hidden.grad).all()


def test_a_mask_without_tokens_gives_zeros_and_zero_gradients():
    policy, tokens = tiny_policy(), random_tokens(2, 7)
    found = token_statistics(policy.forward(tokens), tokens, torch.zeros_like(MASK), temperature=1.0)
    found.logprobs.sum().backward()
    assert not found.logprobs.any()
    assert not found.entropy.any()
    assert all(p.grad is None or not p.grad.any() for p in policy.module.parameters())
