"""The held-out curve of a run, problem by problem: what statistics over whole curves are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rlvr.errors import RunFolderError
from rlvr.evaluation.per_problem import rates_by_problem
from rlvr.tracking.run_folder import RunFolder

Axis: TypeAlias = Literal["step", "rollouts", "tokens", "wall_s"]
"""What a curve can run over, as evaluations record it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunCurve:
    """A run's evaluations on the problems that all of them have."""

    records: Sequence[Mapping[str, Any]]
    """Lines of evaluations.jsonl, from what PPO started with onwards, one per step."""
    rates: Sequence[Mapping[str, float]]
    """At each of them the pass rate on each problem, by its id."""

    @property
    def problems(self) -> list[str]:
        """Ids, in the order of the first evaluation."""
        return list(self.rates[0])

    def places(self, x: Axis) -> list[float] | None:
        """Return the x of each point; None where it was not recorded."""
        values = [record.get(x) for record in self.records]
        return None if None in values else [float(value) for value in values if value is not None]

    def table(self, problems: Sequence[str]) -> list[list[float]]:
        """Return [points][problems] the pass rate on each of these problems."""
        return [[rates[problem] for problem in problems] for rates in self.rates]


def curve_records(evaluations: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the evaluations that make a run's curve: of what PPO started from, then one for each step evaluated.

    Another split evaluated later does not belong to it; of a step measured twice the last counts; the base model
    before a warm start is not a point of PPO's curve.
    """
    own = [record for record in evaluations if record["split"] == evaluations[0]["split"]]
    latest = {(record["phase"], record["step"]): record for record in own}
    base, sft, ppo = ([latest[key] for key in sorted(latest) if key[0] == phase] for phase in ("base", "sft", "ppo"))
    return [*(sft or base)[-1:], *ppo]


def run_curve(folder: RunFolder, mode: str) -> RunCurve | None:
    """Return the curve of a run in one mode, "greedy" or "sampled"; None where there are fewer than two points.

    Evaluations whose responses were not recorded are left out.

    Raises:
        RunFolderError: a file of responses is damaged.
    """
    points = [
        (record, rates_by_problem(folder.read_responses(record["phase"], record["step"], mode)))
        for record in curve_records(folder.read_evaluations())
        if record.get(mode) and folder.responses_path(record["phase"], record["step"], mode).exists()
    ]
    if len(points) < 2:
        return None
    common = [problem for problem in points[0][1] if all(problem in rates for _, rates in points)]
    if not common:
        raise RunFolderError(f"{folder.path}: no problem was judged in all {len(points)} evaluations of its curve")
    return RunCurve(
        records=[record for record, _ in points],
        rates=[{problem: rates[problem] for problem in common} for _, rates in points],
    )
