import json
from pathlib import Path

import pytest
from support.shared_data import shared_file

from tasks import MathAnswer, TaskDataError, TaskOptionError, load_task
from tasks.hendrycks_math import INSTRUCTION, SUBJECTS, boxed_answer
from verifiers.extract import extract_answer

MATH_ROW: dict[str, object] = {
    "problem": "What is $\\frac{1}{2}+1$? ",
    "level": "Level 2",
    "type": "Counting & Probability",
    "solution": "It is $\\boxed{\\frac{3}{2}}$.\n",
}
MATH500_ROW: dict[str, object] = {
    "problem": "What is $1+1$?",
    "solution": "It is $\\boxed{2}$.",
    "answer": "2",
    "subject": "Number Theory",
    "level": 5,
    "unique_id": "test/number_theory/1.json",
}


def write(path: Path, *rows: dict[str, object]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def numbered(count: int) -> list[dict[str, object]]:
    return [MATH500_ROW | {"problem": f"q{n}?", "level": n % 5 + 1} for n in range(count)]


def test_a_row_of_math_becomes_a_problem(tmp_path: Path):
    task = load_task("hendrycks_math", {"train_path": write(tmp_path / "a.jsonl", MATH_ROW)})
    (problem,) = task.problems("train")
    assert problem.id == "hendrycks_math/train/0"
    assert problem.prompt == f"What is $\\frac{{1}}{{2}}+1$?\n{INSTRUCTION}"
    assert problem.reference == MathAnswer(value="\\frac{3}{2}", answer_format="boxed")
    assert problem.verifier == "math"
    assert problem.demonstration == "It is $\\boxed{\\frac{3}{2}}$."
    assert problem.metadata == {"level": 2, "subject": "counting_and_probability"}


def test_a_row_of_math500_becomes_a_problem(tmp_path: Path):
    task = load_task("math500", {"path": write(tmp_path / "a.jsonl", MATH500_ROW)})
    (problem,) = task.problems("test")
    assert problem.id == "math500/test/0"
    assert problem.reference == MathAnswer(value="2", answer_format="boxed")
    assert problem.verifier == "math"
    assert problem.demonstration == "It is $\\boxed{2}$."
    assert problem.metadata == {"level": 5, "subject": "number_theory"}


def test_a_row_of_problem_and_answer_alone_is_enough(tmp_path: Path):
    task = load_task(
        "math500", {"path": write(tmp_path / "a.jsonl", {"problem": "q", "answer": "2"}), "instruction": ""}
    )
    (problem,) = task.problems("test")
    assert problem.prompt == "q"
    assert problem.demonstration is None
    assert problem.metadata == {"level": None, "subject": None}


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        ("so $\\boxed{5}$.", "5"),
        ("first $\\boxed{4}$, then $\\boxed{5}$.", "5"),
        ("$\\boxed{\\frac{1}{\\sqrt{2}}}$ {done}", "\\frac{1}{\\sqrt{2}}"),
        ("$\\boxed{\\{1, 2\\}}$", "\\{1, 2\\}"),
        ("$\\boxed{\\left\\{ x : x > 0 \\right.}$", "\\left\\{ x : x > 0 \\right."),
        ("$\\boxed{ 7 }$", "7"),
        ("$\\boxed {7}$", "7"),
        ("$\\fbox{7}$", "7"),
        ("so $x = \\boxed 5$. Done.", "5"),
        ("so \\[x = \\boxed 5.\\]", "5"),
        ("so $\\boxed \\frac12$", "\\frac12"),
        ("so \\boxed 5", "5"),
        ("\\boxed{1 \\\\ 2}", "1 \\\\ 2"),
        ("nothing", None),
        ("a \\boxedness", None),
        ("$\\boxed{5$", None),
        ("$\\boxed{}$", None),
        ("ends in \\boxed", None),
    ],
)
def test_the_last_box_of_a_solution_holds_its_answer(solution: str, answer: str | None):
    assert boxed_answer(solution) == answer


