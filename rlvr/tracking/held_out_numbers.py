"""What a held-out evaluation comes to under metric names: for trackers, and for the charts of a report."""

from collections.abc import Mapping
from typing import Any


def held_out_numbers(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the eval/ metrics of a line of evaluations.jsonl, without those that it cannot give."""
    greedy, sampled = record.get("greedy") or {}, record.get("sampled") or {}
    passed, audited, trained = sampled.get("pass_rate"), _audited_rate(sampled), record.get("train_pass_rate")
    asked = (sampled.get("n") or 0) + (sampled.get("failed") or 0)
    numbers = {
        "eval/greedy_pass_rate": greedy.get("pass_rate"),
        "eval/sampled_pass_rate": passed,
        "eval/audited_pass_rate": audited,
        "eval/audit_gap": _difference(passed, audited),
        "eval/train_gap": _difference(trained, passed if audited is None else audited),
        "eval/truncated_frac": sampled.get("truncated_frac"),
        "eval/no_answer_frac": sampled.get("no_answer_frac"),
        "eval/failed_frac": (sampled.get("failed") or 0) / asked if asked else None,
        "eval/response_tokens": sampled.get("response_tokens"),
    }
    return {name: number for name, number in numbers.items() if number is not None}


def _audited_rate(sampled: Mapping[str, Any]) -> float | None:
    """Return what the strictest audit verifier calls right; None without audits."""
    rates = [audit.get("pass_rate") for audit in (sampled.get("audit") or {}).values()]
    return min((rate for rate in rates if rate is not None), default=None)


def _difference(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b
