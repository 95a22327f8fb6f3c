"""The folder of a run: where everything lies, and how it is written so that a kill at any moment does no harm."""

import gzip
import json
import os
import re
import shutil
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from rlvr.errors import RunFolderError
from rlvr.tracking.atomic import atomic_write, fsync_path, fsync_tree, replacing
from rlvr.tracking.jsonl import mend, parse_lines, read_records, to_json, to_line, write_records


def next_free_name(directory: Path, stem: str) -> str:
    """Return the name after the highest one in use, such as "arithmetic-ppo-3"; the directory need not exist."""
    pattern = re.compile(re.escape(stem) + r"-(\d+)")
    present = os.listdir(directory) if directory.is_dir() else []
    numbers = [int(match[1]) for name in present if (match := pattern.fullmatch(name))]
    return f"{stem}-{max(numbers, default=0) + 1}"


def complete_checkpoints(directory: Path) -> list[Path]:
    """Return the complete checkpoints in `directory`, oldest first, without one whose writing was cut short."""
    found = [path for path in directory.glob("step_*") if re.fullmatch(r"step_\d{6,}", path.name) and path.is_dir()]
    return sorted(found, key=lambda path: int(path.name.removeprefix("step_")))


class RunFolder:
    """An existing run folder. Make one with `create`, reopen one with `open`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, config_toml: str) -> Self:
        """Make a new run folder that holds its configuration from the first moment on.

        Raises:
            RunFolderError: something of that name exists already.
        """
        taken = RunFolderError(
            f"{path} exists already; resume it with `rlvr train --resume {path}` or choose another run.name"
        )
        if os.path.lexists(path):
            raise taken
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        # Left by a process of the same number that was killed right here; numbers repeat soon in containers.
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            temporary.mkdir()
            (temporary / "config.toml").write_text(config_toml, encoding="utf-8")
            (temporary / "rollouts").mkdir()
            (temporary / "checkpoints").mkdir()
            fsync_tree(temporary)
            # A folder with files in it is never replaced by a rename, so of two runs that start at once only one wins.
            temporary.rename(path)
        except OSError as error:
            if os.path.lexists(path):
                raise taken from error
            raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        fsync_path(path.parent)
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Return an existing run folder.

        Raises:
            RunFolderError: there is no run at `path`.
        """
        if not (path / "config.toml").is_file():
            what = "has no config.toml" if path.is_dir() else "is a file" if path.exists() else "does not exist"
            raise RunFolderError(f"{path} is not a run folder: it {what}; give the folder that `rlvr train` made")
        return cls(path)

    @property
    def is_blank(self) -> bool:
        """Whether nothing has happened in it yet: it holds its configuration, and no other file has anything in it."""
        files = (path for path in self.path.rglob("*") if path.is_file() and path != self.config_path)
        return all(path.stat().st_size == 0 for path in files)

    def discard(self) -> None:
        """Remove a new run folder in which nothing has happened yet."""
        shutil.rmtree(self.path)

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def config_path(self) -> Path:
        """The resolved configuration."""
        return self.path / "config.toml"

    @property
    def metrics_path(self) -> Path:
        """One line per PPO step."""
        return self.path / "metrics.jsonl"

    @property
    def sft_metrics_path(self) -> Path:
        """One line per step of the warm start."""
        return self.path / "sft.jsonl"

    @property
    def evaluations_path(self) -> Path:
        """One line per held-out evaluation."""
        return self.path / "evaluations.jsonl"

    @property
    def checkpoints_dir(self) -> Path:
        return self.path / "checkpoints"

    @property
    def reference_path(self) -> Path:
        """The SFT policy that the KL penalty is measured against, as a Hugging Face folder."""
        return self.path / "reference"

    @property
    def summary_path(self) -> Path:
        """What the run came to, for programs; the card tells people."""
        return self.path / "summary.json"

    @property
    def trackers_path(self) -> Path:
        """The run's ids at trackers, so that a resumed run goes on with its charts."""
        return self.path / "trackers.json"

    @property
    def audit_path(self) -> Path:
        """The error rates of the run's verifier under attack."""
        return self.path / "audit.json"

    @property
    def contamination_path(self) -> Path:
        """What the held-out problems share with the training problems."""
        return self.path / "contamination.json"

    @property
    def curve_path(self) -> Path:
        return self.path / "curve.png"

    @property
    def card_path(self) -> Path:
        return self.path / "README.md"

    def rollouts_path(self, step: int) -> Path:
        """Every rollout of one step, gzipped JSON lines."""
        return self.path / "rollouts" / f"step_{step:06d}.jsonl.gz"

    def truncate_after(self, step: int) -> None:
        """Forget every metric, evaluation, rollout and probe after `step`: a run resumed there records them once."""
        for path in (self.metrics_path, self.evaluations_path):
            if path.exists():
                write_records(path, [record for record in read_records(path) if record["step"] <= step])
        for recorded in self.steps_with_rollouts():
            if recorded > step:
                self.rollouts_path(recorded).unlink()
        for recorded in self.steps_with_probes():
            if recorded > step:
                self.probes_path(recorded).unlink()
        for path in (self.path / "responses").glob("*.jsonl.gz"):
            number = re.fullmatch(r"[a-z]+_(\d+)_[a-z]+\.jsonl\.gz", path.name)
            if number and int(number[1]) > step:
                path.unlink()

    def write_rollouts(self, step: int, records: Iterable[Mapping[str, Any]]) -> None:
        """Write a step's rollouts; equal records give equal bytes."""
        _write_packed(self.rollouts_path(step), records)

    def read_rollouts(self, step: int) -> list[dict[str, Any]]:
        """Return a step's rollouts.

        Raises:
            RunFolderError: none were recorded for that step, or the file is damaged.
        """
        path = self.rollouts_path(step)
        if not path.exists():
            raise RunFolderError(f"{path} does not exist: no rollouts were recorded at step {step}")
        return _read_packed(path)

    def steps_with_rollouts(self) -> list[int]:
        """Return the steps whose rollouts were recorded, in order."""
        return _steps_in(self.path / "rollouts")

    def probes_path(self, step: int) -> Path:
        """The same held-out problems at every evaluation, token by token as rollouts are, gzipped JSON lines."""
        return self.path / "probes" / f"step_{step:06d}.jsonl.gz"

    def write_probes(self, step: int, records: Iterable[Mapping[str, Any]]) -> None:
        """Write the probes of the policy after `step` PPO steps."""
        _write_packed(self.probes_path(step), records)

    def read_probes(self, step: int) -> list[dict[str, Any]]:
        """Return the probes of the policy after `step` PPO steps.

        Raises:
            RunFolderError: none were recorded then, or the file is damaged.
        """
        path = self.probes_path(step)
        if not path.exists():
            raise RunFolderError(f"{path} does not exist: no probes were recorded after step {step}")
        return _read_packed(path)

    def steps_with_probes(self) -> list[int]:
        """Return the steps after which probes were recorded, in order."""
        return _steps_in(self.path / "probes")

    def responses_path(self, phase: str, step: int, mode: str) -> Path:
        """The rows of one evaluation, gzipped JSON lines.

        Args:
            phase: "base", "sft" or "ppo", as in evaluations.jsonl.
            mode: "greedy" or "sampled".
        """
        return self.path / "responses" / f"{phase}_{step:06d}_{mode}.jsonl.gz"

    def write_responses(self, phase: str, step: int, mode: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write the rows of one evaluation: each response with its verdict."""
        _write_packed(self.responses_path(phase, step, mode), rows)

    def read_responses(self, phase: str, step: int, mode: str) -> list[dict[str, Any]]:
        """Return the rows of one evaluation.

        Raises:
            RunFolderError: there are none, or the file is damaged.
        """
        path = self.responses_path(phase, step, mode)
        if not path.exists():
            raise RunFolderError(f"{path} does not exist: {mode} responses of {phase} step {step} were not recorded")
        return _read_packed(path)

    def append_evaluation(self, record: Mapping[str, Any]) -> None:
        """Add one held-out evaluation, on disk when this returns."""
        mend(self.evaluations_path)
        with self.evaluations_path.open("ab") as file:
            file.write(to_line(record))
            file.flush()
            os.fsync(file.fileno())

    def read_metrics(self) -> list[dict[str, Any]]:
        """Return the metrics of every PPO step so far, oldest first."""
        return read_records(self.metrics_path)

    def read_evaluations(self) -> list[dict[str, Any]]:
        """Return the held-out evaluations so far, oldest first."""
        return read_records(self.evaluations_path)

    def read_summary(self) -> dict[str, Any] | None:
        """Return what the run came to; None before it has ended or stopped for the first time."""
        return json.loads(self.summary_path.read_text(encoding="utf-8")) if self.summary_path.exists() else None

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write summary.json in place of an earlier one."""
        atomic_write(self.summary_path, to_json(summary, indent=2) + "\n")


def _steps_in(directory: Path) -> list[int]:
    found = (re.fullmatch(r"step_(\d+)\.jsonl\.gz", path.name) for path in directory.glob("step_*"))
    return sorted(int(match[1]) for match in found if match)


def _read_packed(path: Path) -> list[dict[str, Any]]:
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise RunFolderError(f"{path}: cannot be read to its end: {error}; restore the file, or remove it") from error
    return parse_lines(content, path)


def _write_packed(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    # Without an empty filename and mtime 0 the gzip header would hold the temporary name and the clock.
    with (
        replacing(path) as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=1, mtime=0) as packed,
    ):
        for record in records:
            packed.write(to_line(record))
