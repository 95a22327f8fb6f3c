"""`rlvr report`: one self-contained page about a run or several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE.html", help="The page.", show_default="RUN/report.html; of several runs report.html"
        ),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Write the page anew while the runs go, until they finish or Ctrl-C.")
    ] = False,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=1.0, help="How often --watch looks for news.")
    ] = 10.0,
    max_mb: Annotated[
        float, typer.Option("--max-mb", metavar="MB", min=0.1, help="Size of the page; rollouts are left out for it.")
    ] = 5.0,
    problems: Annotated[
        int, typer.Option("--problems", metavar="N", min=1, help="The most rollouts to show of one step.")
    ] = 24,
) -> None:
    """Write one HTML file, without anything from the network: headline, warnings, curves, and rollouts token by token.

    Two runs are compared over the problems that both were measured on.
    """
    from rlvr.errors import ConfigError
    from rlvr.report.writing import MEGABYTE, watch_report, write_report
    from rlvr.tracking.run_folder import RunFolder

    folders = [RunFolder.open(path) for path in runs]
    where = out or (runs[0] / "report.html" if len(runs) == 1 else Path("report.html"))
    if where.suffix not in (".html", ".htm") or where.is_dir():
        raise ConfigError(f"--out: {where} must be a file that ends in .html")

    def wrote(size_bytes: int, fits: bool) -> None:
        typer.echo(f"wrote {where} ({size_bytes / MEGABYTE:.1f} MB)")
        if not fits:
            typer.echo(f"warning: even without rollouts it is above --max-mb {max_mb:g}; report fewer runs", err=True)

    if watch:
        try:
            watch_report(folders, where, every_s=every, max_mb=max_mb, problems=problems, wrote=wrote)
        except KeyboardInterrupt:
            typer.echo("stopped watching; the page no longer reloads itself")
    else:
        wrote(*write_report(folders, where, max_mb=max_mb, problems=problems))
