"""`rlvr audit`: attack a verifier before anyone trains on it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated

import typer

from rlvr.cli.arguments import PluginFiles
from rlvr.cli.options import VerifierOptions, parse_options, verifier_recipe
from rlvr.errors import ConfigError

Rate = Annotated[float, typer.Option(metavar="RATE", min=0.0, max=1.0)]


def audit(
    verifier: Annotated[str, typer.Argument(metavar="VERIFIER", help="Name of the verifier.")],
    task: Annotated[str, typer.Option("--task", metavar="TASK", help="Where the problems come from.")],
    task_options: Annotated[
        list[str] | None,
        typer.Argument(metavar="key=value", help="Options of the task, in TOML syntax.", show_default=False),
    ] = None,
    options: VerifierOptions = None,
    split: Annotated[str, typer.Option("--split", metavar="SPLIT")] = "train",
    problems: Annotated[
        int, typer.Option("--problems", metavar="N", min=1, help="How many problems, drawn at random.")
    ] = 200,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the draw and of the attacks.")] = 0,
    max_false_positive_rate: Rate = 0.0,
    max_false_negative_rate: Rate = 0.0,
    max_error_rate: Annotated[
        float, typer.Option(metavar="RATE", min=0.0, max=1.0, help="Of attacks that end in a VerifierError.")
    ] = 0.0,
    max_p99_ms: Annotated[float | None, typer.Option(metavar="MS", min=0.0, show_default="no limit")] = None,
    show: Annotated[int, typer.Option("--show", metavar="N", min=0, help="How many failing inputs to print.")] = 20,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="REPORT.json", help="Write the counts and every failing input.")
    ] = None,
    plugin: PluginFiles = None,
) -> None:
    """Judge right and wrong responses made from a task's problems, and report what the verifier gets wrong.

    Right are gold answers in innocent dress; wrong are near-misses, hedges, echoes, injections, look-alikes, huge
    numbers, very long texts and the like. Exits with 1 when a limit is exceeded, when a call hangs (10 s) or raises,
    or when nothing could be measured.
    """
    from rlvr.cli.audit_summary import exceeded_limits, report_json, summary_lines
    from rlvr.tracking.atomic import atomic_write
    from rlvr.tracking.progress import progress
    from tasks import load_task
    from verifiers.audit import audit as run_audit
    from verifiers.extract import UnknownAnswerFormatError

    recipe = verifier_recipe(verifier, options, plugin)
    source = load_task(task, parse_options(task_options or [], table="task.options")).problems(split)
    if len(source) == 0:
        raise ConfigError(f"--split: task {task!r} has no problems in its split {split!r}")
    chosen = [source[i] for i in random.Random(seed).sample(range(len(source)), min(problems, len(source)))]
    typer.echo(f"verifier {verifier} on task {task}, split {split}, {len(chosen)} problems, seed {seed}")
    try:
        with progress("audit", len(chosen), passing=True) as bar:
            report = run_audit(recipe.make, chosen, seed=seed, advance=lambda: bar.advance({}))
    except UnknownAnswerFormatError as error:
        raise ConfigError(f"task {task!r}: {error}") from error
    for line in summary_lines(report, show=show):
        typer.echo(line)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        origin = {"verifier": verifier, "task": task, "split": split, "problems": len(chosen), "seed": seed}
        atomic_write(out, report_json(report, origin))
        typer.echo(f"wrote {out}")
    exceeded = exceeded_limits(
        report,
        max_false_positive_rate=max_false_positive_rate,
        max_false_negative_rate=max_false_negative_rate,
        max_error_rate=max_error_rate,
        max_p99_s=None if max_p99_ms is None else max_p99_ms / 1000,
    )
    if exceeded:
        typer.echo(f"failed: {'; '.join(exceeded)}", err=True)
        raise typer.Exit(1)
