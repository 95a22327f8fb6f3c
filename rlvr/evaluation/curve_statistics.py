"""A pass-rate curve as one number: the area under it, and where it first reaches a threshold; with intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlvr.evaluation.intervals import cluster_wilson
from rlvr.evaluation.pass_rate import Rate

_CHUNK_NUMBERS = 10**7


@dataclass(frozen=True, kw_only=True, slots=True)
class Reached:
    """Where a curve first reaches a threshold."""

    value: float
    """On the axis of the curve's places."""
    low: float
    high: float | None
    """End of the 95 % interval; None: not reached before the curve ends."""
    reached_frac: float
    """Share of the resampled curves that reach it."""

    def as_record(self) -> dict[str, float | None]:
        return {"value": self.value, "low": self.low, "high": self.high, "reached_frac": self.reached_frac}


def problem_areas(
    places: Sequence[float], per_problem: Sequence[Sequence[float]], *, first: float | None = None,
    last: float | None = None,
) -> list[float]:  # fmt: skip
    """Return each problem's mean height over [first, last], by the trapezoidal rule; for paired comparisons.

    Args:
        places: x of the curve's points, growing.
        per_problem: [points][problems] what the policy reached on each problem, in [0, 1].
        first, last: part of the range of places; the whole range unless given.

    Raises:
        ValueError: fewer than two points, places that do not grow, rows of different lengths, no problems, or a range
            beyond the curve's.
    """
    xs, table = _curve(places, per_problem)
    start = float(xs[0]) if first is None else first
    end = float(xs[-1]) if last is None else last
    if not xs[0] <= start < end <= xs[-1]:
        raise ValueError(f"the curve runs from {xs[0]:g} to {xs[-1]:g}, which does not hold {start:g} to {end:g}")
    inner = xs[(xs > start) & (xs < end)]
    grid = np.concatenate([[start], inner, [end]])
    heights = np.stack([np.interp(grid, xs, column) for column in table.T], axis=1)
    steps = np.diff(grid)[:, None]
    areas = ((heights[1:] + heights[:-1]) / 2 * steps).sum(axis=0) / (end - start)
    return np.clip(areas, 0.0, 1.0).tolist()


def area_under_curve(
    places: Sequence[float], per_problem: Sequence[Sequence[float]], *, first: float | None = None,
    last: float | None = None,
) -> Rate:  # fmt: skip
    """Return the mean height of a pass-rate curve over a range of its places, with a 95 % interval over problems.

    A problem enters at all points at once, so that what the points have in common is not counted as independent.

    Args:
        places: x of the curve's points, growing.
        per_problem: [points][problems] what the policy reached on each problem, in [0, 1].
        first, last: as `problem_areas`.

    Raises:
        ValueError: as `problem_areas`.
    """
    areas = problem_areas(places, per_problem, first=first, last=last)
    return Rate(value=math.fsum(areas) / len(areas), interval=cluster_wilson(areas))


def first_place(places: Sequence[float], heights: Sequence[float], threshold: float) -> float | None:
    """Return where a curve, drawn as straight lines between its points, first reaches `threshold`; None: never.

    Args:
        places: x of the points, growing; there may be one alone.
    """
    found = _first_places(np.asarray(places, dtype=np.float64), np.asarray([heights], dtype=np.float64), threshold)[0]
    return None if math.isinf(found) else float(found)


def place_of_threshold(
    places: Sequence[float], per_problem: Sequence[Sequence[float]], threshold: float, *, resamples: int = 2000,
    seed: int = 0,
) -> Reached | None:  # fmt: skip
    """Return the first place at which the linearly interpolated curve reaches `threshold`; None when it never does.

    The interval is the percentile bootstrap's over problems, each resampled at all points at once. Noise lets a curve
    reach a threshold early, never late, so with few problems the place is a little too small.

    Args:
        places: x of the curve's points, growing.
        per_problem: [points][problems] what the policy reached on each problem, in [0, 1].
        seed: of the resampling.

    Raises:
        ValueError: as `problem_areas`, or the threshold lies outside (0, 1].
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"a threshold is a pass rate above 0 and at most 1, got {threshold:g}")
    xs, table = _curve(places, per_problem)
    value = first_place(xs.tolist(), table.mean(axis=1).tolist(), threshold)
    if value is None:
        return None
    found = np.sort(
        np.concatenate([_first_places(xs, curves, threshold) for curves in _resampled(table, resamples, seed)])
    )
    # Order statistics: quantiles interpolated between a place and "never" would be nonsense.
    low, high = found[int(0.025 * (resamples - 1))], found[math.ceil(0.975 * (resamples - 1))]
    return Reached(
        value=value,
        low=min(value, float(low)),
        high=None if math.isinf(high) else max(value, float(high)),
        reached_frac=float(np.isfinite(found).mean()),
    )


def _curve(
    places: Sequence[float], per_problem: Sequence[Sequence[float]]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    if len({len(row) for row in per_problem}) > 1:
        raise ValueError("every point of a curve needs the same problems")
    xs, table = np.asarray(places, dtype=np.float64), np.asarray(per_problem, dtype=np.float64)
    if xs.ndim != 1 or xs.size < 2:
        raise ValueError(f"a curve needs at least two points, got {xs.size}")
    if table.ndim != 2 or table.shape[0] != xs.size or table.shape[1] == 0:
        raise ValueError(f"expected pass rates of at least one problem at {xs.size} points, got shape {table.shape}")
    if not bool(np.all(np.diff(xs) > 0)):
        raise ValueError("the places of a curve must grow from point to point")
    if not bool(np.all((table >= 0) & (table <= 1))):
        raise ValueError("every per-problem pass rate must lie in [0, 1]")
    return xs, table


def _resampled(table: npt.NDArray[np.float64], resamples: int, seed: int) -> list[npt.NDArray[np.float64]]:
    """Return [resamples points] curves over resampled problems, in parts."""
    problems = table.shape[1]
    generator = np.random.default_rng(seed)
    size = max(1, min(resamples, _CHUNK_NUMBERS // problems))
    shares = np.full(problems, 1 / problems)
    parts = [min(size, resamples - start) for start in range(0, resamples, size)]
    return [generator.multinomial(problems, shares, size=part) @ table.T / problems for part in parts]


def _first_places(
    xs: npt.NDArray[np.float64], curves: npt.NDArray[np.float64], threshold: float
) -> npt.NDArray[np.float64]:
    """Return where each of [curves points] first reaches the threshold, infinity where it does not."""
    # Rounding must not keep a curve from reaching a threshold that it meets exactly.
    above = curves >= threshold - 1e-12
    reached = above.any(axis=1)
    index = above.argmax(axis=1)
    before = np.maximum(index - 1, 0)
    rows = np.arange(len(curves))
    low, high = curves[rows, before], curves[rows, index]
    rise = np.where(index > 0, high - low, 1.0)
    share = np.where(index > 0, np.clip((threshold - low) / np.where(rise > 0, rise, 1.0), 0.0, 1.0), 0.0)
    return np.where(reached, xs[before] + share * (xs[index] - xs[before]), np.inf)
