"""The numbers of every step as columns, with what they may be drawn over."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from rlvr.report.rounding import shorts
from rlvr.report.run_data import RunData
from rlvr.tracking.names import NAMES

MAX_POINTS = 600
"""Of a series in the page; longer ones are thinned."""

_AXES = ("rollouts", "tokens", "wall_s")


def step_columns(run: RunData) -> tuple[dict[str, list[Any]], dict[str, list[Any]], str | None]:
    """Return the axes of the steps, the metrics by name, and a note where steps were left out.

    Steps lie between evaluations in rollouts, tokens and seconds by interpolation, and after the last one by what each
    step drew and took.
    """
    lines = run.metrics
    kept, note = _thinned(lines, run.folder.name)
    names = [name for name in NAMES if any(line.get(name) is not None for line in lines)]
    metrics = {name: shorts(line.get(name) for line in kept) for name in names}
    steps = [line["step"] for line in kept]
    axes: dict[str, list[Any]] = {"step": steps}
    for axis in _AXES:
        axes[axis] = _places(run, axis, steps)
    return axes, metrics, note


def reached(run: RunData, axis: str) -> float | None:
    """Return where a run stands on an axis after its last step; None before the first, or where that is not known."""
    last = run.metrics[-1:]
    return next(iter(_places(run, axis, [line["step"] for line in last])), None)


def _thinned(lines: Sequence[dict[str, Any]], name: str) -> tuple[list[dict[str, Any]], str | None]:
    if len(lines) <= MAX_POINTS:
        return list(lines), None
    places = np.unique(np.linspace(0, len(lines) - 1, MAX_POINTS).round().astype(int))
    return [lines[place] for place in places], (
        f"{name}: the training curves show {len(places)} of {len(lines):,} steps, evenly; warnings look at all of them."
    )


def _places(run: RunData, axis: str, steps: Sequence[int]) -> list[Any]:
    known = {record["step"]: record[axis] for record in run.evaluations if record.get(axis) is not None}
    spent = [_spent(run, axis, line) for line in run.metrics]
    if run.metrics and (not known or max(known) < run.metrics[-1]["step"]):
        # Not evaluated yet up to here: go on from the last evaluation by what each step added.
        last = max(known, default=0)
        later = [(line["step"], cost) for line, cost in zip(run.metrics, spent, strict=True) if line["step"] > last]
        costs = [cost for _, cost in later if cost is not None]
        if len(costs) == len(later):
            ends = accumulate(costs, initial=known.get(last, 0.0))
            known |= {last: known.get(last, 0.0), **dict(zip((step for step, _ in later), list(ends)[1:], strict=True))}
    if len(known) < 2:
        return [None] * len(steps)
    places = sorted(known)
    found = np.interp(steps, places, [float(known[place]) for place in places])
    return [round(float(place), 1) if axis == "wall_s" else round(float(place)) for place in found]


def _spent(run: RunData, axis: str, line: Mapping[str, Any]) -> float | None:
    rollouts, tokens = run.rollouts_per_step, line.get("rollout/response_tokens")
    match axis:
        case "rollouts":
            return rollouts
        case "tokens":
            return None if rollouts is None or tokens is None else rollouts * tokens
        case _:
            return line.get("time/step_s")
