"""What the pictures need of a run folder, read and checked."""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr.errors import ConfigError, RunFolderError
from rlvr.evaluation.run_curve import curve_records
from rlvr.tracking.run_folder import RunFolder


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedRun:
    """The evaluations and metrics of a run."""

    path: Path
    name: str
    """Its folder's, with as many parents in front as tell it from the others."""
    settings: Mapping[str, str]
    """The resolved configuration: value as text by dotted key."""
    curve: Sequence[Mapping[str, Any]]
    """Evaluations from what PPO started with (the SFT model, or else the base model) onwards, one per step."""
    base: Mapping[str, Any] | None
    """Evaluation of the model before SFT, where both were measured."""
    train: Mapping[int, float]
    """Pass rate on the training problems by step."""
    kl: Mapping[int, float]
    """KL of the policy that drew a step's rollouts from the reference, nats per response, by step."""


def load_runs(paths: Sequence[Path]) -> list[RecordedRun]:
    """Read run folders.

    Raises:
        RunFolderError: one is not a run folder, or has no evaluation yet.
        ConfigError: one is given twice.
    """
    names = distinct_names(paths)
    return [_load(path, name) for path, name in zip(paths, names, strict=True)]


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """Return folders' names, all with their parents' in front when they would be the same without.

    Raises:
        ConfigError: a folder is given twice.
    """
    resolved = [path.resolve() for path in paths]
    for index, path in enumerate(resolved):
        if path in resolved[:index]:
            raise ConfigError(f"{paths[index]} is given twice; name each folder once")
    depth = 1
    while len(set(names := [os.sep.join(path.parts[-depth:]) for path in resolved])) < len(resolved):
        depth += 1
    return names


def differing_problems(runs: Sequence[RecordedRun]) -> str | None:
    """Return a warning when runs were not measured on the same problems, as far as their configurations tell."""
    told = [
        {
            "task": run.settings.get("task.name", "?"),
            "task.options": {key: value for key, value in run.settings.items() if key.startswith("task.options.")},
            "split": run.curve[0]["split"],
        }
        for run in runs
    ]
    for key in ("task", "task.options", "split"):
        if any(other[key] != told[0][key] for other in told):
            found = dict.fromkeys(_text(own[key]) for own in told)
            return f"the runs differ in {key} ({', '.join(found)}), so their pass rates are not of the same problems"
    return None


def _load(path: Path, name: str) -> RecordedRun:
    folder = RunFolder.open(path)
    records = folder.read_evaluations()
    if not records:
        raise RunFolderError(f"{path} has no evaluation to plot yet; the first is made before PPO starts")
    curve = curve_records(records)
    before = [record for record in records if record["phase"] == "base" and record["split"] == records[0]["split"]]
    metrics = folder.read_metrics()
    return RecordedRun(
        path=path,
        name=name,
        settings=_settings(folder),
        curve=curve,
        base=before[-1] if before and curve[0]["phase"] == "sft" else None,
        train=_by_step(metrics, "verify/pass_rate"),
        kl=_by_step(metrics, "kl/per_response"),
    )


def _by_step(metrics: Sequence[Mapping[str, Any]], name: str) -> dict[int, float]:
    return {record["step"]: record[name] for record in metrics if record.get(name) is not None}


def _settings(folder: RunFolder) -> dict[str, str]:
    try:
        tables = tomllib.loads(folder.config_path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{folder.config_path} is not TOML: {error}; restore the file") from error
    return dict(_flat(tables, ""))


def _flat(table: Mapping[str, Any], prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in table.items():
        found += _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(f"{prefix}{key}", _text(value))]
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
