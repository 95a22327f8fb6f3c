import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.shared_data import shared_file

from tasks import AssertTests, Problem, Task, TaskDataError, TaskOptionError, load_task
from tasks.mbpp import INSTRUCTION, PARTS

ROW: dict[str, Any] = {
    "text": "Write a function to add.",
    "code": "import sys\r\ndef add(a, b):\r\n    return a + b",
    "task_id": 601,
    "test_setup_code": "",
    "test_list": ["assert add(1, 2) == 3", "assert add(2, 2) == 4", "assert add(0, 0) == 0"],
    "challenge_test_list": ["assert add(-1, 1) == 0"],
}
PUBLISHED = {"train": 374, "test": 500, "validation": 90, "prompt": 10}


def load(path: Path, *rows: Mapping[str, object], **options: object) -> Task:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_task("mbpp", {"path": str(path), **options})


def problem_of(path: Path, change: dict[str, object], **options: object) -> Problem:
    return load(path, ROW | change, **options).problems("train")[0]


@pytest.fixture(scope="module")
def real_task() -> Task:
    return load_task("mbpp", {"path": shared_file("data/mbpp.jsonl"), "challenge_tests": True})


def test_a_row_becomes_a_problem(tmp_path: Path):
    problem = problem_of(tmp_path / "a.jsonl", {})
    assert problem.id == "mbpp/train/601"
    assert problem.prompt == (
        f"Write a function to add.\nIt must pass:\n```python\nassert add(1, 2) == 3\n```\n{INSTRUCTION}"
    )
    assert problem.reference == AssertTests(asserts=tuple(ROW["test_list"]), function="add")
    assert problem.verifier == "assert_tests"
    assert problem.demonstration == "```python\nimport sys\ndef add(a, b):\n    return a + b\n```"
    assert problem.metadata == {"task_id": 601}


def test_as_many_tests_are_shown_as_asked_for(tmp_path: Path):
    problem = problem_of(tmp_path / "a.jsonl", {}, shown_tests=3)
    assert all(test in problem.prompt for test in ROW["test_list"])
    with pytest.raises(TaskOptionError, match=r"task\.options\.shown_tests"):
        problem_of(tmp_path / "a.jsonl", {}, shown_tests=4)


def test_challenge_tests_judge_where_wanted_and_are_never_shown(tmp_path: Path):
    problem = problem_of(tmp_path / "a.jsonl", {}, challenge_tests=True, shown_tests=3)
    assert problem.reference.asserts == (*ROW["test_list"], "assert add(-1, 1) == 0")
    assert "-1" not in problem.prompt


def test_set_up_code_goes_before_the_tests_and_is_shown(tmp_path: Path):
    problem = problem_of(tmp_path / "a.jsonl", {"test_setup_code": "one = add(0, 1)\r\ntwo = 2"})
    assert problem.reference.asserts[0] == "one = add(0, 1)\ntwo = 2"
    assert "```python\none = add(0, 1)\ntwo = 2\nassert add(1, 2)" in problem.prompt


def test_a_module_that_tests_lean_on_the_solution_for_is_imported_for_them(tmp_path: Path):
    problem = problem_of(tmp_path / "a.jsonl", {"test_list": ["assert add(1, sys.maxsize) == sys.maxsize + 1"]})
    assert problem.reference.asserts[0] == "import sys"


@pytest.mark.parametrize(
    ("code", "tests", "function"),
    [
        ("def sum(a, b): ...", ["assert sum(1, 2) == 3"], "sum"),
        ("class Pair: ...\ndef chain(a): ...", ["assert chain([Pair(1, 2)]) == 1"], "chain"),
        ("def g(): ...\ndef f(a): ...", ["assert set(f([1])) == set([1])"], "f"),
    ],
    ids=["named as a builtin", "with a class", "inside another call"],
)
def test_the_function_is_the_one_that_the_tests_call(code: str, tests: list[str], function: str, tmp_path: Path):
    problem = problem_of(tmp_path / "a.jsonl", {"code": code, "test_list": tests})
    assert problem.reference.function == function


