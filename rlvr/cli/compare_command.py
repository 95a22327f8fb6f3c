"""`rlvr compare`: whether one measured policy is better than another."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rlvr.cli.arguments import Axis
from rlvr.errors import ConfigError

_SUFFIXES = (".html", ".json", ".md")


class Mode(StrEnum):
    """Which responses are compared."""

    GREEDY = "greedy"
    SAMPLED = "sampled"
    BOTH = "both"


def compare(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="An evaluation folder, a run folder (its last evaluation), RUN@sft, RUN@base or RUN@<step>.",
        ),
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="The same; differences are B - A.")],
    mode: Annotated[Mode, typer.Option("--mode", help="Greedy responses, sampled ones, or both.")] = Mode.BOTH,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Also write a page (.html), the figures (.json) or a text (.md)."),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", metavar="RATE", help="Tell where two runs' curves first reach this rate.")
    ] = 0.9,
    x: Annotated[Axis, typer.Option("--x", help="What the curves of two runs go over.")] = Axis.ROLLOUTS,
    show: Annotated[int, typer.Option("--show", metavar="N", min=0, help="Flipped problems to print, each way.")] = 3,
) -> None:
    """Compare two measured policies on the problems that both were asked: is B better than A, and how sure is that?"""
    from rlvr.cli.compare_summary import comparison_lines
    from rlvr.evaluation.comparison import compare as compare_measured
    from rlvr.evaluation.measured import load_measured

    if out is not None and out.suffix not in _SUFFIXES:
        raise ConfigError(f"--out: {out} ends in none of {', '.join(_SUFFIXES)}; give it the ending of what you want")
    if not 0 < threshold <= 1:
        raise ConfigError(f"--threshold: {threshold:g} is no pass rate above 0 and at most 1, such as 0.9")
    modes = None if mode is Mode.BOTH else [mode.value]
    comparison = compare_measured(load_measured(a), load_measured(b), modes=modes, x=x.value, threshold=threshold)
    typer.echo("\n".join(comparison_lines(comparison, show=show)))
    if out is None:
        return
    from rlvr.evaluation.curves.canvas import write_file
    from rlvr.report.comparison_markdown import comparison_markdown
    from rlvr.report.comparison_page import comparison_page

    if out.suffix == ".html":
        text = comparison_page(comparison)
    elif out.suffix == ".md":
        text = comparison_markdown(comparison)
    else:
        text = json.dumps(comparison.as_record(), indent=2) + "\n"
    write_file(out, text)
    typer.echo(f"\nwrote {out}")
