"""The one sentence of a report: what the held-out pass rate was before and after, and whether that is chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlvr.evaluation.comparison_words import difference_text, p_text
from rlvr.evaluation.intervals import wilson
from rlvr.evaluation.paired import Difference, mcnemar, paired_difference, problems_needed
from rlvr.report.run_data import RunData
from rlvr.tracking.rates import rate_text
from verifiers.types import Outcome

SIGNIFICANT = 0.05
_LABELS = {"base": "base model", "sft": "after the SFT warm start"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Paired:
    """Two evaluations on the problems that both have."""

    gained: int
    """Problems that were wrong before and are right after."""
    lost: int
    p: float
    """McNemar's exact test, two-sided."""
    difference: Difference
    before: str
    """The pass rate on these problems, with its interval."""
    after: str
    problems_needed: int | None
    """To see a difference as large as this one with 80 % power; None where there is none."""

    @property
    def distinguishable(self) -> bool:
        return self.p < SIGNIFICANT


@dataclass(frozen=True, kw_only=True, slots=True)
class Headline:
    """What a run came to."""

    text: str
    before: Mapping[str, Any] | None
    """The evaluation of what PPO started from."""
    after: Mapping[str, Any] | None
    """The last evaluation after PPO steps."""
    paired: Paired | None

    def as_record(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "before": _side(self.before),
            "after": _side(self.after),
            "paired": None
            if self.paired is None
            else {
                "gained": self.paired.gained,
                "lost": self.paired.lost,
                "p": p_text(self.paired.p),
                "difference": difference_text(self.paired.difference),
                "n": self.paired.difference.n,
            },
        }


def headline(run: RunData) -> Headline:
    """Return the headline of a run, as far as it has come."""
    own = [record for record in run.evaluations if record["split"] == run.evaluations[0]["split"]]
    starts, later = ([r for r in own if (r["phase"] == "ppo") is is_ppo] for is_ppo in (False, True))
    before, after = (starts or [None])[-1], (later or [None])[-1]
    paired = _paired(run, before, after) if before and after else None
    return Headline(text=_text(run, before, after, paired), before=before, after=after, paired=paired)


def _text(
    run: RunData, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, paired: Paired | None
) -> str:
    first, last = (rate_text((record or {}).get("greedy")) for record in (before, after))
    if last is None and first is None:
        return "Nothing has been measured on held-out problems yet."
    if after is None or last is None:
        assert before is not None
        return f"Greedy held-out pass rate of the {_start(before)}: {first} (n = {before['greedy']['n']})" + (
            "." if run.finished else "; nothing has been measured after PPO steps yet."
        )
    n = after["greedy"]["n"]
    so_far = "" if run.finished else f"After {after['step']} of {run.value('run', 'steps', '?')} steps: "
    if before is None or first is None:
        return f"{so_far}Greedy held-out pass rate {last} (n = {n}); what it began with was not measured."
    if paired is None:
        return f"{so_far}Greedy held-out pass rate went from {first} to {last} (n = {n})."
    flips = f"{paired.gained} problems gained, {paired.lost} lost, exact McNemar {p_text(paired.p)}"
    common = paired.difference.n
    where = f"n = {n}; "
    if not common == n == before["greedy"]["n"]:
        first, last, where = paired.before, paired.after, f"on the {common} problems that both asked: "
    if not paired.distinguishable:
        return (
            f"{so_far}Greedy held-out pass rate {last}, not distinguishable from the {first} it began with "
            f"({where}{flips})."
        )
    moved = "rose" if paired.gained > paired.lost else "fell"
    return f"{so_far}Greedy held-out pass rate {moved} from {first} to {last} ({where}{flips})."


def _start(record: Mapping[str, Any]) -> str:
    return "base model" if record["phase"] == "base" else "model after its SFT warm start"


def _side(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return {
        "label": _LABELS.get(record["phase"], f"after {record['step']} PPO steps"),
        "greedy": rate_text(record.get("greedy")),
        "sampled": rate_text(record.get("sampled")),
        "n": (record.get("greedy") or record.get("sampled") or {}).get("n"),
    }


def _paired(run: RunData, before: Mapping[str, Any], after: Mapping[str, Any]) -> Paired | None:
    rights = []
    for record in (before, after):
        phase, step = record["phase"], record["step"]
        if not run.folder.responses_path(phase, step, "greedy").is_file():
            return None  # not kept by older versions
        rows = run.folder.read_responses(phase, step, "greedy")
        rights.append({row["problem"]: row["outcome"] == Outcome.CORRECT.value for row in rows if row["outcome"]})
    first, last = rights
    common = [problem for problem in last if problem in first]
    if not common:
        return None
    gained = sum(last[problem] and not first[problem] for problem in common)
    lost = sum(first[problem] and not last[problem] for problem in common)
    one, other = ([float(right[problem]) for problem in common] for right in rights)
    return Paired(
        gained=gained,
        lost=lost,
        p=mcnemar(gained, lost),
        difference=paired_difference(one, other),
        before=_rate(one),
        after=_rate(other),
        problems_needed=problems_needed([y - x for x, y in zip(one, other, strict=True)]),
    )


def _rate(right: Sequence[float]) -> str:
    interval = wilson(sum(right), len(right))
    text = rate_text({"pass_rate": sum(right) / len(right), "low": interval.low, "high": interval.high})
    assert text is not None
    return text
