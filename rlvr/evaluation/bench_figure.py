"""The outcome of a bench as one picture: every arm's curve, and what each gained."""

from pathlib import Path
from typing import TYPE_CHECKING

from rlvr.evaluation.bench_measures import Arm, curve_means, mean_gain
from rlvr.evaluation.bench_table import Bench
from rlvr.evaluation.curves.canvas import COLOURS, GREY, MARKERS, fix_rate_axis, picture_style, plain, write_picture
from rlvr.evaluation.measured import MODES
from rlvr.evaluation.over_seeds import SeedMean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Real rewards are drawn solid, controls dashed.
_COLOURS = (*COLOURS, GREY)
_DASHES = {False: "-", True: (0, (5, 2))}


def plot_bench(bench: Bench, outs: list[Path]) -> None:
    """Draw the bench into each of these .png or .svg files; arms without a finished run are left out.

    Equal benches give equal bytes.
    """
    with picture_style():
        figure = _figure(bench)
        for out in outs:
            write_picture(figure, out)


def _figure(bench: Bench) -> "Figure":
    # Figure without pyplot: nothing global, no display, drawn by Agg.
    from matplotlib.figure import Figure

    drawn = [(index, arm) for index, arm in enumerate(bench.arms) if arm.runs]
    figure = Figure(figsize=(13, 6), layout="constrained")
    curves, gains = figure.subplots(1, 2, width_ratios=[3, 2])
    for index, arm in drawn:
        _draw_curve(curves, arm, index)
    _finish_curves(curves, bench)
    _draw_gains(gains, drawn)
    handles, labels = curves.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=max(1, min(len(labels), 7)), frameon=False)
    return figure


def _draw_curve(axes: "Axes", arm: Arm, index: int) -> None:
    colour = _COLOURS[index % len(_COLOURS)]
    means = curve_means(arm, "greedy")
    places = [place for place, _ in means]
    lows, highs = ([getattr(mean.interval, end) for _, mean in means] for end in ("low", "high"))
    axes.fill_between(places, lows, highs, color=colour, alpha=0.13, lw=0)
    axes.plot(
        places, [mean.value for _, mean in means], color=colour, ls=_DASHES[arm.control], lw=2,
        marker=MARKERS[index % len(MARKERS)], ms=4, label=plain(arm.name), zorder=2 if arm.control else 3,
    )  # fmt: skip


def _finish_curves(axes: "Axes", bench: Bench) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    seeds = f"mean of {len(bench.seeds)} seeds" if len(bench.seeds) > 1 else "one seed"
    axes.set_title(f"{bench.name}: held-out pass rate, greedy", loc="left", fontweight="bold", pad=12)
    axes.set_xlabel("rollouts")
    axes.set_ylabel(f"pass rate, {seeds}, with 95 % bands")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
    fix_rate_axis(axes)
    axes.grid(axis="y", color="0.92")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_gains(axes: "Axes", drawn: list[tuple[int, Arm]]) -> None:
    axes.set_title("Gain over the start", loc="left", fontweight="bold", pad=12)
    axes.axvline(0.0, color=GREY, lw=1)
    for row, (index, arm) in enumerate(drawn):
        colour = _COLOURS[index % len(_COLOURS)]
        for mode, lift in zip(MODES, (-0.14, 0.14), strict=True):
            gain = mean_gain(arm, mode)
            if gain is not None:
                _draw_interval(axes, gain, row + lift, colour, hollow=mode == "sampled")
    axes.set_yticks(range(len(drawn)), [plain(arm.name) for _, arm in drawn])
    axes.set_ylim(max(1, len(drawn)) - 0.5, -0.5)
    axes.set_xlabel("points, with 95 % intervals\nfull: greedy, hollow: sampled, ticks: seeds")
    axes.grid(axis="x", color="0.92")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _draw_interval(axes: "Axes", gain: SeedMean, height: float, colour: str, *, hollow: bool) -> None:
    axes.plot([100 * gain.interval.low, 100 * gain.interval.high], [height, height], color=colour, lw=2.5)
    axes.plot(100 * gain.value, height, marker="o", ms=7, color=colour, mfc="white" if hollow else colour)
    for seed in gain.per_seed:
        axes.plot(100 * seed, height, marker="|", ms=8, color=colour, alpha=0.6)
