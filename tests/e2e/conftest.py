"""One whole run, made once, that the end-to-end tests look at and compare with."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.finished_runs import RUN
from support.processes import PATIENCE_S, start_fresh
from support.tiny_runs import TINY

TRACKED = 'tracking.trackers=["tensorboard"]'


@dataclass(frozen=True, kw_only=True, slots=True)
class WholeRun:
    """A finished run."""

    path: Path
    stdout: str
    stderr: str


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> WholeRun:
    """`rlvr train`, uninterrupted, in a fresh interpreter."""
    folder = tmp_path_factory.mktemp("whole")
    process = start_fresh("train", *TINY, *RUN, "run.name=whole", TRACKED, folder=folder)
    try:
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == 0, stderr
    return WholeRun(path=folder / "runs" / "whole", stdout=stdout, stderr=stderr)
