"""The numbers of a picture: what is drawn, and what a CSV file of it holds."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["first", "second", "audit", "training", "before", "frontier", "base", "sft", "ppo", "policy"]
"""How a line is drawn."""

_COLUMNS = ("kind", "run", "group", "series", "x_name", "step", "x", "y", "low", "high", "n", "n_of")


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    key: int
    """The same for the same measurement in runs of other seeds: the PPO step, or k."""
    step: int | None
    x: float
    y: float
    low: float | None = None
    """95 %; None where no interval is known."""
    high: float | None = None
    n: int | None = None
    """How many of `Series.n_of` the value is the mean of, where known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """One line, with a band where its points have intervals."""

    name: str
    """What was measured: "greedy", "audited by math", "pass@8"."""
    role: Role
    points: tuple[Point, ...]
    n_of: Literal["responses", "problems", "seeds"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What a picture compares: a run, the seeds of one configuration, or a policy."""

    label: str
    runs: tuple[str, ...]
    series: tuple[Series, ...]
    group: str = ""
    """What its configuration has of its own, where runs are grouped."""
    start: str = field(default="start")
    """What its curve begins with: "SFT start", or "start" without a warm start."""

    def of(self, *roles: Role) -> list[Series]:
        """Return the series drawn in one of these ways."""
        return [series for series in self.series if series.role in roles]


def csv_text(kind: str, x_name: str, subjects: Sequence[Subject]) -> str:
    """Return every point of a picture in long form, one a line.

    The columns are those of any kind of picture; what is not known is empty. `run` names the runs behind a point,
    joined by "+"; `n` counts what `n_of` says.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for subject in subjects:
        for series in subject.series:
            for point in series.points:
                n_of = "" if point.n is None else series.n_of
                writer.writerow(
                    [
                        kind, "+".join(subject.runs), subject.group, series.name, x_name, point.step,
                        point.x, point.y, point.low, point.high, point.n, n_of,
                    ]
                )  # fmt: skip
    return text.getvalue()
