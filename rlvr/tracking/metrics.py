"""Metrics that know how to be merged: over micro-batches, minibatches and processes, in any order."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self, TypeAlias

import torch

from rlvr.tracking.names import NAMES


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Mean:
    """An average, kept as its two sums so that averages of unequal batches merge exactly."""

    total: float
    count: float
    """Number of values, or the sum of their weights."""

    @classmethod
    def of(cls, values: torch.Tensor | float | Iterable[float]) -> Self:
        """Return the mean of all elements; an empty tensor or list gives a mean of nothing, whose number is None."""
        if isinstance(values, torch.Tensor):
            # On the CPU in float64: sums of millions of float32 drift, and some accelerators have no float64.
            flat = values.detach().cpu().double()
            return cls(float(flat.sum()), flat.numel())
        if isinstance(values, Iterable):
            numbers = [float(value) for value in values]
            return cls(math.fsum(numbers), len(numbers))
        return cls(float(values), 1)

    @property
    def number(self) -> float | None:
        """The average, or None when there is nothing to average or it is not finite."""
        return _finite(self.total / self.count) if self.count else None

    def merge(self, other: "Reduction") -> "Mean":
        assert isinstance(other, Mean), f"a Mean cannot be merged with {other}"
        return Mean(self.total + other.total, self.count + other.count)


@dataclass(frozen=True, slots=True)
class Sum:
    """A total: counts, or seconds spent in pieces."""

    value: float

    @property
    def number(self) -> float | None:
        """The total, or None when it is not finite."""
        return _finite(float(self.value))

    def merge(self, other: "Reduction") -> "Sum":
        assert isinstance(other, Sum), f"a Sum cannot be merged with {other}"
        return Sum(float(self.value) + float(other.value))


@dataclass(frozen=True, slots=True)
class Max:
    """The largest value seen. NaN is kept, so that it shows."""

    value: float

    @property
    def number(self) -> float | None:
        """The maximum, or None when it is not finite."""
        return _finite(float(self.value))

    def merge(self, other: "Reduction") -> "Max":
        assert isinstance(other, Max), f"a Max cannot be merged with {other}"
        mine, theirs = float(self.value), float(other.value)
        # max(1.0, nan) is 1.0 but max(nan, 1.0) is nan: the order of merging must not decide.
        return Max(math.nan if math.isnan(mine) or math.isnan(theirs) else max(mine, theirs))


@dataclass(frozen=True, slots=True)
class Last:
    """The latest value: settings that change over time, such as a learning rate."""

    value: float

    @property
    def number(self) -> float | None:
        """The value, or None when it is not finite."""
        return _finite(float(self.value))

    def merge(self, other: "Reduction") -> "Last":
        assert isinstance(other, Last), f"a Last cannot be merged with {other}"
        return other


Reduction: TypeAlias = Mean | Sum | Max | Last


@dataclass(frozen=True, slots=True)
class Metric:
    """One measured quantity."""

    name: str
    """A key of rlvr.tracking.names.NAMES."""
    value: Reduction

    def __post_init__(self) -> None:
        assert self.name in NAMES, f"metric {self.name!r} has no line in rlvr/tracking/names.py"


def combine(metrics: Iterable[Metric]) -> dict[str, float | None]:
    """Merge metrics of the same name by their own reduction; None stands for "no finite number"."""
    merged: dict[str, Reduction] = {}
    for metric in metrics:
        before = merged.get(metric.name)
        merged[metric.name] = metric.value if before is None else before.merge(metric.value)
    return {name: value.number for name, value in merged.items()}
