"""Numbers as the page gets them, short, and as people read them."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

SIGNIFICANT_DIGITS = 4


def short(value: float | None) -> float | int | None:
    """Return a number to four significant digits, whole ones as integers; None for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded


def shorts(values: Iterable[float | None]) -> list[float | int | None]:
    return [short(value) for value in values]


def rate_text(rate: Mapping[str, Any] | None) -> str | None:
    """Return a pass rate with its 95 % interval: "51.2 % [46.8, 55.6]"; None where nothing was judged."""
    if not rate or rate.get("pass_rate") is None:
        return None
    low, high = rate.get("low"), rate.get("high")
    interval = f" [{100 * low:.1f}, {100 * high:.1f}]" if low is not None and high is not None else ""
    return f"{100 * rate['pass_rate']:.1f} %{interval}"
