"""`rlvr plot`: pass rates of runs and measured policies as a picture, or as numbers."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rlvr.cli.arguments import Axis


class Kind(StrEnum):
    """What the picture shows."""

    CURVE = "curve"
    FRONTIER = "frontier"
    CROSSOVER = "crossover"


def plot(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Run folders; for a crossover also evaluation folders, RUN@base, RUN@sft, RUN@STEP."
        ),
    ],
    kind: Annotated[
        Kind,
        typer.Option("--kind", help="Pass rates along a run, against the KL from the reference, or pass@k against k."),
    ] = Kind.CURVE,
    x: Annotated[
        Axis | None, typer.Option("--x", help="What the curve runs over.", show_default=Axis.STEP.value)
    ] = None,
    y: Annotated[
        str | None,
        typer.Option(
            "--y",
            metavar="RATE",
            help="greedy, sampled, or pass@k, pass^k, maj@k for a k that was recorded.",
            show_default="greedy and sampled; for a frontier, sampled",
        ),
    ] = None,
    group: Annotated[
        bool,
        typer.Option("--group", help="Runs that differ in their seed only are one curve, with a band over seeds."),
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="A .png or .svg picture, or its numbers as .csv.")
    ] = Path("curve.png"),
) -> None:
    """Draw held-out pass rates with 95 % intervals, of one run or of several in one picture."""
    from rlvr.errors import ConfigError
    from rlvr.evaluation.curves import plot_crossover, plot_curves, plot_frontier

    if x is not None and kind is not Kind.CURVE:
        raise ConfigError(f"--x: a {kind.value} has an axis of its own; leave --x out, or use --kind curve")
    paths = [Path(run) for run in runs]
    if kind is Kind.CURVE:
        warnings = plot_curves(paths, out, x=(x or Axis.STEP).value, y=y, group=group)
    elif kind is Kind.FRONTIER:
        warnings = plot_frontier(paths, out, y=y, group=group)
    else:
        if y is not None:
            raise ConfigError("--y: a crossover shows pass@k for every k; leave --y out, or use --kind curve")
        warnings = plot_crossover(runs, out, group=group)
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)
    typer.echo(f"wrote {out}")
