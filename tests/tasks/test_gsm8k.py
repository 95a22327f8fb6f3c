import json
from pathlib import Path

import pytest
from support.shared_data import shared_file

from tasks import MathAnswer, TaskDataError, TaskOptionError, load_task
from tasks.gsm8k import INSTRUCTION

ROW = {"question": "How many? ", "answer": "She has 2*500=<<2*500=1000>>1,000 clips.\n#### 1,000"}


def write(path: Path, *rows: dict[str, str]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_a_row_becomes_a_problem(tmp_path: Path):
    task = load_task("gsm8k", {"train_path": write(tmp_path / "a.jsonl", ROW)})
    (problem,) = task.problems("train")
    assert problem.id == "gsm8k/train/0"
    assert problem.prompt == f"How many?\n{INSTRUCTION}"
    assert problem.reference == MathAnswer(value="1,000", answer_format="marker:####")
    assert problem.verifier == "numeric"


def test_the_demonstration_has_no_calculator_annotations(tmp_path: Path):
    task = load_task("gsm8k", {"train_path": write(tmp_path / "a.jsonl", ROW)})
    assert task.problems("train")[0].demonstration == "She has 2*500=1,000 clips.\n#### 1,000"


def test_an_empty_instruction_leaves_the_question_alone(tmp_path: Path):
    task = load_task("gsm8k", {"train_path": write(tmp_path / "a.jsonl", ROW), "instruction": ""})
    assert task.problems("train")[0].prompt == "How many?"


def test_an_answer_without_the_marker_is_named(tmp_path: Path):
    task = load_task("gsm8k", {"test_path": write(tmp_path / "a.jsonl", ROW, {"question": "q", "answer": "72"})})
    with pytest.raises(TaskDataError, match=r'a\.jsonl, row 2: .*"####"'):
        task.problems("test")


def test_a_split_without_data_says_which_option_to_set(tmp_path: Path):
    task = load_task("gsm8k", {"train_path": write(tmp_path / "a.jsonl", ROW)})
    with pytest.raises(TaskDataError, match=r"task\.options\.test_path"):
        task.problems("test")


def test_one_file_and_two_files_exclude_each_other():
    with pytest.raises(TaskOptionError, match="not both"):
        load_task("gsm8k", {"path": "a.jsonl", "test_path": "b.jsonl"})


def test_one_file_is_divided_by_the_seed(tmp_path: Path):
    rows = [{"question": f"q{n}", "answer": f"#### {n}"} for n in range(20)]
    task = load_task("gsm8k", {"path": write(tmp_path / "a.jsonl", *rows), "test_size": 5})
    train, test = task.problems("train"), task.problems("test")
    assert (len(train), len(test)) == (15, 5)
    assert not {problem.prompt for problem in train} & {problem.prompt for problem in test}


def test_the_real_files_are_read_whole():
    task = load_task(
        "gsm8k",
        {"train_path": shared_file("data/gsm8k_train.jsonl"), "test_path": shared_file("data/gsm8k_test.jsonl")},
    )
    assert (len(task.problems("train")), len(task.problems("test"))) == (7473, 1319)
    assert task.problems("train")[17].id == "gsm8k/train/17"
    assert not any("<<" in (problem.demonstration or "") for problem in task.problems("train"))
