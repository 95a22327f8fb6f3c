import pytest

from rlvr.config.keys import keys, nearest_key, sections
from rlvr.config.models import Config


def test_every_field_of_every_section_is_a_key_with_a_meaning():
    config = Config()
    names = [f"{section}.{field}" for section in sections() for field in type(getattr(config, section)).model_fields]
    assert list(keys()) == names
    assert all(key.description.endswith(".") for key in keys().values())


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("run.steps", "an integer, at least 0"),
        ("rollout.top_p", "a number, above 0 and at most 1"),
        ("algorithm.whiten_advantages", "true or false"),
        ("algorithm.kl_estimator", '"k1", "k2" or "exact"'),
        ("task.options", "a table"),
        ("task.verifier", "a string; may be absent"),
        ("reward.no_answer", "a number; may be absent"),
    ],
)
def test_what_a_key_allows_is_said_in_words(name: str, allowed: str):
    assert keys()[name].allowed == allowed


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("run.sed", "run.seed"),
        ("seed", "run.seed"),
        ("rollout.batchsize", "rollout.batch_size"),
        ("sft.batchsize", "sft.batch_size"),
        ("ppo.minibatch", "algorithm.minibatches"),
        ("optim.lr", "optimizer.lr"),
        ("algorithm.lambda", "algorithm.gae_lambda"),
        ("run.colour", None),
    ],
)
def test_the_nearest_key_is_by_field_first_then_by_section(typed: str, meant: str | None):
    assert nearest_key(typed) == meant
