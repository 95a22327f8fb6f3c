"""`rlvr inspect`: one rollout of a run, token by token."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlvr.errors import ConfigError

if TYPE_CHECKING:
    from rlvr.tracking.run_folder import RunFolder


class Phase(StrEnum):
    """When a held-out evaluation was made."""

    BASE = "base"
    SFT = "sft"
    PPO = "ppo"


class Mode(StrEnum):
    """How held-out responses were drawn."""

    GREEDY = "greedy"
    SAMPLED = "sampled"


def inspect(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    step: Annotated[
        int | None, typer.Option("--step", metavar="N", min=0, help="Of PPO. Without it, the steps are listed.")
    ] = None,
    problem: Annotated[
        str | None,
        typer.Option(
            "--problem", metavar="ID", help="Or the beginning or the end of an id. Without it, they are listed."
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            metavar="I",
            min=0,
            help="Which of the problem's responses, from 0.",
            show_default="0; of held-out ones all",
        ),
    ] = None,
    probe: Annotated[
        bool,
        typer.Option(
            "--probe", help="Held-out probes in place of training rollouts: --step N is the policy after N steps."
        ),
    ] = False,
    evaluation: Annotated[
        bool, typer.Option("--evaluation", help="Held-out responses in place of training rollouts.")
    ] = False,
    phase: Annotated[Phase | None, typer.Option("--phase", help="Only evaluations of this phase.")] = None,
    mode: Annotated[Mode | None, typer.Option("--mode", help="Only responses drawn like this.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show one rollout: prompt, verdict, reward, and what every token was worth (log-probs, KL, value, advantage).

    Less given lists more: a step's problems, a run's steps. With --probe the same of the few held-out problems that are
    answered at every evaluation. With --evaluation, held-out responses to a problem over the course of the run.
    """
    import json

    from rlvr.cli.inspect_probes import probes
    from rlvr.tracking.run_folder import RunFolder

    folder = RunFolder.open(run)
    if sample is not None and problem is None:
        raise ConfigError("--sample: of which problem? add --problem ID")
    if probe and evaluation:
        raise ConfigError("--probe and --evaluation: give one of them")
    if evaluation:
        record, lines = _evaluations(folder, step, problem, sample, phase, mode)
    elif phase is not None or mode is not None:
        raise ConfigError(
            f"--{'phase' if phase is not None else 'mode'}: only responses of evaluations have it; add --evaluation"
        )
    elif probe:
        record, lines = probes(folder, step, problem, sample)
    elif step is None:
        if problem is not None:
            raise ConfigError("--problem: at which step? add --step N, or --evaluation for held-out responses")
        record, lines = _steps(folder)
    elif problem is None:
        record, lines = _problems(folder, step)
    else:
        record, lines = _rollout(folder, step, problem, sample or 0)
    typer.echo(json.dumps(record, indent=2) if as_json else "\n".join(lines))


def _steps(folder: RunFolder) -> tuple[Any, list[str]]:
    from rlvr.cli.inspect_tables import step_lines
    from rlvr.errors import RunFolderError

    recorded = set(folder.steps_with_rollouts())
    if not recorded:
        raise RunFolderError(
            f"{folder.path} has recorded no rollouts: no step has been done yet, or tracking.rollouts_every = 0 keeps "
            "none"
        )
    names = ("step", "verify/pass_rate", "reward/mean", "kl/per_response", "rollout/response_tokens")
    metrics = {line["step"]: {name: line.get(name) for name in names} for line in folder.read_metrics()}
    record = [metrics.get(step, {"step": step}) for step in sorted(recorded)]
    return record, list(step_lines(record))


def _problems(folder: RunFolder, step: int) -> tuple[Any, list[str]]:
    from rlvr.cli.inspect_rows import numbered
    from rlvr.cli.inspect_tables import SHOWN, problem_lines

    record = [{name: row.get(name) for name in SHOWN} for row in numbered(_rollouts(folder, step))]
    return record, list(problem_lines(record))


def _rollout(folder: RunFolder, step: int, problem: str, sample: int) -> tuple[Any, list[str]]:
    from rlvr.cli.inspect_rows import one_response
    from rlvr.cli.inspect_tables import rollout_lines, rollout_record

    row, samples, texts = one_response(folder, _rollouts(folder, step), problem, sample, f"step {step}")
    record = rollout_record(row, step, samples, texts)
    return record, list(rollout_lines(record))


def _rollouts(folder: RunFolder, step: int) -> list[dict[str, Any]]:
    from rlvr.cli.inspect_rows import require_step

    require_step(folder, step, folder.steps_with_rollouts(), "rollouts of")
    return folder.read_rollouts(step)


def _evaluations(
    folder: RunFolder,
    step: int | None,
    problem: str | None,
    sample: int | None,
    phase: Phase | None,
    mode: Mode | None,
) -> tuple[Any, list[str]]:
    from rlvr.cli.held_out import evaluation_line
    from rlvr.cli.inspect_rows import resolved
    from rlvr.cli.inspect_tables import SHOWN, held_out_lines, problem_lines
    from rlvr.errors import RunFolderError

    chosen = [
        record
        for record in folder.read_evaluations()
        if (step is None or record["step"] == step) and (phase is None or record["phase"] == phase.value)
    ]
    if not chosen:
        raise RunFolderError(f"{folder.path} has no such evaluation; without --phase and --step all are listed")
    if problem is None and step is None and phase is None and mode is None:
        return chosen, [f"{record['phase']} {record['step']}: {evaluation_line(record)}" for record in chosen]
    rows = [
        {"phase": record["phase"], "step": record["step"], "mode": one, **row}
        for record in chosen
        for one in ("greedy", "sampled")
        if mode is None or one == mode.value
        if folder.responses_path(record["phase"], record["step"], one).exists()
        for row in folder.read_responses(record["phase"], record["step"], one)
    ]
    if not rows:
        raise RunFolderError(f"{folder.path} has kept no responses of these evaluations")
    if problem is None:
        shown = ("phase", "step", "mode", *SHOWN)
        record = [{name: row[name] for name in shown if name in row} for row in rows]
        return record, list(problem_lines(record))
    name = resolved(problem, [row["problem"] for row in rows], "these evaluations")
    own = [row for row in rows if row["problem"] == name and sample in (None, row.get("sample", 0))]
    if not own:
        raise ConfigError(f"--sample: none of these evaluations has a response {sample} to {name}")
    return own, list(held_out_lines(own))
