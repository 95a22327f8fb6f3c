"""Warnings in plain words while a run goes: what the numbers mean and what to change."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rlvr.tracking import limits
from rlvr.tracking.findings import Finding, Setting, evaluation_findings, step_findings, truncation
from rlvr.tracking.run_findings import COURSE_METRICS, course_findings, held_out_findings

TRUNCATED_LIMIT = limits.TRUNCATED_FRAC
_REPEAT_AFTER_STEPS = 20
_COURSE_EVERY_STEPS = 10


class Alarms:
    """Looks at each step's numbers and warns, of each thing at most once in a while.

    Args:
        max_new_tokens: the length limit, named in the advice.
        samples_per_prompt: responses to each problem; with one, groups say nothing.
    """

    def __init__(self, *, max_new_tokens: int, samples_per_prompt: int = 1) -> None:
        self._setting = Setting(max_new_tokens=max_new_tokens, samples_per_prompt=samples_per_prompt)
        self._last_step: dict[str, int] = {}
        self._metrics: list[dict[str, Any]] = []
        self._evaluations: list[Mapping[str, Any]] = []
        self.raised: list[str] = []
        """Every warning so far, for the summary."""

    def remember(
        self, metrics: Sequence[Mapping[str, Any]], evaluations: Sequence[Mapping[str, Any]], raised: Sequence[str]
    ) -> None:
        """Take up a run that goes on from a checkpoint: its steps and evaluations before, and its warnings."""
        self._metrics = [_kept(line["step"], line) for line in metrics]
        self._evaluations = list(evaluations)
        self.raised[:] = raised

    def after_step(self, step: int, numbers: Mapping[str, float | None]) -> list[str]:
        """Return the warnings that a PPO step's numbers, and the course of the run up to it, call for."""
        self._metrics.append(_kept(step, numbers))
        found = step_findings(numbers, self._setting)
        if len(self._metrics) % _COURSE_EVERY_STEPS == 0:
            found += [finding for finding in course_findings(self._metrics) if finding.level != "note"]
        return self._raise(step, found)

    def after_evaluation(self, record: Mapping[str, Any]) -> list[str]:
        """Return the warnings that a held-out evaluation calls for: a reward above what audits confirm, a fall."""
        before = self._evaluations[-1] if self._evaluations else None
        self._evaluations.append(record)
        fallen = [
            found for found in held_out_findings(self._evaluations, self._setting) if found.kind == "held-out falls"
        ]
        return self._raise(record["step"], [*evaluation_findings(record, before), *fallen])

    def truncation(self, share: float) -> str:
        """Say that responses are cut off, and what to raise; empty below the limit."""
        found = truncation(share, self._setting)
        return found.line if found else ""

    def _raise(self, step: int, found: Iterable[Finding]) -> list[str]:
        lines = []
        for finding in found:
            last = self._last_step.get(finding.kind)
            if last is None or step - last >= _REPEAT_AFTER_STEPS:
                self._last_step[finding.kind] = step
                self.raised.append(f"step {step}: {finding.line}")
                lines.append(f"warning: step {step}: {finding.line}")
        return lines


def _kept(step: int, numbers: Mapping[str, float | None]) -> dict[str, Any]:
    return {"step": step, **{name: numbers.get(name) for name in COURSE_METRICS}}
