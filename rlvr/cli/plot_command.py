"""`rlvr plot`: the pass-rate curve of one or several runs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Axis(StrEnum):
    """What the curve runs over."""

    STEP = "step"
    ROLLOUTS = "rollouts"
    WALL_S = "wall_s"


def plot(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A .png or .svg file.")] = Path("curve.png"),
    x: Annotated[Axis, typer.Option("--x", help="What the curve runs over.")] = Axis.STEP,
) -> None:
    """Draw the held-out pass-rate curve, with 95 % bands, of one run or of several in one picture."""
    from rlvr.evaluation.curves import plot_curves

    plot_curves(runs, out, x=x.value)
    typer.echo(f"wrote {out}")