def test_the_problem_whose_own_solution_takes_seconds_gets_more_time(real_task: Task):
    limits = {problem.id: problem.reference.wall_s for problem in real_task.problems("test")}
    assert {name: wall_s for name, wall_s in limits.items() if wall_s} == {"mbpp/test/123": 15.0}


def test_rows_of_the_sanitized_variant_are_read(tmp_path: Path):
    row = {name: value for name, value in ROW.items() if name not in ("text", "test_setup_code", "challenge_test_list")}
    row |= {"prompt": "Add.", "test_imports": ["import math"]}
    (problem,) = load(tmp_path / "a.jsonl", row).problems("train")
    assert problem.prompt.startswith("Add.\n")
    assert problem.reference.asserts[0] == "import math"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"test_list": []}, r"a\.jsonl, row 1: column 'test_list' holds no test"),
        ({"test_list": "assert add(1, 2)"}, r"row 1: column 'test_list' must hold a list of Python statements"),
        ({"test_list": ["assert minus(1, 2)"]}, r"row 1: its tests call none of the functions of its code: add"),
        ({"test_list": ["assert add(1"]}, r"row 1: the code and its tests must be Python source"),
        ({"code": "def add("}, r"row 1: the code and its tests must be Python source"),
        ({"task_id": "x"}, r"row 1: column 'task_id' must hold a whole number"),
        ({"task_id": 7}, r"a\.jsonl has no 'train' problems, those with task_id 601 to 974"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(change: dict[str, object], message: str, tmp_path: Path):
    with pytest.raises(TaskDataError, match=message):
        problem_of(tmp_path / "a.jsonl", change)


def test_an_unknown_split_is_refused_with_those_there_are(tmp_path: Path):
    with pytest.raises(TaskOptionError, match=r"no split 'dev'; its splits: prompt, test, validation, train"):
        load(tmp_path / "a.jsonl", ROW).problems("dev")


def test_the_real_file_is_divided_as_published(real_task: Task):
    for part, count in PUBLISHED.items():
        ids = [problem.metadata["task_id"] for problem in real_task.problems(part)]
        assert len(ids) == count
        assert ids == list(PARTS[part])


def test_train_parts_go_together_in_the_train_split():
    path = shared_file("data/mbpp.jsonl")
    task = load_task("mbpp", {"path": path, "train_parts": ["train", "validation", "prompt"]})
    assert len(task.problems("train")) == 374 + 90 + 10
    with pytest.raises(TaskOptionError, match=r"task\.options\.train_parts: name at least one"):
        load_task("mbpp", {"path": path, "train_parts": []})


@pytest.mark.filterwarnings("ignore:invalid escape sequence")
def test_real_tests_need_nothing_of_a_solution_but_what_they_name(real_task: Task):
    """The data set's own code, which is trusted, is run here in this process. Task 123 takes seconds."""
    problems = [p for part in ("train", "validation") for p in real_task.problems(part)]
    for problem in problems:
        solution: dict[str, object] = {}
        exec((problem.demonstration or "").removeprefix("```python\n").removesuffix("```"), solution)
        wanted = {problem.reference.function, "Node", "Pair"}
        namespace = {name: value for name, value in solution.items() if name in wanted}
        for source in problem.reference.asserts:
            exec(source, namespace)


def test_real_prompts_hold_no_carriage_return_and_hide_two_tests(real_task: Task):
    problems: Sequence[Problem] = real_task.problems("test")
    for problem in problems:
        tests = [source for source in problem.reference.asserts if source.startswith("assert")]
        assert "\r" not in problem.prompt + (problem.demonstration or "")
        assert sum(test in problem.prompt for test in dict.fromkeys(tests)) == 1