def test_a_solution_without_a_box_is_named(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", MATH_ROW, MATH_ROW | {"solution": "It is 5."})
    with pytest.raises(TaskDataError, match=r'a\.jsonl, row 2: column "solution" has no \\boxed'):
        load_task("hendrycks_math", {"test_path": path}).problems("test")


def test_a_row_with_neither_answer_nor_solution_is_named(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", {"problem": "q"})
    with pytest.raises(TaskDataError, match=r"row 1: no column 'solution'"):
        load_task("math500", {"path": path}).problems("test")


@pytest.mark.parametrize("box", ["\\boxed 5", "\\fbox{5}"])
def test_a_solution_that_boxes_in_another_form_is_not_imitated(tmp_path: Path, box: str):
    path = write(tmp_path / "a.jsonl", MATH_ROW | {"solution": f"It is ${box}$."})
    (problem,) = load_task("hendrycks_math", {"train_path": path}).problems("train")
    assert problem.reference.value == "5"
    assert problem.demonstration is None


def test_a_demonstration_gives_its_answer_in_the_declared_place(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", MATH_ROW)
    (problem,) = load_task("hendrycks_math", {"train_path": path}).problems("train")
    assert problem.demonstration is not None
    assert extract_answer(problem.demonstration, problem.reference.answer_format).text == problem.reference.value


def test_levels_and_subjects_select_and_keep_the_ids(tmp_path: Path):
    rows = [
        MATH_ROW | {"level": level, "type": kind}
        for kind in ("Algebra", "Geometry")
        for level in ("Level 1", "Level 3")
    ]
    path = write(tmp_path / "a.jsonl", *rows, MATH_ROW | {"level": "Level ?", "type": "Geometry"})
    task = load_task("hendrycks_math", {"train_path": path, "levels": [3, 4], "subjects": ["geometry"]})
    assert [problem.id for problem in task.problems("train")] == ["hendrycks_math/train/3"]


def test_a_subject_may_be_written_as_in_the_data(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", MATH_ROW)
    task = load_task("hendrycks_math", {"train_path": path, "subjects": ["Counting & Probability"]})
    assert len(task.problems("train")) == 1


@pytest.mark.parametrize("name", ["hendrycks_math", "math500"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"subjects": ["topology"]},
            r"task\.options\.subjects: no subject 'topology'; there are algebra, .*precalculus",
        ),
        ({"levels": [0]}, r"task\.options\.levels: levels are 1 to 5, got 0"),
        ({"levels": []}, r"task\.options\.levels: an empty list"),
        ({"subjects": []}, r"task\.options\.subjects: an empty list"),
        ({"levels": "5"}, r"task\.options\.levels: expected a list, each element an integer"),
    ],
)
def test_a_selection_that_cannot_be_is_named(name: str, options: dict[str, object], message: str):
    with pytest.raises(TaskOptionError, match=message):
        load_task(name, options)


def test_a_selection_that_leaves_nothing_is_an_error(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", MATH_ROW)
    task = load_task("hendrycks_math", {"train_path": path, "levels": [5], "subjects": ["algebra", "geometry"]})
    with pytest.raises(TaskOptionError, match=r"none of the 1 problems of .*a\.jsonl .*\(5\).*\(algebra, geometry\)"):
        task.problems("train")


@pytest.mark.parametrize(("options", "column"), [({"levels": [5]}, "level"), ({"subjects": ["algebra"]}, "subject")])
def test_a_selection_by_a_column_that_is_missing_is_an_error(tmp_path: Path, options: dict[str, object], column: str):
    path = write(tmp_path / "a.jsonl", {"problem": "q", "answer": "2"})
    with pytest.raises(TaskDataError, match=rf"row 1: no column '{column}'"):
        load_task("math500", {"path": path, **options}).problems("test")


def test_math500_refuses_to_be_trained_on_and_names_the_task_for_that(tmp_path: Path):
    task = load_task("math500", {"path": write(tmp_path / "a.jsonl", MATH500_ROW)})
    with pytest.raises(TaskOptionError, match=r"test set .*'hendrycks_math'.*task\.options\.test_size"):
        task.problems("train")


def test_math500_is_divided_where_a_test_size_is_given(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", *numbered(20))
    task = load_task("math500", {"path": path, "test_size": 5})
    train, test = task.problems("train"), task.problems("test")
    assert (len(train), len(test)) == (15, 5)
    assert sorted(int(problem.id.rpartition("/")[2]) for problem in (*train, *test)) == list(range(20))
    other = load_task("math500", {"path": path, "test_size": 5, "split_seed": 1})
    assert {p.id for p in other.problems("test")} != {p.id for p in test}


def test_a_selection_leaves_every_problem_on_its_side(tmp_path: Path):
    options: dict[str, object] = {"path": write(tmp_path / "a.jsonl", *numbered(20)), "test_size": 5}
    test = load_task("math500", options).problems("test")
    level = test[0].metadata["level"]
    selected = load_task("math500", options | {"levels": [level]}).problems("test")
    assert list(selected) == [problem for problem in test if problem.metadata["level"] == level]


def test_a_test_size_of_nothing_is_refused():
    with pytest.raises(TaskOptionError, match=r"task\.options\.test_size: must be at least 1"):
        load_task("math500", {"test_size": 0})


@pytest.mark.parametrize("name", ["hendrycks_math", "math500"])
def test_an_unknown_split_is_refused_with_those_there_are(tmp_path: Path, name: str):
    with pytest.raises(TaskOptionError, match="its splits: train, test"):
        load_task(name, {"path": write(tmp_path / "a.jsonl", MATH500_ROW)}).problems("valid")


def test_the_hub_data_set_is_read_subject_by_subject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[str, str | None, str]] = []

    def load_dataset(name: str, config: str | None, *, split: str) -> list[dict[str, object]]:
        asked.append((name, config, split))
        return [MATH_ROW | {"type": config}]

    monkeypatch.setattr("datasets.load_dataset", load_dataset)
    assert len(load_task("hendrycks_math").problems("test")) == 7
    assert asked == [("EleutherAI/hendrycks_math", subject, "test") for subject in SUBJECTS]
    asked.clear()
    (problem,) = load_task("hendrycks_math", {"subjects": ["algebra"]}).problems("train")
    assert problem.id == "hendrycks_math/train/algebra/0"
    assert asked == [("EleutherAI/hendrycks_math", "algebra", "train")]


def test_math500_on_the_hub_is_one_test_split(monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[str, str | None, str]] = []

    def load_dataset(name: str, config: str | None, *, split: str) -> list[dict[str, object]]:
        asked.append((name, config, split))
        return numbered(4)

    monkeypatch.setattr("datasets.load_dataset", load_dataset)
    assert len(load_task("math500", {"test_size": 1}).problems("train")) == 3
    assert asked == [("HuggingFaceH4/MATH-500", None, "test")]


def test_the_real_file_is_read_whole():
    problems = load_task("math500", {"path": shared_file("data/math500.jsonl")}).problems("test")
    assert len(problems) == 500
    assert problems[17].id == "math500/test/17"
    assert problems[0].reference.value == "\\left( 3, \\frac{\\pi}{2} \\right)"
