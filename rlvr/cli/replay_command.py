"""`rlvr replay`: judge what a run has stored with another verifier, other options, or another reward."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlvr.cli.arguments import PluginFiles
from rlvr.cli.options import VerifierOptions, parse_options
from rlvr.errors import ConfigError

if TYPE_CHECKING:
    from rlvr.config.models import Config
    from rlvr.tracking.run_folder import RunFolder

_OVERRIDABLE = ("reward.", "task.options.", "task.verifier_options.", "rollout.judge_workers", "rollout.judge_retries")


class What(StrEnum):
    """Which responses are judged again."""

    ROLLOUTS = "rollouts"
    HELD_OUT = "held-out"
    BOTH = "both"


def replay(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder; nothing in it is changed.")],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="key.path=value",
            help="Changes to the run's configuration, in TOML syntax: reward.*, task.verifier_options.*, or "
            "task.options.* where the data has moved.",
            show_default=False,
        ),
    ] = None,
    verifier: Annotated[
        str | None,
        typer.Option(
            "--verifier",
            metavar="NAME",
            help='Who judges; "task" is the verifier that the task names. Without it: the run\'s own.',
            show_default=False,
        ),
    ] = None,
    options: VerifierOptions = None,
    plugin: PluginFiles = None,
    steps: Annotated[
        str, typer.Option("--steps", metavar="FIRST:LAST", help="Both included; 7 is one step, 20: all from there on.")
    ] = ":",
    what: Annotated[What, typer.Option("--what", help="Training rollouts, held-out responses, or both.")] = What.BOTH,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.jsonl", help="Write every response with both verdicts.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    show: Annotated[int, typer.Option("--show", metavar="N", min=0, help="Flipped responses to print.")] = 5,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=0, help="Threads that judge; 0 takes the run's number.")
    ] = 0,
) -> None:
    """Judge a run's stored responses again: which verdicts flip, and how reward and pass-rate curves would change.

    The responses stay what they are: a policy trained under the other verifier would have written others. Exits with 1
    when some responses could not be judged, or their problems were not found; those are counted apart.
    """
    from rlvr.cli.replay_run import replay_run
    from rlvr.cli.replay_summary import change_lines, evaluation_lines, flip_lines, record, step_lines
    from rlvr.cli.text_table import printable
    from rlvr.cli.wiring import load_plugins
    from rlvr.tracking.run_folder import RunFolder

    folder = RunFolder.open(run)
    wanted = _step_range(steps)
    config = _configuration(folder, verifier, parse_options(options or [], table="task.verifier_options"), overrides)
    if out is not None and folder.path.resolve() in out.resolve().parents and out.exists():
        raise ConfigError(f"--out: {out} is a file of the run, which stays as it is; choose another name")
    load_plugins(plugin or [])
    replayed = replay_run(
        config, folder,
        held_out_by_run=verifier is None, steps=wanted,
        rollouts=what is not What.HELD_OUT, held_out=what is not What.ROLLOUTS,
        out=out, flips_kept=show, workers=workers or config.rollout.judge_workers,
    )  # fmt: skip
    failed = sum(change.failed.total() for change in replayed.changes.values())
    unknown = replayed.unknown.total()
    if as_json:
        figures = record(replayed.changes, replayed.steps, replayed.evaluations)
        typer.echo(json.dumps({"judge": replayed.judge, **figures, "unknown": dict(replayed.unknown)}, indent=2))
    else:
        typer.echo(f"{run}, judged by {replayed.judge}: {replayed.judged:,} different responses")
        for name, change in replayed.changes.items():
            typer.echo("\n" + "\n".join(change_lines(name, change)))
        for lines in (
            list(step_lines(replayed.steps)),
            list(evaluation_lines(replayed.evaluations)),
            list(flip_lines(replayed.flips, str(run))),
        ):
            if lines:
                typer.echo("\n" + "\n".join(lines))
    if replayed.unrecorded:
        typer.echo(f"{replayed.unrecorded} sets of held-out responses are not in the run folder and left out", err=True)
    if unknown:
        names = ", ".join(map(printable, list(replayed.unknown)[:3]))
        typer.echo(
            f"{unknown:,} responses to {len(replayed.unknown):,} problems were not judged: the task has no problem of "
            f"that id and prompt ({names}{', ...' if len(replayed.unknown) > 3 else ''}); give the run's data with "
            "task.options...=",
            err=True,
        )
    if out is not None:
        typer.echo(f"wrote {out}", err=as_json)
    if failed or unknown:
        raise typer.Exit(1)


def _step_range(text: str) -> range:
    first, colon, last = text.partition(":")
    try:
        start = int(first) if first.strip() else 0
        stop = (int(last) if last.strip() else 2**62) if colon else start
    except ValueError:
        raise ConfigError(f'--steps: "{text}" is no range of steps; write 1:50, 7 or 20:') from None
    if not 0 <= start <= stop:
        raise ConfigError(f'--steps: "{text}" holds no step; the first must not be after the last')
    return range(start, stop + 1)


def _configuration(
    folder: RunFolder, verifier: str | None, options: dict[str, object], overrides: list[str] | None
) -> Config:
    """Return the run's configuration with the verifier and the overrides that were asked for.

    Options of the run's verifier do not go with another one.
    """
    from rlvr.config.document import toml_value
    from rlvr.config.loading import load_config

    for override in overrides or []:
        if not override.startswith(_OVERRIDABLE):
            raise ConfigError(
                f'command line: "{override}" changes nothing about judging; a replay takes reward.*, '
                "task.verifier_options.*, task.options.*, rollout.judge_workers and rollout.judge_retries"
            )
    changes = []
    if verifier is not None:
        changes = [f"task.verifier={toml_value(verifier)}", "task.verifier_options={}"]
    changes += overrides or []
    changes += [f"task.verifier_options.{name}={toml_value(value)}" for name, value in options.items()]
    config = load_config(folder.config_path, changes)
    if verifier == "task":
        return config.model_copy(update={"task": config.task.model_copy(update={"verifier": None})})
    return config
