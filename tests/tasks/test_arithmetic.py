import pytest

from rlvr.config.models import Config
from tasks import TaskOptionError, load_task
from tasks.arithmetic import Arithmetic, in_test_split, working
from tasks.types import MathAnswer, Problem, Task
from verifiers import load_verifier
from verifiers.types import Outcome

NUMERIC = load_verifier("numeric", {})
SEEDS = pytest.mark.parametrize("seed", [0, 1, 2])


def pair(problem: Problem) -> tuple[int, int]:
    """The operands, the smaller first: b + a is the same problem as a + b."""
    low, high = sorted((problem.metadata["a"], problem.metadata["b"]))
    return low, high


def outcome(problem: Problem) -> Outcome:
    assert problem.demonstration is not None
    return NUMERIC.verify(problem, problem.demonstration).outcome


def forgets_a_carry(problem: Problem) -> bool:
    """Tell whether some column but the last adds up to ten or more: a carry that does not simply become a digit."""
    a, b = (str(n)[::-1] for n in (problem.metadata["a"], problem.metadata["b"]))
    return any(int(x) + int(y) >= 10 for x, y in list(zip(a, b, strict=False))[: max(len(a), len(b)) - 1])


@pytest.mark.parametrize("digits", [1, 2, 3])
@SEEDS
def test_train_and_test_share_no_sum_not_even_the_other_way_round(digits: int, seed: int):
    task = Arithmetic(digits=digits, seed=seed, train_problems=2000)
    train, test = ({pair(p) for p in task.problems(split)} for split in ("train", "test"))
    assert test
    assert not train & test


def test_the_split_does_not_depend_on_the_seed_so_a_model_never_meets_another_seeds_test():
    train = {pair(p) for p in Arithmetic(digits=2, seed=1, train_problems=2000).problems("train")}
    assert not train & {pair(p) for p in Arithmetic(digits=2, seed=2).problems("test")}


def test_about_one_sum_in_ten_is_held_out():
    held_out = sum(in_test_split(a, b) for a in range(100) for b in range(a, 100)) / 5050
    assert 0.08 < held_out < 0.14


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_test_problems_are_all_different_and_as_many_as_said(digits: int):
    test = Arithmetic(digits=digits).problems("test")
    assert len({pair(p) for p in test}) == len(test) == {1: 2, 2: 250, 3: 1000}[digits]
    assert len(Arithmetic(digits=3, test_problems=17).problems("test")) == 17


@SEEDS
def test_the_same_seed_gives_the_same_problems_and_another_seed_others(seed: int):
    first, again, other = (Arithmetic(seed=s, train_problems=50) for s in (seed, seed, seed + 1))
    for split in ("train", "test"):
        assert list(first.problems(split)) == list(again.problems(split))
        assert list(first.problems(split)) != list(other.problems(split))


def test_train_problems_are_a_sequence_made_when_indexed():
    train = Arithmetic(train_problems=10**9).problems("train")
    assert len(train) == 10**9
    assert train[-1] == train[10**9 - 1]
    assert train[3:5] == [train[3], train[4]]
    assert train[3].id == "arithmetic/train/3"
    for index in (10**9, -(10**9) - 1):
        with pytest.raises(IndexError):
            train[index]


def test_a_problem_asks_for_the_sum_and_holds_it_as_its_reference():
    problem = Arithmetic().problems("train")[0]
    a, b = problem.metadata["a"], problem.metadata["b"]
    assert problem.prompt == f"{a}+{b}="
    assert problem.reference == MathAnswer(value=str(a + b), answer_format="marker:#")
    assert problem.verifier == "numeric"


def test_working_names_each_carry():
    assert working(347, 85, [True] * 3) == "7+5=12 4+8+1=13 3+0+1=4 #432"


def test_working_with_a_forgotten_carry_leads_to_the_wrong_sum():
    assert working(347, 85, [False, True, True]) == "7+5=12 4+8=12 3+0+1=4 #422"


def test_working_of_zeros():
    assert working(0, 0, [True]) == "0+0=0 #0"


@pytest.mark.parametrize("digits", [1, 2, 3, 9])
def test_demonstrations_without_slips_are_all_correct(digits: int):
    for problem in Arithmetic(digits=digits, slip_rate=0.0, train_problems=200).problems("train"):
        assert outcome(problem) is Outcome.CORRECT


@pytest.mark.parametrize("digits", [1, 2, 3, 9])
def test_demonstrations_that_always_slip_are_wrong_exactly_where_a_carry_matters(digits: int):
    for problem in Arithmetic(digits=digits, slip_rate=1.0, train_problems=200).problems("train"):
        assert (outcome(problem) is Outcome.INCORRECT) == forgets_a_carry(problem)


def test_slips_happen_at_their_rate():
    wrong, could = 0, 0
    for problem in Arithmetic(digits=2, slip_rate=0.6, train_problems=2000).problems("train"):
        could += forgets_a_carry(problem)
        wrong += outcome(problem) is Outcome.INCORRECT
    assert 0.55 < wrong / could < 0.65


def test_slips_change_no_question():
    clean, slipping = (Arithmetic(slip_rate=rate, train_problems=50).problems("train") for rate in (0.0, 1.0))
    assert [p.prompt for p in clean] == [p.prompt for p in slipping]


@pytest.mark.parametrize("digits", [1, 2, 3, 9])
def test_responses_have_a_bounded_length(digits: int):
    """Ten characters a column at most ("9+9+1=19 "), then the marker and the sum."""
    most = working(10**digits - 1, 10**digits - 1, [True] * digits)
    assert len(most) <= 9 * digits + digits + 2
    for problem in Arithmetic(digits=digits, train_problems=200).problems("train"):
        assert problem.demonstration is not None
        assert len(problem.demonstration) <= len(most)
        assert len(problem.prompt) <= 2 * digits + 2


def test_the_default_length_limit_holds_every_right_response_to_the_default_task():
    """One token a character, and the stop token."""
    config = Config()
    task = load_task(config.task.name, config.task.options)
    assert isinstance(task, Task)
    digits = Arithmetic().digits
    longest = len(working(10**digits - 1, 10**digits - 1, [True] * digits))
    assert longest + 1 <= config.rollout.max_new_tokens


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"digits": 0}, r"task\.options\.digits: must lie in 1 to 9, got 0"),
        ({"digits": 10}, r"task\.options\.digits"),
        ({"slip_rate": 1.5}, r"task\.options\.slip_rate: must lie in 0 to 1, got 1\.5"),
        ({"slip_rate": -0.1}, r"task\.options\.slip_rate"),
        ({"train_problems": 0}, r"task\.options\.train_problems: must be at least 1"),
        ({"digits": 1, "test_problems": 3}, r"task\.options\.test_problems: with digits = 1 there can be 1 to 2"),
        ({"test_problems": -1}, r"task\.options\.test_problems"),
        ({"digit": 3}, r"digit"),
        ({"digits": "3"}, r"task\.options\.digits"),
    ],
)
def test_an_option_that_cannot_be_is_named(options: dict[str, object], message: str):
    with pytest.raises(TaskOptionError, match=message):
        load_task("arithmetic", options)


def test_an_unknown_split_is_refused_with_those_there_are():
    with pytest.raises(TaskOptionError, match=r"'train' and 'test', not 'valid'"):
        Arithmetic().problems("valid")
