"""What an evaluation came to, for people."""

from collections.abc import Mapping
from typing import Any

from rlvr.cli.alarms import TRUNCATED_LIMIT, Alarms
from rlvr.cli.held_out import rate_text
from rlvr.tracking.progress import duration

_FAMILIES = {
    "pass_at_k": "pass@k: at least 1 right",
    "pass_hat_k": "pass^k: all k right",
    "maj_at_k": "maj@k: the answer of most",
}


def summary_lines(record: Mapping[str, Any], *, price_in: float | None, price_out: float | None) -> list[str]:
    """Return the lines below the title.

    Args:
        record: what evaluation.json holds.
        price_in: of a million prompt tokens; None leaves the amount out.
        price_out: of a million response tokens.
    """
    modes = record["modes"]
    return [
        *(_mode_line(mode, found) for mode, found in modes.items()),
        *(_several(modes["sampled"]) if "sampled" in modes else []),
        *_audits(modes),
        _intervals(modes),
        *_warnings(record),
        *_cost(record, price_in, price_out),
    ]


def _mode_line(mode: str, found: Mapping[str, Any]) -> str:
    return (
        f"  {mode:<8} {rate_text(found):<24} n {found['n']}   truncated {found['truncated_frac']:.1%}   "
        f"no answer {found['no_answer_frac']:.1%}   {found['response_tokens']:.0f} tokens"
        + (f"   not judged {found['failed']}" if found["failed"] else "")
    )


def _several(sampled: Mapping[str, Any]) -> list[str]:
    samples, temperature = sampled["samples_per_problem"], sampled["temperature"]
    if samples == 1:
        return ["  one sampled response to each problem; --samples 8, say, adds pass@k, pass^k and maj@k"]
    lines = [
        f"  {samples} sampled responses to each problem, temperature {temperature:g}: "
        f"mean@{samples} is {rate_text(sampled)}"
    ]
    families = {name: title for name, title in _FAMILIES.items() if sampled.get(name)}
    if not families:
        return [*lines, "  pass@k needs every response of a problem judged, which those above were not"]
    ks = sorted({int(k) for name in families for k in sampled[name]})
    lines.append("  " + f"{'k':>7}   " + "   ".join(f"{title:<26}" for title in families.values()).rstrip())
    for k in ks:
        cells = [sampled[name].get(str(k)) for name in families]
        lines.append("  " + f"{k:>7}   " + "   ".join(f"{_cell(found):<26}" for found in cells).rstrip())
    return lines


def _cell(rate: Mapping[str, Any] | None) -> str:
    return "-" if rate is None else rate_text({**rate, "pass_rate": rate["value"]})


def _audits(modes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    names = dict.fromkeys(name for found in modes.values() for name in found.get("audit") or {})
    return [
        f"  audit by {name}: "
        + ", ".join(f"{mode} {_audited(found['audit'][name])}" for mode, found in modes.items())
        + " of the same responses"
        for name in names
    ]


def _audited(found: Mapping[str, Any]) -> str:
    return rate_text(found) + (f" ({found['failed']} not judged)" if found["failed"] else "")


def _intervals(modes: Mapping[str, Mapping[str, Any]]) -> str:
    kinds = {
        mode: "Wilson" if found["samples_per_problem"] == 1 else "cluster Wilson over problems"
        for mode, found in modes.items()
    }
    if len(set(kinds.values())) == 1:
        return f"  in brackets: 95 % intervals ({next(iter(kinds.values()))})"
    return f"  in brackets: 95 % intervals ({'; '.join(f'{mode}: {kind}' for mode, kind in kinds.items())})"


def _warnings(record: Mapping[str, Any]) -> list[str]:
    lines = []
    truncated = max(found["truncated_frac"] for found in record["modes"].values())
    if truncated > TRUNCATED_LIMIT:
        alarms = Alarms(max_new_tokens=record["sampling"]["max_new_tokens"])
        lines.append(f"  warning: {alarms.truncation(truncated)}")
    failed = sum(found["failed"] for found in record["modes"].values())
    if failed:
        lines.append(
            f"  warning: {failed} responses could not be judged, a verifier failed and not the model; they are in no "
            'figure, and "error" says why in their rows'
        )
    return lines


def _cost(record: Mapping[str, Any], price_in: float | None, price_out: float | None) -> list[str]:
    usage = record.get("usage")
    if usage is None:
        return []
    line = (
        f"  the endpoint answered {usage['requests']:,} requests: {usage['prompt_tokens']:,} prompt and "
        f"{usage['completion_tokens']:,} response tokens"
    )
    if price_in is not None or price_out is not None:
        amount = cost(usage, price_in, price_out)
        line += f", {amount:,.4f} at {price_in or 0:g} and {price_out or 0:g} per million"
    if usage["uncounted"]:
        line += f"; {usage['uncounted']:,} answers came without token counts, so these and the lengths are too small"
    return [line]


def cost(usage: Mapping[str, Any], price_in: float | None, price_out: float | None) -> float:
    """Return what the tokens cost, at prices per million."""
    return (usage["prompt_tokens"] * (price_in or 0.0) + usage["completion_tokens"] * (price_out or 0.0)) / 1e6


def time_line(record: Mapping[str, Any], folder: object) -> str:
    """Return how long it took, and where everything is."""
    return f"  took {duration(record['wall_s'])}; every response with its verdict is in {folder}"
