"""The trainings that a suite asks for: one warm start for each seed, then every arm from it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr.config.keys import keys
from rlvr.config.loading import load_config
from rlvr.config.models import Config, ModelConfig, SftConfig
from rlvr.config.suites import WARM_STARTS, Suite
from rlvr.errors import ConfigError, RunFolderError
from rlvr.tracking.run_folder import RunFolder

_OF_THE_WARM_START = ("run.threads", "run.device", "task.name", "task.options")
"""Keys beside those of [model] and [sft]; the seed is in the folder's name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Training:
    """One `rlvr train`."""

    name: str
    """ "ppo/seed-0": its folder below the bench's."""
    arm: str | None
    """None for a warm start."""
    seed: int
    folder: Path
    config: Config
    after: str | None = None
    """Name of the warm start whose model it starts from."""

    @property
    def config_path(self) -> Path:
        """The configuration that it is started with."""
        return self.folder.with_name(f"{self.folder.name}.toml")

    @property
    def log_path(self) -> Path:
        """What it prints."""
        return self.folder.with_name(f"{self.folder.name}.log")


def trainings(suite: Suite, out: Path) -> list[Training]:
    """Return all trainings of a suite, seed by seed, a warm start before what starts from it.

    Arms that agree in all that a warm start depends on share one; each then starts from its model with no warm start
    of its own, which gives the same run bit for bit and saves the time.

    Args:
        out: the folder of the bench.
    """
    found: dict[str, Training] = {}
    for seed in suite.seeds:
        for arm, config in suite.arms.items():
            folder = out / arm / f"seed-{seed}"
            own = _placed(config, folder, seed)
            warm_start = _warm_start(own, out, seed) if own.sft.steps else None
            if warm_start is not None:
                found.setdefault(warm_start.name, warm_start)
                own = _started_from(own, warm_start)
            name = f"{arm}/seed-{seed}"
            after = warm_start.name if warm_start else None
            found[name] = Training(name=name, arm=arm, seed=seed, folder=folder, config=own, after=after)
    return list(found.values())


def _placed(config: Config, folder: Path, seed: int) -> Config:
    place = {"seed": seed, "name": folder.name, "dir": str(folder.parent)}
    return config.model_copy(update={"run": config.run.model_copy(update=place)})


def _warm_start(config: Config, out: Path, seed: int) -> Training:
    content = json.dumps(_warm_start_keys(config), sort_keys=True, default=str)
    name = f"{WARM_STARTS}/{hashlib.sha256(content.encode()).hexdigest()[:8]}/seed-{seed}"
    placed = _placed(config, out / name, seed)
    run = placed.run.model_copy(update={"steps": 0})
    placed = placed.model_copy(update={"run": run})
    return Training(name=name, arm=None, seed=seed, folder=out / name, config=placed)


def _warm_start_keys(config: Config) -> dict[str, Any]:
    return {
        name: value
        for name, value in _flat(config).items()
        if name in _OF_THE_WARM_START or name.startswith(("model.", "sft."))
    }


def _started_from(config: Config, warm_start: Training) -> Config:
    # Absolute, so that the bench goes on from any folder.
    reference = str(RunFolder(warm_start.folder.resolve()).reference_path)
    model = ModelConfig.model_validate({**config.model.model_dump(), "name": reference})
    sft = SftConfig.model_validate({**config.sft.model_dump(), "steps": 0})
    return config.model_copy(update={"model": model, "sft": sft})


def is_finished(training: Training) -> bool:
    """Whether the training's folder holds its finished run."""
    if not training.folder.exists():
        return False
    summary = RunFolder.open(training.folder).read_summary()
    return bool(summary and summary.get("finished"))


def check_folders(found: list[Training]) -> None:
    """Check that what earlier benches left in the folders are trainings of this suite.

    Raises:
        RunFolderError: one line for each that is not, with the keys that differ.
    """
    mistakes = [
        f"{training.folder} no longer matches the suite: {difference}"
        for training in found
        if training.folder.exists() and (difference := _difference(training))
    ]
    if mistakes:
        cure = "delete these folders to train them anew, or give the changed suite another --out"
        raise RunFolderError("\n".join([*mistakes, cure]))


def _difference(training: Training) -> str | None:
    """Return how a folder's run differs from the training; None where it is the same."""
    try:
        present = load_config(RunFolder.open(training.folder).config_path, [])
    except ConfigError as error:
        return f"its configuration cannot be used: {str(error).splitlines()[0]}"
    except RunFolderError as error:
        return str(error)
    # A warm start may have been made for an arm whose other keys are of no account to it.
    read = _compared if training.arm is not None else _warm_start_keys
    there, wanted = read(present), read(training.config)
    different = [name for name in wanted if there[name] != wanted[name]]
    return ", ".join(f"{name} is {there[name]!r}, now {wanted[name]!r}" for name in different[:3]) + (
        f" and {len(different) - 3} more" if len(different) > 3 else ""
    )


def _compared(config: Config) -> dict[str, Any]:
    """Return what makes a run what it is: not where it lies, nor where the bench lies whose warm start it took."""
    values = _flat(config)
    del values["run.dir"], values["run.name"]
    before, found, name = values["model.name"].rpartition(f"/{WARM_STARTS}/")
    values["model.name"] = f"{found.lstrip('/')}{name}" if found else before + name
    return values


def _flat(config: Config) -> dict[str, Any]:
    document: Mapping[str, Mapping[str, Any]] = config.model_dump()
    return {name: document[name.partition(".")[0]][name.partition(".")[2]] for name in keys()}
