from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks import MathAnswer, Problem, ProblemSampler, TaskDataError, TaskError


def problems(count: int) -> list[Problem]:
    return [
        Problem(id=f"toy/train/{n}", prompt=str(n), reference=MathAnswer(value=str(n)), verifier="numeric")
        for n in range(count)
    ]


def ids(drawn: Sequence[Problem]) -> list[str]:
    return [problem.id for problem in drawn]


@given(length=st.integers(1, 70), seed=st.integers(0, 5), epochs=st.integers(1, 3))
def test_every_epoch_holds_each_problem_once(length: int, seed: int, epochs: int):
    sampler = ProblemSampler(problems(length), seed)
    for _ in range(epochs):
        assert sorted(ids(sampler.next(length))) == sorted(ids(problems(length)))


@given(length=st.integers(1, 20), seed=st.integers(0, 3), steps=st.lists(st.integers(0, 30), max_size=5))
def test_a_stream_that_is_cut_and_restored_anywhere_goes_on_the_same(length: int, seed: int, steps: list[int]):
    whole = ids(ProblemSampler(problems(length), seed).next(sum(steps) + 25))
    before = ProblemSampler(problems(length), seed)
    drawn = [name for count in steps for name in ids(before.next(count))]
    after = ProblemSampler(problems(length), seed + 99)
    after.load_state_dict(before.state_dict())
    assert drawn + ids(after.next(25)) == whole


def test_epochs_and_seeds_have_their_own_orders():
    sampler = ProblemSampler(problems(30), 0)
    first, second = ids(sampler.next(30)), ids(sampler.next(30))
    other_seed = ids(ProblemSampler(problems(30), 1).next(30))
    assert len({tuple(order) for order in (first, second, other_seed, ids(problems(30)))}) == 4


def test_all_orders_of_few_problems_occur_about_equally_often():
    sampler = ProblemSampler(problems(3), 0)
    orders = Counter(tuple(ids(sampler.next(3))) for _ in range(1200))
    assert len(orders) == 6
    assert all(140 < count < 260 for count in orders.values())


def test_a_virtual_sequence_of_any_length_costs_no_memory():
    drawn = ProblemSampler(range(10**15), 0).next(100)  # pyright: ignore[reportArgumentType]
    assert len(set(drawn)) == 100


def test_the_state_is_plain_numbers():
    sampler = ProblemSampler(problems(4), 7)
    sampler.next(6)
    assert sampler.state_dict() == {"seed": 7, "epoch": 1, "position": 2, "length": 4}


def test_no_problems_is_an_error():
    with pytest.raises(TaskDataError, match="no problems"):
        ProblemSampler([], 0)


def test_the_state_of_another_number_of_problems_is_refused():
    state = ProblemSampler(problems(4), 0).state_dict()
    with pytest.raises(TaskError, match=r"belongs to 4 problems.*now has 5"):
        ProblemSampler(problems(5), 0).load_state_dict(state)


def test_something_that_is_no_state_is_refused():
    with pytest.raises(TaskError, match="epoch"):
        ProblemSampler(problems(5), 0).load_state_dict({"position": 1})
