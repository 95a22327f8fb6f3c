import json
from pathlib import Path

import pytest
from support.measured_runs import CONFIG, add_evaluation, made_evaluation, made_run, rows_of
from support.run_folders import fabricated_run

from rlvr.errors import RunFolderError
from rlvr.evaluation.measured import load_measured
from rlvr.tracking.run_folder import RunFolder

WHOLE = {0: "ci", 1: "cc", 2: "ii", 3: "nc"}
PART = {0: "cc", 1: "cc"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    points = {("sft", 0): WHOLE, ("ppo", 10): PART, ("ppo", 20): {**WHOLE, 2: "cc"}, ("ppo", 30): PART}
    return made_run(tmp_path / "a", points).path


def test_a_run_is_its_last_evaluation_on_all_problems(run: Path):
    measured = load_measured(str(run))
    assert (measured.name, measured.phase, measured.step) == ("a", "ppo", 20)
    assert (measured.task, measured.split, measured.settings["max_new_tokens"]) == ("made", "test", 16)
    assert [row["outcome"] for row in measured.rows("greedy")] == ["correct", "correct", "correct", "no_answer"]
    assert measured.records["sampled"]["n"] == 8


@pytest.mark.parametrize(
    ("moment", "phase", "step"), [("sft", "sft", 0), ("10", "ppo", 10), ("30", "ppo", 30), ("ppo", "ppo", 30)]
)
def test_a_moment_names_another_evaluation_of_a_run(run: Path, moment: str, phase: str, step: int):
    measured = load_measured(f"{run}@{moment}")
    assert (measured.name, measured.phase, measured.step) == (f"a@{moment}", phase, step)


def test_an_unknown_moment_is_answered_with_those_there_are(run: Path):
    for moment in ("15", "base", "best"):
        with pytest.raises(RunFolderError, match=f"has no evaluation @{moment}; it has @sft, @10, @20, @30"):
            load_measured(f"{run}@{moment}")


def test_a_folder_with_an_at_in_its_name_is_itself(tmp_path: Path):
    made_run(tmp_path / "lr@1e-4", {("sft", 0): WHOLE})
    assert load_measured(str(tmp_path / "lr@1e-4")).name == "lr@1e-4"
    assert load_measured(f"{tmp_path}/lr@1e-4@sft").phase == "sft"


def test_of_an_evaluation_made_twice_the_last_counts(run: Path, tmp_path: Path):
    folder = made_run(tmp_path / "b", {("sft", 0): WHOLE})
    add_evaluation(folder, "sft", 0, {"greedy": rows_of({0: "c"}), "sampled": rows_of({0: "c"})}, wall_s=99.0)
    assert load_measured(f"{folder.path}@sft").records["greedy"]["n"] == 1


def test_an_evaluation_folder_is_read_with_its_name_and_settings(tmp_path: Path):
    path = made_evaluation(
        tmp_path / "base-made", {"greedy": rows_of({0: "c", 1: "i"})}, identity={"prompts": {"chat_template": "off"}}
    )
    measured = load_measured(str(path))
    assert (measured.name, measured.phase, measured.step, measured.finished) == ("base-made", None, None, True)
    assert (measured.task, measured.split) == ("made", "test")
    assert measured.settings == {
        "task_options": {}, "verifier": "task", "max_new_tokens": 16, "top_p": 1.0, "top_k": 0, "chat_template": "off",
    }  # fmt: skip
    assert [row["problem"] for row in measured.rows("greedy")] == ["made/test/0", "made/test/1"]
    assert list(measured.records) == ["greedy"]
    with pytest.raises(RunFolderError, match="no sampled responses of base-made"):
        measured.rows("sampled")


@pytest.mark.parametrize(("held_out", "expected"), [(None, {"lenient": True}), ("math", {})])
def test_the_options_of_the_verifier_that_judged_are_among_the_settings(tmp_path: Path, held_out, expected):
    identity = {
        "verifier": {"name": "math", "options": {"lenient": True}},
        "held_out_verifier": {"name": held_out, "options": {}},
    }
    path = made_evaluation(tmp_path / "e", {"greedy": rows_of({0: "c"})}, identity=identity)
    assert load_measured(str(path)).settings["verifier_options"] == expected
    own = "" if held_out is None else f'verifier = "{held_out}"\n'
    config = CONFIG.replace("options = {}\n", "options = {}\nverifier_options = { lenient = true }\n")
    run = made_run(tmp_path / "r", {("sft", 0): WHOLE}, config=config.replace("[evaluation]\n", f"[evaluation]\n{own}"))
    assert load_measured(str(run.path)).settings["verifier_options"] == expected


def test_an_evaluation_of_another_split_is_none_of_the_runs_moments(run: Path):
    add_evaluation(RunFolder.open(run), "ppo", 20, {"greedy": rows_of({0: "c"})}, split="train")
    assert load_measured(f"{run}@20").records["greedy"]["n"] == 4


def test_an_evaluation_folder_has_no_moments(tmp_path: Path):
    path = made_evaluation(tmp_path / "e", {"greedy": rows_of({0: "c"})})
    with pytest.raises(RunFolderError, match="a single evaluation, so leave out @sft"):
        load_measured(f"{path}@sft")


def test_the_row_of_a_cut_last_line_is_left_out(tmp_path: Path):
    path = made_evaluation(tmp_path / "e", {"greedy": rows_of({0: "c", 1: "c"})}, finished=False)
    with (path / "greedy.jsonl").open("a") as file:
        file.write('{"problem": "made/te')
    measured = load_measured(str(path))
    assert len(measured.rows("greedy")) == 2
    assert not measured.finished


def test_responses_that_were_not_recorded_are_named(tmp_path: Path):
    run = fabricated_run(tmp_path / "old")
    measured = load_measured(str(run.path))
    with pytest.raises(RunFolderError, match=r"ppo_000040_greedy\.jsonl\.gz: no greedy responses of old were recorded"):
        measured.rows("greedy")


def test_a_damaged_file_of_responses_is_named(run: Path):
    path = run / "responses" / "ppo_000020_greedy.jsonl.gz"
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(RunFolderError, match=r"ppo_000020_greedy\.jsonl\.gz: cannot be read to its end"):
        load_measured(str(run)).rows("greedy")


def test_rows_that_are_no_responses_are_named(tmp_path: Path):
    path = made_evaluation(tmp_path / "e", {"greedy": rows_of({0: "c"})})
    (path / "greedy.jsonl").write_text('{"problem": 3}\n')
    with pytest.raises(RunFolderError, match=r"greedy\.jsonl, line 1 is no judged response"):
        load_measured(str(path)).rows("greedy")


@pytest.mark.parametrize("content", ["[", "[]"])
def test_a_damaged_evaluation_is_named(tmp_path: Path, content: str):
    (tmp_path / "evaluation.json").write_text(content)
    with pytest.raises(RunFolderError, match=r"evaluation\.json"):
        load_measured(str(tmp_path))


def test_what_is_no_measured_policy_is_told_what_would_be_one(tmp_path: Path):
    with pytest.raises(RunFolderError, match=r"has neither evaluation\.json nor config\.toml; give a folder that"):
        load_measured(str(tmp_path))
    (tmp_path / "seed-0.log").write_text("")
    with pytest.raises(RunFolderError, match=r"seed-0\.log is a file; give a folder that"):
        load_measured(str(tmp_path / "seed-0.log"))
    with pytest.raises(RunFolderError, match="nowhere does not exist"):
        load_measured(str(tmp_path / "nowhere@sft"))
    (tmp_path / "config.toml").write_text(CONFIG)
    with pytest.raises(RunFolderError, match="has no evaluation yet"):
        load_measured(str(tmp_path))
    (tmp_path / "evaluations.jsonl").write_text(json.dumps({"step": 0, "phase": "sft", "split": "test", "problems": 1}))
    (tmp_path / "config.toml").write_text("run = [")
    with pytest.raises(RunFolderError, match="is not valid TOML"):
        load_measured(str(tmp_path))
