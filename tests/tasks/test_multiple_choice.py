import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tasks import MathAnswer, Problem, TaskDataError, TaskOptionError, load_task
from tasks.multiple_choice import INSTRUCTION
from verifiers import Outcome, load_verifier

COLOURS = ["red", "green", "blue", "grey"]
ROW: dict[str, Any] = {"question": "Which one?", "choices": COLOURS, "answer": 2}


def write(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def problems(folder: Path, *rows: dict[str, Any], **options: object) -> list[Problem]:
    path = write(folder / "a.jsonl", *rows)
    return list(load_task("multiple_choice_jsonl", {"path": path, "test_path": path, **options}).problems("train"))


def gold_text(problem: Problem) -> str:
    return problem.metadata["choices"][problem.reference.value]


def test_a_row_becomes_a_problem(tmp_path: Path):
    (problem,) = problems(tmp_path, ROW)
    assert problem.id == "multiple_choice_jsonl/train/0"
    assert problem.prompt == f"Which one?\nA. red\nB. green\nC. blue\nD. grey\n{INSTRUCTION}"
    assert problem.reference == MathAnswer(value="C", answer_format="boxed")
    assert problem.verifier == "multiple_choice"
    assert problem.metadata == {"choices": {"A": "red", "B": "green", "C": "blue", "D": "grey"}}


@pytest.mark.parametrize(
    ("choices", "answer"),
    [
        (COLOURS, "C"),
        (COLOURS, "c"),
        (COLOURS, 2),
        (COLOURS, "2"),
        (COLOURS, "blue"),
        ({"A": "red", "B": "green", "C": "blue"}, "C"),
        ({"1": "red", "2": "green", "3": "blue"}, "3"),
        ({"1": "red", "2": "green", "3": "blue"}, "blue"),
        ({"text": COLOURS, "label": ["A", "B", "C", "D"]}, "C"),
        ({"text": COLOURS, "label": ["P", "Q", "R", "S"]}, "R"),
        ({"text": COLOURS, "label": [1, 2, 3, 4]}, "blue"),
        ([3, 5, "blue", 9], "C"),
    ],
)
def test_every_form_of_choices_and_answer_is_read(tmp_path: Path, choices: object, answer: object):
    (problem,) = problems(tmp_path, ROW | {"choices": choices, "answer": answer})
    assert gold_text(problem) == "blue"
    assert problem.reference.value == "C"


@pytest.mark.parametrize(
    ("choices", "answer", "readings"),
    [
        (["2", "4", "8", "16"], 2, {"index": "8", "text": "2"}),
        (["2", "4", "8", "16"], "2", {"index": "8", "text": "2"}),
        (["B", "A", "O", "AB"], "A", {"label": "B", "text": "A"}),
        ({"text": COLOURS, "label": ["1", "2", "3", "4"]}, 2, {"label": "green", "index": "blue"}),
    ],
)
def test_an_answer_that_can_be_read_in_two_ways_is_refused_until_the_option_says_which(
    tmp_path: Path, choices: object, answer: object, readings: dict[str, str]
):
    rows = [ROW, ROW | {"choices": choices, "answer": answer}]
    with pytest.raises(TaskDataError, match=r"a\.jsonl, row 2: .*ambiguous: .*set task\.options\.answer_is"):
        problems(tmp_path, *rows)
    for reading, text in readings.items():
        (problem,) = problems(tmp_path, rows[1], answer_is=reading)
        assert gold_text(problem) == text


def test_an_answer_whose_readings_agree_is_not_ambiguous(tmp_path: Path):
    (problem,) = problems(tmp_path, ROW | {"choices": ["0", "1", "2", "3"], "answer": 2})
    assert problem.reference.value == "C"


def test_a_text_that_two_choices_share_does_not_say_which_is_right(tmp_path: Path):
    with pytest.raises(TaskDataError, match="ambiguous"):
        problems(tmp_path, ROW | {"choices": ["red", "red", "blue"], "answer": "red"})


@pytest.mark.parametrize(
    ("answer", "options"),
    [("purple", {}), (4, {}), (-1, {}), ("E", {}), ("blue", {"answer_is": "label"}), ("C", {"answer_is": "text"})],
)
def test_an_answer_that_is_no_choice_is_named(tmp_path: Path, answer: object, options: dict[str, object]):
    with pytest.raises(TaskDataError, match=r"row 1: column 'answer' holds .*which is no .*labels: A, B, C, D"):
        problems(tmp_path, ROW | {"answer": answer}, **options)


@pytest.mark.parametrize(
    "choices",
    ["red, blue", 5, None, [], {}, ["red"], ["x"] * 27, ["red", ""], ["red", None], {"text": COLOURS, "label": ["A"]}],
)
def test_choices_that_are_none_are_named(tmp_path: Path, choices: object):
    with pytest.raises(TaskDataError, match=r"a\.jsonl, row 1: column 'choices'"):
        problems(tmp_path, ROW | {"choices": choices})


@pytest.mark.parametrize("option", ["question_field", "choices_field", "answer_field"])
def test_a_missing_column_names_the_option_to_set(tmp_path: Path, option: str):
    with pytest.raises(TaskDataError, match=rf"row 1: no column 'nowhere'.*set task\.options\.{option}"):
        problems(tmp_path, ROW, **{option: "nowhere"})


def test_shuffled_choices_keep_their_gold_and_favour_no_place(tmp_path: Path):
    rows = [ROW | {"question": f"q{n}"} for n in range(400)]
    shuffled = problems(tmp_path, *rows, shuffle_seed=0)
    for problem in shuffled:
        assert gold_text(problem) == "blue"
        assert sorted(problem.metadata["choices"].values()) == sorted(COLOURS)
        assert f"\n{problem.reference.value}. blue\n" in problem.prompt
    assert all(70 < count < 130 for count in Counter(p.reference.value for p in shuffled).values())


def test_the_same_shuffle_seed_gives_the_same_order_and_another_seed_another(tmp_path: Path):
    rows = [ROW | {"question": f"q{n}"} for n in range(20)]
    first, again, other = (problems(tmp_path, *rows, shuffle_seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_template_and_the_instruction_are_configurable(tmp_path: Path):
    (problem,) = problems(tmp_path, ROW, prompt_template="{{Q}} {question}\n[{choices}]", instruction="")
    assert problem.prompt == "{Q} Which one?\n[A. red\nB. green\nC. blue\nD. grey]"


@pytest.mark.parametrize(
    "template", ["{question}", "{choices}", "{question} {choices} {answer}", "{question} {choices!r}"]
)
def test_a_template_without_both_fields_or_with_others_is_refused(template: str):
    with pytest.raises(TaskOptionError, match=r"prompt_template: must hold \{question\} and \{choices\} and no other"):
        load_task("multiple_choice_jsonl", {"path": "a.jsonl", "prompt_template": template})


def test_answer_is_takes_one_of_its_words():
    with pytest.raises(TaskOptionError, match=r"task\.options\.answer_is: expected one of 'auto', 'label', 'index'"):
        load_task("multiple_choice_jsonl", {"path": "a.jsonl", "answer_is": "number"})


def test_one_file_is_divided_and_equal_questions_stay_on_one_side(tmp_path: Path):
    rows = [ROW | {"question": f"q{n // 2}"} for n in range(20)]
    task = load_task("multiple_choice_jsonl", {"path": write(tmp_path / "a.jsonl", *rows), "test_size": 6})
    train, test = ({p.prompt for p in task.problems(split)} for split in ("train", "test"))
    assert (len(train), len(test)) == (7, 3)
    assert not train & test


@pytest.mark.parametrize("shuffle_seed", [None, 0])
def test_the_verifier_takes_the_gold_letter_and_no_other(tmp_path: Path, shuffle_seed: int | None):
    verifier = load_verifier("multiple_choice")
    options = {} if shuffle_seed is None else {"shuffle_seed": shuffle_seed}
    for problem in problems(tmp_path, ROW, ROW | {"choices": {"1": "x y", "2": "z"}, "answer": "z"}, **options):
        for letter in problem.metadata["choices"]:
            verdict = verifier.verify(problem, f"I think it is \\boxed{{{letter}}}.")
            assert (verdict.outcome is Outcome.CORRECT) == (letter == problem.reference.value)
