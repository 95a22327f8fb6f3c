"""What was run, where its time went, and what failed: the tables of a report."""

from collections.abc import Mapping
from typing import Any

from rlvr.report.run_data import RunData
from rlvr.report.series import reached
from rlvr.tracking.progress import duration

_STAGES = ("rollout", "judge", "experience", "update")


def facts(run: RunData) -> list[list[str]]:
    """Return what was run as pairs of label and text; what is not known is left out."""
    summary, value = run.summary, run.value
    steps, planned = (run.metrics[-1]["step"] if run.metrics else 0), value("run", "steps")
    rows: list[tuple[str, Any]] = [
        ("task", _with_options(value("task", "name"), value("task", "options"))),
        ("verifier", _with_options(_verifier(run), value("task", "verifier_options"))),
        ("held-out verifier", _with_options(value("evaluation", "verifier"), value("evaluation", "verifier_options"))),
        ("audits", ", ".join(value("evaluation", "audit") or {})),
        ("model", value("model", "name")),
        ("algorithm", value("algorithm", "preset")),
        ("KL coefficient", _number(value("algorithm", "kl_coef"))),
        ("learning rate", _number(value("optimizer", "lr"))),
        ("responses per step", _batch(run)),
        ("longest response", _counted(value("rollout", "max_new_tokens"), "tokens")),
        ("seed", value("run", "seed")),
        ("steps", f"{steps:,} of {planned:,}" if planned is not None and planned != steps else f"{steps:,}"),
        ("rollouts", _number(summary.get("rollouts", reached(run, "rollouts")))),
        ("tokens drawn", _number(summary.get("tokens", reached(run, "tokens")))),
        ("held-out problems", _held_out(run)),
        ("started", summary.get("started")),
        ("took", duration(summary["wall_s"]) if summary.get("wall_s") else None),
        ("peak memory", _counted(summary.get("peak_memory_mb"), "MB")),
        ("machine", _machine(summary.get("machine"))),
        ("versions", ", ".join(f"{name} {number}" for name, number in (summary.get("versions") or {}).items())),
        ("commit", summary.get("commit")),
    ]
    return [[label, str(text)] for label, text in rows if text not in (None, "")]


def times(run: RunData) -> list[dict[str, Any]]:
    """Return the seconds and the share of each stage, longest first, and of the rest as "other"."""
    stages, total = run.summary.get("stage_times_s"), run.summary.get("wall_s")
    if not stages:
        # The run goes on: the steps tell what their stages took, the rest is not known yet.
        stages = {name: sum(line.get(f"time/{name}_s") or 0.0 for line in run.metrics) for name in _STAGES}
        total = sum(line.get("time/step_s") or 0.0 for line in run.metrics)
    if not total:
        return []
    rows = sorted(((name, float(seconds)) for name, seconds in stages.items() if seconds), key=lambda row: -row[1])
    rows.append(("other", max(0.0, total - sum(seconds for _, seconds in rows))))
    return [{"stage": name, "seconds": round(took, 1), "share": round(took / total, 4)} for name, took in rows if took]


def failures(run: RunData) -> list[dict[str, Any]]:
    """Return what of our own failed, rather than the policy's answers: none is an empty list."""
    rows: list[dict[str, Any]] = []
    judged = [line["verify/failed_frac"] for line in run.metrics if line.get("verify/failed_frac")]
    if judged:
        share = sum(judged) / len(run.metrics)
        count = round(sum(judged) * run.rollouts_per_step) if run.rollouts_per_step else None
        rows.append(
            _failure("training responses not judged", count, share, f"at {len(judged)} steps; dropped from the batch")
        )
    for mode in ("greedy", "sampled"):
        rates = [record[mode] for record in run.evaluations if record.get(mode)]
        failed = sum(rate.get("failed", 0) for rate in rates)
        if failed:
            asked = failed + sum(rate["n"] for rate in rates)
            rows.append(_failure(f"held-out {mode} responses not judged", failed, failed / asked, "left out of rates"))
        audits = sum(audit.get("failed", 0) for rate in rates for audit in (rate.get("audit") or {}).values())
        if audits:
            rows.append(_failure(f"audits of {mode} responses failed", audits, None, "left out of audited rates"))
    for name, what, text in (
        ("sandbox/failures", "programs without an outcome", "after all retries; their responses have no verdict"),
        ("sandbox/lost", "containers lost", "died or did not answer; their programs ran again elsewhere"),
        ("policy/skipped_updates", "updates skipped", "their gradient was not finite"),
    ):
        total = sum(line.get(name) or 0 for line in run.metrics)
        if total:
            rows.append(_failure(what, round(total), None, text))
    return rows


def _failure(what: str, count: int | None, share: float | None, text: str) -> dict[str, Any]:
    return {"what": what, "count": count, "share": None if share is None else float(f"{share:.3g}"), "text": text}


def _verifier(run: RunData) -> str:
    own = run.value("task", "verifier")
    names = (run.summary.get("verifier") or {}).get("names")  # those of the problems, once the run has ended
    return own or (", ".join(names) if names else "the task's own")


def _with_options(name: str | None, options: Mapping[str, Any] | None) -> str | None:
    if not name or not options:
        return name
    return f"{name} ({', '.join(f'{key} = {value}' for key, value in options.items())})"


def _batch(run: RunData) -> str | None:
    prompts, samples = run.value("rollout", "prompts_per_step"), run.setting.samples_per_prompt
    if prompts is None:
        return None
    return f"{prompts:,}" if samples == 1 else f"{prompts * samples:,} ({prompts:,} problems x {samples})"


def _held_out(run: RunData) -> str | None:
    if not run.evaluations:
        return None
    most = max(record["problems"] for record in run.evaluations)
    fewest = min(record["problems"] for record in run.evaluations)
    text = f"{most:,} of split {run.evaluations[0]['split']}"
    return text if fewest == most else f"{text}; {fewest:,} of them while training"


def _machine(machine: Any) -> str | None:
    if not isinstance(machine, Mapping):
        return machine
    cpus = f"{machine['cpus']} CPUs" if machine.get("cpus") else None
    python = f"Python {machine['python']}" if machine.get("python") else None
    return ", ".join(str(part) for part in (machine.get("platform"), cpus, python) if part)


def _number(value: float | None) -> str | None:
    if value is None:
        return None
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _counted(value: float | None, unit: str) -> str | None:
    return None if value is None else f"{value:,.0f} {unit}"
