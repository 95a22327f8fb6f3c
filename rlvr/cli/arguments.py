"""Arguments that several commands take, such as `[CONFIG.toml] [key.path=value ...]`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rlvr.config.models import Config

ConfigArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CONFIG.toml|key.path=value",
        help="A configuration file, then single keys that override it (values in TOML syntax, as in run.seed=1).",
        show_default=False,
    ),
]

PluginFiles = Annotated[
    list[Path] | None,
    typer.Option("--plugin", metavar="FILE.py", help="Import a file that registers tasks or verifiers."),
]


class Axis(StrEnum):
    """What curves run over."""

    STEP = "step"
    ROLLOUTS = "rollouts"
    TOKENS = "tokens"
    WALL_S = "wall_s"


def split_arguments(arguments: list[str] | None) -> tuple[Path | None, list[str]]:
    """Return the configuration file, which is the first argument that ends in .toml and has no "=", and the rest.

    The rest goes to `load_config`, which reports whatever in it is no override.
    """
    rest = list(arguments or [])
    for position, argument in enumerate(rest):
        if argument.endswith(".toml") and "=" not in argument:
            return Path(argument), rest[:position] + rest[position + 1 :]
    return None, rest


def run_configuration(model: str, path: Path | None, overrides: list[str]) -> tuple[str, Config]:
    """Return the model to load and the configuration to judge it under.

    A run folder stands for its latest checkpoint (its reference before there is one) and, unless a file is given, its
    own configuration.

    Raises:
        ConfigError, RunFolderError: as `load_config`; the run has saved no model yet.
    """
    from rlvr.config.loading import load_config
    from rlvr.errors import RunFolderError
    from rlvr.tracking.run_folder import RunFolder, complete_checkpoints

    if not (Path(model) / "checkpoints").is_dir():
        return model, load_config(path, overrides)
    folder = RunFolder.open(Path(model))
    saved = [checkpoint / "policy" for checkpoint in complete_checkpoints(folder.checkpoints_dir)]
    policies = saved or [policy for policy in [folder.reference_path] if policy.exists()]
    if not policies:
        raise RunFolderError(f"{model} has saved no model yet; wait for its warm start to end")
    return str(policies[-1]), load_config(path or folder.config_path, overrides)
