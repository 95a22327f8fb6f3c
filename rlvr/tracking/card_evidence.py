"""What a run's card says about how far its numbers can be trusted: curve, paired gain, verifier, data, limits."""

from collections.abc import Mapping, Sequence
from typing import Any

from rlvr.tracking.card_text import code, plain, table
from rlvr.tracking.rates import percent, rate_text

_CURVE_ROWS = 12
_EXAMPLES = 3


def rate_cell(measured: Mapping[str, Any] | None) -> str:
    """Return a rate with its interval: "51.2 % [46.8, 55.6]"."""
    return rate_text(measured) or "-"


def curve(evaluations: Sequence[Mapping[str, Any]]) -> str:
    """Return the held-out pass rate over the course of the run as a table, thinned where it is long."""
    if len(evaluations) < 2:
        return ""
    last, count = len(evaluations) - 1, min(len(evaluations), _CURVE_ROWS)
    shown = [evaluations[round(i * last / (count - 1))] for i in range(count)]
    audits = list(dict.fromkeys(name for record in shown for name in (record["sampled"].get("audit") or {})))
    rows = [
        [
            record["phase"],
            str(record["step"]),
            f"{record['rollouts']:,}" if record.get("rollouts") is not None else "-",
            percent(record.get("train_pass_rate")),
            rate_cell(record["greedy"]),
            rate_cell(record["sampled"]),
            *(rate_cell((record["sampled"].get("audit") or {}).get(name)) for name in audits),
        ]
        for record in shown
    ]
    heads = ["phase", "step", "rollouts", "training", "greedy", "sampled", *(f"audit {code(name)}" for name in audits)]
    lines = ["## Curve", "", table(heads, rows)]
    if count < len(evaluations):
        lines += ["", f"{count} of {len(evaluations)} evaluations; all are in [evaluations.jsonl](evaluations.jsonl)."]
    return "\n".join(lines)


def paired_gain(summary: Mapping[str, Any]) -> str:
    """Return how many problems were gained and lost on the way, and whether chance could have done it."""
    rows = []
    for mode, found in (summary.get("paired") or {}).items():
        difference = found["difference"]
        low, high = 100 * difference["low"], 100 * difference["high"]
        p = "-" if found["p"] is None else "< 0.0001" if found["p"] < 0.0001 else f"{found['p']:.4f}"
        rows.append(
            [
                mode, f"{found['n']:,}", f"{found['gained']:,}", f"{found['lost']:,}",
                f"{100 * difference['value']:+.1f} [{low:+.1f}, {high:+.1f}]", p,
            ]
        )  # fmt: skip
    if not rows:
        return ""
    heads = ["", "problems", "gained", "lost", "difference in points", "p"]
    note = (
        "The same problems before and after: gained are those solved more often after, lost those solved less often. "
        "In brackets: the 95 % interval of the paired difference; p: exact McNemar test, or with several responses per "
        "problem the exact paired permutation test."
    )
    return "\n".join(["### Problem by problem", "", table(heads, rows), "", note])


def gaps(evaluations: Sequence[Mapping[str, Any]]) -> str:
    """Return how far the reward's verifier stands above the audit verifiers, and training above held-out problems."""
    after = [record for record in evaluations if record["phase"] == "ppo"]
    if not after:
        return ""
    sampled, trained = after[-1]["sampled"], after[-1].get("train_pass_rate")
    lines = []
    for name, found in (sampled.get("audit") or {}).items():
        if found.get("pass_rate") is not None and sampled["pass_rate"] is not None:
            gap = 100 * (sampled["pass_rate"] - found["pass_rate"])
            lines.append(
                f"- The audit verifier {code(name)}, which does not feed the reward, calls {rate_cell(found)} of the "
                f"last sampled held-out responses right: a gap of {gap:+.1f} points."
            )
    if trained is not None and sampled["pass_rate"] is not None:
        gap = 100 * (trained - sampled["pass_rate"])
        lines.append(
            f"- Training problems since the evaluation before: {percent(trained)}, {gap:+.1f} points against the "
            f"sampled held-out rate of {rate_cell(sampled)}."
        )
    return "\n".join(lines)


def verifier(summary: Mapping[str, Any], evaluations: Sequence[Mapping[str, Any]]) -> str:
    """Return who judged, what attacks on the verifier found, and the gaps."""
    judges = summary.get("verifier") or {}
    lines = []
    if judges:
        lines.append(f"Reward: {_judge(judges['names'], judges.get('options'))}.")
        held_out = judges.get("held_out")
        lines[-1] += f" Held-out responses: {_judge([held_out], judges.get('held_out_options'))}." if held_out else ""
    lines += _audit(summary.get("audit"))
    apart = gaps(evaluations)
    if not lines and not apart:
        return ""
    return "\n\n".join(part for part in ["## Verifier", *lines, apart] if part)


