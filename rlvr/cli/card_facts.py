"""What a run's card says besides its pass rates: configuration, data, verifier, audits, the paired gain."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rlvr.algorithms.presets import PRESETS
from rlvr.cli.run_audit import audit_of, contamination_of
from rlvr.config.changes import changed_keys
from rlvr.config.document import toml_value
from rlvr.config.models import Config
from rlvr.errors import ConfigError, RunFolderError
from rlvr.evaluation.comparison import compare
from rlvr.evaluation.measured import load_measured
from rlvr.tracking.run_folder import RunFolder
from tasks.types import Problem

_WHERE_AND_WHEN = ("run.name", "run.dir", "run.seed", "algorithm.preset")
"""Keys that the card tells elsewhere."""


def card_facts(
    config: Config,
    folder: RunFolder,
    train: Sequence[Problem],
    held_out: Sequence[Problem],
    *,
    plugin_files: Sequence[Path] = (),
    audits: bool = True,
) -> dict[str, Any]:
    """Return what summary.json gains for the card; audit and contamination are worked out once and kept in files.

    Args:
        train: the task's training problems.
        held_out: those that the run evaluates on.
        plugin_files: the user's.
        audits: False leaves out an audit and a contamination check that were not made before, which take seconds.
    """
    task, evaluation = config.task, config.evaluation
    facts: dict[str, Any] = {
        "config_changes": changes_from_preset(config),
        "data": {
            "task_options": {name: toml_value(value) for name, value in task.options.items()},
            "train_problems": len(train),
            "held_out_problems": len(held_out),
            "held_out_split": evaluation.split,
        },
        "verifier": {
            "names": [task.verifier] if task.verifier else sorted({problem.verifier for problem in held_out}),
            "options": {name: toml_value(value) for name, value in task.verifier_options.items()},
            "held_out": evaluation.verifier,
            "held_out_options": {name: toml_value(value) for name, value in evaluation.verifier_options.items()},
        },
        "paired": paired_gains(folder),
        "command": reproduction(folder, plugin_files),
    }
    if audits or folder.contamination_path.exists():
        facts["contamination"] = contamination_of(folder, train, held_out)
    if audits or folder.audit_path.exists():
        audit = audit_of(config, folder, train, plugin_files=plugin_files)
        facts |= {} if audit is None else {"audit": audit}
    return facts


def changes_from_preset(config: Config) -> dict[str, str]:
    """Return the keys that differ from the defaults of the preset, but for those that the card tells elsewhere."""
    preset = config.algorithm.preset
    base = Config.model_validate({"algorithm": {"preset": preset, **PRESETS[preset]}})
    return {name: value for name, value in changed_keys(config, base).items() if name not in _WHERE_AND_WHEN}


def paired_gains(folder: RunFolder) -> dict[str, Any]:
    """Return by mode how many held-out problems PPO gained and lost, with the paired difference and McNemar's p.

    Empty before there are evaluations of both, and where their responses were not kept.
    """
    evaluations = folder.read_evaluations()
    after = [record["step"] for record in evaluations if record["phase"] == "ppo"]
    before = [record["phase"] for record in evaluations if record["phase"] != "ppo"]
    if not after or not before:
        return {}
    try:
        found = compare(load_measured(f"{folder.path}@{before[-1]}"), load_measured(f"{folder.path}@{after[-1]}"))
    except (RunFolderError, ConfigError):
        return {}
    return {
        mode: {
            "before": before[-1],
            "after": after[-1],
            "n": one.n,
            "gained": len(one.gained),
            "lost": len(one.lost),
            "p": one.p,
            "difference": one.rate.difference.as_record(),
        }
        for mode, one in found.modes.items()
    }


def reproduction(folder: RunFolder, plugin_files: Sequence[Path]) -> str:
    """Return the command that trains the same run again, under another name."""
    plugins = [part for file in plugin_files for part in ("--plugin", str(file))]
    again = f"run.name={folder.name}-again"
    return shlex.join(["rlvr", "train", str(folder.config_path), again, *plugins])
