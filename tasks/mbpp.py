"""MBPP: mostly basic programming problems, each with three tests (Austin et al. 2021, arXiv:2108.07732)."""

import ast
from collections.abc import Sequence
from typing import Literal

from tasks.errors import TaskDataError, TaskOptionError
from tasks.python_source import called_names, fenced, imports_of, parsed, unix_lines
from tasks.rows import Row, is_local, read_rows
from tasks.types import AssertTests, Problem

HUB_ID = "google-research-datasets/mbpp"
PARTS = {"prompt": range(1, 11), "test": range(11, 511), "validation": range(511, 601), "train": range(601, 975)}
"""The published parts, by task_id."""
SLOW_S = {123: 15.0}
"""Time limits, by task_id, of problems whose published solution takes seconds."""
INSTRUCTION = "Answer with the Python function, and what it needs, in one ```python block."


class Mbpp:
    """974 short functions to write; splits "train", "test", "validation" and "prompt" as published.

    All tests judge a response, those that the prompt shows among them. The published solution of every problem passes
    them.

    Args:
        path: a file with all problems (mbpp.jsonl, sanitized-mbpp.json) or a hub data set.
        variant: which part of the hub data set: "full", or the 427 "sanitized" ones.
        train_parts: published parts that make up the split "train".
        shown_tests: how many of the tests follow the text; the first one tells the function's name and arguments.
        challenge_tests: whether the harder tests that eleven of the problems have judge, too.
        instruction: follows the problem on a line of its own; "" for none.
    """

    name = "mbpp"

    def __init__(
        self,
        *,
        path: str = HUB_ID,
        variant: Literal["full", "sanitized"] = "full",
        train_parts: list[Literal["train", "validation", "prompt"]] | None = None,
        shown_tests: Literal[1, 2, 3] = 1,
        challenge_tests: bool = False,
        instruction: str = INSTRUCTION,
    ) -> None:
        if train_parts is not None and not train_parts:
            raise TaskOptionError('task.options.train_parts: name at least one, for instance ["train", "validation"]')
        self._path = path
        self._variant = variant
        self._train_parts = dict.fromkeys(train_parts or ["train"])
        self._shown_tests = shown_tests
        self._challenge_tests = challenge_tests
        self._instruction = instruction
        self._problems: dict[str, list[Problem]] = {}

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the problems of "train", "test", "validation" or "prompt", in the order of the data."""
        if split not in PARTS:
            raise TaskOptionError(f"task 'mbpp' has no split {split!r}; its splits: {', '.join(PARTS)}")
        if split not in self._problems:
            parts = self._train_parts if split == "train" else [split]
            self._problems[split] = [self._problem(row, split) for part in parts for row in self._rows(part)]
        return self._problems[split]

    def _rows(self, part: str) -> list[Row]:
        rows = read_rows(self._path, split=part, hub_config=self._variant)
        if is_local(self._path):
            rows = [row for row in rows if _task_id(row) in PARTS[part]]
        if not rows:
            ids = PARTS[part]
            raise TaskDataError(f"{self._path} has no {part!r} problems, those with task_id {ids[0]} to {ids[-1]}")
        return rows

    def _problem(self, row: Row, split: str) -> Problem:
        code = unix_lines(row.text("code"))
        tests = _sources(row, "test_list")
        if not tests:
            raise TaskDataError(f"{row.place}: column 'test_list' holds no test")
        judging = tests + (_sources(row, "challenge_test_list") if self._challenge_tests else [])
        setup = unix_lines(str(row.values.get("test_setup_code") or "")).strip()
        try:
            function = _function(row, judging, code)
            imports = [*_sources(row, "test_imports"), *imports_of([setup, *judging], solution=code)]
        except SyntaxError as error:
            raise TaskDataError(f"{row.place}: the code and its tests must be Python source: {error}") from error
        text = row.text("text" if "text" in row.values else "prompt").strip()
        shown = "\n".join([*([setup] if setup else []), *tests[: self._shown_tests]])
        return Problem(
            id=f"{self.name}/{split}/{_task_id(row)}",
            prompt="\n".join(part for part in (text, f"It must pass:\n{fenced(shown)}", self._instruction) if part),
            reference=AssertTests(
                asserts=tuple(source for source in (*imports, setup, *judging) if source),
                function=function,
                wall_s=SLOW_S.get(_task_id(row)),
            ),
            verifier="assert_tests",
            demonstration=fenced(code),
            metadata={"task_id": _task_id(row)},
        )


def _function(row: Row, tests: Sequence[str], code: str) -> str:
    """Return the function that the tests call: the first of those called that the code defines."""
    defined = {node.name for node in parsed(code).body if isinstance(node, ast.FunctionDef)}
    for name in called_names(tests):
        if name in defined:
            return name
    raise TaskDataError(f"{row.place}: its tests call none of the functions of its code: {', '.join(sorted(defined))}")


def _task_id(row: Row) -> int:
    text = row.text("task_id")
    if not text.isdecimal():
        raise TaskDataError(f"{row.place}: column 'task_id' must hold a whole number, not {text!r}")
    return int(text)


def _sources(row: Row, column: str) -> list[str]:
    values = row.values.get(column) or []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TaskDataError(f"{row.place}: column {column!r} must hold a list of Python statements, not {values!r}")
    return [unix_lines(value).strip() for value in values]
