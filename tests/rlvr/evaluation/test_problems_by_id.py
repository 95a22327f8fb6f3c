import pytest

from rlvr.evaluation.problems_by_id import ProblemsById
from tasks.types import MathAnswer, Problem
from tasks.virtual_problems import VirtualProblems


def named(*ids: str) -> list[Problem]:
    return [Problem(id=name, prompt=name, reference=MathAnswer(value="1"), verifier="numeric") for name in ids]


def test_a_problem_is_found_at_its_index_without_a_look_at_the_others():
    made = []

    def make(index: int) -> Problem:
        made.append(index)
        return named(f"t/train/{index}")[0]

    problems = ProblemsById([VirtualProblems(10**12, make)])
    problems.look_up(["t/train/999999999999"])
    found = problems.get({"problem": "t/train/999999999999", "prompt": "t/train/999999999999"})
    assert found is not None
    assert set(made) == {999999999999}


@pytest.mark.parametrize("name", ["t/train/b", "t/train/7", "t/train/"])
def test_a_problem_whose_id_does_not_end_in_its_index_is_found_by_a_scan(name):
    problems = ProblemsById([named("t/train/a", "t/train/b", "t/train/7", "t/train/")])
    problems.look_up([name])
    assert problems.get({"problem": name, "prompt": name}) is not None


def test_a_problem_of_another_prompt_is_another_problem():
    problems = ProblemsById([named("t/train/0")])
    problems.look_up(["t/train/0", "t/train/1"])
    assert problems.get({"problem": "t/train/0", "prompt": "something else"}) is None
    assert problems.get({"problem": "t/train/1", "prompt": "t/train/1"}) is None


def test_every_split_is_searched():
    problems = ProblemsById([named("t/train/0"), named("t/test/a", "t/test/1")])
    problems.look_up(["t/test/a", "t/test/1"])
    assert problems.get({"problem": "t/test/a", "prompt": "t/test/a"}) is not None
    assert problems.get({"problem": "t/test/1", "prompt": "t/test/1"}) is not None
