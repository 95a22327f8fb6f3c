from pathlib import Path

import pytest
from support.tiny_runs import tiny_config

from rlvr.cli.arguments import run_configuration
from rlvr.config.document import annotated_toml
from rlvr.errors import RunFolderError
from rlvr.tracking.run_folder import RunFolder


def run_folder(path: Path) -> RunFolder:
    return RunFolder.create(path, annotated_toml(tiny_config("run.seed=11")))


def test_a_run_folder_stands_for_its_latest_checkpoint_and_its_own_configuration(tmp_path: Path):
    folder = run_folder(tmp_path / "mine")
    for name in ("step_999999", "step_1000000", "step_000002"):
        (folder.checkpoints_dir / name / "policy").mkdir(parents=True)
    (folder.checkpoints_dir / ".step_1000001.writing" / "policy").mkdir(parents=True)
    name, config = run_configuration(str(folder.path), None, ["evaluation.problems=5"])
    assert name == str(folder.checkpoints_dir / "step_1000000" / "policy")
    assert (config.run.seed, config.evaluation.problems) == (11, 5)


def test_before_the_first_checkpoint_it_stands_for_its_reference(tmp_path: Path):
    folder = run_folder(tmp_path / "mine")
    folder.reference_path.mkdir()
    assert run_configuration(str(folder.path), None, [])[0] == str(folder.reference_path)


def test_a_run_that_has_saved_nothing_yet_cannot_be_evaluated(tmp_path: Path):
    folder = run_folder(tmp_path / "mine")
    with pytest.raises(RunFolderError, match="has saved no model yet; wait for its warm start to end"):
        run_configuration(str(folder.path), None, [])


def test_anything_else_is_a_model_under_the_given_configuration(tmp_path: Path):
    name, config = run_configuration("someone/model", None, ["run.seed=4"])
    assert (name, config.run.seed) == ("someone/model", 4)
