from pathlib import Path

import pytest

from rlvr.cli.bench_grid import Training, check_folders, is_finished, trainings
from rlvr.config.document import annotated_toml
from rlvr.config.loading import load_config
from rlvr.config.suites import load_suite
from rlvr.errors import RunFolderError
from rlvr.tracking.run_folder import RunFolder

TWO_ARMS = '[suite]\nseeds = [0, 5]\ncontrols = ["lr_zero"]\n[base]\nsft.steps = 9\n[arms.ppo]\n'


def grid(folder: Path, text: str = TWO_ARMS, out: str = "out") -> dict[str, Training]:
    path = folder / "my.toml"
    path.write_text(text, encoding="utf-8")
    return {found.name: found for found in trainings(load_suite(path, lambda _: "numeric"), folder / out)}


def made(training: Training, *, finished: bool = True) -> RunFolder:
    run = RunFolder.create(training.folder, annotated_toml(training.config))
    run.write_summary({"finished": finished})
    return run


def complaint(found: dict[str, Training]) -> str:
    with pytest.raises(RunFolderError) as caught:
        check_folders(list(found.values()))
    return str(caught.value)


def test_the_grid_is_every_arm_on_every_seed_with_a_warm_start_before_them(tmp_path: Path):
    found = grid(tmp_path)
    (warm, *_), *_ = [list(found)]
    stem = warm.removesuffix("/seed-0")
    assert stem.startswith("warm_starts/")
    assert list(found) == [
        f"{stem}/seed-0", "ppo/seed-0", "lr_zero/seed-0", f"{stem}/seed-5", "ppo/seed-5", "lr_zero/seed-5",
    ]  # fmt: skip
    assert {training.config.run.seed for name, training in found.items() if name.endswith("-5")} == {5}
    assert found["ppo/seed-5"].folder == tmp_path / "out/ppo/seed-5"


def test_arms_start_from_the_model_of_their_seeds_warm_start_without_one_of_their_own(tmp_path: Path):
    found = grid(tmp_path)
    for arm in ("ppo", "lr_zero"):
        cell = found[f"{arm}/seed-5"]
        assert cell.after is not None
        start = found[cell.after]
        assert cell.config.sft.steps == 0
        assert Path(cell.config.model.name) == start.folder / "reference"
        assert (start.config.sft.steps, start.config.run.steps, start.config.model.name) == (9, 0, "tiny")


def test_an_arm_with_another_warm_start_gets_its_own(tmp_path: Path):
    found = grid(tmp_path, "[suite]\nseeds = [0]\n[arms.a]\n[arms.b]\nsft.steps = 9\n[arms.c]\noptimizer.lr = 0.5\n")
    a, b, c = (found[f"{arm}/seed-0"].after for arm in "abc")
    assert a == c != b


def test_without_a_warm_start_arms_start_from_the_model_itself(tmp_path: Path):
    found = grid(tmp_path, "[suite]\nseeds = [0]\n[base]\nsft.steps = 0\n[arms.ppo]\n")
    assert list(found) == ["ppo/seed-0"]
    assert found["ppo/seed-0"].config.model.name == "tiny"


def test_a_warm_start_does_not_depend_on_the_arms_that_share_it(tmp_path: Path):
    alone = grid(tmp_path, "[suite]\nseeds = [0]\n[arms.ppo]\n")
    more = grid(
        tmp_path, '[suite]\nseeds = [0, 1]\ncontrols = ["random_reward"]\n[arms.ppo]\n[arms.b]\nrun.steps = 9\n'
    )
    assert alone["ppo/seed-0"] == more["ppo/seed-0"]


def test_the_configuration_that_is_written_for_a_cell_reads_back_as_it_is(tmp_path: Path):
    cell = grid(tmp_path)["lr_zero/seed-5"]
    (tmp_path / "cell.toml").write_text(annotated_toml(cell.config))
    assert load_config(tmp_path / "cell.toml", []) == cell.config


def test_a_training_is_finished_when_its_summary_says_so(tmp_path: Path):
    found = grid(tmp_path)
    made(found["ppo/seed-0"])
    made(found["ppo/seed-5"], finished=False)
    assert [is_finished(found[name]) for name in ("ppo/seed-0", "ppo/seed-5", "lr_zero/seed-0")] == [True, False, False]


def test_folders_of_the_same_suite_match_wherever_they_have_been_moved(tmp_path: Path):
    for training in grid(tmp_path).values():
        made(training)
    check_folders(list(grid(tmp_path).values()))
    (tmp_path / "out").rename(tmp_path / "moved")
    check_folders(list(grid(tmp_path, out="moved").values()))


def test_a_changed_suite_names_every_folder_that_no_longer_matches_with_the_keys(tmp_path: Path):
    for training in grid(tmp_path).values():
        made(training)
    text = complaint(grid(tmp_path, TWO_ARMS + "optimizer.lr = 0.5\nrun.steps = 7\n"))
    lines = text.splitlines()
    assert lines[0].endswith(
        "out/ppo/seed-0 no longer matches the suite: run.steps is 50, now 7, optimizer.lr is 0.00015, now 0.5"
    )
    # lr_zero sets the learning rate itself; the warm starts do not depend on either key.
    assert lines[1].endswith("out/lr_zero/seed-0 no longer matches the suite: run.steps is 50, now 7")
    assert len(lines) == 5
    assert lines[-1].startswith("delete these folders to train them anew")


def test_another_warm_start_is_a_difference_of_the_arms(tmp_path: Path):
    for training in grid(tmp_path).values():
        made(training)
    text = complaint(grid(tmp_path, TWO_ARMS.replace("sft.steps = 9", "sft.steps = 8")))
    assert "out/ppo/seed-0 no longer matches the suite: model.name is 'warm_starts/" in text


def test_a_folder_that_is_no_run_is_not_taken_for_one(tmp_path: Path):
    (tmp_path / "out/ppo/seed-0").mkdir(parents=True)
    assert "ppo/seed-0 is not a run folder: it has no config.toml" in complaint(grid(tmp_path))


def test_a_configuration_of_another_version_is_reported_and_not_a_crash(tmp_path: Path):
    found = grid(tmp_path)
    RunFolder.create(found["ppo/seed-0"].folder, "[run]\nold_key = 1\n")
    assert "its configuration cannot be used" in complaint(found)
