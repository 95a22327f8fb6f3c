import re

import pytest

from rlvr.config.checks import conflicts
from rlvr.config.loading import load_config
from rlvr.config.models import Config
from rlvr.errors import ConfigError


def complaints(**sections: dict[str, object]) -> dict[str, str]:
    found = conflicts(Config.model_validate(sections))
    return {conflict.keys[0]: conflict.message for conflict in found}


def test_the_defaults_break_no_rule():
    assert conflicts(Config()) == []


@pytest.mark.parametrize(
    ("prompts", "samples", "minibatches"), [(512, 1, 3), (10, 4, 7), (1, 1, 2), (5, 3, 100), (6, 4, 9)]
)
def test_every_cure_offered_for_batch_sizes_works(prompts: int, samples: int, minibatches: int):
    overrides = [f"rollout.prompts_per_step={prompts}", f"rollout.samples_per_prompt={samples}"]
    with pytest.raises(ConfigError) as caught:
        load_config(None, [*overrides, f"algorithm.minibatches={minibatches}"])
    cures = re.search(r"set it to ([\d or]+), or rollout.prompts_per_step to ([\d or]+)", str(caught.value))
    assert cures is not None
    for count in re.findall(r"\d+", cures[1]):
        load_config(None, [*overrides, f"algorithm.minibatches={count}"])
    for count in re.findall(r"\d+", cures[2]):
        load_config(None, [*overrides, f"algorithm.minibatches={minibatches}", f"rollout.prompts_per_step={count}"])


@pytest.mark.parametrize(("hidden", "heads"), [(128, 7), (128, 128), (6, 4), (100, 40), (3, 1), (1, 4)])
def test_every_cure_offered_for_the_tiny_model_works(hidden: int, heads: int):
    message = complaints(model={"tiny_hidden": hidden, "tiny_heads": heads})["model.tiny_heads"]
    _, _, cures = message.partition("; ")
    head_cures, _, width_cures = cures.rpartition("set model.tiny_hidden to ")
    for count in re.findall(r"\d+", head_cures):
        assert complaints(model={"tiny_hidden": hidden, "tiny_heads": int(count)}) == {}
    for width in re.findall(r"\d+", width_cures):
        assert complaints(model={"tiny_hidden": int(width), "tiny_heads": heads}) == {}


def test_the_tiny_models_shape_does_not_matter_to_another_model():
    assert complaints(model={"name": "some/folder", "tiny_heads": 7}) == {}


@pytest.mark.parametrize("advantage", ["group_normalized", "group_centered", "leave_one_out"])
def test_an_advantage_within_groups_needs_two_samples_per_prompt(advantage: str):
    assert "rollout.samples_per_prompt" in complaints(algorithm={"advantage": advantage})
    assert complaints(algorithm={"advantage": advantage}, rollout={"samples_per_prompt": 2}) == {}


@pytest.mark.parametrize(
    ("kl_in", "kl_estimator", "allowed"),
    [
        ("reward", "k1", True),
        ("reward", "k2", False),
        ("reward", "exact", False),
        ("loss", "k1", False),
        ("loss", "k2", True),
        ("loss", "exact", True),
    ],
)
def test_each_place_of_the_kl_penalty_has_its_estimators(kl_in: str, kl_estimator: str, allowed: bool):
    found = complaints(algorithm={"kl_in": kl_in, "kl_estimator": kl_estimator})
    assert (found == {}) is allowed


def test_bootstrapping_and_an_adaptive_lambda_need_gae():
    found = complaints(
        algorithm={"advantage": "reward_to_go", "length_adaptive_alpha": 0.05}, reward={"truncation": "bootstrap"}
    )
    assert set(found) == {"reward.truncation", "algorithm.length_adaptive_alpha"}
    assert complaints(algorithm={"length_adaptive_alpha": 0.05}, reward={"truncation": "bootstrap"}) == {}


@pytest.mark.parametrize(("bound", "allowed"), [(0.0, True), (0.5, False), (1.0, True), (3.0, True)])
def test_the_dual_clip_is_off_or_at_least_one(bound: float, allowed: bool):
    assert (complaints(algorithm={"dual_clip": bound}) == {}) is allowed


def test_an_adaptive_kl_coefficient_cannot_start_at_zero():
    assert "algorithm.kl_coef" in complaints(algorithm={"kl_control": "adaptive", "kl_coef": 0.0})


def test_a_right_answer_must_earn_more_than_a_wrong_one():
    assert "reward.correct" in complaints(reward={"correct": 0.0})
    assert complaints(reward={"correct": 0.0, "incorrect": -1.0}) == {}


@pytest.mark.parametrize(
    ("cache", "truncation", "allowed"),
    [
        (0, "fail", True),
        (0, "bootstrap", True),
        (8, "fail", True),
        (8, "mask", True),
        (39, "fail", True),
        (40, "fail", False),
        (8, "bootstrap", False),
    ],
)
def test_the_overlong_cache_lies_below_the_limit_and_does_not_go_with_bootstrapping(
    cache: int, truncation: str, allowed: bool
):
    found = complaints(reward={"overlong_cache": cache, "truncation": truncation}, rollout={"max_new_tokens": 40})
    assert set(found) == (set() if allowed else {"reward.overlong_cache"})


@pytest.mark.parametrize("name", ["a/b", "..", ".", ".hidden", "-x", "a b", "a\\b", "a\n", "C:", "x" * 201])
def test_a_run_name_that_is_no_plain_folder_name_is_refused(name: str):
    assert "run.name" in complaints(run={"name": name})


@pytest.mark.parametrize("name", ["", "demo", "gsm8k-ppo_2", "lr=3e-4", "2026.11", "Versuch-\u00e4"])
def test_a_plain_folder_name_is_a_run_name(name: str):
    assert complaints(run={"name": name}) == {}
