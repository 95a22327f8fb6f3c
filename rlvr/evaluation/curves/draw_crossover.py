"""The picture of pass@k against k, with the places where lines cross."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlvr.evaluation.curves.canvas import (
    COLOURS,
    MARKERS,
    End,
    draw_band,
    fix_rate_axis,
    label_ends,
    legend_below,
    new_picture,
    percent,
)
from rlvr.evaluation.curves.crossover import Crossing, crossings
from rlvr.evaluation.curves.draw_learning_curve import columns, series_edges
from rlvr.evaluation.curves.series import Series, Subject

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES = {"base": ":", "sft": "--", "ppo": "-", "policy": "-"}


def crossover_figure(subjects: Sequence[Subject], *, over_seeds: bool) -> "Figure":
    """Return the picture; lines of the same subject are compared, and those of different ones too."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    alone = len(subjects) == 1
    figure, axes = new_picture(
        title=f"{subjects[0].label}: pass@k" if alone and len(subjects[0].series) > 1 else "pass@k",
        xlabel="k, responses per problem",
        ylabel="held-out pass@k, " + ("mean and 95 % band over seeds" if over_seeds else "with 95 % bands"),
    )
    named = [(series, _name(subject, series, alone=alone)) for subject in subjects for series in subject.series]
    handles: list[tuple[Artist, str]] = []
    ends: list[End] = []
    for index, (series, name) in enumerate(named):
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        draw_band(axes, series_edges(series), colour)
        [line] = axes.plot(*columns(series), color=colour, marker=marker, ms=5, lw=2, ls=_STYLES[series.role])
        handles.append((line, name))
        ends.append(End(x=series.points[-1].x, y=series.points[-1].y, text=percent(series.points[-1].y), colour=colour))
    axes.set_xscale("log", base=2)
    ks = sorted({point.x for series, _ in named for point in series.points})
    axes.xaxis.set_major_locator(FixedLocator(ks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    fix_rate_axis(axes)
    handles += _mark(axes, crossings([series for series, _ in named]))
    legend_below(figure, handles)
    label_ends(figure, axes, ends)
    return figure


def _mark(axes: "Axes", found: Sequence[Crossing]) -> "list[tuple[Artist, str]]":
    from matplotlib.patheffects import withStroke

    handles: dict[str, Artist] = {}
    for crossing in found:
        colour, style = ("black", "-") if crossing.is_sure else (".5", ":")
        ring = axes.scatter(
            [crossing.k], [crossing.y], s=150, facecolors="none", edgecolors=colour, lw=1.6, ls=style, zorder=5
        )
        meaning = "lines cross" if crossing.is_sure else "lines cross, within their intervals"
        handles.setdefault(meaning, ring)
        axes.annotate(
            f"k = {crossing.k:.1f}",
            xy=(crossing.k, crossing.y),
            xytext=(0, -22),
            textcoords="offset points",
            ha="center",
            color=colour,
            size=9,
            path_effects=[withStroke(linewidth=3, foreground="white")],
        )
    return [(ring, meaning) for meaning, ring in handles.items()]


def _name(subject: Subject, series: Series, *, alone: bool) -> str:
    return series.name if alone or series.name == subject.label else f"{subject.label}, {series.name}"
