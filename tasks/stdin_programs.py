"""Programming-contest problems from anyone's file, in the manner of APPS (arXiv:2105.09938) or LiveCodeBench."""

import json
from collections.abc import Sequence
from typing import Any, Literal

from tasks.errors import TaskDataError, TaskOptionError
from tasks.jsonl import file_source
from tasks.program_tests import RunLimits, Wrapped, function_tests, read_compare, read_limits, read_tests, stdin_tests
from tasks.python_source import fenced, unix_lines
from tasks.rows import Row
from tasks.splits import read_split
from tasks.types import Compare, Problem

STDIN_INSTRUCTION = (
    "Write a Python program that reads the input from standard input and prints the answer to standard output."
    " Put it in one ```python block."
)
FUNCTION_INSTRUCTION = "Write the Python function {function} that is asked for, in one ```python block."


class StdinPrograms:
    """Problems whose answer is a program that reads and prints or, where a row names one, a function.

    A row has a question and its tests: an object {"inputs": [...], "outputs": [...]}, with "fn_name" for a function; a
    list of {"input": ..., "output": ...}; either of them as JSON text; or columns "inputs" and "outputs" of their own.
    The columns "fn_name", "starter_code", "wall_s", "memory_mb", "compare" (a mode, or an object with the fields of
    tasks.types.Compare, a "checker" among them) and "wrapped_outputs" (true or false) may be there.

    An input or output of a program is text, or a list of lines. An input of a function is the list of its arguments,
    its output the value; or both are text that holds JSON, one argument a line, as LiveCodeBench has it.

    Args:
        path: the file (.jsonl, .jsonl.gz, .json, .parquet) or hub data set. A file without `test_path` beside it is
            divided by `split_seed`.
        test_path: a file for the test split; `path` then holds the train split alone.
        test_size: at least so many test problems when one file is divided.
        split_seed: which rows of that file become test problems. Equal questions stay on one side.
        question_field, tests_field: columns of the question and the tests.
        id_field: column of a name for each problem; the row's index in the file without it.
        solutions_field: column of a solution, or of a list of them (JSON text or not); the first is demonstrated.
        compare: how what a program printed is compared, as tasks.types.Compare says, in rows that do not say it.
        abs_tol, rel_tol: for "float".
        float_tol: for numbers that functions return, as tasks.types.FunctionTests says.
        wrapped_outputs: whether a function's outputs stand in lists of one element, as in much of APPS; where the row
            does not say it. "auto": they do if each output of the row is such a list and the starter code does not say
            that the function returns a list.
        wall_s, memory_mb: limits in rows that have none; without them the verifier's hold. The time is that of one
            case of a program, and of all cases of a function.
        stdin_instruction, function_instruction: follow the question; {function} stands for the function's name.
    """

    name = "stdin_programs"

    def __init__(
        self,
        *,
        path: str,
        test_path: str | None = None,
        test_size: int = 100,
        split_seed: int = 0,
        question_field: str = "question",
        tests_field: str = "input_output",
        id_field: str | None = None,
        solutions_field: str | None = None,
        compare: Literal["whitespace", "tokens", "float", "unordered_lines"] = "whitespace",
        abs_tol: float = 1e-6,
        rel_tol: float = 0.0,
        float_tol: float = 0.0,
        wrapped_outputs: Wrapped = "auto",
        wall_s: float | None = None,
        memory_mb: int | None = None,
        stdin_instruction: str = STDIN_INSTRUCTION,
        function_instruction: str = FUNCTION_INSTRUCTION,
    ) -> None:
        for option, value in (("abs_tol", abs_tol), ("rel_tol", rel_tol), ("float_tol", float_tol)):
            if not value >= 0:
                raise TaskOptionError(f"task.options.{option}: must be at least 0, got {value}")
        for option, value in (("wall_s", wall_s), ("memory_mb", memory_mb)):
            if value is not None and not value > 0:
                raise TaskOptionError(f"task.options.{option}: must be above 0, got {value}")
        self._source = file_source(path, test_path, test_size=test_size, split_seed=split_seed)
        self._question_field = question_field
        self._tests_field = tests_field
        self._id_field = id_field
        self._solutions_field = solutions_field
        self._compare = Compare(mode=compare, abs_tol=abs_tol, rel_tol=rel_tol)
        self._float_tol = float_tol
        self._wrapped_outputs: Wrapped = wrapped_outputs
        self._limits = RunLimits(wall_s=wall_s, memory_mb=memory_mb)
        self._stdin_instruction = stdin_instruction
        self._function_instruction = function_instruction
        self._problems: dict[str, list[Problem]] = {}

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the "train" or "test" problems, in the order of the data."""
        if split not in self._problems:
            rows = read_split(split, self._source, task=self.name, group=self._group)
            problems: dict[str, Problem] = {}
            for index, row in rows:
                own_name = row.text(self._id_field, option="id_field") if self._id_field else str(index)
                if own_name in problems:
                    raise TaskDataError(f"{row.place}: the id {own_name!r} is taken by an earlier row; ids must differ")
                problems[own_name] = self._problem(row, f"{self.name}/{split}/{own_name}")
            self._problems[split] = list(problems.values())
        return self._problems[split]

    def _problem(self, row: Row, problem_id: str) -> Problem:
        tests = read_tests(row, self._tests_field)
        limits = read_limits(row, self._limits)
        starter = _starter(row)
        if tests.function:
            reference = function_tests(
                row,
                tests,
                starter=starter,
                wrapped=self._wrapped_outputs,
                float_tol=self._float_tol,
                limits=limits,
            )
            instruction = self._function_instruction.replace("{function}", reference.function)
        else:
            reference = stdin_tests(row, tests, compare=read_compare(row, self._compare), limits=limits)
            instruction = self._stdin_instruction
        parts = (self._question(row).strip(), fenced(starter) if starter else "", instruction)
        return Problem(
            id=problem_id,
            prompt="\n".join(part for part in parts if part),
            reference=reference,
            verifier="function_tests" if tests.function else "stdin_tests",
            demonstration=self._demonstration(row),
            metadata={name: row.values[name] for name in ("difficulty", "url") if name in row.values},
        )

    def _demonstration(self, row: Row) -> str | None:
        """Return the first solution in a block; None where the row has an empty list of them, as some of APPS have."""
        if not self._solutions_field:
            return None
        value: Any = row.values.get(self._solutions_field)
        if isinstance(value, str) and value.lstrip().startswith("["):
            try:
                value = json.loads(value)
            except json.JSONDecodeError as error:
                raise TaskDataError(
                    f"{row.place}: column {self._solutions_field!r} is no JSON list: {error}"
                ) from error
        if value == "" or value == []:
            return None
        first = value[0] if isinstance(value, list) else value
        if not isinstance(first, str) or not first.strip():
            raise TaskDataError(
                f"{row.place}: column {self._solutions_field!r} must hold a solution or a list of them, not"
                f" {value!r:.200}; set task.options.solutions_field"
            )
        return fenced(unix_lines(first))

    def _question(self, row: Row) -> str:
        return row.text(self._question_field, option="question_field")

    def _group(self, row: Row) -> str:
        return " ".join(self._question(row).split())


def _starter(row: Row) -> str:
    value = row.values.get("starter_code") or ""
    if not isinstance(value, str):
        raise TaskDataError(f"{row.place}: column 'starter_code' must hold text, not {value!r:.200}")
    return unix_lines(value).strip("\n")
