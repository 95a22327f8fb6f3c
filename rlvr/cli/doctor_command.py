"""`rlvr doctor`: what would go wrong in a run, before its first step."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlvr.cli.arguments import ConfigArguments, PluginFiles, split_arguments

if TYPE_CHECKING:
    from rlvr.config.models import Config


def doctor(
    arguments: ConfigArguments = None,
    problems: Annotated[
        int, typer.Option("--problems", metavar="N", min=1, help="Training problems to ask the model.")
    ] = 64,
    plugin: PluginFiles = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as one JSON object.")] = False,
) -> None:
    """Look for everything that can go wrong in a run, before step 1, and say what to do about it.

    Takes what `rlvr train` takes; writes nothing, and no weight is moved. Exits with 1 where a finding is a BLOCKER.
    """
    from rlvr.cli.wiring import load_plugins
    from rlvr.config.loading import load_config

    path, overrides = split_arguments(arguments)
    config = load_config(path, overrides)
    load_plugins(plugin or [])
    raise typer.Exit(examine(config, problems=problems, as_json=as_json))


def examine(
    config: Config,
    *,
    model: str | None = None,
    problems: int = 64,
    new_run: bool = True,
    as_json: bool = False,
) -> int:
    """Print what is found about a configuration; return the exit code, 1 where something blocks the run.

    Args:
        model: looked at in place of the configured model.
        problems: to ask the model.
        new_run: whether a new run folder is going to be made.
        as_json: one JSON object in the end, in place of a line for each finding as it is made.
    """
    import time

    from rlvr.cli.doctor.examination import Examination
    from rlvr.cli.doctor.findings import Level, duration
    from rlvr.config.changes import changed_keys
    from rlvr.config.models import Config

    started = time.monotonic()
    examination = Examination(config, model=model, problems=problems, new_run=new_run)
    counts = dict.fromkeys(Level, 0)
    rows: list[dict[str, Any]] = []
    for title, findings in examination.groups():
        if not as_json:
            typer.echo(title)
        for finding in findings:
            counts[finding.level] += 1
            rows.append({"group": title, "level": finding.level.value, "what": finding.what, "advice": finding.advice})
            if not as_json:
                typer.echo(str(finding))
    exit_code = int(counts[Level.BLOCKER] > 0)
    wall_s = time.monotonic() - started
    if as_json:
        found = {
            "exit_code": exit_code,
            "counts": {level.value: count for level, count in counts.items()},
            "findings": rows,
            "numbers": examination.numbers,
            "changed": changed_keys(config, Config()),
            "wall_s": wall_s,
        }
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return exit_code
    told = ", ".join(
        _counted(count, level.value.lower()) for level, count in reversed(counts.items()) if level is not Level.OK
    )
    verdict = "this run would fail" if exit_code else "nothing stands in the way of this run"
    typer.echo(f"\n{told}, {counts[Level.OK]} ok, in {duration(wall_s)}: {verdict}")
    return exit_code


def changes_text(config: Config) -> str:
    """Return how a configuration differs from the defaults, one key a line."""
    from rlvr.config.changes import changed_keys
    from rlvr.config.models import Config

    changed = changed_keys(config, Config())
    if not changed:
        return "configuration: the defaults"
    return "\n".join(
        ["configuration, where it differs from the defaults", *(f"  {k} = {v}" for k, v in changed.items())]
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
