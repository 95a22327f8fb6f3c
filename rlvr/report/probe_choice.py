"""Which probes a report shows: the same problems at every step, the most telling first."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rlvr.report.choice import Outline


def choose_probes(steps: Mapping[int, Sequence[Outline]], problems: int) -> dict[int, dict[int, list[str]]]:
    """Return the rows to show at each step, in the same order of problems at all, with what became of the problem.

    Of every problem first one response, then one of each other outcome, then the rest.

    Args:
        steps: in order.
        problems: places per step.
    """
    shares = _shares(steps)
    # Those whose verdict differs most between the first step and the last, then those where it came and went.
    order = sorted(shares, key=lambda name: (-abs(_gain(shares[name])), -_gain(shares[name]), -len(set(shares[name]))))
    chosen: dict[int, dict[int, list[str]]] = {}
    for step, own in steps.items():
        by_problem: dict[str, list[Outline]] = defaultdict(list)
        for outline in own:
            by_problem[outline.problem].append(outline)
        ranked = {name: _of_each_outcome_first(by_problem[name]) for name in order}
        depths = range(max(map(len, ranked.values()), default=0))
        rows = [(ranked[name][depth], name) for depth in depths for name in order if depth < len(ranked[name])]
        chosen[step] = {outline.row: _reasons(shares[name]) for outline, name in rows[:problems]}
    return chosen


def _shares(steps: Mapping[int, Sequence[Outline]]) -> dict[str, list[float]]:
    """Return by problem the share of right responses at each step that has the problem."""
    shares: dict[str, list[float]] = {}
    for own in steps.values():
        right: dict[str, list[bool]] = defaultdict(list)
        for outline in own:
            right[outline.problem].append(outline.outcome == "correct")
        for name, found in right.items():
            shares.setdefault(name, []).append(sum(found) / len(found))
    return shares


def _gain(shares: Sequence[float]) -> float:
    return shares[-1] - shares[0]


def _of_each_outcome_first(own: Sequence[Outline]) -> list[Outline]:
    first: dict[str | None, Outline] = {}
    for outline in own:
        first.setdefault(outline.outcome, outline)
    return [*first.values(), *(outline for outline in own if outline is not first[outline.outcome])]


def _reasons(shares: Sequence[float]) -> list[str]:
    gain = _gain(shares)
    if gain:
        return ["more often right at the end" if gain > 0 else "less often right at the end"]
    return ["verdict came and went"] if len(set(shares)) > 1 else []
