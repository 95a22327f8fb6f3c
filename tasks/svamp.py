"""SVAMP: short word problems with numbers that do not matter (Patel et al. 2021, arXiv:2103.07191)."""

import re
from collections.abc import Sequence
from fractions import Fraction

from tasks.errors import TaskDataError
from tasks.rows import Row
from tasks.splits import Source, read_split
from tasks.types import MathAnswer, Problem
from tasks.worked_equation import plain_number, worked_equation

HUB_ID = "ChilleD/SVAMP"
MARKER = "####"
INSTRUCTION = (
    'Write one calculation a line, such as "7 + 2 = 9". End with a last line that holds "#### " and the number alone.'
)


class Svamp:
    """Word problems of one or two operations; demonstrations are the worked equation.

    Args:
        path: one file with all rows, divided by `split_seed`, or a hub data set, which has splits of its own.
        test_size: at least so many test problems when `path` is one file. Stories that differ in their numbers alone
            stay on one side, so that no test story is seen in training.
        split_seed: which rows of that file become test problems.
        instruction: follows the question on a line of its own; "" for none.
    """

    name = "svamp"

    def __init__(
        self, *, path: str = HUB_ID, test_size: int = 300, split_seed: int = 0, instruction: str = INSTRUCTION
    ) -> None:
        self._source = Source(path=path, test_size=test_size, split_seed=split_seed)
        self._instruction = instruction
        self._problems: dict[str, list[Problem]] = {}

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the "train" or "test" problems, in the order of the data."""
        if split not in self._problems:
            rows = read_split(split, self._source, task=self.name, group=_story)
            self._problems[split] = [self._problem(row, split) for _, row in rows]
        return self._problems[split]

    def _problem(self, row: Row, split: str) -> Problem:
        answer = _answer(row)
        question = _joined(row.text("Body").strip(), row.text("Question").strip())
        return Problem(
            id=f"{self.name}/{split}/{row.text('ID')}",
            prompt="\n".join(part for part in (question, self._instruction) if part),
            reference=MathAnswer(value=plain_number(answer), answer_format=f"marker:{MARKER}"),
            verifier="numeric",
            demonstration=_demonstration(row.text("Equation"), answer),
            metadata={"type": row.values.get("Type")},
        )


def _answer(row: Row) -> Fraction:
    text = row.text("Answer").strip()
    if not re.fullmatch(r"-?\d{1,30}(\.\d{1,30})?", text):
        raise TaskDataError(f"{row.place}: column 'Answer' must hold a number, not {text!r}")
    return Fraction(text)


def _demonstration(equation: str, answer: Fraction) -> str | None:
    """Return the equation worked line by line and the marked answer; None where it does not lead to the answer."""
    worked = worked_equation(equation)
    if worked is None or worked.value != answer:
        return None
    return "\n".join([*worked.steps, f"{MARKER} {plain_number(answer)}"])


def _joined(body: str, question: str) -> str:
    """Join story and question; many stories end without a stop, in the middle of the sentence."""
    return f"{body} {question}" if body[-1] in ".,;:?!" else f"{body}, {question}"


def _story(row: Row) -> str:
    """Return the story without its numbers: SVAMP holds most stories several times with other numbers."""
    return re.sub(r"\d+(\.\d+)?", "#", " ".join(row.text("Body").casefold().split()))