def _judge(names: Sequence[str], options: Mapping[str, Any] | None) -> str:
    shown = ", ".join(code(name) for name in names)
    words = ", ".join(f"{name} = {value}" for name, value in (options or {}).items())
    return f"{shown} with {code(words)}" if words else shown


def _audit(record: Mapping[str, Any] | None) -> list[str]:
    if not record:
        return []
    if "failed" in record:
        return [f"It could not be audited: {plain(record['failed'])}"]
    rows, notes = [], []
    for one in record["verifiers"]:
        rows.append(
            [
                code(one["verifier"]), f"{one['problems']:,}",
                *(_error_rate(one[name]) for name in ("false_positive_rate", "false_negative_rate")),
                f"{one['errors']:,}", f"{one['broken']:,}",
            ]
        )  # fmt: skip
        wrong = ", ".join(f"{plain(name)} {count:,}" for name, count in (one.get("wrong_attacks") or {}).items())
        notes += [f"{code(one['verifier'])} was wrong on: {wrong}."] if wrong else []
        findings = [
            f"- {plain(found['attack'])}, to be {found['expected']}: {code(found['response'])} was found "
            f"{plain(found['found'])}"
            for found in one.get("findings", [])[:_EXAMPLES]
        ]
        notes += ["\n".join(findings)] if findings else []
        if "demonstration" in (one.get("wrong_attacks") or {}):
            notes.append("A rejected demonstration may itself be wrong: some tasks teach with slips in them.")
        if one.get("out_of_time") or one.get("stopped_early"):
            why = "its time was over" if one.get("out_of_time") else "too many calls hung or died"
            notes.append(f"The audit of {code(one['verifier'])} ended before all attacks were made: {why}.")
    heads = ["verifier", "problems", "wrong accepted", "right rejected", "could not judge", "broke"]
    return [
        "Attacked with right and wrong responses made from training problems (see `rlvr audit`):",
        table(heads, rows),
        *notes,
    ]


def _error_rate(found: Mapping[str, Any]) -> str:
    rate = rate_cell({**found, "pass_rate": found["rate"]})
    return "not measurable" if not found["n"] else f"{rate}, {found['wrong']:,} of {found['n']:,}"


def data(summary: Mapping[str, Any]) -> str:
    """Return what the problems were, how many there are, and whether held-out ones stand among the training ones."""
    found, overlap = summary.get("data") or {}, summary.get("contamination")
    lines = []
    if found:
        options = ", ".join(f"{name} = {value}" for name, value in (found.get("task_options") or {}).items())
        lines.append(f"Task {code(summary['task'])}{f' with {code(options)}' if options else ', its default options'}.")
        lines[0] += (
            f" {found['train_problems']:,} training problems; {found['held_out_problems']:,} held-out problems of "
            f"split {code(found['held_out_split'])}."
        )
    if overlap:
        lines.append(f"Contamination: {plain(overlap['sentence'])}.")
        shared = [
            f"- {percent(one['share'])} of what {code(one['held_out'])} says occurs in training problems, first in "
            f"{code(one['train'])}: {code(one['words'])}"
            for one in overlap["examples"][:_EXAMPLES]
        ]
        lines += ["\n".join(shared)] if shared else []
    return "\n\n".join(["## Data", *lines]) if lines else ""


def limits(summary: Mapping[str, Any], evaluations: Sequence[Mapping[str, Any]]) -> str:
    """Return in words what the numbers do not say."""
    judges = summary.get("verifier") or {}
    lines = [
        f"This is one run with one seed ({summary['seed']}). The intervals count which problems were drawn, and not "
        "that training with another seed gives another policy: train several and put them together with `rlvr plot`.",
        "The pass rates are those of this task's held-out problems, and say nothing about other tasks.",
    ]
    if (summary.get("pass_rate") or {}).get("ppo"):
        lines.append("The last evaluation is reported, whatever it is: no checkpoint was picked by its held-out rate.")
    audited = any(record["sampled"].get("audit") for record in evaluations)
    if judges and not judges.get("held_out") and not audited:
        lines.append(
            "The verifier that gives the reward is also the judge of this page: what fools the one fools the other. "
            "Name another under `evaluation.audit`."
        )
    if "verifiers" in (summary.get("audit") or {}):
        lines.append("An error rate of 0 means that none of these attacks succeeded, not that none could.")
    if summary.get("contamination"):
        lines.append(
            "Contamination was looked for in words shared with the training problems; rewordings, and what the model "
            "had read before this run, were not looked at."
        )
    return "\n".join(["## What these numbers do not say", "", *(f"- {line}" for line in lines)])
