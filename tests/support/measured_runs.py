"""Evaluations with made-up responses: run folders and evaluation folders for whatever reads rows."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlvr.evaluation.pass_rate import pass_rate
from rlvr.tracking.jsonl import write_records
from rlvr.tracking.run_folder import RunFolder

CONFIG = """[run]
name = "made"
[task]
name = "made"
options = {}
[evaluation]
split = "test"
[rollout]
max_new_tokens = 16
"""

Outcomes = Mapping[int, str]
"""By problem number a letter for each response: c correct, i incorrect, n no answer, ? could not be judged."""

_OUTCOMES = {"c": "correct", "i": "incorrect", "n": "no_answer", "?": None}


def rows_of(outcomes: Outcomes, **columns: Any) -> list[dict[str, Any]]:
    """Return rows as `evaluate` makes them; right answers are 7, wrong ones 8."""
    return [
        {
            "problem": f"made/test/{problem}", "sample": sample, "prompt": f"What is problem {problem}?",
            "text": f"It is {letter}.", "finish": "stop", "tokens": 3, "prompt_tokens": 5,
            "outcome": _OUTCOMES[letter], "score": float(letter == "c"),
            "answer": {"c": "7", "i": "8"}.get(letter), "detail": "made up", **columns,
        }
        for problem, letters in outcomes.items()
        for sample, letter in enumerate(letters)
    ]  # fmt: skip


def add_evaluation(
    folder: RunFolder, phase: str, step: int, rows: Mapping[str, Sequence[Mapping[str, Any]]], **columns: Any
) -> None:
    """Record an evaluation of a run with its rows by mode."""
    record: dict[str, Any] = {"step": step, "phase": phase, "split": "test"}
    for mode, own in rows.items():
        record[mode] = pass_rate(own, temperature=0.0 if mode == "greedy" else 1.0).as_record()
        record["problems"] = record[mode]["problems"]
        folder.write_responses(phase, step, mode, own)
    record |= {"train_pass_rate": None, "rollouts": 100 * step, "tokens": 900 * step, "wall_s": 60.0 + 2.0 * step}
    folder.append_evaluation(record | columns)


def made_run(path: Path, points: Mapping[tuple[str, int], Outcomes], *, config: str = CONFIG) -> RunFolder:
    """Make a run folder with these evaluations, greedy and sampled the same."""
    folder = RunFolder.create(path, config)
    for (phase, step), outcomes in points.items():
        greedy = {problem: letters[0] for problem, letters in outcomes.items()}
        add_evaluation(folder, phase, step, {"greedy": rows_of(greedy), "sampled": rows_of(outcomes)})
    return folder


def made_evaluation(
    path: Path, rows: Mapping[str, Sequence[Mapping[str, Any]]], *, task: str = "made", split: str = "test",
    **columns: Any,
) -> Path:  # fmt: skip
    """Make an evaluation folder as `rlvr eval` does."""
    path.mkdir(parents=True)
    modes = {}
    for mode, own in rows.items():
        write_records(path / f"{mode}.jsonl", own)
        modes[mode] = pass_rate(own, temperature=0.0 if mode == "greedy" else 1.0).as_record()
    record = {
        "name": path.name, "model": "made", "task": task, "task_options": {}, "split": split, "verifier": "task",
        "sampling": {"max_new_tokens": 16, "top_p": 1.0, "top_k": 0}, "modes": modes, "finished": True,
    }  # fmt: skip
    (path / "evaluation.json").write_text(json.dumps(record | columns), encoding="utf-8")
    return path
