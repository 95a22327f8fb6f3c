from pathlib import Path

import pytest

from rlvr.cli.arguments import split_arguments


@pytest.mark.parametrize(
    ("arguments", "path", "rest"),
    [
        (None, None, []),
        ([], None, []),
        (["my.toml"], "my.toml", []),
        (["run.seed=1", "my.toml", "run.steps=2"], "my.toml", ["run.seed=1", "run.steps=2"]),
        (["model.name=a.toml"], None, ["model.name=a.toml"]),
        (["a.toml", "b.toml"], "a.toml", ["b.toml"]),
        (["gsm8k"], None, ["gsm8k"]),
    ],
)
def test_the_first_toml_file_is_the_configuration_and_all_else_is_left(
    arguments: list[str] | None, path: str | None, rest: list[str]
):
    assert split_arguments(arguments) == (None if path is None else Path(path), rest)
