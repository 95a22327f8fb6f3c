"""HumanEval: functions to write from their docstrings (Chen et al. 2021, arXiv:2107.03374)."""

import ast
from collections.abc import Sequence

from tasks.errors import TaskDataError, TaskOptionError
from tasks.python_source import fenced, parsed
from tasks.rows import Row, read_rows
from tasks.splits import check_split, divide
from tasks.types import AssertTests, Problem

HUB_ID = "openai/openai_humaneval"
INSTRUCTION = (
    "Complete this Python function. Answer with the whole function, the imports and helper functions it needs"
    " included, in one ```python block."
)


class HumanEval:
    """164 functions to complete, a test set: the published tests judge, and nothing of them is shown.

    Args:
        path: a file with all of them (HumanEval.jsonl.gz) or a hub data set.
        test_size: divide the problems: at least so many stay test problems, the others become train problems.
            Without it there are test problems only, and all 164 are.
        split_seed: which ones `test_size` takes.
        instruction: stands above the function's header on a line of its own; "" for none.
    """

    name = "humaneval"

    def __init__(
        self,
        *,
        path: str = HUB_ID,
        test_size: int | None = None,
        split_seed: int = 0,
        instruction: str = INSTRUCTION,
    ) -> None:
        if test_size is not None and test_size < 1:
            raise TaskOptionError(f"task.options.test_size: must be at least 1, got {test_size}")
        self._path = path
        self._test_size = test_size
        self._split_seed = split_seed
        self._instruction = instruction
        self._problems: dict[str, list[Problem]] = {}

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the "test" problems, or the "train" problems that `test_size` leaves, in the order of the data."""
        if split not in self._problems:
            self._problems[split] = [
                self._problem(row, f"{self.name}/{split}/{index}") for index, row in self._rows(split)
            ]
        return self._problems[split]

    def _rows(self, split: str) -> list[tuple[int, Row]]:
        check_split(split, task=self.name)
        if split == "train" and self._test_size is None:
            raise TaskOptionError(
                "task 'humaneval' is a test set and has no 'train' split; train on the task 'mbpp', or set"
                " task.options.test_size to hold out so many and train on the rest"
            )
        rows = list(enumerate(read_rows(self._path, split="test")))
        if self._test_size is None:
            return rows
        groups = [row.text("prompt") for _, row in rows]
        in_test = divide(groups, test_size=self._test_size, seed=self._split_seed, name=self._path)
        return [(index, row) for index, row in rows if in_test[index] == (split == "test")]

    def _problem(self, row: Row, problem_id: str) -> Problem:
        header = row.text("prompt")
        function = row.text("entry_point").strip()
        solution = row.text("canonical_solution") if "canonical_solution" in row.values else None
        return Problem(
            id=problem_id,
            prompt="\n".join(part for part in (self._instruction, fenced(header)) if part),
            reference=AssertTests(asserts=_asserts(row, header, function), function=function),
            verifier="assert_tests",
            demonstration=None if solution is None else fenced(header + solution),
            metadata={"task_id": row.values.get("task_id")},
        )


def _asserts(row: Row, header: str, function: str) -> tuple[str, ...]:
    """Return the helpers that the tests call, the tests and the call of `check`.

    Three tests (32, 38, 50) use a function that the header defines beside the one to write: poly, encode_cyclic,
    encode_shift. They get it from the header; one that the response defines could be written to please them.
    """
    test = row.text("test")
    try:
        named = {node.id for node in ast.walk(parsed(test)) if isinstance(node, ast.Name)}
        given = [
            node for node in parsed(header).body if not (isinstance(node, ast.FunctionDef) and node.name == function)
        ]
    except SyntaxError as error:
        raise TaskDataError(f"{row.place}: columns 'prompt' and 'test' must be Python source: {error}") from error
    helpers = ""
    if any(isinstance(node, ast.FunctionDef) and node.name in named for node in given):
        helpers = "\n\n".join(ast.unparse(node) for node in given)
    return tuple(part for part in (helpers, test, f"check({function})") if part)
