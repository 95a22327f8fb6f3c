"""`rlvr config`: the configuration with every key explained."""

import typer

from rlvr.cli.arguments import ConfigArguments, split_arguments


def config(arguments: ConfigArguments = None) -> None:
    """Print the configuration as TOML, every key explained.

    Without arguments these are the defaults; with arguments, what `rlvr train` would use.
    """
    from rlvr.config.document import annotated_toml
    from rlvr.config.loading import load_config

    path, overrides = split_arguments(arguments)
    typer.echo(annotated_toml(load_config(path, overrides)), nl=False)
