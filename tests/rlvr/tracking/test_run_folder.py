import gzip
import json
import math

import pytest
from support.run_folders import evaluation, fabricated_run

from rlvr.errors import RunFolderError
from rlvr.tracking.run_folder import RunFolder, next_free_name


def test_a_new_folder_holds_its_configuration_and_nothing_temporary(tmp_path):
    folder = RunFolder.create(tmp_path / "runs" / "a", "x = 1\n")
    assert folder.config_path.read_text() == "x = 1\n"
    assert folder.checkpoints_dir.is_dir()
    assert [entry.name for entry in (tmp_path / "runs").iterdir()] == ["a"]


@pytest.mark.parametrize("kind", ["run", "empty folder", "file", "dangling link"])
def test_whatever_has_the_name_already_is_left_alone(tmp_path, kind):
    path = tmp_path / "a"
    if kind == "run":
        RunFolder.create(path, "old")
    elif kind == "empty folder":
        path.mkdir()
    elif kind == "file":
        path.write_text("mine")
    else:
        path.symlink_to(tmp_path / "nowhere")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(RunFolderError, match=r"exists already.*--resume.*run\.name"):
        RunFolder.create(path, "new")
    assert sorted(tmp_path.rglob("*")) == before


def test_opening_what_is_no_run_says_why(tmp_path):
    with pytest.raises(RunFolderError, match="does not exist"):
        RunFolder.open(tmp_path / "absent")
    with pytest.raises(RunFolderError, match=r"no config\.toml"):
        RunFolder.open(tmp_path)


def test_an_opened_folder_is_the_one_created(tmp_path):
    created = RunFolder.create(tmp_path / "a", "")
    assert RunFolder.open(tmp_path / "a").path == created.path
    assert created.name == "a"


def test_the_next_name_is_one_above_the_highest(tmp_path):
    assert next_free_name(tmp_path / "runs", "arithmetic-ppo") == "arithmetic-ppo-1"
    for name in ("arithmetic-ppo-1", "arithmetic-ppo-12", "arithmetic-ppo-x", "arithmetic-ppo-1-2", "other-40"):
        (tmp_path / name).mkdir()
    assert next_free_name(tmp_path, "arithmetic-ppo") == "arithmetic-ppo-13"


def test_rollouts_come_back_as_they_were_written(tmp_path):
    folder = RunFolder.create(tmp_path / "a", "")
    records = [{"text": "caf\u00e9\n2 + 2", "logprobs": [-0.1, math.nan]}, {"text": "", "logprobs": []}]
    folder.write_rollouts(12, iter(records))
    assert folder.rollouts_path(12) == tmp_path / "a" / "rollouts" / "step_000012.jsonl.gz"
    assert folder.read_rollouts(12) == [{"text": "caf\u00e9\n2 + 2", "logprobs": [-0.1, None]}, records[1]]
    assert len(gzip.decompress(folder.rollouts_path(12).read_bytes()).splitlines()) == 2


def test_equal_rollouts_give_equal_bytes_in_any_folder(tmp_path, monkeypatch):
    first, second = (RunFolder.create(tmp_path / name, "") for name in "ab")
    first.write_rollouts(1, [{"reward": 1.0}])
    monkeypatch.setattr("time.time", lambda: 2e9)
    second.write_rollouts(1, [{"reward": 1.0}])
    assert first.rollouts_path(1).read_bytes() == second.rollouts_path(1).read_bytes()


def test_rollouts_that_fail_half_way_leave_no_file(tmp_path):
    folder = RunFolder.create(tmp_path / "a", "")

    def records():
        yield {"reward": 1.0}
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        folder.write_rollouts(1, records())
    assert list((folder.path / "rollouts").iterdir()) == []


@pytest.mark.parametrize("content", [b"not gzipped", None])
def test_damaged_files_are_named(tmp_path, content):
    folder = RunFolder.create(tmp_path / "a", "")
    folder.write_rollouts(1, [{"reward": 1.0}])
    folder.write_responses("ppo", 1, "greedy", [{"problem": "p"}])
    for path, read in (
        (folder.rollouts_path(1), lambda: folder.read_rollouts(1)),
        (folder.responses_path("ppo", 1, "greedy"), lambda: folder.read_responses("ppo", 1, "greedy")),
    ):
        path.write_bytes(path.read_bytes()[:-9] if content is None else content)
        with pytest.raises(RunFolderError, match=rf"{path.name}: cannot be read to its end"):
            read()


def test_rollouts_that_were_not_recorded_are_an_error(tmp_path):
    with pytest.raises(RunFolderError, match="step 4"):
        RunFolder.create(tmp_path / "a", "").read_rollouts(4)


def test_truncating_keeps_all_up_to_the_step_byte_for_byte(tmp_path):
    whole, cut = fabricated_run(tmp_path / "whole", steps=20), fabricated_run(tmp_path / "cut", steps=40)
    expected = {step: cut.rollouts_path(step).read_bytes() for step in range(1, 21)}
    lines = cut.metrics_path.read_text().splitlines()
    cut.truncate_after(20)
    assert cut.metrics_path.read_text().splitlines() == lines[:20]
    assert [record["step"] for record in cut.read_evaluations()] == [0, 0, 10, 20]
    assert {step: cut.rollouts_path(step).read_bytes() for step in range(1, 21)} == expected
    assert len(list((cut.path / "rollouts").iterdir())) == len(list((whole.path / "rollouts").iterdir())) == 20


def test_truncating_forgets_the_probes_of_later_steps(tmp_path):
    folder = fabricated_run(tmp_path / "a", steps=10)
    for step in (0, 5, 10):
        folder.write_probes(step, [{"problem": "p/1"}])
    folder.truncate_after(5)
    assert folder.steps_with_probes() == [0, 5]
    assert folder.read_probes(5) == [{"problem": "p/1"}]


def test_truncating_drops_a_line_torn_by_a_kill(tmp_path):
    folder = fabricated_run(tmp_path / "a", steps=10)
    for path in (folder.metrics_path, folder.evaluations_path):
        with path.open("a") as file:
            file.write('{"step": 11, "rew')
    folder.truncate_after(10)
    assert len(folder.read_metrics()) == 10
    assert folder.metrics_path.read_text().endswith("}\n")
    assert folder.read_evaluations()[-1]["step"] == 10


def test_truncating_a_run_that_recorded_nothing_is_fine(tmp_path):
    folder = RunFolder.create(tmp_path / "a", "")
    folder.truncate_after(0)
    assert folder.read_metrics() == []


def test_an_evaluation_is_appended_after_a_torn_line_without_joining_it(tmp_path):
    folder = RunFolder.create(tmp_path / "a", "")
    folder.append_evaluation(evaluation(0, "sft", 100, 80))
    with folder.evaluations_path.open("a") as file:
        file.write('{"step": 10')
    folder.append_evaluation(evaluation(20, "ppo", 120, 100))
    assert folder.read_evaluations() == [evaluation(0, "sft", 100, 80), evaluation(20, "ppo", 120, 100)]


def test_the_summary_is_strict_json(tmp_path):
    folder = RunFolder.create(tmp_path / "a", "")
    folder.write_summary({"name": "a", "wall_s": math.inf})
    assert json.loads(folder.summary_path.read_text()) == {"name": "a", "wall_s": None}
