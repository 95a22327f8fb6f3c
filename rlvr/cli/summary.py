"""summary.json: what a run came to, in numbers that programs read and the card is made of."""

import os
import platform
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import rlvr
from rlvr.config.models import Config
from rlvr.tracking.run_folder import RunFolder

_PACKAGES = ("torch", "transformers", "datasets", "tokenizers", "numpy")


def peak_memory_mb() -> float:
    """Return the most memory this process has held, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def code_commit() -> str | None:
    """Return the commit of the checkout rlvr runs from, with "+changes" where files differ; None outside one."""
    package = Path(rlvr.__file__).resolve().parent
    try:
        if not _git(package, "ls-files", "__init__.py"):
            return None
        return _git(package, "rev-parse", "HEAD") + (
            "+changes" if _git(package, "status", "--porcelain", "-uno") else ""
        )
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True, timeout=10
    ).stdout.strip()


def machine() -> dict[str, Any]:
    """Return what the run ran on."""
    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
    }


def software() -> dict[str, str]:
    """Return the versions of rlvr and what it stands on."""
    return {"rlvr": rlvr.__version__, **{name: version(name) for name in _PACKAGES}}


def pass_rates(evaluations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the pass rates of the base model, after SFT, and at the last PPO step that was evaluated."""
    rates: dict[str, Any] = {}
    for record in evaluations:
        rates[record["phase"]] = {key: record[key] for key in ("step", "greedy", "sampled")}
    return rates


def run_summary(
    config: Config,
    folder: RunFolder,
    *,
    commit: str | None,
    started: str,
    wall_s: float,
    steps: int,
    rollouts: int,
    tokens: int,
    stage_times_s: Mapping[str, float],
    peak_memory_mb: float,
    warnings: Sequence[str],
    finished: bool,
) -> dict[str, Any]:
    """Return what summary.json holds of a run that has ended or was stopped, before its card's audits."""
    return {
        "name": folder.name,
        "task": config.task.name,
        "model": config.model.name,
        "algorithm": config.algorithm.preset,
        "seed": config.run.seed,
        "commit": commit,
        "versions": software(),
        "machine": machine(),
        "started": started,
        "wall_s": wall_s,
        "steps": steps,
        "rollouts": rollouts,
        "tokens": tokens,
        "pass_rate": pass_rates(folder.read_evaluations()),
        "stage_times_s": dict(stage_times_s),
        "peak_memory_mb": peak_memory_mb,
        "warnings": list(warnings),
        "finished": finished,
    }
