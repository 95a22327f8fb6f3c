"""Verdicts on labelled cases, ours and those of the peer script, and how often they are right."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr.evaluation.intervals import wilson
from verifiers.errors import BadReferenceError
from verifiers.symbolic import MathVerifier
from verifiers.types import Outcome

HOSTILE = "adv_"
SLOW_S = 5.0
PEERS = {
    "mv_plain": "math-verify, verify(parse(gold), parse(response))",
    "mv_best": "math-verify, best configuration found",
    "trl_acc": "TRL accuracy_reward",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One labelled pair of gold answer and response."""

    id: str
    kind: str
    gold: str
    response: str
    correct: bool
    debatable: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """What a verifier made of a case; `accepted` is None where it gave no verdict."""

    accepted: bool | None
    wall_s: float
    hung: bool = False


def read_cases(file: Path) -> list[Case]:
    """Return the cases of a JSONL file."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    names = ("id", "kind", "gold", "response", "correct")
    return [Case(**{name: row[name] for name in names}, debatable=row.get("debatable", False)) for row in rows]


def judged_by_us(cases: Sequence[Case]) -> dict[str, Judged]:
    """Return our verdict on each case, as `MathVerifier().judge` gives it."""
    verifier = MathVerifier()
    verifier.judge(r"\sqrt{2}", r"\boxed{\sqrt{3}}")  # starts the workers
    found = {}
    for case in cases:
        start = time.perf_counter()
        try:
            accepted = verifier.judge(case.gold, case.response).outcome is Outcome.CORRECT
        except BadReferenceError:
            accepted = None
        found[case.id] = Judged(accepted=accepted, wall_s=time.perf_counter() - start)
    return found


def judged_by_peers(results: Path) -> dict[str, dict[str, Judged]]:
    """Return the peers' verdicts from the file of the peer script."""
    found: dict[str, dict[str, Judged]] = {name: {} for name in PEERS}
    for line in results.read_text().splitlines():
        row = json.loads(line)
        if row["mode"] in PEERS:
            found[row["mode"]][row["id"]] = Judged(
                accepted=row["pred"], wall_s=row["secs"], hung=row["status"] == "hang"
            )
    return {name: verdicts for name, verdicts in found.items() if verdicts}


def scores(cases: Sequence[Case], verdicts: Mapping[str, Judged]) -> dict[str, Any]:
    """Return how often the verdicts are right, by group and by kind. No verdict counts as a rejection."""
    plain = [case for case in cases if not case.debatable]
    groups = {
        "all": plain,
        "benign": [case for case in plain if not case.kind.startswith(HOSTILE)],
        "hostile": [case for case in plain if case.kind.startswith(HOSTILE)],
        "debatable": [case for case in cases if case.debatable],
    }
    kinds = sorted({case.kind for case in plain})
    return {
        "groups": {name: _rate(group, verdicts) for name, group in groups.items()},
        "kinds": {kind: _rate([case for case in plain if case.kind == kind], verdicts) for kind in kinds},
        "hostile_false_positives": sum(
            verdicts[case.id].accepted is True and not case.correct for case in groups["hostile"]
        ),
        "slow_calls": sum(judged.wall_s >= SLOW_S for judged in verdicts.values()),
        "hangs": sum(judged.hung for judged in verdicts.values()),
        "slowest_s": round(max(judged.wall_s for judged in verdicts.values()), 3),
    }


def _rate(cases: Sequence[Case], verdicts: Mapping[str, Judged]) -> dict[str, Any]:
    right = sum((verdicts[case.id].accepted is True) == case.correct for case in cases)
    interval = wilson(right, len(cases))
    return {"n": len(cases), "right": right, "rate": right / len(cases), "low": interval.low, "high": interval.high}
