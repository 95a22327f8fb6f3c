"""The picture of learning curves: one with everything that was measured, or several side by side."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlvr.evaluation.curves.canvas import (
    COLOURS,
    GREY,
    MARKERS,
    End,
    draw_band,
    fix_rate_axis,
    label_ends,
    legend_below,
    new_picture,
    percent,
    whole_ticks,
)
from rlvr.evaluation.curves.series import Series, Subject
from rlvr.evaluation.run_curve import Axis

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AXIS_LABELS: dict[Axis, str] = {
    "step": "PPO step",
    "rollouts": "rollouts",
    "tokens": "tokens drawn in training",
    "wall_s": "minutes since the run began",
}
_ALONE = {"first": (COLOURS[0], "o", 3), "second": (COLOURS[1], "s", 2)}


def learning_curve_figure(subjects: Sequence[Subject], *, x: Axis, what: str, over_seeds: bool) -> "Figure":
    """Return the picture.

    Args:
        what: the quantity's name for the title.
        over_seeds: whether bands are over seeds.
    """
    alone = len(subjects) == 1
    figure, axes = new_picture(
        title=f"{subjects[0].label}: held-out {what}" if alone else f"Held-out {what}",
        xlabel=_AXIS_LABELS[x] + (", mean of seeds" if over_seeds and x != "step" else ""),
        ylabel=f"{what}, mean and 95 % band over seeds" if over_seeds else f"{what}, with 95 % intervals",
    )
    if alone:
        handles = _draw_alone(axes, subjects[0])
    else:
        handles = _draw_side_by_side(axes, subjects)
    whole_ticks(axes, integer=x != "wall_s")
    fix_rate_axis(axes)
    legend_below(figure, handles)
    label_ends(figure, axes, _ends_alone(subjects[0]) if alone else _ends_side_by_side(subjects))
    return figure


def _draw_alone(axes: "Axes", subject: Subject) -> "list[tuple[Artist, str]]":
    from matplotlib.lines import Line2D

    handles: list[tuple[Artist, str]] = []
    for series in subject.of("first", "second"):
        colour, marker, zorder = _ALONE[series.role]
        draw_band(axes, series_edges(series), colour)
        look = {"color": colour, "marker": marker, "ms": 5, "lw": 2, "zorder": zorder}
        handles += [(axes.plot(*columns(series), **look)[0], f"held-out, {series.name}")]
    handles += _draw_audits(axes, subject)
    before = subject.of("before")
    for index, series in enumerate(before):
        colour = COLOURS[0] if series.name.startswith(subject.series[0].name) else COLOURS[1]
        axes.plot(*columns(series), color=colour, marker="D", mfc="white", ms=7, ls="", zorder=4)
        if index == 0:
            handles.append((Line2D([], [], color=GREY, marker="D", mfc="white", ms=7, ls=""), "held-out, before SFT"))
    for series in subject.of("training"):
        [line] = axes.plot(*columns(series), color=GREY, lw=0.8, alpha=0.55, zorder=1.5)
        handles.append((line, series.name))
    # Where it began, for the eye; the label is beside the axes.
    axes.axhline(subject.series[0].points[0].y, color=COLOURS[0], lw=1, ls=(0, (4, 4)), alpha=0.6, zorder=1)
    return handles


def _draw_audits(axes: "Axes", subject: Subject) -> "list[tuple[Artist, str]]":
    from matplotlib.patches import Patch

    handles: list[tuple[Artist, str]] = []
    sampled = {point.key: point for series in subject.series if series.name == "sampled" for point in series.points}
    gap: Artist | None = None
    for series, colour in audit_colours(subject):
        look = {"color": colour, "marker": "^", "ms": 5, "lw": 2, "ls": (0, (4, 2)), "zorder": 2.5}
        handles.append((axes.plot(*columns(series), **look)[0], f"sampled, {series.name}"))
        both = [(point.x, point.y, sampled[point.key].y) for point in series.points if point.key in sampled]
        if any(audited != own for _, audited, own in both):
            xs, audited, own = zip(*both, strict=True)
            axes.fill_between(xs, audited, own, facecolor="none", edgecolor=colour, alpha=0.6, hatch="////", lw=0)
            gap = gap or Patch(facecolor="none", edgecolor=colour, hatch="////", lw=0)
    return [*handles, *([(gap, "gap between verifier and audit")] if gap else [])]


def audit_colours(subject: Subject) -> list[tuple[Series, str]]:
    """Return each audit with its colour."""
    return [(series, COLOURS[2 + index % 4]) for index, series in enumerate(subject.of("audit"))]


def _ends_alone(subject: Subject) -> list[End]:
    start = subject.series[0].points[0].y
    lines = [(series, _ALONE[series.role][0]) for series in subject.of("first", "second")] + audit_colours(subject)
    ends = [
        End(y=series.points[-1].y, text=f"{_short(series)}: {percent(series.points[-1].y)}", colour=colour)
        for series, colour in lines
        if len(series.points) > 1
    ]
    return [*ends, End(y=start, text=f"{subject.start}: {percent(start)}", colour=COLOURS[0], is_bold=False)]


def _short(series: Series) -> str:
    return series.name.removeprefix("audited by ")


def _draw_side_by_side(axes: "Axes", subjects: Sequence[Subject]) -> "list[tuple[Artist, str]]":
    from matplotlib.lines import Line2D

    handles: list[tuple[Artist, str]] = []
    for index, subject in enumerate(subjects):
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        for series in subject.of("training"):
            axes.plot(*columns(series), color=colour, lw=0.8, alpha=0.55, zorder=1.5)
        for series in subject.of("first"):
            draw_band(axes, series_edges(series), colour, alpha=0.15)
        for series in subject.of("first", "second"):
            style = "-" if series.role == "first" else "--"
            axes.plot(*columns(series), color=colour, marker=marker, ms=4, lw=2, ls=style)
        handles.append((Line2D([], [], color=colour, marker=marker, ms=5, lw=2), subject.label))
    for role, style, width in (("first", "-", 2), ("second", "--", 2), ("training", "-", 0.8)):
        name = next((series.name for subject in subjects for series in subject.series if series.role == role), None)
        if name is not None:
            handles.append((Line2D([], [], color=GREY, ls=style, lw=width), name))
    return handles


def _ends_side_by_side(subjects: Sequence[Subject]) -> list[End]:
    last = [
        (series.points[-1], COLOURS[index % len(COLOURS)])
        for index, subject in enumerate(subjects)
        for series in subject.of("first")
    ]
    return [End(x=point.x, y=point.y, text=percent(point.y), colour=colour) for point, colour in last]


def columns(series: Series) -> tuple[list[float], list[float]]:
    """Return what matplotlib draws a line from."""
    return [point.x for point in series.points], [point.y for point in series.points]


def series_edges(series: Series) -> list[tuple[float, float, float]]:
    """Return (x, low, high) of the points that have an interval."""
    return [
        (point.x, point.low, point.high) for point in series.points if point.low is not None and point.high is not None
    ]
