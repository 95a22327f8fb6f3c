"""Anyone's file of multiple-choice questions as a task: MMLU, ARC and the like."""

import random
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any, Literal

from tasks.errors import TaskDataError
from tasks.jsonl import check_template, file_source
from tasks.rows import Row
from tasks.splits import read_split
from tasks.types import MathAnswer, Problem

INSTRUCTION = "Reason step by step, and put the letter of the right choice within \\boxed{}."


class MultipleChoiceJsonl:
    r"""Questions with choices, from a data file (.jsonl, .jsonl.gz, .json, .parquet) or hub data set.

    The choices are lettered A, B, C, ... in their order, whatever labels the data gives them; the gold answer is the
    letter of the right one.

    Args:
        path: the file or hub data set. A file without `test_path` beside it is divided by `split_seed`.
        test_path: a file for the test split; `path` then holds the train split alone.
        test_size: at least so many test problems when one file is divided.
        split_seed: which rows of that file become test problems. Equal questions stay on one side.
        question_field: column of the question.
        choices_field: column of the choices: a list of texts, texts by label ({"A": "red", "B": "blue"}), or
            {"text": [...], "label": [...]}.
        answer_field: column of the right choice.
        answer_is: how that column names it: by "label" (the data's own; A, B, C, ... for a list), by "index" (from 0)
            or by "text". "auto" takes the reading that fits and refuses a row that several readings fit differently.
        prompt_template: the prompt, with {question} and {choices} where these go; {{ and }} are braces.
        shuffle_seed: put the choices of each problem in an order of its own, so that no place is favoured. Not for
            choices that speak of each other ("both A and B", "all of the above").
        instruction: follows the prompt on a line of its own; "" for none.
    """

    name = "multiple_choice_jsonl"

    def __init__(
        self,
        *,
        path: str,
        test_path: str | None = None,
        test_size: int = 100,
        split_seed: int = 0,
        question_field: str = "question",
        choices_field: str = "choices",
        answer_field: str = "answer",
        answer_is: Literal["auto", "label", "index", "text"] = "auto",
        prompt_template: str = "{question}\n{choices}",
        shuffle_seed: int | None = None,
        instruction: str = INSTRUCTION,
    ) -> None:
        check_template(prompt_template, ["question", "choices"])
        self._source = file_source(path, test_path, test_size=test_size, split_seed=split_seed)
        self._question_field = question_field
        self._choices_field = choices_field
        self._answer_field = answer_field
        self._answer_is = answer_is
        self._prompt_template = prompt_template
        self._shuffle_seed = shuffle_seed
        self._instruction = instruction
        self._problems: dict[str, list[Problem]] = {}

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the "train" or "test" problems, in the order of the data."""
        if split not in self._problems:
            rows = read_split(split, self._source, task=self.name, group=self._group)
            self._problems[split] = [self._problem(row, f"{self.name}/{split}/{index}") for index, row in rows]
        return self._problems[split]

    def _problem(self, row: Row, problem_id: str) -> Problem:
        labels, texts = self._choices(row)
        gold = self._gold(row, labels, texts)
        order = list(range(len(texts)))
        if self._shuffle_seed is not None:
            random.Random(f"{self._shuffle_seed}/{problem_id}").shuffle(order)
        choices = {letter: texts[place] for letter, place in zip(ascii_uppercase, order, strict=False)}
        prompt = self._prompt_template.format(
            question=self._question(row).strip(),
            choices="\n".join(f"{letter}. {text}" for letter, text in choices.items()),
        )
        return Problem(
            id=problem_id,
            prompt="\n".join(part for part in (prompt, self._instruction) if part),
            reference=MathAnswer(value=ascii_uppercase[order.index(gold)], answer_format="boxed"),
            verifier="multiple_choice",
            metadata={"choices": choices},
        )

    def _choices(self, row: Row) -> tuple[list[str], list[str]]:
        """Return the labels and the texts of the choices."""
        place = f"{row.place}: column {self._choices_field!r}"
        if self._choices_field not in row.values:
            raise TaskDataError(
                f"{row.place}: no column {self._choices_field!r}; columns seen: {list(row.values)};"
                " set task.options.choices_field"
            )
        labels, texts = _labels_and_texts(row.values[self._choices_field])
        if texts and not 2 <= len(texts) <= len(ascii_uppercase):
            raise TaskDataError(f"{place} must hold 2 to {len(ascii_uppercase)} choices, not {len(texts)}")
        if len(labels) != len(texts) or not texts:
            raise TaskDataError(
                f'{place} must hold a list of texts, texts by label, or {{"text": [...], "label": [...]}} of equal'
                f" length, not {row.values[self._choices_field]!r}"
            )
        for value in (*labels, *texts):
            if not isinstance(value, str | int | float) or isinstance(value, bool) or not str(value).strip():
                raise TaskDataError(f"{place}: labels and choices must be texts or numbers, not {value!r}")
        return [str(label).strip() for label in labels], [str(text).strip() for text in texts]

    def _gold(self, row: Row, labels: Sequence[str], texts: Sequence[str]) -> int:
        """Return the place of the right choice."""
        answer = row.text(self._answer_field, option="answer_field").strip()
        readings = {
            "label": [place for place, label in enumerate(labels) if label.casefold() == answer.casefold()],
            "index": [place for place in range(len(texts)) if str(place) == answer],
            "text": [place for place, text in enumerate(texts) if " ".join(text.split()) == " ".join(answer.split())],
        }
        if self._answer_is != "auto":
            readings = {self._answer_is: readings[self._answer_is]}
        places = {place for found in readings.values() for place in found}
        if len(places) == 1:
            return places.pop()
        what = f"{row.place}: column {self._answer_field!r} holds {row.values[self._answer_field]!r}"
        if not places:
            raise TaskDataError(
                f"{what}, which is no {' or '.join(readings)} of a choice; labels: {', '.join(labels)}; indices:"
                f" 0 to {len(texts) - 1}; see task.options.answer_field and task.options.answer_is"
            )
        meant = [f"as {reading} the choice {texts[place]!r}" for reading, found in readings.items() for place in found]
        raise TaskDataError(
            f"{what}, which is ambiguous: {', '.join(meant)};"
            ' set task.options.answer_is to "label", "index" or "text", or correct the row'
        )

    def _question(self, row: Row) -> str:
        return row.text(self._question_field, option="question_field")

    def _group(self, row: Row) -> str:
        return " ".join(self._question(row).split())


def _labels_and_texts(choices: Any) -> tuple[list[Any], list[Any]]:
    """Return the labels and the texts, none of either for what is no form of choices."""
    if isinstance(choices, list):
        return list(ascii_uppercase[: len(choices)]), choices
    if not isinstance(choices, Mapping):
        return [], []
    if isinstance(choices.get("text"), list) and isinstance(choices.get("label"), list):
        return choices["label"], choices["text"]
    return list(choices), list(choices.values())
