"""Real trackers, kept on this machine: the same names and numbers, in one chart after a resume."""

import json
import os
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rlvr.errors import TrackerError
from rlvr.tracking import trackers
from rlvr.tracking.run_folder import RunFolder
from rlvr.tracking.trackers import check_trackers, open_trackers


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "runs" / "first", "")


def log(folder: RunFolder, name: str, *, done: int, steps: range, shift: float = 0.0) -> None:
    (sink,) = open_trackers([name], folder, project="rlvr-tests", config={"run": {"seed": 3}}, done_steps=done)
    for step in steps:
        sink.log(step, {"reward/mean": step / 10 + shift, "critic/explained_variance": None})
    sink.close()


def tensorboard_points(folder: RunFolder) -> dict[int, float]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder.path / "tensorboard"))
    events.Reload()
    assert events.Tags()["scalars"] == ["reward/mean"]
    scalars = events.Scalars("reward/mean")
    assert len({point.step for point in scalars}) == len(scalars)
    return {point.step: round(point.value, 4) for point in scalars}


def test_tensorboard_shows_each_step_once_also_after_a_kill_and_a_resume(folder: RunFolder):
    log(folder, "tensorboard", done=0, steps=range(1, 6))
    assert tensorboard_points(folder) == {step: step / 10 for step in range(1, 6)}
    # Killed after step 5, resumed from the checkpoint of step 3; shifted to tell the new points from the old.
    log(folder, "tensorboard", done=3, steps=range(4, 7), shift=1.0)
    assert tensorboard_points(folder) == {1: 0.1, 2: 0.2, 3: 0.3, 4: 1.4, 5: 1.5, 6: 1.6}


def in_fresh_process(folder: RunFolder, name: str, done: int, first: int, last: int, **environment: str) -> str:
    """Log in an interpreter of its own, as a resumed run does."""
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]);"
        "from test_trackers import log; from rlvr.tracking.run_folder import RunFolder;"
        "log(RunFolder.open(Path(sys.argv[2])), sys.argv[3], done=int(sys.argv[4]),"
        " steps=range(int(sys.argv[5]), int(sys.argv[6]) + 1))"
    )
    arguments = [str(Path(__file__).parent), str(folder.path), name, str(done), str(first), str(last)]
    process = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, cwd=folder.path,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return process.stdout + process.stderr


def test_wandb_offline_keeps_every_number_under_one_run_id(folder: RunFolder):
    for done, first, last in ((0, 1, 3), (3, 4, 5)):
        in_fresh_process(folder, "wandb", done, first, last, WANDB_MODE="offline")
    run_id = json.loads(folder.trackers_path.read_text())["wandb"]
    files = sorted((folder.path / "wandb").glob(f"offline-run-*-{run_id}/run-{run_id}.wandb"))
    logged = [record for file in files for record in wandb_history(file)]
    assert [(record["step"], record["reward/mean"]) for record in logged] == [(step, step / 10) for step in range(1, 6)]
    assert not any("critic/explained_variance" in record for record in logged)


def wandb_history(file: Path) -> list[dict]:
    """Return the rows that were logged to an offline run."""
    from wandb.proto.wandb_internal_pb2 import Record

    rows = []
    for content in leveldb_records(file.read_bytes()):
        record = Record.FromString(content)
        if record.HasField("history"):
            items = {"/".join(item.nested_key) or item.key: item.value_json for item in record.history.item}
            rows.append({key: json.loads(value) for key, value in items.items()})
    return rows


def leveldb_records(content: bytes) -> Iterator[bytes]:
    """Yield the records of a LevelDB log behind a header of 7 bytes, pieced together across its blocks of 32 KiB."""
    place, pieces = 7, b""
    while place + 7 <= len(content):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
            continue
        length, kind = struct.unpack_from("<HB", content, place + 4)
        pieces += content[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last piece
            yield pieces
            pieces = b""


def test_trackio_goes_on_with_the_same_run(folder: RunFolder, tmp_path: Path):
    store = tmp_path / "trackio"
    for done, first, last in ((0, 1, 3), (3, 4, 5)):
        in_fresh_process(folder, "trackio", done, first, last, TRACKIO_DIR=str(store))
    with closing(sqlite3.connect(store / "rlvr-tests.db")) as database:
        rows = database.execute("SELECT run_id, run_name, step, metrics FROM metrics ORDER BY id").fetchall()
    assert len({(run_id, name) for run_id, name, _, _ in rows}) == 1
    assert rows[0][1].startswith("first-")
    logged = [(step, json.loads(metrics)) for _, _, step, metrics in rows]
    assert logged == [(step, {"reward/mean": step / 10}) for step in range(1, 6)]


def test_a_package_that_is_missing_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(TrackerError, match=r'"wandb" needs a package .* pip install .rlvr\[wandb\]'):
        check_trackers(["tensorboard", "wandb"])


def test_every_configurable_tracker_is_known():
    from rlvr.config.models import TrackingConfig

    names = TrackingConfig.model_json_schema()["properties"]["trackers"]["items"]["enum"]
    assert names == list(trackers._TRACKERS)
