import json
from pathlib import Path
from typing import Any

import pytest

from tasks import Compare, FunctionCase, FunctionTests, Problem, StdinTests, Task, TaskDataError, TaskOptionError
from tasks import load_task as load_any_task
from tasks.stdin_programs import STDIN_INSTRUCTION

STDIN = {"question": "Double it.", "input_output": {"inputs": ["1\n", "2\n"], "outputs": ["2\n", "4\n"]}}
FUNCTION = {
    "question": "Double it.",
    "input_output": {"inputs": [[1], [2]], "outputs": [2, 4], "fn_name": "double"},
}
SOLUTION_CLASS = "class Solution:\n    def double(self, n: int) -> int:\n        "


def load(path: Path, *rows: dict[str, Any], **options: object) -> Task:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_any_task("stdin_programs", {"path": str(path), "test_path": str(path), **options})


def problem_of(path: Path, row: dict[str, Any], **options: object) -> Problem:
    return load(path, row, **options).problems("train")[0]


def with_tests(**tests: Any) -> dict[str, Any]:
    return {"question": "Double it.", "input_output": tests}


def test_a_row_becomes_a_problem(tmp_path: Path):
    problem = problem_of(tmp_path / "a.jsonl", {**STDIN, "difficulty": "easy"})
    assert problem.id == "stdin_programs/train/0"
    assert problem.prompt == f"Double it.\n{STDIN_INSTRUCTION}"
    assert problem.reference == StdinTests(cases=(("1\n", "2\n"), ("2\n", "4\n")))
    assert problem.verifier == "stdin_tests"
    assert problem.demonstration is None
    assert problem.metadata == {"difficulty": "easy"}


@pytest.mark.parametrize(
    "row",
    [
        {**STDIN, "input_output": json.dumps(STDIN["input_output"])},
        {"question": "Double it.", **STDIN["input_output"]},
        {"question": "Double it.", "inputs": json.dumps(["1\n", "2\n"]), "outputs": json.dumps(["2\n", "4\n"])},
        {**STDIN, "input_output": [{"input": "1\n", "output": "2\n"}, {"input": "2\n", "output": "4\n"}]},
        {**STDIN, "input_output": json.dumps([{"input": "1\n", "output": "2\n"}, {"input": "2\n", "output": "4\n"}])},
        with_tests(inputs=["1\n", "2\n"], outputs=["2\n", "4\n"], fn_name=None),
    ],
    ids=["JSON text", "columns", "columns of JSON text", "list", "list as JSON text", "no function's name"],
)
def test_every_form_of_tests_means_the_same(row: dict[str, Any], tmp_path: Path):
    assert problem_of(tmp_path / "a.jsonl", row).reference == StdinTests(cases=(("1\n", "2\n"), ("2\n", "4\n")))


def test_lists_of_lines_are_joined(tmp_path: Path):
    problem = problem_of(tmp_path / "a.jsonl", with_tests(inputs=[["2", "1 2"]], outputs=[["3"]]))
    assert problem.reference.cases == (("2\n1 2", "3"),)


def test_a_function_that_is_named_makes_function_tests(tmp_path: Path):
    problem = problem_of(tmp_path / "a.jsonl", FUNCTION, float_tol=1e-6)
    assert problem.verifier == "function_tests"
    assert problem.prompt == "Double it.\nWrite the Python function double that is asked for, in one ```python block."
    assert problem.reference == FunctionTests(
        function="double",
        cases=(FunctionCase(arguments=(1,), expected=2), FunctionCase(arguments=(2,), expected=4)),
        float_tol=1e-6,
    )


def test_starter_code_is_shown_and_its_class_holds_the_function(tmp_path: Path):
    problem = problem_of(tmp_path / "a.jsonl", {**FUNCTION, "starter_code": SOLUTION_CLASS})
    assert problem.reference.function == "Solution.double"
    assert f"```python\n{SOLUTION_CLASS}\n```" in problem.prompt


def test_arguments_and_values_as_lines_of_json_are_read(tmp_path: Path):
    row = with_tests(inputs=['[1, 2]\n"a"', "[]\n\n"], outputs=['{"a": 3}', "[0]"], fn_name="f")
    assert problem_of(tmp_path / "a.jsonl", row).reference.cases == (
        FunctionCase(arguments=([1, 2], "a"), expected={"a": 3}),
        FunctionCase(arguments=([],), expected=[0]),
    )


