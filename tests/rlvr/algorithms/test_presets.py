from typing import get_args

import pytest

from rlvr.algorithms.presets import PRESETS
from rlvr.config.models import AlgorithmConfig


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_makes_a_valid_algorithm_configuration(name: str):
    config = AlgorithmConfig.model_validate({"preset": name, **PRESETS[name]})
    for field, value in PRESETS[name].items():
        assert getattr(config, field) == value


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_names_only_what_it_changes(name: str):
    defaults = AlgorithmConfig.model_validate({})
    unchanged = [field for field, value in PRESETS[name].items() if getattr(defaults, field) == value]
    assert unchanged == []


def test_every_preset_that_the_configuration_accepts_exists():
    assert set(PRESETS) == set(get_args(AlgorithmConfig.model_fields["preset"].annotation))


@pytest.mark.parametrize("name", PRESETS)
def test_only_the_exact_gradient_estimators_are_placed_in_the_loss(name: str):
    """checklist 10: k1 in the reward, k2 or exact in the loss."""
    config = AlgorithmConfig.model_validate(PRESETS[name])
    expected = {"reward": {"k1"}, "loss": {"k2", "exact"}}
    assert config.kl_estimator in expected[config.kl_in]
