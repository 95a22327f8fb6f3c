"""A run folder read once for a report, however far the run has come."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlvr.errors import RunFolderError
from rlvr.tracking.findings import Setting
from rlvr.tracking.run_folder import RunFolder

_LASTING = ("name", "task", "model", "algorithm", "seed", "commit", "versions", "machine", "started", "verifier")
"""What a summary says that further steps do not change."""


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
    """Empty before the run has ended or stopped for the first time, and of a run that goes on since then without what
    its later steps have changed."""

    @property
    def finished(self) -> bool:
        """Whether it has made all its steps, those included by which a finished run was made longer."""
        planned = self.value("run", "steps", 0)
        return bool(self.summary.get("finished")) and self.summary.get("steps", planned) >= planned

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
    metrics = folder.read_metrics()
    return RunData(
        folder=folder,
        config_text=text,
        config=config,
        metrics=metrics,
        evaluations=folder.read_evaluations(),
        summary=_up_to_date(folder.read_summary() or {}, metrics[-1]["step"] if metrics else 0),
    )


def _up_to_date(summary: Mapping[str, Any], step: int) -> Mapping[str, Any]:
    """Return what a summary says that holds at this step, too."""
    if summary.get("steps", step) >= step:
        return summary
    # Written when the run stopped, which has gone on since.
    return {name: value for name, value in summary.items() if name in _LASTING}