@pytest.mark.parametrize(
    ("outputs", "starter", "options", "row", "expected"),
    [
        ([[2], [4]], "", {}, {}, [2, 4]),
        ([[2], 4], "", {}, {}, [[2], 4]),
        ([[2], [4, 4]], "", {}, {}, [[2], [4, 4]]),
        ([[[2]], [[4]]], "", {}, {}, [[2], [4]]),
        ([[2], [4]], "def f(n: int) -> List[int]:", {}, {}, [[2], [4]]),
        ([[2], [4]], "def g(n: int) -> List[int]:", {}, {}, [2, 4]),
        ([[2], [4]], "", {"wrapped_outputs": "never"}, {}, [[2], [4]]),
        ([[[2]], [[4]]], "def f(n) -> list:", {"wrapped_outputs": "always"}, {}, [[2], [4]]),
        ([[2], [4]], "", {"wrapped_outputs": "never"}, {"wrapped_outputs": True}, [2, 4]),
        ([[2], [4]], "", {}, {"wrapped_outputs": False}, [[2], [4]]),
    ],
)
def test_outputs_in_lists_of_one_element_are_taken_out_where_they_are_wrapped(
    outputs: list[Any], starter: str, options: dict[str, Any], row: dict[str, Any], expected: list[Any], tmp_path: Path
):
    row = with_tests(inputs=[[1], [2]], outputs=outputs, fn_name="f") | {"starter_code": starter} | row
    problem = problem_of(tmp_path / "a.jsonl", row, **options)
    assert [case.expected for case in problem.reference.cases] == expected


def test_limits_of_the_row_go_before_those_of_the_options(tmp_path: Path):
    own = problem_of(tmp_path / "a.jsonl", {**STDIN, "wall_s": 2, "memory_mb": 64}, wall_s=9.0, memory_mb=512)
    assert (own.reference.wall_s, own.reference.memory_mb) == (2.0, 64)
    common = problem_of(tmp_path / "b.jsonl", FUNCTION, wall_s=9.0, memory_mb=512)
    assert (common.reference.wall_s, common.reference.memory_mb) == (9.0, 512)


def test_the_comparison_of_the_row_goes_before_that_of_the_options(tmp_path: Path):
    options = {"compare": "float", "abs_tol": 1e-3, "rel_tol": 0.1}
    common = problem_of(tmp_path / "a.jsonl", STDIN, **options)
    assert common.reference.compare == Compare(mode="float", abs_tol=1e-3, rel_tol=0.1)
    mode = problem_of(tmp_path / "b.jsonl", {**STDIN, "compare": "tokens"}, **options)
    assert mode.reference.compare.mode == "tokens"
    source = "def check(inp, expected, out): return True"
    checker = problem_of(tmp_path / "c.jsonl", {**STDIN, "compare": {"mode": "checker", "checker": source}})
    assert checker.reference.compare == Compare(mode="checker", checker=source)


@pytest.mark.parametrize(
    ("value", "demonstration"),
    [
        ("print(1)\r\nprint(2)\n", "```python\nprint(1)\nprint(2)\n```"),
        (["print(1)", "print(2)"], "```python\nprint(1)\n```"),
        (json.dumps(["print(1)", "print(2)"]), "```python\nprint(1)\n```"),
        ("[]", None),
        ("", None),
    ],
)
def test_the_first_solution_is_demonstrated(value: Any, demonstration: str | None, tmp_path: Path):
    problem = problem_of(tmp_path / "a.jsonl", {**STDIN, "solutions": value}, solutions_field="solutions")
    assert problem.demonstration == demonstration


