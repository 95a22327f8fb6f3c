"""The README of a run folder: what was run, what came of it, and how to go on from there."""

import shlex
from collections.abc import Mapping
from typing import Any

from rlvr.tracking.card_evidence import curve, data, limits, paired_gain, rate_cell, verifier
from rlvr.tracking.card_front_matter import front_matter
from rlvr.tracking.card_text import code, plain, table
from rlvr.tracking.progress import duration
from rlvr.tracking.rates import percent
from rlvr.tracking.run_folder import RunFolder

_FILES = {
    "config.toml": "the resolved configuration, every key",
    "summary.json": "the numbers of this page, for programs",
    "metrics.jsonl": "one line per PPO step",
    "sft.jsonl": "one line per step of the supervised warm start",
    "evaluations.jsonl": "one line per held-out evaluation",
    "audit.json": "the verifier under attack: error rates, and what it got wrong",
    "contamination.json": "what held-out problems share with training problems",
    "reference": "the frozen SFT policy, a Hugging Face folder",
    "responses": "every held-out response with its verdict, gzipped JSON lines per evaluation",
    "rollouts": "every recorded rollout, gzipped JSON lines per step",
    "probes": "the same held-out problems at every evaluation, token by token",
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
    evaluations = folder.read_evaluations()
    parts = [
        front_matter(summary),
        f"# {plain(summary['name'])}",
        _introduction(summary),
        _warnings(summary),
        _pass_rates(summary),
        paired_gain(summary),
        "![Held-out pass rate during training](curve.png)" if folder.curve_path.exists() else "",
        curve(evaluations),
        data(summary),
        verifier(summary, evaluations),
        limits(summary, evaluations),
        _setup(summary),
        _times(summary),
        _configuration(summary, folder),
        _files(folder),
        _next_steps(summary, folder),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _introduction(summary: Mapping[str, Any]) -> str:
    text = (
        f"Reinforcement learning with verifiable rewards: {code(summary['model'])} trained with {_title(summary)} "
        f"on the task {code(summary['task'])}, seed {summary['seed']}."
    )
    before, after = _greedy_rate(summary, "sft", "base"), _greedy_rate(summary, "ppo")
    if before is not None and after is not None:
        text += f" Greedy held-out pass rate: **{percent(before)} before, {percent(after)} after**."
    if not summary.get("finished", True):
        text += "\n\n**This run has not finished.** The numbers are those of its last step."
    return text


def _title(summary: Mapping[str, Any]) -> str:
    return str(summary["algorithm"]).upper().replace("_", " ")


def _greedy_rate(summary: Mapping[str, Any], *phases: str) -> float | None:
    rates = summary.get("pass_rate") or {}
    found = [rates[phase]["greedy"]["pass_rate"] for phase in phases if rates.get(phase, {}).get("greedy")]
    return found[0] if found else None


def _warnings(summary: Mapping[str, Any]) -> str:
    return "\n\n".join(f"> **Warning:** {plain(warning)}" for warning in summary.get("warnings") or [])


def _pass_rates(summary: Mapping[str, Any]) -> str:
    rates = summary.get("pass_rate") or {}
    names = {**_PHASES, "ppo": f"after: {_title(summary)}"}
    rows = [
        [name, _cell(rates[phase].get("greedy")), _cell(rates[phase].get("sampled"))]
        for phase, name in names.items()
        if rates.get(phase)
    ]
    if not rows:
        return ""
    note = "In brackets: 95 % confidence intervals. n counts judged responses."
    return "\n".join(["## Held-out pass rate", "", table(["", "greedy", "sampled"], rows), "", note])


def _cell(measured: Mapping[str, Any] | None) -> str:
    if not measured or measured["pass_rate"] is None:
        return "-"
    details = [f"n = {measured['n']}"]
    if measured.get("temperature"):
        details.append(f"T = {measured['temperature']:g}")
    if measured.get("samples_per_problem", 1) > 1:
        details.append(f"{measured['samples_per_problem']} per problem")
    if measured.get("failed"):
        details.append(f"{measured['failed']} could not be judged")
    return f"{rate_cell(measured)}, {', '.join(details)}"


def _setup(summary: Mapping[str, Any]) -> str:
    rows = [(key, summary.get(key)) for key in ("task", "model", "algorithm", "seed", "commit", "started")]
    rows += [(key, f"{summary[key]:,}") for key in ("steps", "rollouts", "tokens") if summary.get(key) is not None]
    if summary.get("peak_memory_mb") is not None:
        rows.append(("peak memory", f"{summary['peak_memory_mb']:,.0f} MB"))
    machine = summary.get("machine")
    if isinstance(machine, Mapping):
        machine = ", ".join(f"{name} {value}" for name, value in machine.items() if value is not None)
    rows.append(("machine", machine))
    versions = summary.get("versions") or {}
    rows.append(("versions", ", ".join(f"{name} {version}" for name, version in versions.items())))
    shown = [[name, plain(value)] for name, value in rows if value not in (None, "")]
    return "\n".join(["## What was run", "", table(["", ""], shown)])


def _configuration(summary: Mapping[str, Any], folder: RunFolder) -> str:
    changes = summary.get("config_changes")
    if changes is None:
        return ""
    where = "[config.toml](config.toml)" if folder.config_path.exists() else "config.toml"
    if not changes:
        return f"## Configuration\n\nEvery key has its default value: {where}."
    rows = [[code(name), code(value)] for name, value in changes.items()]
    text = f"Every key is in {where}; these differ from the defaults of the preset {code(summary['algorithm'])}:"
    return "\n".join(["## Configuration", "", text, "", table(["key", "value"], rows)])


def _times(summary: Mapping[str, Any]) -> str:
    stages = summary.get("stage_times_s") or {}
    if not stages or summary.get("wall_s") is None:
        return ""
    parts = ", ".join(f"{stage} {duration(seconds)}" for stage, seconds in stages.items())
    return f"Took {duration(summary['wall_s'])}: {parts}."


def _files(folder: RunFolder) -> str:
    present = [f"- `{name}`: {meaning}" for name, meaning in _FILES.items() if (folder.path / name).exists()]
    return "\n".join(["## Files", "", *present])


def _next_steps(summary: Mapping[str, Any], folder: RunFolder) -> str:
    path = shlex.quote(str(folder.path))
    commands = [
        f"rlvr train --resume {path}   # go on from the latest checkpoint",
        f"rlvr eval {path}   # measure the held-out pass rate again",
        f"rlvr plot {path}   # draw the curve again, or several runs in one picture",
        f"rlvr inspect {path}   # read rollouts token by token",
        f"rlvr replay {path} --verifier NAME   # what another verifier would have said",
    ]
    lines = ["## Go on from here", "", "```", *commands, "```"]
    if summary.get("command"):
        at = f"With rlvr at commit {plain(summary['commit'])}" if summary.get("commit") else "With the same version"
        on = " and the versions above, on the same kind of machine, this gives the same run:"
        lines += ["", f"{at}{on}", "", "```", summary["command"], "```"]
    return "\n".join(lines)
