"""`rlvr inspect`: one rollout of a run, token by token."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlvr.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        int, typer.Option("--sample", metavar="I", min=0, help="Which of the problem's responses, from 0.")
    ] = 0,
    evaluation: Annotated[
        bool, typer.Option("--evaluation", help="Held-out responses in place of training rollouts.")
    ] = False,
    phase: Annotated[Phase | None, typer.Option("--phase", help="Only evaluations of this phase.")] = None,
    mode: Annotated[Mode | None, typer.Option("--mode", help="Only responses drawn like this.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show one rollout: prompt, verdict, reward, and what every token was worth (log-probs, KL, value, advantage).

    Less given lists more: a step's problems, a run's steps. With --evaluation, held-out responses to a problem over the
    course of the run.
    """
    import json

    from rlvr.tracking.run_folder import RunFolder

    folder = RunFolder.open(run)
    if evaluation:
        record, lines = _evaluations(folder, step, problem, phase, mode)
    elif phase is not None or mode is not None:
        raise ConfigError(
            f"--{'phase' if phase is not None else 'mode'}: only held-out responses have it; add --evaluation"
        )
    elif step is None:
        if problem is not None:
            raise ConfigError("--problem: at which step? add --step N, or --evaluation for held-out responses")
        record, lines = _steps(folder)
    elif problem is None:
        record, lines = _problems(folder, step)
    else:
        record, lines = _rollout(folder, step, problem, sample)
    typer.echo(json.dumps(record, indent=2) if as_json else "\n".join(lines))


def _steps(folder: RunFolder) -> tuple[Any, list[str]]:
    from rlvr.cli.inspect_tables import step_lines
    from rlvr.errors import RunFolderError

    recorded = set(folder.steps_with_rollouts())
    if not recorded:
        raise RunFolderError(f"{folder.path} has recorded no rollouts; tracking.rollouts_every = 0 keeps none")
    names = ("step", "verify/pass_rate", "reward/mean", "kl/per_response", "rollout/response_tokens")
    metrics = {line["step"]: {name: line.get(name) for name in names} for line in folder.read_metrics()}
    record = [metrics.get(step, {"step": step}) for step in sorted(recorded)]
    return record, list(step_lines(record))


def _problems(folder: RunFolder, step: int) -> tuple[Any, list[str]]:
    from rlvr.cli.inspect_tables import SHOWN, problem_lines

    record = [{name: row.get(name) for name in SHOWN} for row in _numbered(_rollouts(folder, step))]
    return record, list(problem_lines(record))


def _rollout(folder: RunFolder, step: int, problem: str, sample: int) -> tuple[Any, list[str]]:
    from rlvr.cli.inspect_tables import rollout_lines, rollout_record
    from rlvr.report.token_texts import run_tokenizer

    rows = _numbered(_rollouts(folder, step))
    name = _resolved(problem, [row["problem"] for row in rows], f"step {step}")
    own = [row for row in rows if row["problem"] == name]
    if sample >= len(own):
        raise ConfigError(f"--sample: step {step} has {len(own)} responses to {name}, 0 to {len(own) - 1}")
    row, tokenizer = own[sample], run_tokenizer(folder)
    texts = (
        [f"<{token}>" for token in row["token_ids"]]
        if tokenizer is None
        else tokenizer.of_response(row["token_ids"], row["text"])
    )
    record = rollout_record(row, step, len(own), texts)
    return record, list(rollout_lines(record))


def _rollouts(folder: RunFolder, step: int) -> list[dict[str, Any]]:
    from rlvr.errors import RunFolderError

    recorded = folder.steps_with_rollouts()
    if step not in recorded:
        near = sorted(sorted(recorded, key=lambda other: abs(other - step))[:5])
        known = f"near it: {', '.join(map(str, near))}" if near else "there are none at all"
        raise RunFolderError(f"{folder.path} has no rollouts of step {step}; {known}")
    return folder.read_rollouts(step)


def _evaluations(
    folder: RunFolder, step: int | None, problem: str | None, phase: Phase | None, mode: Mode | None
) -> tuple[Any, list[str]]:
    from rlvr.cli.held_out import evaluation_line
    from rlvr.cli.inspect_tables import SHOWN, held_out_lines, problem_lines
    from rlvr.errors import RunFolderError

    chosen = [
        record
        for record in folder.read_evaluations()
        if (step is None or record["step"] == step) and (phase is None or record["phase"] == phase.value)
    ]
    if not chosen:
        raise RunFolderError(f"{folder.path} has no such evaluation; without --phase and --step all are listed")
    if problem is None and step is None and phase is None:
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
    name = _resolved(problem, [row["problem"] for row in rows], "these evaluations")
    own = [row for row in rows if row["problem"] == name]
    return own, list(held_out_lines(own))


def _numbered(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with which of its problem's responses each is."""
    seen: dict[str, int] = {}
    numbered = []
    for row in rows:
        seen[row["problem"]] = seen.get(row["problem"], -1) + 1
        numbered.append({"sample": seen[row["problem"]], **row})
    return numbered


def _resolved(wanted: str, names: Sequence[str], where: str) -> str:
    """Return the one problem that `wanted` is the id of, or the beginning, or the last part.

    Raises:
        ConfigError: there is none, or more than one; names some.
    """
    import difflib

    known = list(dict.fromkeys(names))
    if wanted in known:
        return wanted
    found = [name for name in known if name.startswith(wanted)] or [
        name for name in known if name.endswith(f"/{wanted}")
    ]
    if len(found) == 1:
        return found[0]
    if found:
        others = f" and {len(found) - 5} more" if len(found) > 5 else ""
        raise ConfigError(f"--problem: {wanted!r} may be {', '.join(found[:5])}{others} of {where}; write more of it")
    near = difflib.get_close_matches(wanted, known, n=5, cutoff=0.5) or known[:3]
    raise ConfigError(f"--problem: {where} has no problem {wanted!r}; near it: {', '.join(near)}")
