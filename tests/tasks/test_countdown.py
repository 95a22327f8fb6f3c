import ast
import re
from fractions import Fraction

import pytest

from tasks import Problem, TaskOptionError, load_task
from tasks.countdown import INSTRUCTION, Countdown, in_test_split
from tasks.types import CountdownTarget, Task
from tasks.worked_equation import worked_equation
from verifiers import load_verifier
from verifiers.types import Outcome

SHAPES = pytest.mark.parametrize(
    "task",
    [
        Countdown(test_problems=100),
        Countdown(numbers=2, test_problems=50),
        Countdown(numbers=[3, 4], max_number=30, test_problems=100),
        Countdown(numbers=6, max_target=999, use_all=False, test_problems=50),
        Countdown(numbers=3, operations="/", max_number=40, test_problems=30),
        Countdown(operations="-*", seed=7, test_problems=100),
    ],
    ids=["default", "two", "three or four", "six", "quotients", "other signs"],
)


def problems_of(task: Task) -> list[Problem]:
    return [*task.problems("train")[:200], *task.problems("test")]


def key(problem: Problem) -> tuple[tuple[int, ...], int]:
    return tuple(sorted(problem.reference.numbers)), problem.reference.target


def expression(problem: Problem) -> str:
    match = re.search("<answer>(.*)</answer>$", problem.demonstration or "")
    assert match
    return match[1]


@SHAPES
def test_every_demonstration_is_correct(task: Countdown):
    verifier = load_verifier("countdown")
    for problem in problems_of(task):
        assert problem.demonstration is not None
        verdict = verifier.verify(problem, problem.demonstration)
        assert verdict.outcome is Outcome.CORRECT, (problem, verdict)


@SHAPES
def test_every_expression_uses_each_number_once_and_makes_the_target(task: Countdown):
    for problem in problems_of(task):
        assert sorted(int(n) for n in re.findall(r"\d+", expression(problem))) == list(key(problem)[0])
        worked = worked_equation(expression(problem))
        assert worked is not None
        assert worked.value == problem.reference.target


@SHAPES
def test_every_step_is_true_and_the_last_makes_the_target(task: Countdown):
    for problem in problems_of(task):
        *steps, _ = (problem.demonstration or "").splitlines()
        sides = [step.split("=") for step in steps]
        for left, right in sides:
            worked = worked_equation(left)
            assert worked is not None
            assert worked.value == Fraction(right)
            assert int(right) > 0
        assert sides[-1][1] == str(problem.reference.target)


@SHAPES
def test_an_expression_has_no_parentheses_that_precedence_gives_anyway(task: Countdown):
    for problem in problems_of(task):
        assert ast.unparse(ast.parse(expression(problem), mode="eval")).replace(" ", "") == expression(problem)


def test_no_target_is_one_of_the_numbers_and_all_lie_within_the_limits():
    for problem in problems_of(Countdown(numbers=[2, 3, 4], max_number=20, max_target=50)):
        numbers, target = problem.reference.numbers, problem.reference.target
        assert 2 <= len(numbers) <= 4
        assert all(1 <= number <= 20 for number in numbers)
        assert 1 <= target <= 50
        assert target not in numbers


def test_only_the_wanted_operations_make_the_targets():
    signs = {sign for p in problems_of(Countdown(operations="-*")) for sign in re.findall(r"[-+*/]", expression(p))}
    assert signs == {"-", "*"}
    signs = {sign for p in problems_of(Countdown()) for sign in re.findall(r"[-+*/]", expression(p))}
    assert signs == set("+-*/")


@pytest.mark.parametrize("seed", [0, 1])
def test_train_and_test_share_no_problem_not_even_of_another_seed(seed: int):
    train = {key(p) for p in Countdown(numbers=2, max_number=30, seed=seed).problems("train")[:3000]}
    test = [key(p) for p in Countdown(numbers=2, max_number=30, test_problems=100).problems("test")]
    assert len(set(test)) == 100
    assert not train & set(test)


def test_the_order_of_the_numbers_does_not_decide_the_split():
    assert {in_test_split((3, 1, 2), 6)} == {in_test_split((1, 2, 3), 6)}


def test_about_one_problem_in_ten_is_held_out():
    held_out = sum(in_test_split((a, b), a + b) for a in range(1, 100) for b in range(a, 100)) / 4950
    assert 0.08 < held_out < 0.12


def test_the_same_seed_gives_the_same_problems_and_another_seed_others():
    first, again, other = (problems_of(Countdown(seed=seed, test_problems=20)) for seed in (3, 3, 4))
    assert first == again
    assert not {p.prompt for p in first} & {p.prompt for p in other[:1]}


def test_train_problems_are_made_when_indexed():
    train = Countdown(train_problems=10**9).problems("train")
    assert len(train) == 10**9
    assert train[-1] == train[10**9 - 1]
    assert train[3:5] == [train[3], train[4]]
    assert train[3].id == "countdown/train/3"
    for index in (10**9, -(10**9) - 1):
        with pytest.raises(IndexError):
            train[index]


@pytest.mark.parametrize(
    ("use_all", "rule"), [(True, "every number exactly once"), (False, "each number at most once")]
)
def test_a_problem_names_its_numbers_target_and_rule(use_all: bool, rule: str):
    problem = Countdown(use_all=use_all).problems("test")[0]
    numbers, target = problem.reference.numbers, problem.reference.target
    assert problem.id == "countdown/test/0"
    question, instruction = problem.prompt.split("\n")
    assert question.startswith(
        f"Make {target} from the numbers {numbers[0]}, {numbers[1]} and {numbers[2]}. Use {rule}"
    )
    assert instruction == INSTRUCTION
    assert problem.reference == CountdownTarget(numbers=numbers, target=target, use_all=use_all)
    assert problem.reference.answer_format == "tag:answer"
    assert problem.verifier == "countdown"
    assert problem.metadata == {"numbers": numbers, "target": target}


def test_an_empty_instruction_leaves_the_question_alone():
    assert "\n" not in Countdown(instruction="").problems("train")[0].prompt


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"numbers": 1}, r"task\.options\.numbers: a problem has 2 to 6 numbers, got 1"),
        ({"numbers": [3, 7]}, r"task\.options\.numbers: .*got \[3, 7\]"),
        ({"numbers": []}, r"task\.options\.numbers"),
        ({"operations": ""}, r"task\.options\.operations"),
        ({"operations": "+^"}, r'task\.options\.operations: some of "\+-\*/", got "\+\^"'),
        ({"max_number": 1}, r"task\.options\.max_number: must be at least 2, got 1"),
        ({"max_target": 0}, r"task\.options\.max_target"),
        ({"train_problems": 0}, r"task\.options\.train_problems"),
        ({"test_problems": 0}, r"task\.options\.test_problems"),
        ({"operations": "*"}, r'task\.options: hardly any \[3\] numbers .* up to 100 with "\*"; raise max_target'),
    ],
)
def test_an_option_that_cannot_be_is_named(options: dict[str, object], message: str):
    with pytest.raises(TaskOptionError, match=message):
        load_task("countdown", options)


def test_more_test_problems_than_there_are_is_an_error_and_not_an_endless_search():
    with pytest.raises(TaskOptionError, match=r"task\.options\.test_problems: found \d+ different ones, not 500"):
        Countdown(numbers=2, max_number=10).problems("test")


def test_an_unknown_split_is_refused_with_those_there_are():
    with pytest.raises(TaskOptionError, match=r"'train' and 'test', not 'valid'"):
        Countdown().problems("valid")
