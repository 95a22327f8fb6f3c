"""pass@k against k of several policies, and where one overtakes another.

RL often lifts pass@1 while the model it began with solves more problems in many attempts: then their curves cross.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path

from rlvr.errors import ConfigError
from rlvr.evaluation.curves.series import Point, Role, Series, Subject
from rlvr.evaluation.intervals import cluster_wilson
from rlvr.evaluation.measured import Measured, load_measured
from rlvr.evaluation.pass_at_k import pass_at_k
from rlvr.evaluation.per_problem import counts_by_problem
from rlvr.tracking.run_folder import RunFolder

Counts = Mapping[str, tuple[int, int]]
"""Responses judged and right ones, by problem id."""

_PHASE_NAMES = {"base": "base", "sft": "SFT", "ppo": "RL"}
_ROLES: dict[str | None, Role] = {"base": "base", "sft": "sft", "ppo": "ppo"}


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasuredPolicy:
    """A policy with what its sampled responses came to."""

    name: str
    role: Role
    step: int | None
    counts: Counts
    task: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Crossing:
    """Where two lines change places."""

    k: float
    y: float
    is_sure: bool
    """Whether on both sides of it there is a k at which the two intervals have nothing in common."""


def policies_of(text: str) -> list[MeasuredPolicy]:
    """Return the policies that `text` names: of a run folder its base model, SFT start and last policy; else one.

    Raises:
        RunFolderError: there is no such folder, or its responses were not recorded.
        ConfigError: there is one response per problem, so that there is no k but 1.
    """
    path = Path(text)
    if not (path / "config.toml").is_file():
        measured = load_measured(text)
        return [_policy(measured, text, measured.name)]
    phases = {record["phase"] for record in RunFolder.open(path).read_evaluations()}
    names = [f"{text}@{phase}" for phase in ("base", "sft") if phase in phases]
    last = load_measured(text)
    found = [load_measured(name) for name in names]
    if last.phase == "ppo":
        found.append(last)
    elif "ppo" in phases:
        # Stopped before the evaluation on all problems: the last one on the first of them.
        found.append(load_measured(f"{text}@ppo"))
    return [_policy(measured, text, _phase_name(measured)) for measured in found]


def on_common_problems(policies: Sequence[MeasuredPolicy]) -> tuple[list[MeasuredPolicy], list[str]]:
    """Return the policies with the problems that all of them were asked, and a warning where that leaves some out."""
    sets = [set(policy.counts) for policy in policies]
    common = set.intersection(*sets)
    if all(own == common for own in sets):
        return list(policies), []
    if not common:
        return list(policies), ["no problem was asked of all policies, so their pass rates cannot be compared"]
    kept = [
        replace(policy, counts={problem: found for problem, found in policy.counts.items() if problem in common})
        for policy in policies
    ]
    most = max(map(len, sets))
    return kept, [
        f"the policies were asked different problems; compared on the {len(common)} (of up to {most}) in common"
    ]


def pass_at_k_line(policy: MeasuredPolicy) -> Series:
    """Return unbiased pass@k at k = 1, 2, 4, ... and the fewest responses of a problem, with intervals."""
    largest = min(judged for judged, _ in policy.counts.values())
    points = []
    for k in sorted({*(2**power for power in range(largest.bit_length())), largest}):
        rates = [pass_at_k(judged, right, k) for judged, right in policy.counts.values()]
        interval = cluster_wilson(rates)
        points.append(
            Point(
                key=k, step=policy.step, x=float(k), y=sum(rates) / len(rates),
                low=interval.low, high=interval.high, n=len(rates),
            )
        )  # fmt: skip
    return Series(name=policy.name, role=policy.role, points=tuple(points), n_of="problems")


def subject_of_policies(label: str, policies: Sequence[MeasuredPolicy], *, step_in_name: bool) -> Subject:
    """Return the lines of a run, or of a policy measured by itself.

    Args:
        step_in_name: whether to say after how many steps; seeds that are averaged share the name without.
    """
    lines = [pass_at_k_line(policy) for policy in policies]
    if step_in_name:
        lines = [
            replace(line, name=f"{line.name}, step {policy.step}") if line.role == "ppo" else line
            for line, policy in zip(lines, policies, strict=True)
        ]
    return Subject(label=label, runs=(label,), series=tuple(lines))


def crossings(lines: Sequence[Series]) -> list[Crossing]:
    """Return where lines cross between two k, linear in log2 k; lines that only touch do not cross."""
    return [found for one, other in combinations(lines, 2) for found in _crossings_of(one, other)]


def _crossings_of(one: Series, other: Series) -> Iterator[Crossing]:
    by_k = {point.key: point for point in other.points}
    pairs = [(point, by_k[point.key]) for point in one.points if point.key in by_k]
    apart = [(a, b) for a, b in pairs if a.y != b.y]
    for (a, b), (next_a, next_b) in pairwise(apart):
        before, after = a.y - b.y, next_a.y - next_b.y
        if (before > 0) == (after > 0):
            continue
        share = before / (before - after)
        k = 2 ** (math.log2(a.key) + share * (math.log2(next_a.key) - math.log2(a.key)))
        left = [pair for pair in apart if pair[0].key <= a.key]
        right = [pair for pair in apart if pair[0].key >= next_a.key]
        yield Crossing(
            k=k,
            y=a.y + share * (next_a.y - a.y),
            is_sure=any(_disjoint(*pair) for pair in left) and any(_disjoint(*pair) for pair in right),
        )


def _disjoint(a: Point, b: Point) -> bool:
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return False
    return a.high < b.low or b.high < a.low


def _policy(measured: Measured, text: str, name: str) -> MeasuredPolicy:
    rates = measured.records.get("sampled") or {}
    counts = counts_by_problem(measured.rows("sampled"))
    largest = min((judged for judged, _ in counts.values()), default=0)
    if largest < 2:
        single = rates.get("samples_per_problem") == 1
        why = "has one response per problem" if single else "has a problem with fewer than two judged responses"
        raise ConfigError(
            f"{text}: {name} {why}; pass@k for k > 1 needs several, so "
            "measure with evaluation.samples_per_problem=8 or more"
        )
    return MeasuredPolicy(
        name=name,
        role=_ROLES.get(measured.phase, "policy"),
        step=measured.step,
        counts=counts,
        task=f"{measured.task}, {measured.split}",
    )


def _phase_name(measured: Measured) -> str:
    return _PHASE_NAMES.get(measured.phase or "", measured.name)
