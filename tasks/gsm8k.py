"""GSM8K: grade-school word problems (Cobbe et al. 2021, Training Verifiers to Solve Math Word Problems)."""

import re
from collections.abc import Sequence

from tasks.errors import TaskDataError
from tasks.rows import Row
from tasks.splits import Source, read_split
from tasks.types import MathAnswer, Problem

HUB_ID = "openai/gsm8k"
MARKER = "####"
INSTRUCTION = 'Think step by step. End with a last line that holds "#### " and the number alone.'

_CALCULATION = re.compile(r"<<[^<>]*>>")


class Gsm8k:
    """Word problems whose answer is a number after "####".

    Args:
        path: the hub data set, or one file that is divided by `split_seed`; without any path the hub's openai/gsm8k.
        train_path, test_path: a file for each split, in place of `path`.
        test_size: at least so many test problems when `path` is one file.
        split_seed: which rows of that file become test problems.
        instruction: follows the question on a line of its own; "" for none.
    """

    name = "gsm8k"

    def __init__(
        self,
        *,
        path: str | None = None,
        train_path: str | None = None,
        test_path: str | None = None,
        test_size: int = 500,
        split_seed: int = 0,
        instruction: str = INSTRUCTION,
    ) -> None:
        if path is None and train_path is None and test_path is None:
            path = HUB_ID
        self._source = Source(
            path=path,
            train_path=train_path,
            test_path=test_path,
            hub_config="main",
            test_size=test_size,
            split_seed=split_seed,
        )
        self._instruction = instruction
        self._problems: dict[str, list[Problem]] = {}

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the "train" or "test" problems, in the order of the data."""
        if split not in self._problems:
            rows = read_split(split, self._source, task=self.name, group=_group)
            self._problems[split] = [self._problem(row, f"{self.name}/{split}/{index}") for index, row in rows]
        return self._problems[split]

    def _problem(self, row: Row, problem_id: str) -> Problem:
        solution = row.text("answer")
        _, marker, value = solution.rpartition(MARKER)
        if not marker or not value.strip():
            raise TaskDataError(f'{row.place}: column "answer" does not end in "{MARKER}" and the answer')
        return Problem(
            id=problem_id,
            prompt="\n".join(part for part in (row.text("question").strip(), self._instruction) if part),
            reference=MathAnswer(value=value.strip(), answer_format=f"marker:{MARKER}"),
            verifier="numeric",
            demonstration=_CALCULATION.sub("", solution).strip(),
        )


def _group(row: Row) -> str:
    return " ".join(row.text("question").split())
