"""The README of a run folder: what was run, what came of it, and how to go on from there."""

import json
import re
from collections.abc import Mapping
from typing import Any

from rlvr.tracking.progress import duration
from rlvr.tracking.run_folder import RunFolder

_FILES = {
    "config.toml": "the resolved configuration, every key",
    "summary.json": "the numbers of this page, for programs",
    "metrics.jsonl": "one line per PPO step",
    "sft.jsonl": "one line per step of the supervised warm start",
    "evaluations.jsonl": "one line per held-out evaluation",
    "reference": "the frozen SFT policy, a Hugging Face folder",
    "responses": "every held-out response with its verdict, gzipped JSON lines per evaluation",
    "rollouts": "every recorded rollout, gzipped JSON lines per step",
    "checkpoints": "states to resume from",
    "curve.png": "the pass-rate curve",
}
_PHASES = {"base": "before: base model", "sft": "before: after the SFT warm start"}


def run_card(summary: Mapping[str, Any], folder: RunFolder) -> str:
    """Return the Markdown card of a run, opening with the front matter of a Hugging Face model card.

    Args:
        summary: what summary.json holds; parts that it lacks are left out of the card.
        folder: read to name only files that exist, so write the curve before the card.
    """
    parts = [
        _front_matter(summary),
        f"# {summary['name']}",
        _introduction(summary),
        _warnings(summary),
        _pass_rates(summary),
        "![Held-out pass rate during training](curve.png)" if folder.curve_path.exists() else "",
        _setup(summary),
        _times(summary),
        _files(folder),
        _next_steps(folder),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _front_matter(summary: Mapping[str, Any]) -> str:
    lines = ["---", "library_name: transformers", "pipeline_tag: text-generation"]
    model = str(summary["model"])
    # The hub refuses a base_model that is not one of its own names, such as a local folder.
    if re.fullmatch(r"[\w.-]+/[\w.-]+", model, re.ASCII) and not model.startswith(".") and ".gguf" not in model:
        lines.append(f"base_model: {json.dumps(model)}")
    tags = ["rlvr", "reinforcement-learning", "verifiable-rewards", str(summary["algorithm"]), str(summary["task"])]
    return "\n".join([*lines, "tags:", *(f"- {json.dumps(tag)}" for tag in dict.fromkeys(tags)), "---"])


def _introduction(summary: Mapping[str, Any]) -> str:
    text = (
        f"Reinforcement learning with verifiable rewards: `{summary['model']}` trained with {_title(summary)} "
        f"on the task `{summary['task']}`, seed {summary['seed']}."
    )
    before, after = _greedy_rate(summary, "sft", "base"), _greedy_rate(summary, "ppo")
    if before is not None and after is not None:
        text += f" Greedy held-out pass rate: **{_percent(before)} before, {_percent(after)} after**."
    if not summary.get("finished", True):
        text += "\n\n**This run has not finished.** The numbers are those of its last step."
    return text


def _title(summary: Mapping[str, Any]) -> str:
    return str(summary["algorithm"]).upper().replace("_", " ")


def _greedy_rate(summary: Mapping[str, Any], *phases: str) -> float | None:
    rates = summary.get("pass_rate") or {}
    found = [rates[phase]["greedy"]["pass_rate"] for phase in phases if rates.get(phase, {}).get("greedy")]
    return found[0] if found else None


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{100 * rate:.1f} %"


def _warnings(summary: Mapping[str, Any]) -> str:
    return "\n\n".join(f"> **Warning:** {warning}" for warning in summary.get("warnings") or [])


def _pass_rates(summary: Mapping[str, Any]) -> str:
    rates = summary.get("pass_rate") or {}
    names = {**_PHASES, "ppo": f"after: {_title(summary)}"}
    rows = [
        f"| {name} | {_cell(rates[phase].get('greedy'))} | {_cell(rates[phase].get('sampled'))} |"
        for phase, name in names.items()
        if rates.get(phase)
    ]
    if not rows:
        return ""
    head = ["## Held-out pass rate", "", "| | greedy | sampled |", "|---|---|---|"]
    return "\n".join([*head, *rows, "", "In brackets: 95 % confidence intervals. n counts judged responses."])


def _cell(measured: Mapping[str, Any] | None) -> str:
    if not measured or measured["pass_rate"] is None:
        return "-"
    low, high = measured.get("low"), measured.get("high")
    interval = f" [{100 * low:.1f}, {100 * high:.1f}]" if low is not None and high is not None else ""
    details = [f"n = {measured['n']}"]
    if measured.get("temperature"):
        details.append(f"T = {measured['temperature']:g}")
    if measured.get("samples_per_problem", 1) > 1:
        details.append(f"{measured['samples_per_problem']} per problem")
    return f"{_percent(measured['pass_rate'])}{interval}, {', '.join(details)}"


def _setup(summary: Mapping[str, Any]) -> str:
    rows = [(key, summary.get(key)) for key in ("task", "model", "algorithm", "seed", "commit", "started")]
    rows += [(key, f"{summary[key]:,}") for key in ("steps", "rollouts", "tokens") if summary.get(key) is not None]
    if summary.get("peak_memory_mb") is not None:
        rows.append(("peak memory", f"{summary['peak_memory_mb']:,.0f} MB"))
    rows.append(("machine", summary.get("machine")))
    versions = summary.get("versions") or {}
    rows.append(("versions", ", ".join(f"{name} {version}" for name, version in versions.items())))
    lines = [f"| {name} | {value} |" for name, value in rows if value not in (None, "")]
    return "\n".join(["## What was run", "", "| | |", "|---|---|", *lines])


def _times(summary: Mapping[str, Any]) -> str:
    stages = summary.get("stage_times_s") or {}
    if not stages or summary.get("wall_s") is None:
        return ""
    parts = ", ".join(f"{stage} {duration(seconds)}" for stage, seconds in stages.items())
    return f"Took {duration(summary['wall_s'])}: {parts}."


def _files(folder: RunFolder) -> str:
    present = [f"- `{name}`: {meaning}" for name, meaning in _FILES.items() if (folder.path / name).exists()]
    return "\n".join(["## Files", "", *present])


def _next_steps(folder: RunFolder) -> str:
    commands = [
        f"rlvr train --resume {folder.path}   # go on from the latest checkpoint",
        f"rlvr eval {folder.path}   # measure the held-out pass rate again",
        f"rlvr plot {folder.path}   # draw the curve again, or several runs in one picture",
    ]
    return "\n".join(["## Go on from here", "", "```", *commands, "```"])
