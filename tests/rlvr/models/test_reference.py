import pytest
import torch
from support.tiny_models import random_tokens, tiny_policy

from rlvr.models.reference import frozen_copy, weights_digest


def train_a_step(policy) -> None:
    tokens = random_tokens(2, 6)
    optimizer = torch.optim.SGD(policy.module.parameters(), lr=0.1)
    policy.logprobs(tokens, torch.ones(2, 5, dtype=torch.bool), temperature=1.0).sum().backward()
    optimizer.step()


@pytest.mark.parametrize("autocast", [None, torch.bfloat16])
def test_training_the_policy_leaves_the_reference_as_it_was(autocast: torch.dtype | None):
    """checklist 13: a frozen copy, whose digest is unchanged after training."""
    policy = tiny_policy(autocast=autocast)
    reference = frozen_copy(policy)
    before = weights_digest(reference)
    assert before == weights_digest(policy)
    train_a_step(policy)
    assert weights_digest(reference) == before
    assert weights_digest(policy) != before


def test_the_reference_takes_no_gradients_and_is_in_eval_mode():
    reference = frozen_copy(tiny_policy("gpt2"))
    assert not any(p.requires_grad for p in reference.module.parameters())
    assert not any(module.training for module in reference.module.modules())


def test_the_reference_forwards_in_the_policys_precision():
    """checklist 8: the KL at step 0 is 0 only if both run in the same dtype."""
    assert frozen_copy(tiny_policy(autocast=torch.bfloat16)).autocast == torch.bfloat16


def test_a_copy_of_a_copy_can_be_unfrozen_without_touching_it():
    reference = frozen_copy(tiny_policy())
    trained = frozen_copy(reference)
    trained.module.requires_grad_(True)
    train_a_step(trained)
    assert weights_digest(trained) != weights_digest(reference)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_digest_sees_the_last_bit_of_any_weight(dtype: torch.dtype):
    policy = tiny_policy()
    policy.module.to(dtype)
    before = weights_digest(policy)
    with torch.no_grad():
        weight = list(policy.module.parameters())[-1].flatten()
        weight[-1:].view(torch.int16 if dtype == torch.bfloat16 else torch.int32).bitwise_xor_(1)
    assert weights_digest(policy) != before
