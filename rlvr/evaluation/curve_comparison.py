"""How two runs learned: their held-out curves compared over the same problems and the same range."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rlvr.errors import ConfigError
from rlvr.evaluation.curve_statistics import Reached, area_under_curve, place_of_threshold, problem_areas
from rlvr.evaluation.paired import Difference, paired_difference
from rlvr.evaluation.pass_rate import Rate
from rlvr.evaluation.run_curve import Axis, RunCurve, run_curve
from rlvr.tracking.run_folder import RunFolder


@dataclass(frozen=True, kw_only=True, slots=True)
class CurveComparison:
    """The curves of two runs in one mode."""

    mode: str
    x: Axis
    first: float
    last: float
    """The range of x that both curves have, over which areas are taken."""
    problems: int
    """Which every evaluation of both curves has."""
    threshold: float
    a_area: Rate
    """Mean height of the curve over the range."""
    b_area: Rate
    difference: Difference
    """b - a of the mean heights, over the same problems."""
    a_reached: Reached | None
    """Where the run's whole curve first reaches the threshold; None where it never does."""
    b_reached: Reached | None

    def as_record(self) -> dict[str, Any]:
        return {
            "mode": self.mode, "x": self.x, "first": self.first, "last": self.last, "problems": self.problems,
            "threshold": self.threshold,
            "a_area": self.a_area.as_record(), "b_area": self.b_area.as_record(),
            "difference": self.difference.as_record(),
            "a_reached": self.a_reached.as_record() if self.a_reached else None,
            "b_reached": self.b_reached.as_record() if self.b_reached else None,
        }  # fmt: skip


def compare_curves(
    a: RunFolder, b: RunFolder, mode: str, *, x: Axis = "rollouts", threshold: float = 0.9
) -> CurveComparison | None:
    """Return how the curves of two runs compare; None where one has fewer than two points, or no x in common.

    Raises:
        ConfigError: x was not recorded, or no problem is in both curves.
        RunFolderError: a file of responses is damaged.
    """
    curves = [run_curve(folder, mode) for folder in (a, b)]
    if curves[0] is None or curves[1] is None:
        return None
    one, other = curves[0], curves[1]
    common = [problem for problem in one.problems if problem in other.rates[0]]
    if not common:
        raise ConfigError(f"{a.path} and {b.path} have no problem in common in all evaluations of their curves")
    places = [_places(folder, curve, x) for folder, curve in ((a, one), (b, other))]
    first, last = max(own[0] for own in places), min(own[-1] for own in places)
    if first >= last:
        return None
    tables = [one.table(common), other.table(common)]
    areas = [problem_areas(own, table, first=first, last=last) for own, table in zip(places, tables, strict=True)]
    rates = [area_under_curve(own, table, first=first, last=last) for own, table in zip(places, tables, strict=True)]
    reached = [place_of_threshold(own, table, threshold) for own, table in zip(places, tables, strict=True)]
    return CurveComparison(
        mode=mode, x=x, first=first, last=last, problems=len(common), threshold=threshold,
        a_area=rates[0], b_area=rates[1], difference=paired_difference(*areas),
        a_reached=reached[0], b_reached=reached[1],
    )  # fmt: skip


def _places(folder: RunFolder, curve: RunCurve, x: Axis) -> list[float]:
    places = curve.places(x)
    if places is None:
        raise ConfigError(f"{folder.path} has evaluations without {x}; take --x step")
    if any(later <= earlier for earlier, later in pairwise(places)):
        raise ConfigError(f"{folder.path}: {x} does not grow from evaluation to evaluation; take --x step")
    return places
