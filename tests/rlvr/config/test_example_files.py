from pathlib import Path

import pytest

from rlvr.config.loading import load_config

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_every_example_configuration_is_valid(file: Path):
    load_config(file, [])
