"""Verifiers and options on the command line: key=value, the value in TOML syntax."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlvr.errors import ConfigError

if TYPE_CHECKING:
    from verifiers.recipe import VerifierRecipe

VerifierOptions = Annotated[
    list[str] | None,
    typer.Option("--options", metavar="key=value", help="An option of the verifier, in TOML syntax; repeatable."),
]


def parse_options(texts: Sequence[str], *, table: str) -> dict[str, Any]:
    """Return options by name. What is not TOML is a string.

    Args:
        table: dotted name of the table that a configuration keeps them in; names may be written with it in front.

    Raises:
        ConfigError: one line for each text that is not key=value.
    """
    options: dict[str, Any] = {}
    mistakes: list[str] = []
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().removeprefix(f"{table}.")
        if not equals or not name:
            mistakes.append(f'command line: "{text}" is not key=value')
            continue
        try:
            options[name] = _value(value.strip())
        except tomllib.TOMLDecodeError as error:
            mistakes.append(f"command line: {name}: got {value.strip()}, which is not TOML: {error}")
    if mistakes:
        raise ConfigError("\n".join(mistakes))
    return options


def verifier_recipe(name: str, options: Sequence[str] | None, plugin_files: Sequence[Path] | None) -> VerifierRecipe:
    """Return how to make the verifier that was asked for.

    It is made once here, so that a wrong name, option or plug-in shows before any process is started.

    Raises:
        ConfigError, VerifierError, TaskPluginError: the verifier cannot be made.
    """
    from tasks.plugins import import_plugin_file
    from verifiers.recipe import VerifierRecipe

    for file in plugin_files or []:
        import_plugin_file(file)
    recipe = VerifierRecipe(
        name=name,
        options=parse_options(options or [], table="task.verifier_options"),
        plugin_files=tuple(file.absolute() for file in plugin_files or []),
    )
    recipe.make()
    return recipe


def _value(text: str) -> Any:
    try:
        document = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        if text.startswith(("[", "{", '"', "'")):
            raise
        return text
    return document["value"] if len(document) == 1 else text
