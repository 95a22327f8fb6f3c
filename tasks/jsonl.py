"""Anyone's file of questions and answers as a task."""

from collections.abc import Sequence
from string import Formatter

from tasks.errors import TaskDataError, TaskOptionError
from tasks.rows import Row
from tasks.splits import Source, read_split
from tasks.types import MathAnswer, Problem


class Jsonl:
    """Problems from a data file (.jsonl, .jsonl.gz, .json, .parquet) or hub data set with questions and answers.

    Args:
        path: the file or hub data set. A file without `test_path` beside it is divided by `split_seed`.
        test_path: a file for the test split; `path` then holds the train split alone.
        test_size: at least so many test problems when one file is divided.
        split_seed: which rows of that file become test problems. Equal questions stay on one side.
        question_field: column of the question.
        answer_field: column of the gold answer, text or a number.
        id_field: column of a name for each problem; the row's index in the file without it.
        demonstration_field: column of a response to imitate in the SFT warm start.
        verifier: name of the verifier that judges the responses.
        answer_format: where a response must put its answer, as tasks.types.MathAnswer says.
        prompt_template: the prompt, with {question} where the question goes; {{ and }} are braces.
    """

    name = "jsonl"

    def __init__(
        self,
        *,
        path: str,
        test_path: str | None = None,
        test_size: int = 100,
        split_seed: int = 0,
        question_field: str = "question",
        answer_field: str = "answer",
        id_field: str | None = None,
        demonstration_field: str | None = None,
        verifier: str = "numeric",
        answer_format: str = "last_number",
        prompt_template: str = "{question}",
    ) -> None:
        check_template(prompt_template, ["question"])
        self._source = file_source(path, test_path, test_size=test_size, split_seed=split_seed)
        self._question_field = question_field
        self._answer_field = answer_field
        self._id_field = id_field
        self._demonstration_field = demonstration_field
        self._verifier = verifier
        self._answer_format = answer_format
        self._prompt_template = prompt_template
        self._problems: dict[str, list[Problem]] = {}

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the "train" or "test" problems, in the order of the data."""
        if split not in self._problems:
            rows = read_split(split, self._source, task=self.name, group=self._group)
            self._problems[split] = self._split_problems(split, rows)
        return self._problems[split]

    def _split_problems(self, split: str, rows: Sequence[tuple[int, Row]]) -> list[Problem]:
        problems: dict[str, Problem] = {}
        for index, row in rows:
            own_name = row.text(self._id_field, option="id_field") if self._id_field else str(index)
            problem_id = f"{self.name}/{split}/{own_name}"
            if problem_id in problems:
                raise TaskDataError(f"{row.place}: the id {own_name!r} is taken by an earlier row; ids must differ")
            problems[problem_id] = self._problem(row, problem_id)
        return list(problems.values())

    def _problem(self, row: Row, problem_id: str) -> Problem:
        demonstration = None
        if self._demonstration_field:
            demonstration = row.text(self._demonstration_field, option="demonstration_field")
        return Problem(
            id=problem_id,
            prompt=self._prompt_template.format(question=self._question(row)),
            reference=MathAnswer(
                value=row.text(self._answer_field, option="answer_field").strip(), answer_format=self._answer_format
            ),
            verifier=self._verifier,
            demonstration=demonstration,
        )

    def _question(self, row: Row) -> str:
        return row.text(self._question_field, option="question_field")

    def _group(self, row: Row) -> str:
        return " ".join(self._question(row).split())


def file_source(path: str, test_path: str | None, *, test_size: int, split_seed: int) -> Source:
    """Return where the splits lie: in `path` and `test_path`, or both in `path` where that is all there is."""
    return Source(
        path=None if test_path else path,
        train_path=path if test_path else None,
        test_path=test_path,
        test_size=test_size,
        split_seed=split_seed,
    )


def check_template(template: str, fields: Sequence[str]) -> None:
    """Raise TaskOptionError unless the prompt template holds every field, such as {question}, and no other."""
    try:
        found = [
            (name, spec, conversion) for _, name, spec, conversion in Formatter().parse(template) if name is not None
        ]
    except ValueError as error:
        raise TaskOptionError(f"task.options.prompt_template: {error}; write {{{{ or }}}} for a brace") from error
    if set(found) != {(field, "", None) for field in fields}:
        raise TaskOptionError(
            f"task.options.prompt_template: must hold {' and '.join(f'{{{field}}}' for field in fields)} and no other"
            f" field, got {template!r}; write {{{{ or }}}} for a brace"
        )
