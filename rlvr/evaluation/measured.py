"""A policy that was measured, as it is named on the command line: an evaluation folder, a run, or a moment of a run."""

import gzip
import json
import tomllib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlvr.errors import RunFolderError
from rlvr.tracking.jsonl import parse_lines
from rlvr.tracking.run_folder import RunFolder

MODES = ("greedy", "sampled")
_PHASES = ("base", "sft", "ppo")


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """One policy on one split of held-out problems: its figures, and the rows they are made of."""

    name: str
    """As people may know it: "seed-1", "seed-1@sft", "base-gsm8k"."""
    origin: Path
    """The evaluation folder or the run folder."""
    phase: str | None
    """"base", "sft" or "ppo"; None for an evaluation folder."""
    step: int | None
    """PPO steps done; None for an evaluation folder."""
    moment: str | None
    """What a run's evaluation was chosen by: "sft", "40"; None for a run as a whole and for an evaluation folder."""
    task: str | None
    split: str | None
    settings: Mapping[str, Any]
    """What should agree between policies that are compared, such as the verifier and the length limit, where known."""
    finished: bool
    """False where an evaluation was cut short, so that some problems are missing."""
    records: Mapping[str, Mapping[str, Any]]
    """PassRate.as_record() by mode, "greedy" and "sampled"; a mode that was not measured is absent."""
    files: Mapping[str, Path] = field(repr=False)
    """The rows of each mode."""

    def rows(self, mode: str) -> list[dict[str, Any]]:
        """Return the rows of a mode, one for each response, as `evaluate` made them.

        Raises:
            RunFolderError: they were not recorded, or the file is damaged.
        """
        path = self.files.get(mode)
        if path is None or not path.is_file():
            where = self.origin if path is None else path
            raise RunFolderError(f"{where}: no {mode} responses of {self.name} were recorded; measure it anew")
        try:
            content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        except (OSError, EOFError, zlib.error) as error:
            raise RunFolderError(f"{path}: cannot be read to its end: {error}; measure it anew") from error
        rows = parse_lines(content, path)
        for number, row in enumerate(rows, start=1):
            if not isinstance(row.get("problem"), str) or "outcome" not in row:
                raise RunFolderError(f"{path}, line {number} is no judged response: it needs problem and outcome")
        return rows


def load_measured(text: str) -> Measured:
    """Return what `text` names: an evaluation folder, a run folder (its last evaluation on all problems) or RUN@MOMENT.

    Args:
        text: a path; after a run folder's, "@base", "@sft" or "@40" (a PPO step) picks another of its evaluations.

    Raises:
        RunFolderError: there is no such folder or no such evaluation in it; the message lists those there are.
    """
    path, moment = Path(text), None
    if not path.exists() and "@" in text:
        before, _, moment = text.rpartition("@")
        path = Path(before)
    if (path / "evaluation.json").is_file():
        if moment is not None:
            raise RunFolderError(f"{text}: {path} is a single evaluation, so leave out @{moment}")
        return _from_evaluation(path)
    if not (path / "config.toml").is_file():
        absent = "is a file" if path.exists() else "does not exist"
        what = "has neither evaluation.json nor config.toml" if path.is_dir() else absent
        raise RunFolderError(
            f"{path} {what}; give a folder that `rlvr eval` or `rlvr train` made, or RUN@sft, RUN@base, RUN@<step>"
        )
    return _from_run(RunFolder.open(path), moment)


def _from_evaluation(path: Path) -> Measured:
    record = _json_object(path / "evaluation.json")
    modes = record.get("modes") or {}
    settings = {name: record[name] for name in ("task_options", "verifier") if record.get(name) is not None}
    settings |= record.get("sampling") or {}
    identity = record.get("identity") or {}
    settings |= identity.get("prompts") or {}
    if "held_out_verifier" in identity:
        held_out = identity["held_out_verifier"]
        settings["verifier_options"] = (held_out if held_out["name"] else identity["verifier"])["options"]
    return Measured(
        name=record.get("name") or path.resolve().name,
        origin=path,
        phase=None,
        step=None,
        moment=None,
        task=record.get("task"),
        split=record.get("split"),
        settings=settings,
        finished=record.get("finished", True),
        records={mode: modes[mode] for mode in MODES if modes.get(mode)},
        files={mode: found for mode in MODES if (found := path / f"{mode}.jsonl").is_file()},
    )


def _from_run(folder: RunFolder, moment: str | None) -> Measured:
    recorded = folder.read_evaluations()
    if not recorded:
        raise RunFolderError(f"{folder.path} has no evaluation yet; the first is made before PPO starts")
    evaluations = [record for record in recorded if record["split"] == recorded[0]["split"]]
    record = _last_whole(evaluations) if moment is None else _at(folder, evaluations, moment)
    phase, step = record["phase"], record["step"]
    config = _config(folder)
    return Measured(
        name=folder.name if moment is None else f"{folder.name}@{moment}",
        origin=folder.path,
        phase=phase,
        step=step,
        moment=moment,
        task=config.get("task", {}).get("name"),
        split=record["split"],
        settings=_run_settings(config),
        finished=True,
        records={mode: record[mode] for mode in MODES if record.get(mode)},
        files={mode: folder.responses_path(phase, step, mode) for mode in MODES if record.get(mode)},
    )


def _last_whole(evaluations: list[dict[str, Any]]) -> dict[str, Any]:
    most = max(record["problems"] for record in evaluations)
    return [record for record in evaluations if record["problems"] == most][-1]


def _at(folder: RunFolder, evaluations: list[dict[str, Any]], moment: str) -> dict[str, Any]:
    if moment in _PHASES:
        found = [record for record in evaluations if record["phase"] == moment]
    else:
        found = [record for record in evaluations if moment.isdecimal() and record["step"] == int(moment)]
    if not found:
        there = dict.fromkeys(
            str(record["step"]) if record["phase"] == "ppo" else record["phase"] for record in evaluations
        )
        raise RunFolderError(f"{folder.path} has no evaluation @{moment}; it has {', '.join(f'@{at}' for at in there)}")
    return found[-1]


def _config(folder: RunFolder) -> dict[str, Any]:
    try:
        return tomllib.loads(folder.config_path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{folder.config_path} is not valid TOML: {error}; restore the file") from error


def _run_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    task, evaluation, rollout = (config.get(name, {}) for name in ("task", "evaluation", "rollout"))
    verifier = evaluation.get("verifier") or task.get("verifier") or "task"
    options = (evaluation if evaluation.get("verifier") else task).get("verifier_options", {})
    settings = {"task_options": task.get("options", {}), "verifier": verifier, "verifier_options": options}
    settings |= {name: rollout[name] for name in ("max_new_tokens", "top_p", "top_k") if name in rollout}
    if "model" in config:
        settings |= {name: config["model"].get(name) for name in ("chat_template", "system_prompt")}
    return settings


def _json_object(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise RunFolderError(f"{path} cannot be read: {error}; measure it anew") from error
    if not isinstance(record, dict):
        raise RunFolderError(f"{path} does not hold an object; measure it anew")
    return record