def test_equal_questions_stay_on_one_side_when_one_file_is_divided(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    rows = [{**STDIN, "question": f"Question {n % 5}"} for n in range(20)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = load_any_task("stdin_programs", {"path": str(path), "test_size": 4})
    train, test = task.problems("train"), task.problems("test")
    assert (len(train), len(test)) == (16, 4)
    assert not {p.prompt for p in train} & {p.prompt for p in test}
    assert {p.id.rpartition("/")[2] for p in (*train, *test)} == {str(n) for n in range(20)}


def test_a_column_can_name_the_problems(tmp_path: Path):
    task = load(tmp_path / "a.jsonl", {**STDIN, "slug": "a"}, {**STDIN, "slug": "b"}, id_field="slug")
    assert [problem.id for problem in task.problems("test")] == ["stdin_programs/test/a", "stdin_programs/test/b"]
    with pytest.raises(TaskDataError, match=r"a\.jsonl, row 2: the id 'a' is taken"):
        load(tmp_path / "a.jsonl", {**STDIN, "slug": "a"}, {**STDIN, "slug": "a"}, id_field="slug").problems("test")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "Q"}, r"no column 'input_output', nor 'inputs' and 'outputs'.*set task\.options\.tests_field"),
        ({**STDIN, "input_output": "{"}, r"column 'input_output': not valid JSON"),
        ({**STDIN, "input_output": 3}, r"column 'input_output' must hold \{\"inputs\""),
        ({**STDIN, "input_output": [{"input": "1"}]}, r'must list objects with "input" and "output"'),
        (with_tests(inputs=["1"], outputs=[]), r"has 1 inputs but 0 outputs"),
        (with_tests(inputs=[], outputs=[]), r"has no tests"),
        (with_tests(inputs=["1"]), r"'outputs' must be a list with one element for each test, not None"),
        (with_tests(inputs=[[1]], outputs=[2]), r'test 1: input and output must be text.*"fn_name" is missing'),
        (with_tests(inputs=["1"], outputs=["2"], fn_name="f g"), r'"fn_name" must name a function, got \'f g\''),
        (with_tests(inputs=[[1], 2], outputs=[2, 4], fn_name="f"), r"test 2: the input of a function must be the li"),
        (with_tests(inputs=["x"], outputs=["2"], fn_name="f"), r"test 1: not valid JSON.*'x'"),
        ({**STDIN, "wall_s": "2 s"}, r"column 'wall_s' must hold a number above 0, not '2 s'"),
        ({**STDIN, "memory_mb": 0}, r"column 'memory_mb' must hold a number above 0, not 0"),
        ({**STDIN, "compare": "exact"}, r"column 'compare' must have one of the modes whitespace, tokens"),
        ({**STDIN, "compare": {"mode": "checker"}}, r"column 'compare' must have the source of a checker"),
        ({**STDIN, "compare": {"mode": "float", "abs_tol": -1}}, r"column 'compare' must have a number of at least 0"),
        ({**STDIN, "compare": {"tol": 1}}, r"column 'compare' must be a mode or an object with"),
        ({**STDIN, "starter_code": 3}, r"column 'starter_code' must hold text"),
        ({**FUNCTION, "wrapped_outputs": "yes"}, r"column 'wrapped_outputs' must hold true or false"),
        ({**STDIN, "question": ""}, r"column 'question' is empty"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(row: dict[str, Any], message: str, tmp_path: Path):
    with pytest.raises(TaskDataError, match=r"a\.jsonl, row 1.*" + message):
        problem_of(tmp_path / "a.jsonl", row)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[print(1)", r"column 'solutions' is no JSON list"),
        (3, r"column 'solutions' must hold a solution or a list of them, not 3"),
        ([""], r"column 'solutions' must hold a solution"),
    ],
)
def test_solutions_that_cannot_be_read_are_named(value: Any, message: str, tmp_path: Path):
    with pytest.raises(TaskDataError, match=message):
        problem_of(tmp_path / "a.jsonl", {**STDIN, "solutions": value}, solutions_field="solutions")


def test_outputs_that_should_be_wrapped_but_are_not_are_named(tmp_path: Path):
    with pytest.raises(TaskDataError, match=r"row 1, test 1: the output must stand in a list of one element, got 2"):
        problem_of(tmp_path / "a.jsonl", FUNCTION, wrapped_outputs="always")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"abs_tol": -1.0}, r"task\.options\.abs_tol: must be at least 0, got -1"),
        ({"float_tol": float("nan")}, r"task\.options\.float_tol"),
        ({"wall_s": 0.0}, r"task\.options\.wall_s: must be above 0"),
        ({"memory_mb": 0}, r"task\.options\.memory_mb: must be above 0"),
        ({"compare": "checker"}, r"task\.options\.compare"),
    ],
)
def test_an_option_that_cannot_be_is_named(options: dict[str, Any], message: str, tmp_path: Path):
    with pytest.raises(TaskOptionError, match=message):
        load(tmp_path / "a.jsonl", STDIN, **options)
