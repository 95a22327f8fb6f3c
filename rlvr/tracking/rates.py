"""Pass rates as people read them."""

from collections.abc import Mapping
from typing import Any


def percent(rate: float | None) -> str:
    """Return a rate as "51.2 %", and "-" where there is none."""
    return "-" if rate is None else f"{100 * rate:.1f} %"


def rate_text(rate: Mapping[str, Any] | None) -> str | None:
    """Return a pass rate with its 95 % interval: "51.2 % [46.8, 55.6]"; None where nothing was judged."""
    if not rate or rate.get("pass_rate") is None:
        return None
    low, high = rate.get("low"), rate.get("high")
    interval = f" [{100 * low:.1f}, {100 * high:.1f}]" if low is not None and high is not None else ""
    return f"{100 * rate['pass_rate']:.1f} %{interval}"
