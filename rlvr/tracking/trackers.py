"""Metrics to TensorBoard, Weights & Biases and trackio, under the names they have in metrics.jsonl.

A resumed run goes on with the charts it began. Steps after its checkpoint are recorded again, with the same numbers,
for a resumed run repeats them to the bit.
"""

import json
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from typing import Any

from rlvr.errors import TrackerError
from rlvr.tracking.atomic import atomic_write
from rlvr.tracking.jsonl import to_json
from rlvr.tracking.run_folder import RunFolder
from rlvr.tracking.sinks import Sink


def check_trackers(names: Sequence[str]) -> None:
    """Look for the packages of the trackers that are named, before anything is begun.

    Raises:
        TrackerError: one is not installed.
    """
    for name in names:
        _installed(name)


def open_trackers(
    names: Sequence[str], folder: RunFolder, *, project: str, config: Mapping[str, Any], done_steps: int
) -> list[Sink]:
    """Return a sink for each of "tensorboard", "wandb" and "trackio" that is named.

    Args:
        folder: of the run; TensorBoard's and W&B's own files go below it.
        project: that W&B and trackio file the run under.
        config: the run's resolved configuration, shown beside its charts.
        done_steps: PPO steps that are done; what TensorBoard has of later ones is dropped.

    Raises:
        TrackerError: a package is missing, or refuses to start.
    """
    return [_TRACKERS[name](folder, project, config, done_steps) for name in names]


class TensorBoardSink:
    """Writes event files into RUN/tensorboard: `tensorboard --logdir runs`.

    Args:
        done_steps: steps of this run that are done; events of later ones, left by a kill, are dropped by TensorBoard.
    """

    def __init__(self, folder: RunFolder, *, done_steps: int) -> None:
        _installed("tensorboard")
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder.path / "tensorboard"), purge_step=done_steps + 1)

    def log(self, step: int, numbers: Mapping[str, float | None]) -> None:
        for name, number in numbers.items():
            if number is not None:
                self._writer.add_scalar(name, number, step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class WandbSink:
    """Logs to Weights & Biases; WANDB_MODE=offline keeps everything in RUN/wandb for `wandb sync`.

    The run's id is kept in RUN/trackers.json, so that a resumed run is the same run there. Charts are over the metric
    "step" and not over W&B's own counter, which refuses to go back to a checkpoint.
    """

    def __init__(self, folder: RunFolder, *, project: str, config: Mapping[str, Any]) -> None:
        wandb = _installed("wandb")
        try:
            self._run = wandb.init(
                project=project, name=folder.name, id=_own_id(folder, "wandb"), resume="allow", dir=str(folder.path),
                config=dict(config), settings=wandb.Settings(silent=True),
            )  # fmt: skip
        except (wandb.Error, OSError) as error:
            raise TrackerError(
                f"tracking.trackers: W&B does not start: {error}; log in with `wandb login`, or set WANDB_MODE=offline"
            ) from error
        self._run.define_metric("step")
        self._run.define_metric("*", step_metric="step")

    def log(self, step: int, numbers: Mapping[str, float | None]) -> None:
        present = {name: number for name, number in numbers.items() if number is not None}
        self._run.log({"step": step, **present})

    def close(self) -> None:
        self._run.finish()


class TrackioSink:
    """Logs to trackio, on this machine unless TRACKIO_SPACE_ID or TRACKIO_SERVER_URL says otherwise.

    A resumed run goes on under the name that RUN/trackers.json holds; it ends in letters of its own, for trackio knows
    a run by its name alone.
    """

    def __init__(self, folder: RunFolder, *, project: str, config: Mapping[str, Any]) -> None:
        trackio = _installed("trackio")
        name = f"{folder.name}-{_own_id(folder, 'trackio')[:6]}"
        try:
            with redirect_stdout(sys.stderr):
                self._run = trackio.init(
                    project=project, name=name, config=dict(config), resume="allow", embed=False,
                    auto_log_gpu=False, auto_log_cpu=False,
                )  # fmt: skip
        except (ValueError, OSError) as error:
            raise TrackerError(f"tracking.trackers: trackio does not start: {error}") from error

    def log(self, step: int, numbers: Mapping[str, float | None]) -> None:
        self._run.log({name: number for name, number in numbers.items() if number is not None}, step=step)

    def close(self) -> None:
        with redirect_stdout(sys.stderr):
            self._run.finish()


_TRACKERS: dict[str, Callable[[RunFolder, str, Mapping[str, Any], int], Sink]] = {
    "tensorboard": lambda folder, _project, _config, done: TensorBoardSink(folder, done_steps=done),
    "wandb": lambda folder, project, config, _done: WandbSink(folder, project=project, config=config),
    "trackio": lambda folder, project, config, _done: TrackioSink(folder, project=project, config=config),
}


def _installed(name: str) -> Any:
    """Return the module of a tracker; it, the package and our extra all have the tracker's name."""
    try:
        return import_module(name)
    except ImportError as error:
        raise TrackerError(
            f'tracking.trackers: "{name}" needs a package that is not installed ({error}); '
            f"pip install 'rlvr[{name}]', or take it off the list"
        ) from error


def _own_id(folder: RunFolder, tracker: str) -> str:
    """Return the run's id at a tracker, made once and kept in its folder."""
    path = folder.trackers_path
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if tracker not in known:
        known[tracker] = uuid.uuid4().hex
        atomic_write(path, to_json(known, indent=2) + "\n")
    return known[tracker]
