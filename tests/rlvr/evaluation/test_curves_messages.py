"""What `rlvr plot` says about runs that it cannot draw, or not together."""

import pytest
from support.run_folders import evaluation, fabricated_run

from rlvr.errors import ConfigError, RunFolderError
from rlvr.evaluation.curves import plot_curves
from rlvr.evaluation.curves.recorded_runs import load_runs
from rlvr.tracking.run_folder import RunFolder


def test_a_run_without_evaluations_is_an_error(tmp_path):
    folder = RunFolder.create(tmp_path / "a", "")
    with pytest.raises(RunFolderError, match="no evaluation"):
        plot_curves([folder.path], tmp_path / "curve.png")


def test_a_k_that_was_not_recorded_is_an_error_that_lists_what_was(tmp_path):
    folder = RunFolder.create(tmp_path / "a", "")
    record = evaluation(0, "sft", 80, 80)
    record["sampled"] |= {"samples_per_problem": 4, "pass_at_k": {"4": {"value": 0.5, "low": 0.4, "high": 0.6}}}
    folder.append_evaluation(record)
    with pytest.raises(ConfigError, match=r"has no pass@8; it recorded greedy, sampled, pass@4.*samples_per_problem"):
        plot_curves([folder.path], tmp_path / "curve.png", y="pass@8")


def test_an_axis_that_an_older_run_did_not_record_is_an_error_that_lists_the_others(tmp_path):
    with pytest.raises(ConfigError, match=r"did not record tokens.*it has step, rollouts, wall_s"):
        plot_curves([fabricated_run(tmp_path / "a").path], tmp_path / "curve.png", x="tokens")


def test_an_unknown_suffix_is_an_error_before_anything_is_read(tmp_path):
    with pytest.raises(ConfigError, match=r"curve\.pdf .*\.png, \.svg or \.csv"):
        plot_curves([tmp_path / "nothing"], tmp_path / "curve.pdf")


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        plot_curves([fabricated_run(tmp_path / "a").path], tmp_path / "file" / "curve.csv")


def test_runs_of_different_tasks_are_drawn_with_a_warning(tmp_path):
    paths = []
    for task in ("arithmetic", "svamp"):
        folder = RunFolder.create(tmp_path / task, f'[task]\nname = "{task}"\n')
        folder.append_evaluation(evaluation(0, "sft", 60, 40))
        paths.append(folder.path)
    [warning] = plot_curves(paths, tmp_path / "curve.png")
    assert "differ in task (arithmetic, svamp)" in warning
    assert plot_curves(paths[:1], tmp_path / "curve.png") == []


def test_folders_of_one_name_are_told_apart_by_their_parents(tmp_path):
    paths = [fabricated_run(tmp_path / parent / "seed-0").path for parent in ("ppo", "grpo")]
    assert [run.name for run in load_runs(paths)] == ["ppo/seed-0", "grpo/seed-0"]


def test_a_folder_given_twice_is_an_error(tmp_path):
    path = fabricated_run(tmp_path / "a").path
    with pytest.raises(ConfigError, match="given twice"):
        plot_curves([path, tmp_path / "." / "a"], tmp_path / "curve.png")


@pytest.mark.parametrize("y", ["best", "pass@0", "pass@", "pass@x", "Greedy"])
def test_a_rate_that_does_not_exist_is_an_error(tmp_path, y):
    with pytest.raises(ConfigError, match="--y"):
        plot_curves([fabricated_run(tmp_path / "a").path], tmp_path / "curve.png", y=y)
