"""What a report warns of: what the run's numbers say, and what its readers should keep in mind about them."""

import shlex
from collections.abc import Sequence
from typing import Any

from rlvr.evaluation.comparison_words import rounded
from rlvr.report.headline import Headline
from rlvr.report.run_data import RunData
from rlvr.tracking.findings import Finding, most_serious_first
from rlvr.tracking.run_findings import run_findings

WIDE = 0.15
"""Width of a 95 % interval from which on it hides most differences."""
_OF_ONE_RUN = ("name", "seed", "dir", "threads", "device")
"""Keys of [run] in which repetitions of a run may differ."""
_ABOUT_TRAINING = ("run", "model", "task", "sft", "rollout", "reward", "algorithm", "critic", "optimizer")
"""Sections in which they may not."""


def report_findings(run: RunData, headline: Headline, others: Sequence[RunData]) -> list[Finding]:
    """Return what there is to say about a run, most serious first.

    Args:
        others: the other runs of the report, of which some may be the same with another seed.
    """
    return most_serious_first(
        [*run_findings(run.metrics, run.evaluations, run.setting), *_about_the_evidence(run, headline, others)]
    )


def as_record(finding: Finding) -> dict[str, Any]:
    """Return a finding as the page has it."""
    return {name: getattr(finding, name) for name in ("level", "title", "text", "step", "metric")}


def _about_the_evidence(run: RunData, headline: Headline, others: Sequence[RunData]) -> list[Finding]:
    notes = [_unfinished(run), _one_seed(run, others), _indistinguishable(headline), _wide(headline)]
    return [note for note in notes if note is not None]


def _unfinished(run: RunData) -> Finding | None:
    if run.finished:
        return None
    done, planned = (run.metrics[-1]["step"] if run.metrics else 0), run.value("run", "steps")
    return Finding(
        kind="unfinished",
        level="note",
        title=f"The run has not finished: {done} of {'?' if planned is None else planned} steps",
        text="The numbers are those of its last step. If nothing works on it any more, go on with "
        f"`rlvr train --resume {shlex.quote(str(run.folder.path))}`.",
        step=done,
    )


def _one_seed(run: RunData, others: Sequence[RunData]) -> Finding | None:
    if any(_method(other) == _method(run) and _seed(other) != _seed(run) for other in others):
        return None
    return Finding(
        kind="one seed",
        level="note",
        title="One seed",
        text="Intervals here are over problems; another run.seed may end elsewhere by more than that. Before saying "
        "that one method is better than another, train several seeds and report them together.",
    )


def _indistinguishable(headline: Headline) -> Finding | None:
    if headline.paired is None or headline.paired.distinguishable:
        return None
    needed = headline.paired.problems_needed
    return Finding(
        kind="indistinguishable",
        level="note",
        title=f"Before and after cannot be told apart with {headline.paired.difference.n} problems",
        text="That is not evidence of no effect: the evaluation may be too small to see it. "
        + (f"About {rounded(needed)} problems would show a difference like this one. " if needed else "")
        + "Raise evaluation.problems, or `rlvr eval` both models on more problems.",
        metric="eval/greedy_pass_rate",
    )


def _wide(headline: Headline) -> Finding | None:
    rate = (headline.after or headline.before or {}).get("greedy") or {}
    if rate.get("low") is None or rate["high"] - rate["low"] <= WIDE:
        return None
    return Finding(
        kind="wide",
        level="note",
        title=f"The pass rate is known to {100 * (rate['high'] - rate['low']):.0f} points only",
        text=f"Its 95 % interval over {rate['n']} problems is that wide; raise evaluation.problems.",
        metric="eval/greedy_pass_rate",
    )


def _method(run: RunData) -> dict[str, Any]:
    own = {key: value for key, value in run.config.get("run", {}).items() if key not in _OF_ONE_RUN}
    return {section: run.config.get(section) for section in _ABOUT_TRAINING} | {"run": own}


def _seed(run: RunData) -> Any:
    return run.value("run", "seed")
