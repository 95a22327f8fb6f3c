"""What an evaluation found on each problem, in one line each."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tasks.types import Problem
from verifiers.types import Outcome


def counts_by_problem(rows: Iterable[Mapping[str, Any]]) -> dict[str, tuple[int, int]]:
    """Return (responses judged, of these right) of each problem that has any judged, in order."""
    counts: dict[str, tuple[int, int]] = {}
    for row in rows:
        if row["outcome"] is not None:
            judged, right = counts.get(row["problem"], (0, 0))
            counts[row["problem"]] = (judged + 1, right + (row["outcome"] == Outcome.CORRECT.value))
    return counts


def rates_by_problem(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the share of right responses among the judged ones of each problem that has any, in order."""
    return {problem: right / judged for problem, (judged, right) in counts_by_problem(rows).items()}


def problem_records(
    problems: Sequence[Problem], rows: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """Return a record for each problem: its prompt, the greedy outcome, and what the sampled responses came to.

    Args:
        rows: of the modes that were measured, "greedy" and "sampled", as `evaluate` makes them.
    """
    records: dict[str, dict[str, Any]] = {
        problem.id: {"id": problem.id, "prompt": problem.prompt} for problem in problems
    }
    for row in rows.get("greedy", ()):
        records[row["problem"]] |= {"greedy": row["outcome"], "greedy_answer": row.get("answer")}
    if "sampled" in rows:
        own: dict[str, list[Mapping[str, Any]]] = {name: [] for name in records}
        for row in rows["sampled"]:
            own[row["problem"]].append(row)
        for name, record in records.items():
            record |= _sampled(own[name])
    return list(records.values())


def _sampled(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    judged = [row for row in rows if row["outcome"] is not None]
    answers = Counter(row["answer"] for row in judged if row["answer"] is not None)
    return {
        "judged": len(judged),
        "correct": sum(row["outcome"] == Outcome.CORRECT.value for row in judged),
        "answers": dict(answers.most_common()),
    }
