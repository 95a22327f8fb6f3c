"""The same held-out problems at every evaluation: what the greedy policy wrote to each."""

from collections.abc import Mapping, Sequence
from typing import Any

from rlvr.report.budget import Budget, Packed, evenly
from rlvr.tracking.run_folder import RunFolder

MAX_EVALUATIONS = 8
MAX_PROBLEMS = 30
MAX_CHARACTERS = 12_000
"""Of a text in the page; of a longer one the middle is left out."""


def held_out_texts(
    folder: RunFolder, evaluations: Sequence[Mapping[str, Any]], budget: Budget
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return problems with the answers of several evaluations, those that changed most telling first, and notes.

    Args:
        budget: what is shown is taken from it.
    """
    by_evaluation = _rows(folder, evaluations)
    if not by_evaluation:
        return [], []
    common = set.intersection(*(set(rows) for _, rows in by_evaluation))
    everything = by_evaluation[0][1]
    ordered = _telling_first([problem for problem in everything if problem in common], by_evaluation)
    shown: list[dict[str, Any]] = []
    for problem in ordered[:MAX_PROBLEMS]:
        packed = Packed(_problem(problem, by_evaluation))
        if budget.take(packed.size_bytes):
            shown.append(packed.value())
    notes = []
    if len(shown) < len(ordered):
        notes.append(
            f"{folder.name}: of {len(ordered):,} held-out problems that every evaluation shown asked, {len(shown)} are "
            f"in the page, at {len(by_evaluation)} of {len(evaluations)} evaluations; all are in responses/."
        )
    return shown, notes


def _rows(
    folder: RunFolder, evaluations: Sequence[Mapping[str, Any]]
) -> list[tuple[Mapping[str, Any], dict[str, Mapping[str, Any]]]]:
    """Return the greedy rows by problem of evenly chosen evaluations, the first and the last of them included."""
    split = evaluations[0]["split"] if evaluations else None
    recorded = [
        record
        for record in evaluations
        if record["split"] == split and folder.responses_path(record["phase"], record["step"], "greedy").is_file()
    ]
    found = []
    for record in evenly(recorded, MAX_EVALUATIONS):
        rows = folder.read_responses(record["phase"], record["step"], "greedy")
        found.append((record, {row["problem"]: row for row in rows}))
    return found


def _telling_first(problems: Sequence[str], by_evaluation: Sequence[tuple[Any, Mapping[str, Any]]]) -> list[str]:
    """Take turns: problems gained, lost, changed in between, never right, always right."""
    turns: list[list[str]] = [[], [], [], [], []]
    for problem in problems:
        right = [rows[problem]["outcome"] == "correct" for _, rows in by_evaluation]
        if right[0] != right[-1]:
            turns[0 if right[-1] else 1].append(problem)
        else:
            turns[2 if any(right) != all(right) else 4 if right[0] else 3].append(problem)
    longest = max(map(len, turns))
    return [turn[place] for place in range(longest) for turn in turns if place < len(turn)]


def _problem(problem: str, by_evaluation: Sequence[tuple[Any, Mapping[str, Any]]]) -> dict[str, Any]:
    answers = []
    for record, rows in by_evaluation:
        row = rows[problem]
        answers.append(
            {
                "step": record["step"],
                "phase": record["phase"],
                "text": _shortened(row["text"]),
                **{name: row.get(name) for name in ("outcome", "finish", "answer", "detail")},
            }
        )
    return {"id": problem, "prompt": _shortened(by_evaluation[0][1][problem]["prompt"]), "answers": answers}


def _shortened(text: str) -> str:
    left_out = len(text) - MAX_CHARACTERS
    if left_out <= 0:
        return text
    half = MAX_CHARACTERS // 2
    return f"{text[:half]}\n[... {left_out:,} characters left out ...]\n{text[-half:]}"
