import json
from pathlib import Path

import pytest

from tasks import MathAnswer, TaskDataError, TaskOptionError, load_task


def write(path: Path, *rows: dict[str, object]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def numbered(count: int) -> list[dict[str, object]]:
    return [{"question": f"q{n}?", "answer": n} for n in range(count)]


def test_two_files_are_the_two_splits(tmp_path: Path):
    task = load_task(
        "jsonl",
        {"path": write(tmp_path / "a.jsonl", *numbered(3)), "test_path": write(tmp_path / "b.jsonl", *numbered(2))},
    )
    assert [problem.id for problem in task.problems("train")] == ["jsonl/train/0", "jsonl/train/1", "jsonl/train/2"]
    assert [problem.id for problem in task.problems("test")] == ["jsonl/test/0", "jsonl/test/1"]


def test_one_file_is_divided_and_keeps_the_rows_indices(tmp_path: Path):
    task = load_task("jsonl", {"path": write(tmp_path / "a.jsonl", *numbered(20)), "test_size": 5})
    train, test = task.problems("train"), task.problems("test")
    assert len(test) == 5
    assert sorted(int(problem.id.rpartition("/")[2]) for problem in (*train, *test)) == list(range(20))


def test_equal_questions_stay_on_one_side(tmp_path: Path):
    rows = [{"question": " same  question", "answer": 1}, {"question": "same question", "answer": 1}, *numbered(1)]
    task = load_task("jsonl", {"path": write(tmp_path / "a.jsonl", *rows), "test_size": 1})
    assert {len(task.problems("train")), len(task.problems("test"))} == {1, 2}


def test_columns_template_and_reference_are_configurable(tmp_path: Path):
    row = {"q": "1 {x} 1?", "a": 2.5, "name": "first", "how": "It is 2.5"}
    path = write(tmp_path / "a.jsonl", row)
    task = load_task(
        "jsonl",
        {
            "path": path,
            "test_path": path,
            "question_field": "q",
            "answer_field": "a",
            "id_field": "name",
            "demonstration_field": "how",
            "verifier": "exact",
            "answer_format": "boxed",
            "prompt_template": "Use {{}}: {question}",
        },
    )
    (problem,) = task.problems("train")
    assert problem.id == "jsonl/train/first"
    assert problem.prompt == "Use {}: 1 {x} 1?"
    assert problem.reference == MathAnswer(value="2.5", answer_format="boxed")
    assert problem.verifier == "exact"
    assert problem.demonstration == "It is 2.5"


@pytest.mark.parametrize(
    "template", ["", "no field", "{question} {answer}", "{question!r}", "{question:>9}", "{}", "{question", "a } b"]
)
def test_a_template_with_anything_but_the_question_is_refused(template: str):
    with pytest.raises(TaskOptionError, match=r"task\.options\.prompt_template"):
        load_task("jsonl", {"path": "a.jsonl", "prompt_template": template})


@pytest.mark.parametrize("option", ["question_field", "answer_field", "id_field", "demonstration_field"])
def test_a_missing_column_names_the_option_to_set(tmp_path: Path, option: str):
    path = write(tmp_path / "a.jsonl", *numbered(2))
    task = load_task("jsonl", {"path": path, "test_path": path, option: "nowhere"})
    with pytest.raises(TaskDataError, match=rf"a\.jsonl, row 1: no column 'nowhere'.*set task\.options\.{option}"):
        task.problems("train")


def test_two_rows_of_one_id_are_refused(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", *({"question": "q", "answer": 1, "id": "x"} for _ in range(2)))
    task = load_task("jsonl", {"path": path, "test_path": path, "id_field": "id"})
    with pytest.raises(TaskDataError, match=r"row 2: the id 'x' is taken"):
        task.problems("train")
