"""The picture of frontiers: a line per run through its evaluations, from the reference outwards."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rlvr.evaluation.curves.canvas import (
    COLOURS,
    MARKERS,
    End,
    fix_rate_axis,
    label_ends,
    legend_below,
    new_picture,
    percent,
)
from rlvr.evaluation.curves.draw_learning_curve import columns, series_edges
from rlvr.evaluation.curves.series import Series, Subject

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

# Where a label may stand beside its point, in points; the first that is free is taken.
_OFFSETS = ((7, -13), (7, 9), (-7, 9), (-7, -13), (10, -4), (-10, -4), (0, 16), (0, -22), (14, 18), (-14, 18))
_LABELS_PER_LINE = 6


def frontier_figure(subjects: Sequence[Subject], *, what: str, over_seeds: bool) -> "Figure":
    """Return the picture.

    Args:
        what: the quantity's name.
        over_seeds: whether intervals are over seeds.
    """
    alone = len(subjects) == 1
    figure, axes = new_picture(
        title=f"{subjects[0].label}: held-out {what} against KL" if alone else f"Held-out {what} against KL",
        xlabel="KL of policy from reference, nats per response" + (", mean of seeds" if over_seeds else ""),
        ylabel=f"held-out {what}, " + ("mean and 95 % interval over seeds" if over_seeds else "with 95 % intervals"),
    )
    handles: list[tuple[Artist, str]] = []
    lines: list[tuple[Series, str]] = []
    for index, subject in enumerate(subjects):
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        for series in subject.of("frontier"):
            # Bars and not a band: the KL can also fall, and a band would fold over itself.
            if edges := series_edges(series):
                xs, lows, highs = zip(*edges, strict=True)
                axes.vlines(xs, lows, highs, color=colour, alpha=0.35, lw=3)
            [line] = axes.plot(*columns(series), color=colour, marker=marker, ms=5, lw=1.6)
            handles.append((line, subject.label))
            lines.append((series, colour))
    axes.grid(axis="x", color="0.95")
    fix_rate_axis(axes)
    legend_below(figure, handles)
    last = [(series.points[-1], colour) for series, colour in lines]
    label_ends(figure, axes, [End(y=point.y, text=percent(point.y), colour=colour) for point, colour in last])
    _label_steps(figure, axes, lines)
    return figure


def _label_steps(figure: "Figure", axes: "Axes", lines: Sequence[tuple[Series, str]]) -> None:
    """Write the step beside some points, ends first, wherever it hides neither a line nor another label."""
    from matplotlib.transforms import Bbox

    figure.draw_without_rendering()
    inside = axes.get_window_extent()
    taken: list[Bbox] = []
    for series, _ in lines:
        corners = axes.transData.transform([(point.x, point.y) for point in series.points])
        taken += [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in corners]
        bars = axes.transData.transform([(x, y) for x, *edges in series_edges(series) for y in edges]).reshape(-1, 2, 2)
        for start, end in [*pairwise(corners), *bars]:
            pieces = int(np.hypot(*(end - start)) // 6)
            taken += [Bbox.from_bounds(x - 1, y - 1, 2, 2) for x, y in np.linspace(start, end, pieces + 1)]
    for series, colour in lines:
        written = 0
        for index in _ends_first(len(series.points)):
            point = series.points[index]
            written += _write_step(axes, (point.x, point.y), f"step {point.step}", colour, taken, inside)
            if written == _LABELS_PER_LINE:
                break


def _write_step(
    axes: "Axes", xy: tuple[float, float], text: str, colour: str, taken: "list[Bbox]", inside: "Bbox"
) -> bool:
    for offset in _OFFSETS:
        label = axes.annotate(
            text,
            xy=xy,
            xytext=offset,
            textcoords="offset points",
            ha="left" if offset[0] > 0 else "right" if offset[0] < 0 else "center",
            color=colour,
            size=9,
        )
        box = label.get_window_extent().padded(1)
        fits = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        if fits and not any(box.overlaps(other) for other in taken):
            taken.append(box)
            return True
        label.remove()
    return False


def _ends_first(count: int) -> list[int]:
    """Return indices from coarse to fine: both ends, the middle, the quarters."""
    order = dict.fromkeys([0, count - 1])
    parts = 2
    while len(order) < count:
        order |= dict.fromkeys(round((count - 1) * part / parts) for part in range(1, parts))
        parts *= 2
    return list(order)
