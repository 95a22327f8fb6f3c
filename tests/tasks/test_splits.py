import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks import TaskDataError, TaskOptionError
from tasks.splits import Source, check_split, divide

groups = st.lists(st.sampled_from("abcdefghij"), min_size=2, max_size=40).filter(lambda names: len(set(names)) > 1)


@given(groups, st.integers(0, 9))
def test_a_group_is_never_divided(names: list[str], seed: int):
    in_test = divide(names, test_size=1, seed=seed, name="data")
    sides = {(name, side) for name, side in zip(names, in_test, strict=True)}
    assert len(sides) == len(set(names))


@given(st.integers(1, 30), st.integers(0, 9))
def test_groups_of_one_give_exactly_the_test_size(test_size: int, seed: int):
    assert sum(divide([str(n) for n in range(31)], test_size=test_size, seed=seed, name="data")) == test_size


def test_the_division_does_not_depend_on_the_order_of_the_rows():
    names = [str(n) for n in range(50)]
    forward = divide(names, test_size=10, seed=3, name="data")
    backward = divide(names[::-1], test_size=10, seed=3, name="data")
    assert forward == backward[::-1]


def test_another_seed_divides_otherwise():
    names = [str(n) for n in range(50)]
    assert divide(names, test_size=10, seed=0, name="data") != divide(names, test_size=10, seed=1, name="data")


@pytest.mark.parametrize("test_size", [0, 3, 4])
def test_a_division_that_leaves_a_split_empty_is_refused(test_size: int):
    with pytest.raises(TaskDataError, match=r"data\.jsonl: cannot divide 3 rows.*task\.options\.test_size"):
        divide(["a", "b", "c"], test_size=test_size, seed=0, name="data.jsonl")


def test_lone_surrogates_can_be_divided():
    assert sum(divide(["\ud800", "b", "c"], test_size=1, seed=0, name="data")) == 1


def test_an_unknown_split_is_answered_with_the_list():
    with pytest.raises(TaskOptionError, match="no split 'dev'; its splits: train, test"):
        check_split("dev", task="toy")


def test_one_path_and_two_paths_exclude_each_other():
    with pytest.raises(TaskOptionError, match="not both"):
        Source(path="a", test_path="b")
