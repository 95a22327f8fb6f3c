"""The arithmetic of a comparison: medians, ratios, and the search for the rollouts that a pass rate needs."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.trainer_runs import Figures

QUANTITIES = ("rollouts_per_s", "peak_rss_mb", "pass_rate_before", "pass_rate_after")


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """What a search for the fewest steps came to."""

    steps: int | None
    """The fewest that reached the threshold, None if none did."""
    pass_rates: Mapping[int, float]
    """Of every number of steps that was tried."""
    ended_early: bool
    """The time was up before the search was done."""


def medians(runs: Sequence[Figures]) -> dict[str, float]:
    """Return the median of every quantity that is compared."""
    return {name: statistics.median(getattr(run, name) for run in runs) for name in QUANTITIES}


def ratios(ours: Mapping[str, float], peer: Mapping[str, float]) -> dict[str, float | None]:
    """Return ours over the peer's, None where the peer's is zero."""
    return {name: ours[name] / peer[name] if peer[name] else None for name in QUANTITIES}


def search_threshold(
    pass_rate_after: Callable[[int], float],
    threshold: float,
    *,
    first: int,
    most: int,
    resolution: int,
    has_time: Callable[[], bool] = lambda: True,
) -> Search:
    """Find the fewest steps after which the pass rate is at least `threshold`: doubling, then bisection.

    Args:
        pass_rate_after: trains from the start for that many steps.
        first: steps of the first try, a multiple of `resolution`.
        most: steps of the last doubling, another.
        resolution: the bisection ends when the last miss and the first hit are this close.
        has_time: asked before every try but the first.
    """
    tried: dict[int, float] = {}
    miss, hit, steps = 0, None, first
    while True:
        tried[steps] = pass_rate_after(steps)
        if tried[steps] >= threshold:
            hit = steps
        else:
            miss = steps
        if miss == most or (hit is not None and hit - miss <= resolution):
            return Search(steps=hit, pass_rates=tried, ended_early=False)
        if not has_time():
            return Search(steps=hit, pass_rates=tried, ended_early=True)
        steps = min(2 * steps, most) if hit is None else (miss + hit) // 2 // resolution * resolution


def first_reached(curve: Sequence[tuple[int, float]], threshold: float) -> int | None:
    """Return the rollouts at the first (rollouts, pass rate) whose pass rate is at least `threshold`."""
    return next((rollouts for rollouts, rate in curve if rate >= threshold), None)


def table(peer: Mapping[str, float], ours: Mapping[str, float], ratio: Mapping[str, float | None]) -> str:
    """Return the comparison as aligned text."""
    lines = [f"{'':<18}{'TRL GRPO':>12}{'rlvr PPO':>12}{'ratio':>9}"]
    for name in QUANTITIES:
        digits, quotient = 3 if name.startswith("pass_rate") else 1, ratio[name]
        shown = "-" if quotient is None else f"{quotient:.2f}x"
        lines.append(f"{name:<18}{peer[name]:>12.{digits}f}{ours[name]:>12.{digits}f}{shown:>9}")
    return "\n".join(lines)
