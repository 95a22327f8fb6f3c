import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.shared_data import shared_file

from tasks import MathAnswer, Problem, Task, TaskDataError, load_task
from tasks.svamp import INSTRUCTION

ROW = {
    "ID": "chal-1",
    "Body": "Bob has 7 pears and 2 figs",
    "Question": "How many are left?",
    "Equation": "( ( 7.0 + 2.0 ) - 3.0 )",
    "Answer": 6.0,
    "Type": "Subtraction",
}


def load(path: Path, *rows: dict[str, object], test_size: int = 1) -> Task:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_task("svamp", {"path": str(path), "test_size": test_size})


def problem_of(path: Path, **changes: object) -> Problem:
    task = load(path, ROW | changes, ROW | {"ID": "chal-2", "Body": "Something else"})
    problems = [*task.problems("train"), *task.problems("test")]
    return next(problem for problem in problems if problem.id.endswith("chal-1"))


def story(problem: Problem) -> str:
    return re.sub(r"\d+(\.\d+)?", "#", problem.prompt.rpartition("?")[0].casefold())


def test_a_row_becomes_a_problem(tmp_path: Path):
    problem = problem_of(tmp_path / "a.jsonl")
    assert problem.prompt == f"Bob has 7 pears and 2 figs, How many are left?\n{INSTRUCTION}"
    assert problem.reference == MathAnswer(value="6", answer_format="marker:####")
    assert problem.demonstration == "7 + 2 = 9\n9 - 3 = 6\n#### 6"
    assert problem.verifier == "numeric"


def test_an_equation_that_misses_the_answer_gives_no_demonstration(tmp_path: Path):
    assert problem_of(tmp_path / "a.jsonl", Answer=7.0).demonstration is None


def test_an_answer_given_as_text_is_read(tmp_path: Path):
    assert problem_of(tmp_path / "a.jsonl", Answer="145.0").reference.value == "145"


def test_an_answer_that_is_no_number_is_named(tmp_path: Path):
    with pytest.raises(TaskDataError, match=r"a\.jsonl, row 1: column 'Answer' must hold a number"):
        problem_of(tmp_path / "a.jsonl", Answer="six")


def test_stories_that_differ_in_numbers_alone_stay_together(tmp_path: Path):
    rows = [ROW | {"ID": f"chal-{n}", "Body": f"Bob  has {n} pears and {n % 3} figs."} for n in range(6)]
    rows += [ROW | {"ID": "chal-9", "Body": "Ann walks."}]
    task = load(tmp_path / "a.jsonl", *rows)
    assert {len(task.problems("train")), len(task.problems("test"))} == {6, 1}


@pytest.fixture(scope="module")
def real_splits() -> tuple[Sequence[Problem], Sequence[Problem]]:
    task = load_task("svamp", {"path": shared_file("data/svamp.jsonl")})
    return task.problems("train"), task.problems("test")


Splits = tuple[Sequence[Problem], Sequence[Problem]]


def test_the_real_file_is_divided_without_loss(real_splits: Splits):
    train, test = real_splits
    assert len({problem.id.rpartition("/")[2] for problem in (*train, *test)}) == 1000
    assert 300 <= len(test) <= 310


def test_no_real_story_is_on_both_sides(real_splits: Splits):
    train, test = real_splits
    assert not {story(problem) for problem in train} & {story(problem) for problem in test}


def test_the_same_seed_divides_the_real_file_in_the_same_way(real_splits: Splits):
    again = load_task("svamp", {"path": shared_file("data/svamp.jsonl")})
    assert list(again.problems("test")) == list(real_splits[1])


def test_all_real_problems_but_one_have_a_demonstration_that_ends_in_the_answer(real_splits: Splits):
    problems = [*real_splits[0], *real_splits[1]]
    assert [problem.id[-8:] for problem in problems if problem.demonstration is None] == ["chal-680"]
    for problem in problems:
        if problem.demonstration:
            assert problem.demonstration.endswith(f"#### {problem.reference.value}")
            assert problem.reference.value.isdigit()
