"""The pass-rate curve of one run, or several runs in one picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from rlvr.errors import RunFolderError
from rlvr.tracking.run_folder import RunFolder

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Axis: TypeAlias = Literal["step", "rollouts", "wall_s"]

# Okabe and Ito's colours, told apart by colour-blind readers too; black and yellow are left out.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_GREY = "0.45"
_AXIS_LABELS = {"step": "PPO step", "rollouts": "rollouts", "wall_s": "minutes since the run began"}
_PAPER = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.5}
_MARKERS = {"greedy": "o", "sampled": "s"}
_START_LABELS = {"sft": "SFT start", "base": "start", "ppo": "start"}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Run:
    """What the picture needs of a run folder."""

    name: str
    curve: list[dict[str, Any]]
    """Evaluations from what PPO started with (the SFT model, or else the base model) onwards, one per step."""
    base: dict[str, Any] | None
    """Evaluation of the model before SFT, where both were measured."""
    train: dict[int, float]
    """Pass rate on the training problems by step."""


def plot_curves(runs: Sequence[Path], out: Path, *, x: Axis = "step") -> None:
    """Draw held-out pass rates of run folders into a PNG file or, by its suffix, an SVG file.

    Greedy and sampled responses are a line each, with 95 % bands (for several runs the greedy line alone has one);
    behind them, thin, the pass rate on the training problems. Training steps lie between evaluations in rollouts and
    minutes by interpolation.

    Raises:
        RunFolderError: a path is not a run folder, or has no evaluation yet; or `out` is no picture.
    """
    if out.suffix not in (".png", ".svg"):
        raise RunFolderError(f"{out}: a curve is drawn as .png or .svg; give a file name that ends so")
    import matplotlib as mpl

    loaded = [_load(path) for path in runs]
    # A context leaves the caller's own settings alone; the salt makes equal runs give equal SVG bytes.
    with mpl.rc_context({"svg.hashsalt": "rlvr", "font.size": 11}):
        figure = _figure(loaded, x)
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=100, metadata={"Date": None} if out.suffix == ".svg" else None)


def _load(path: Path) -> _Run:
    folder = RunFolder.open(path)
    records = folder.read_evaluations()
    if not records:
        raise RunFolderError(f"{path} has no evaluation to plot yet; the first is made before PPO starts")
    # Another split evaluated later does not belong on the curve, and of a step measured twice the last counts.
    latest = {(record["phase"], record["step"]): record for record in records if record["split"] == records[0]["split"]}
    base, sft, ppo = ([latest[key] for key in sorted(latest) if key[0] == phase] for phase in ("base", "sft", "ppo"))
    curve = [*(sft or base)[-1:], *ppo]
    return _Run(
        name=folder.name,
        curve=curve,
        base=base[-1] if base and sft else None,
        train={
            record["step"]: record["verify/pass_rate"]
            for record in folder.read_metrics()
            if record.get("verify/pass_rate") is not None
        },
    )


def _figure(runs: Sequence[_Run], x: Axis) -> "Figure":
    # Figure without pyplot: nothing global, no display, drawn by Agg.
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    figure = Figure(figsize=(10, 5.6), layout="constrained")
    axes = figure.add_subplot()
    for index, run in enumerate(runs):
        if len(runs) == 1:
            _draw_alone(axes, run, x)
        else:
            _draw_among_others(axes, run, x, _COLOURS[index % len(_COLOURS)])
    title = f"{runs[0].name}: held-out pass rate" if len(runs) == 1 else "Held-out pass rate"
    axes.set_title(title, loc="left", fontweight="bold", pad=12)
    axes.set_xlabel(_AXIS_LABELS[x])
    axes.set_ylabel("pass rate, with 95 % intervals")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_locator(MaxNLocator(integer=x != "wall_s", steps=[1, 2, 5, 10], min_n_ticks=1))
    axes.margins(x=0.03)
    # From zero, for honesty; up to 100 % only where the curves come near it, for small rates to be seen.
    top = max(0.05, axes.dataLim.y1)
    axes.set_ylim(-0.03 * top, min(1.03, 1.1 * top))
    axes.grid(axis="y", color="0.92")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    _legend(figure, axes, several=len(runs) > 1)
    return figure


def _draw_alone(axes: "Axes", run: _Run, x: Axis) -> None:
    for mode, colour, zorder in (("greedy", _COLOURS[0], 3), ("sampled", _COLOURS[1], 2)):
        points = _points(run.curve, mode, x)
        if points:
            _draw_band(axes, run, mode, x, colour)
            look = {"color": colour, "marker": _MARKERS[mode], "ms": 5, "lw": 2, "zorder": zorder}
            axes.plot(*_columns(points), label=f"held-out, {mode}", **look)
        before = _points([run.base], mode, x) if run.base else []
        if before:
            axes.plot(*_columns(before), color=colour, marker="D", mfc="white", ms=7, ls="", zorder=zorder)
    if run.base:
        axes.plot([], [], color=_GREY, marker="D", mfc="white", ms=7, ls="", label="held-out, before SFT")
    _draw_train(axes, run, x, _GREY, label="training problems")
    _annotate_ends(axes, run, x, _COLOURS[0])


def _annotate_ends(axes: "Axes", run: _Run, x: Axis, colour: str) -> None:
    greedy = _points(run.curve, "greedy", x)
    if not greedy:
        return
    (_, first), (last_place, last) = greedy[0], greedy[-1]
    axes.axhline(first, color=_GREY, lw=1, ls=(0, (4, 4)), zorder=1)
    # Below the line a rising curve is not in the way, but near the bottom there is no room.
    across, lift = (0.99, -16) if first > 0.1 * axes.dataLim.y1 else (0.6, 6)
    axes.annotate(
        f"{_START_LABELS[run.curve[0]['phase']]}, greedy: {100 * first:.1f} %",
        xy=(across, first),
        xycoords=axes.get_yaxis_transform(),
        xytext=(0, lift),
        textcoords="offset points",
        ha="right",
        color="0.3",
        bbox=_PAPER,
    )
    if len(greedy) > 1:
        axes.annotate(
            f"greedy: {100 * last:.1f} %",
            xy=(last_place, last),
            xytext=(4, 12),
            textcoords="offset points",
            ha="right",
            color=colour,
            weight="bold",
            bbox=_PAPER,
        )


def _draw_among_others(axes: "Axes", run: _Run, x: Axis, colour: str) -> None:
    _draw_train(axes, run, x, colour, label=None)
    _draw_band(axes, run, "greedy", x, colour)
    for mode, style in (("greedy", "-"), ("sampled", "--")):
        points = _points(run.curve, mode, x)
        if points:
            label = run.name if mode == "greedy" else None
            axes.plot(*_columns(points), color=colour, marker=_MARKERS[mode], ms=4, lw=2, ls=style, label=label)


def _draw_train(axes: "Axes", run: _Run, x: Axis, colour: str, *, label: str | None) -> None:
    steps = [record["step"] for record in run.curve]
    places = [_place(record, x) for record in run.curve]
    inside = [step for step in sorted(run.train) if x == "step" or steps[0] <= step <= steps[-1]]
    if not inside or None in places:
        return
    where = inside if x == "step" else np.interp(inside, steps, np.array(places, dtype=float))
    axes.plot(where, [run.train[step] for step in inside], color=colour, lw=0.8, alpha=0.55, label=label, zorder=1.5)


def _draw_band(axes: "Axes", run: _Run, mode: str, x: Axis, colour: str) -> None:
    edges = [
        (place, record[mode]["low"], record[mode]["high"])
        for record in run.curve
        if (place := _place(record, x)) is not None and (record.get(mode) or {}).get("low") is not None
    ]
    if len(edges) == 1:
        # A band of no width would not show.
        [(place, low, high)] = edges
        axes.vlines(place, low, high, color=colour, alpha=0.4, lw=6)
    elif edges:
        places, lows, highs = _columns(edges)
        axes.fill_between(places, lows, highs, color=colour, alpha=0.15, lw=0)


def _place(record: Mapping[str, Any], x: Axis) -> float | None:
    value = record.get(x)
    return value / 60 if x == "wall_s" and value is not None else value


def _points(records: Sequence[Mapping[str, Any]], mode: str, x: Axis) -> list[tuple[float, float]]:
    pairs = [(_place(record, x), (record.get(mode) or {}).get("pass_rate")) for record in records]
    return [(place, rate) for place, rate in pairs if place is not None and rate is not None]


def _columns(rows: Sequence[tuple[float, ...]]) -> list[list[float]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _legend(figure: "Figure", axes: "Axes", *, several: bool) -> None:
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()
    if several:
        handles += [
            Line2D([], [], color=_GREY, marker=_MARKERS["greedy"], ms=4, lw=2),
            Line2D([], [], color=_GREY, marker=_MARKERS["sampled"], ms=4, lw=2, ls="--"),
            Line2D([], [], color=_GREY, lw=0.8, alpha=0.55),
        ]
        labels += ["greedy", "sampled", "training problems"]
    # Below the axes, where it cannot cover a curve.
    figure.legend(handles, labels, loc="outside lower center", ncols=4 if several else len(labels), frameon=False)
