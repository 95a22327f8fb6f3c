"""A run folder read once for a report, however far the run has come."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlvr.errors import RunFolderError
from rlvr.tracking.findings import Setting
from rlvr.tracking.run_folder import RunFolder


@dataclass(frozen=True, kw_only=True, slots=True)
class RunData:
    """What a run folder holds, but for rollouts and responses."""

    folder: RunFolder
    config_text: str
    config: Mapping[str, Any]
    """The configuration as a document: tables of keys."""
    metrics: list[dict[str, Any]]
    evaluations: list[dict[str, Any]]
    summary: Mapping[str, Any]
    """Empty before the run has ended or stopped for the first time."""

    @property
    def finished(self) -> bool:
        return bool(self.summary.get("finished"))

    @property
    def setting(self) -> Setting:
        return Setting(
            max_new_tokens=self.value("rollout", "max_new_tokens"),
            samples_per_prompt=self.value("rollout", "samples_per_prompt", 1),
        )

    @property
    def rollouts_per_step(self) -> int | None:
        prompts = self.value("rollout", "prompts_per_step")
        return None if prompts is None else prompts * self.setting.samples_per_prompt

    def value(self, section: str, key: str, default: Any = None) -> Any:
        """Return a key of the configuration; configurations of other versions may lack it."""
        return self.config.get(section, {}).get(key, default)


def read_run(folder: RunFolder) -> RunData:
    """Read a run folder.

    Raises:
        RunFolderError: its configuration or a line of its records cannot be read.
    """
    text = folder.config_path.read_text(encoding="utf-8")
    try:
        config = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RunFolderError(f"{folder.config_path} is not valid TOML: {error}; restore the file") from error
    return RunData(
        folder=folder,
        config_text=text,
        config=config,
        metrics=folder.read_metrics(),
        evaluations=folder.read_evaluations(),
        summary=folder.read_summary() or {},
    )
