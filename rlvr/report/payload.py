"""All that a report page shows, as one JSON-like record; page.py draws it.

{"title", "made" (ISO time), "version", "refresh_s": seconds until the page reloads itself, or null,
 "notes": [text: what was sampled or shortened],
 "runs": [{"name", "path", "finished",
     "facts": [[label, text]], "config": TOML,
     "headline": {"text", "before" and "after": {"label", "greedy", "sampled": text|null, "n"}|null,
         "paired": {"gained", "lost", "p", "difference", "n"}|null},
     "warnings": [{"level": "alarm"|"warning"|"note", "title", "text", "step", "metric"}],
     "evaluations": [{"phase", "step", "rollouts", "tokens", "wall_s", "train_pass_rate", "greedy" and "sampled":
         {"pass_rate", "low", "high", "n", "pass_at_k", "truncated_frac", "no_answer_frac"}|null,
         "audit": {name: {"pass_rate", "low", "high"}}, "metrics": {"eval/...": number}}],
     "steps": {"step", "rollouts", "tokens", "wall_s": [number|null]}, "metrics": {name: [number|null]},
     "times": [{"stage", "seconds", "share"}], "failures": [{"what", "count", "share", "text"}],
     "browser": see rollout_browser.py, "heldout": see held_out_texts.py}],
 "meanings": {metric: text}, "comparison": {"a", "b", "sentence", "rows": [{"label", "a", "b", "difference"}]}|null}
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import rlvr
from rlvr.report.budget import Budget
from rlvr.report.comparison_rows import comparison
from rlvr.report.facts import facts, failures, times
from rlvr.report.findings import as_record, report_findings
from rlvr.report.headline import headline
from rlvr.report.held_out_texts import held_out_texts
from rlvr.report.rollout_browser import rollout_browser
from rlvr.report.rounding import short
from rlvr.report.run_data import RunData, read_run
from rlvr.report.series import step_columns
from rlvr.report.token_texts import run_tokenizer
from rlvr.tracking.held_out_numbers import held_out_numbers
from rlvr.tracking.names import NAMES
from rlvr.tracking.run_folder import RunFolder

HELD_OUT_SHARE = 0.15
"""Of the bytes for texts, for held-out ones; what they leave goes to the rollouts."""


def build_payload(
    folders: Sequence[RunFolder],
    *,
    texts_bytes: float,
    problems: int = 24,
    refresh_s: float | None = None,
    made: datetime | None = None,
) -> dict[str, Any]:
    """Return the payload of a report on these runs.

    Args:
        texts_bytes: of the page, that rollouts and held-out texts may fill.
        problems: the most rollouts of one step.
        refresh_s: after how long the page reloads itself, while a run goes.
        made: now unless given.

    Raises:
        RunFolderError: a run's configuration or records cannot be read.
    """
    runs = [read_run(folder) for folder in folders]
    notes: list[str] = []
    records = []
    for run, name in zip(runs, _names(runs), strict=True):
        others = [other for other in runs if other is not run]
        record, own_notes = _run(run, name, others, texts_bytes / len(runs), problems)
        records.append(record)
        notes += own_notes
    compared, own_notes = comparison(*runs) if len(runs) == 2 else (None, [])
    notes += own_notes
    names = {name for record in records for name in record["metrics"]}
    names |= {name for record in records for one in record["evaluations"] for name in one["metrics"]}
    names |= {warning["metric"] for record in records for warning in record["warnings"] if warning["metric"]}
    return {
        "title": runs[0].folder.name if len(runs) == 1 else f"{len(runs)} runs",
        "made": (made or datetime.now(UTC)).isoformat(timespec="seconds"),
        "version": rlvr.__version__,
        "refresh_s": refresh_s,
        "notes": notes,
        "runs": records,
        "meanings": {name: meaning for name, meaning in NAMES.items() if name in names},
        "comparison": compared,
    }


def _names(runs: Sequence[RunData]) -> list[str]:
    """Return what the page calls the runs: their folders' names, or the paths of those of the same name."""
    names = [run.folder.name for run in runs]
    return [name if names.count(name) == 1 else str(run.folder.path) for run, name in zip(runs, names, strict=True)]


def _run(
    run: RunData, name: str, others: Sequence[RunData], texts_bytes: float, problems: int
) -> tuple[dict[str, Any], list[str]]:
    axes, metrics, thinned = step_columns(run)
    first = headline(run)
    held_out_budget = Budget(HELD_OUT_SHARE * texts_bytes)
    held_out, held_out_notes = held_out_texts(run.folder, run.evaluations, held_out_budget)
    rest = Budget(texts_bytes * (1 - HELD_OUT_SHARE) + held_out_budget.left_bytes)
    critic = "critic/value_mean" in metrics
    browser, browser_notes = rollout_browser(
        run.folder, run_tokenizer(run.folder), rest, problems=problems, critic=critic
    )
    record = {
        "name": name,
        "path": str(run.folder.path),
        "finished": run.finished,
        "facts": facts(run),
        "config": run.config_text,
        "headline": first.as_record(),
        "warnings": [as_record(finding) for finding in report_findings(run, first, others)],
        "evaluations": [_evaluation(evaluation) for evaluation in run.evaluations],
        "steps": axes,
        "metrics": metrics,
        "times": times(run),
        "failures": failures(run),
        "browser": browser,
        "heldout": held_out,
    }
    return record, [*([thinned] if thinned else []), *browser_notes, *held_out_notes]


def _evaluation(record: Mapping[str, Any]) -> dict[str, Any]:
    sampled = record.get("sampled") or {}
    return {
        **{name: record.get(name) for name in ("phase", "step", "rollouts", "tokens")},
        "wall_s": short(record.get("wall_s")),
        "train_pass_rate": short(record.get("train_pass_rate")),
        "greedy": _mode(record.get("greedy")),
        "sampled": _mode(sampled),
        "audit": {name: _rate(audit, "pass_rate") for name, audit in (sampled.get("audit") or {}).items()},
        "metrics": {name: short(number) for name, number in held_out_numbers(record).items()},
    }


def _mode(rate: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if not rate:
        return None
    return {
        **_rate(rate, "pass_rate"),
        "n": rate.get("n"),
        "pass_at_k": {k: _at_k(found) for k, found in (rate.get("pass_at_k") or {}).items()},
        "truncated_frac": short(rate.get("truncated_frac")),
        "no_answer_frac": short(rate.get("no_answer_frac")),
    }


def _at_k(found: Mapping[str, Any] | float) -> dict[str, Any]:
    # Older versions kept the value alone.
    return _rate(found if isinstance(found, Mapping) else {"value": found}, "value")


def _rate(rate: Mapping[str, Any], value: str) -> dict[str, Any]:
    return {name: short(rate.get(name)) for name in (value, "low", "high")}
