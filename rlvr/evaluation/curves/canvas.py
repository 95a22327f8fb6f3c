"""What every picture has in common: its paper, its colours, its rate axis, its legend, and how it becomes a file."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rlvr.errors import ConfigError
from rlvr.tracking.atomic import atomic_write

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by colour-blind readers too; black and yellow are left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "0.45"

_SUFFIXES = (".png", ".svg", ".csv")
_END_GAP_POINTS = 15.0
_LONGEST_TEXT = 80
_LEGEND_CHARACTERS = 115
_LEGEND_ROWS = 2
"""For which a page has room."""
_LEGEND_ROW_INCHES = 0.24


@dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """What is written where a line ends."""

    y: float
    text: str
    colour: str
    x: float | None = None
    """Where it ends; a line that ends well before the right edge is labelled there. None means at the edge."""
    is_bold: bool = True


def require_suffix(out: Path) -> None:
    """Raise when `out` is no kind of file that can be written.

    Raises:
        ConfigError: its name ends in something else than .png, .svg or .csv.
    """
    if out.suffix not in _SUFFIXES:
        raise ConfigError(f"--out: {out} is no picture; give a name that ends in .png, .svg or .csv (the numbers)")


@contextmanager
def picture_style() -> Iterator[None]:
    """Give pictures their look while the block runs, and leave the caller's own settings alone."""
    import matplotlib as mpl

    # The salt makes equal numbers give equal SVG bytes.
    with mpl.rc_context({"svg.hashsalt": "rlvr", "font.size": 11, "hatch.linewidth": 0.6}):
        yield


def new_picture(*, title: str, xlabel: str, ylabel: str) -> "tuple[Figure, Axes]":
    """Return an empty picture whose vertical axis is a rate."""
    # Figure without pyplot: nothing global, no display, drawn by Agg.
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    figure = Figure(figsize=(10, 5.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(plain(title), loc="left", fontweight="bold", pad=12)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.4g} %"))
    axes.margins(x=0.03)
    axes.grid(axis="y", color="0.92")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def fix_rate_axis(axes: "Axes") -> None:
    """Set the limits once everything is drawn: from zero, for honesty, and up to 100 % only where the data come near,
    for small rates to be seen."""
    top = max(0.05, axes.dataLim.y1)
    axes.set_ylim(-0.03 * top, min(1.03, 1.1 * top))


def whole_ticks(axes: "Axes", *, integer: bool = True) -> None:
    """Put ticks of the horizontal axis on round numbers, written out with thousands apart."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=integer, steps=[1, 2, 5, 10], min_n_ticks=1))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def draw_band(axes: "Axes", edges: Sequence[tuple[float, float, float]], colour: str, *, alpha: float = 0.18) -> None:
    """Fill between the lower and the upper edge, given as (x, low, high)."""
    if len(edges) == 1:
        # A band of no width would not show.
        [(x, low, high)] = edges
        axes.vlines(x, low, high, color=colour, alpha=0.4, lw=6)
    elif edges:
        xs, lows, highs = zip(*edges, strict=True)
        axes.fill_between(xs, lows, highs, color=colour, alpha=alpha, lw=0)


def label_ends(figure: "Figure", axes: "Axes", ends: Sequence[End]) -> None:
    """Write beside the axes where lines end, moved apart where they would overlap.

    The axes' limits must be set, for it works in places on the page.
    """
    from matplotlib.patheffects import withStroke

    figure.draw_without_rendering()
    page = axes.get_window_extent()
    ends_inside = page.x1 - 0.08 * page.width
    inside = [end for end in ends if end.x is not None and axes.transData.transform((end.x, end.y))[0] < ends_inside]
    beside = [end for end in ends if end not in inside]
    points = [axes.transData.transform((0.0, end.y))[1] * 72 / figure.dpi for end in beside]
    lifts = [moved - own for own, moved in zip(points, apart(points, _END_GAP_POINTS), strict=True)]
    for end, lift in [*zip(beside, lifts, strict=True), *((end, 0.0) for end in inside)]:
        axes.annotate(
            plain(end.text),
            xy=(1.0, end.y) if end in beside else (end.x or 0.0, end.y),
            xycoords=axes.get_yaxis_transform() if end in beside else "data",
            xytext=(6, lift) if end in beside else (8, 0),
            textcoords="offset points",
            va="center",
            color=end.colour,
            weight="bold" if end.is_bold else "normal",
            annotation_clip=False,
            path_effects=[] if end in beside else [withStroke(linewidth=3, foreground="white")],
        )


def apart(places: Sequence[float], gap: float) -> list[float]:
    """Return places moved as little as makes neighbours lie at least `gap` apart, in the order given."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    clusters: list[list[int]] = []
    middles: list[float] = []
    for index in order:
        clusters.append([index])
        middles.append(places[index])
        while len(clusters) > 1 and middles[-1] - middles[-2] < gap * (len(clusters[-1]) + len(clusters[-2])) / 2:
            clusters[-2:] = [clusters[-2] + clusters[-1]]
            middles[-2:] = [sum(places[i] for i in clusters[-1]) / len(clusters[-1])]
    moved = list(places)
    for cluster, middle in zip(clusters, middles, strict=True):
        for rank, index in enumerate(cluster):
            moved[index] = middle + gap * (rank - (len(cluster) - 1) / 2)
    return moved


def legend_below(figure: "Figure", handles: "Sequence[tuple[Artist, str]]") -> None:
    """Put the legend below the axes, where it cannot cover a curve; a long one makes the page longer."""
    widths = [len(text) + 8 for _, text in handles]
    fits = sum(widths) <= _LEGEND_CHARACTERS
    columns = len(handles) if fits else max(1, min(4, _LEGEND_CHARACTERS // max(widths)))
    rows = -(-len(handles) // columns)
    figure.set_figheight(figure.get_figheight() + _LEGEND_ROW_INCHES * max(0, rows - _LEGEND_ROWS))
    figure.legend(
        [handle for handle, _ in handles],
        [plain(text) for _, text in handles],
        loc="outside lower center",
        ncols=columns,
        frameon=False,
    )


def plain(text: str) -> str:
    """Return a name as matplotlib writes it as it is: "$" would start a formula, a leading "_" hide it from legends."""
    short = text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 3]}..."
    return f"{' ' if short.startswith('_') else ''}{short}".replace("$", r"\$")


def percent(rate: float) -> str:
    return f"{100 * rate:.1f} %"


def write_picture(figure: "Figure", out: Path) -> None:
    """Write a picture as its file's suffix says; equal numbers give equal SVG bytes.

    Raises:
        ConfigError: the file cannot be written.
    """
    content = io.BytesIO()
    suffix = out.suffix.removeprefix(".")
    figure.savefig(content, format=suffix, dpi=100, metadata={"Date": None} if suffix == "svg" else None)
    write_file(out, content.getvalue())


def write_file(out: Path, content: bytes | str) -> None:
    """Write a file, and the folder it lies in.

    Raises:
        ConfigError: it cannot be written.
    """
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(out, content)
    except OSError as error:
        raise ConfigError(f"--out: {out} cannot be written: {error.strerror or error}") from error
