"""Where the marks of a comparison's interval plot stand: rates of both policies left, their differences right."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rlvr.evaluation import comparison_words as words
from rlvr.evaluation.comparison import Comparison
from rlvr.evaluation.paired import Difference
from rlvr.evaluation.pass_rate import Rate

WIDTH = 960
_LABELS = 200
_GAP = 50
_ROW = 44
_TOP = 34
_RIGHT = 18
_RATES_WIDTH = 380
_STEPS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25)
_TICKS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """An estimate with its interval, in pixels."""

    low: float
    value: float
    high: float
    y: float
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PlotRow:
    """One quantity."""

    label: str
    y: float
    a: Mark
    b: Mark
    difference: Mark


@dataclass(frozen=True, kw_only=True, slots=True)
class Tick:
    x: float
    text: str
    is_zero: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class IntervalPlot:
    """Everything that the template draws."""

    width: int
    height: int
    top: int
    bottom: int
    rows: Sequence[PlotRow]
    rate_ticks: Sequence[Tick]
    difference_ticks: Sequence[Tick]
    rates_x: float
    differences_x: float


def interval_plot(comparison: Comparison) -> IntervalPlot:
    """Return the plot of every quantity that a comparison holds."""
    quantities = _quantities(comparison)
    rates = _scale(
        [(rate.interval.low, rate.interval.high) for a, b, _ in quantities.values() for rate in (a, b)],
        _LABELS, _RATES_WIDTH,
    )  # fmt: skip
    right = _LABELS + _RATES_WIDTH + _GAP
    edges = [(difference.interval.low, difference.interval.high) for _, _, difference in quantities.values()]
    differences = _scale([(0.0, 0.0), *edges], right, WIDTH - right - _RIGHT)
    rows = []
    for index, (label, (a, b, difference)) in enumerate(quantities.items()):
        y = _TOP + _ROW * (index + 0.5)
        rows.append(
            PlotRow(
                label=label,
                y=y,
                a=_mark(a, rates, y - 7, f"A: {words.rate_text(a)}"),
                b=_mark(b, rates, y + 7, f"B: {words.rate_text(b)}"),
                difference=_mark(difference, differences, y, f"B - A: {words.difference_text(difference)}"),
            )
        )
    bottom = _TOP + _ROW * len(rows)
    return IntervalPlot(
        width=WIDTH,
        height=bottom + 44,
        top=_TOP,
        bottom=bottom,
        rows=rows,
        rate_ticks=[Tick(x=rates.x(place), text=f"{100 * place:.4g}", is_zero=False) for place in rates.places],
        difference_ticks=[
            Tick(x=differences.x(place), text=_signed(place), is_zero=abs(place) < 1e-9) for place in differences.places
        ],
        rates_x=rates.x((rates.low + rates.high) / 2),
        differences_x=differences.x((differences.low + differences.high) / 2),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Scale:
    """From values to pixels, with round values for ticks."""

    low: float
    high: float
    step: float
    left: float
    width: float

    def x(self, value: float) -> float:
        return round(self.left + self.width * (value - self.low) / (self.high - self.low), 1)

    @property
    def places(self) -> list[float]:
        count = round((self.high - self.low) / self.step)
        return [self.low + index * self.step for index in range(count + 1)]


def _scale(edges: Sequence[tuple[float, float]], left: float, width: float) -> _Scale:
    low, high = min(low for low, _ in edges), max(high for _, high in edges)
    step = next((step for step in _STEPS if (high - low) / step <= _TICKS), 0.5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return _Scale(low=step * first, high=step * max(last, first + 1), step=step, left=left, width=width)


def _mark(found: Rate | Difference, scale: _Scale, y: float, text: str) -> Mark:
    interval = found.interval
    return Mark(low=scale.x(interval.low), value=scale.x(found.value), high=scale.x(interval.high), y=y, text=text)


def _quantities(comparison: Comparison) -> Mapping[str, tuple[Rate, Rate, Difference]]:
    found: dict[str, tuple[Rate, Rate, Difference]] = {}
    for mode, own in comparison.modes.items():
        found[f"{mode}, pass rate"] = (own.rate.a, own.rate.b, own.rate.difference)
        found |= {f"{mode}, pass@{k}": (rate.a, rate.b, rate.difference) for k, rate in own.pass_at_k.items()}
    for mode, curve in comparison.curves.items():
        found[f"{mode} curve, mean height"] = (curve.a_area, curve.b_area, curve.difference)
    return found


def _signed(value: float) -> str:
    return "0" if abs(value) < 1e-9 else f"{100 * value:+.4g}"
