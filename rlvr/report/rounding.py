"""Numbers as the page gets them: short."""

import math
from collections.abc import Iterable

SIGNIFICANT_DIGITS = 4


def short(value: float | None) -> float | int | None:
    """Return a number to four significant digits, whole ones as integers; None for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded


def shorts(values: Iterable[float | None]) -> list[float | int | None]:
    return [short(value) for value in values]
