"""What `rlvr replay` prints at its end."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from rlvr.cli.held_out import rate_text
from rlvr.cli.text_table import aligned, one_line, printable
from rlvr.evaluation.replay import Changes, EvaluationChange, Rejudged, StepChange
from verifiers.types import Outcome

_STEPS_SHOWN = 25
_REASONS_SHOWN = 5
_TEXT_SHOWN = 160


def change_lines(name: str, changes: Changes) -> Iterator[str]:
    """Yield how verdicts changed: a table of old and new outcomes, then what could not be judged."""
    share = f" ({100 * changes.flipped / changes.n:.2f} %)" if changes.n else ""
    yield f"{name}: {changes.n:,} with a verdict of both, {changes.flipped:,} flipped{share}"
    present = [o.value for o in Outcome if any(o.value in pair for pair in changes.outcomes)]
    if present:
        rows = [[old, *(f"{changes.outcomes[old, new]:,}" for new in present)] for old in present]
        yield from aligned(["  old \\ new", *present], [[f"  {row[0]}", *row[1:]] for row in rows])
    if changes.scores_alone:
        yield f"  {changes.scores_alone:,} kept their outcome and have another score"
    if changes.unjudged_before:
        yield f"  {changes.unjudged_before:,} had no verdict before, and are left out"
    for reason, count in changes.failed.most_common(_REASONS_SHOWN):
        yield f"  {count:,} could not be judged now: {one_line(reason, _TEXT_SHOWN)}"


def step_lines(steps: Sequence[StepChange]) -> Iterator[str]:
    """Yield the training pass rate and the mean reward of each step, as they were and as they would have been."""
    if not steps:
        return
    last = len(steps) - 1
    count = min(len(steps), _STEPS_SHOWN)
    shown = [steps[round(i * last / max(1, count - 1))] for i in range(count)]
    yield "training, as it was -> as it would have been"
    yield from aligned(
        ["  step", "n", "pass rate", "", "", "change", "reward", "", "", "change", "flipped"],
        [*(_step_row(str(one.step), one) for one in shown), _step_row("all", _together(steps))],
    )
    if count < len(steps):
        yield f"  ({_STEPS_SHOWN} of {len(steps):,} steps; --json prints all of them)"


def _step_row(name: str, one: StepChange) -> list[str]:
    return [
        f"{name:>6}", f"{one.n:,}",
        f"{100 * one.old_pass_rate:.1f} %", "->", f"{100 * one.new_pass_rate:.1f} %",
        _points(one.new_pass_rate - one.old_pass_rate),
        f"{one.old_reward:.3f}", "->", f"{one.new_reward:.3f}", _signed(one.new_reward - one.old_reward, 3),
        f"{one.flipped:,}",
    ]  # fmt: skip


def _together(steps: Sequence[StepChange]) -> StepChange:
    n = sum(one.n for one in steps)
    means = {
        name: sum(getattr(one, name) * one.n for one in steps) / n
        for name in ("old_pass_rate", "new_pass_rate", "old_reward", "new_reward")
    }
    return StepChange(step=0, n=n, flipped=sum(one.flipped for one in steps), **means)


def evaluation_lines(evaluations: Sequence[EvaluationChange]) -> Iterator[str]:
    """Yield the held-out pass rates with their intervals, as they were and as they would have been."""
    if not evaluations:
        return
    yield "held-out pass rate, as it was -> as it would have been, with 95 % intervals"
    yield from aligned(
        ["  evaluation", "", "n", "pass rate", "", "", "change", "flipped"],
        [
            [
                f"  {one.phase} {one.step}", one.mode, f"{one.new.n:,}",
                rate_text(one.old.as_record()), "->", rate_text(one.new.as_record()),
                _points((one.new.pass_rate or 0.0) - (one.old.pass_rate or 0.0)), f"{one.flipped:,}",
            ]
            for one in evaluations
        ],
        words=(0, 1),
    )  # fmt: skip


def flip_lines(flips: Sequence[Rejudged], run: str) -> Iterator[str]:
    """Yield the first flipped responses: where each lies, what it says, and why each verifier judged as it did."""
    for flip in flips:
        row = flip.stored.row
        yield f"{flip.stored.place}, {printable(row['problem'])}, response {flip.stored.sample}"
        yield f"  text  {one_line(row['text'], _TEXT_SHOWN)}"
        yield f"  old   {_verdict(row)}"
        yield f"  new   {_verdict(flip.new)}"
    if flips:
        first = flips[0].stored
        at_step = first.place.startswith("step ")
        flags = ["--step", first.place.removeprefix("step ")] if at_step else ["--evaluation"]
        flags += ["--problem", first.row["problem"], *(["--sample", str(first.sample)] if first.sample else [])]
        yield f"more of one: {printable(shlex.join(['rlvr', 'inspect', run, *flags]))}"


def record(
    changes: dict[str, Changes], steps: Sequence[StepChange], evaluations: Sequence[EvaluationChange]
) -> dict[str, Any]:
    """Return the figures for programs."""
    return {
        "changes": {
            name: {
                "n": one.n,
                "flipped": one.flipped,
                "outcomes": [
                    {"old": old, "new": new, "n": count} for (old, new), count in sorted(one.outcomes.items())
                ],
                "scores_alone": one.scores_alone,
                "unjudged_before": one.unjudged_before,
                "failed": dict(one.failed),
            }
            for name, one in changes.items()
        },
        "steps": [
            {name: getattr(one, name) for name in StepChange.__dataclass_fields__} for one in steps
        ],
        "evaluations": [
            {
                "phase": one.phase, "step": one.step, "mode": one.mode, "flipped": one.flipped,
                "old": _rate(one.old.as_record()), "new": _rate(one.new.as_record()),
            }
            for one in evaluations
        ],
    }  # fmt: skip


def _rate(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("pass_rate", "low", "high", "n")}


def _verdict(columns: Any) -> str:
    answer = "" if columns.get("answer") is None else f", answer {one_line(str(columns['answer']), 60)}"
    detail = f": {one_line(str(columns['detail']), _TEXT_SHOWN)}" if columns.get("detail") else ""
    score = f" (score {columns['score']:g})" if columns.get("score") not in (None, 0.0, 1.0) else ""
    return f"{columns['outcome']}{score}{answer}{detail}"


def _points(difference: float) -> str:
    return _signed(100 * difference, 1)


def _signed(number: float, decimals: int) -> str:
    rounded = round(number, decimals)
    return f"{rounded:+.{decimals}f}" if rounded else "0"
