import pytest
import torch
from support.tiny_models import random_tokens, tiny_policy

from rlvr.models.actor_critic import ActorCritic
from rlvr.models.reference import frozen_copy
from rlvr.models.value_head import TrunkCritic, value_head

KINDS = pytest.mark.parametrize("kind", ["linear", "mlp"])
MASK = torch.ones(2, 6, dtype=torch.bool)


def actor_critic(kind: str, *, separate: bool) -> ActorCritic:
    policy = tiny_policy()
    backbone = frozen_copy(policy) if separate else None
    if backbone is not None:
        backbone.module.requires_grad_(True)
    return ActorCritic(policy, TrunkCritic(value_head(policy.hidden_size, kind, seed=0), backbone))


def fill_last_layer(models: ActorCritic) -> None:
    assert models.critic is not None
    with torch.no_grad():
        dict(models.critic.head[-1].named_parameters())["weight"].fill_(0.5)


@KINDS
@pytest.mark.parametrize("separate", [False, True])
def test_every_value_is_zero_at_first(kind: str, separate: bool):
    """checklist 21: a zero head, so that the first update has a zero baseline."""
    models, tokens = actor_critic(kind, separate=separate), random_tokens(2, 7)
    values = models.evaluate(tokens, MASK, temperature=1.0).values
    assert values.shape == tokens.shape
    assert not values.any()


@KINDS
def test_the_zero_head_learns_at_once(kind: str):
    head = value_head(16, kind, seed=0)
    (head(torch.randn(8, 16, generator=torch.Generator().manual_seed(0))) - 1.0).square().mean().backward()
    gradient = dict(head[-1].named_parameters())["weight"].grad
    assert gradient is not None
    assert gradient.abs().max() > 0.01


def test_a_head_is_its_seed_and_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    first, again, other = (next(value_head(16, "mlp", seed=seed).parameters()) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("separate", [False, True])
def test_a_value_is_of_the_state_before_the_action(separate: bool):
    """checklist 2: V_t is read before action t, so no later token can change it."""
    models, tokens = actor_critic("linear", separate=separate), random_tokens(2, 7)
    fill_last_layer(models)
    changed = tokens.clone()
    changed[:, 4] = (changed[:, 4] + 1) % 40
    before, after = (models.values(t) for t in (tokens, changed))
    torch.testing.assert_close(before[:, :4], after[:, :4])
    assert not torch.isclose(before[:, 4], after[:, 4]).any()


@pytest.mark.parametrize("separate", [False, True])
def test_values_alone_are_those_of_the_whole_evaluation(separate: bool):
    models, tokens = actor_critic("mlp", separate=separate), random_tokens(2, 7)
    fill_last_layer(models)
    torch.testing.assert_close(models.values(tokens), models.evaluate(tokens, MASK, temperature=1.0).values)


@pytest.mark.parametrize("separate", [False, True])
def test_values_alone_have_no_gradient_for_the_policy(separate: bool):
    """checklist 22: the critic's warm-up holds the policy still, a shared trunk included."""
    models = actor_critic("mlp", separate=separate)
    fill_last_layer(models)
    models.values(random_tokens(2, 7)).sum().backward()
    assert all(p.grad is None for p in models.policy_parameters())
    learned = [p for p in models.critic_parameters() if p.grad is not None and p.grad.any()]
    assert len(learned) > 4 if separate else len(learned) == 4


@pytest.mark.parametrize("separate", [False, True])
def test_policy_and_critic_share_no_parameter_of_the_optimizer(separate: bool):
    """checklist 31: each has its own learning rate, so no weight may be in both groups."""
    models = actor_critic("mlp", separate=separate)
    policy, critic = ({id(p) for p in group} for group in (models.policy_parameters(), models.critic_parameters()))
    assert policy
    assert critic
    assert not policy & critic


def test_without_a_critic_values_are_zero():
    models, tokens = ActorCritic(tiny_policy(), None), random_tokens(2, 7)
    assert not models.values(tokens).any()
    assert models.critic_parameters() == []
    assert not models.evaluate(tokens, MASK, temperature=1.0).values.any()
