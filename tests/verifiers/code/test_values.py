"""Returned values against expected ones, on the host."""

import json
import math
import time
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from support.plain_values import VALUES

from verifiers.code.inside.wire import UnsendableError
from verifiers.code.values import matches, tagged


def same(expected: Any, returned: Any, float_tol: float = 0.0) -> bool:
    return matches(tagged(expected), tagged(returned), float_tol=float_tol)


@given(VALUES)
def test_a_value_matches_itself(value: Any):
    assert same(value, value)
    assert same(value, value, 1e-6)


@given(VALUES, VALUES)
def test_without_a_tolerance_two_values_match_only_where_python_says_so(one: Any, another: Any):
    if same(one, another):
        assert as_lists(one) == as_lists(another)


def as_lists(value: Any) -> Any:
    """Return the value with tuples as lists, outside of sets and keys."""
    if isinstance(value, list | tuple):
        return [as_lists(element) for element in value]
    return {key: as_lists(element) for key, element in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(
    ("expected", "returned"),
    [
        ([0, 1], (0, 1)),
        ((1, [2]), [1, (2,)]),
        ({1: 2, "a": (3,)}, {"a": [3], 1: 2}),
        ({1, 2}, frozenset({2, 1})),
        ({(1, 2), (3, 4)}, {(3, 4), (1, 2)}),
        ({1.0: "a"}, {1: "a"}),
        (2, 2.0),
        (10**30, 10**30),
        (1 + 0j, 1),
        (None, None),
        (math.inf, math.inf),
        (math.nan, math.nan),
        ("", ""),
        ({frozenset({1, 2}): 0}, {frozenset({2, 1}): 0}),
    ],
)
def test_these_match(expected: Any, returned: Any):
    assert same(expected, returned)


@pytest.mark.parametrize(
    ("expected", "returned"),
    [
        (True, 1),
        (1, True),
        (0, False),
        ([1], [True]),
        ({1: 0}, {True: 0}),
        ({1, 2}, {True, 2}),
        (None, False),
        (None, ""),
        ("", []),
        ([], {}),
        ({}, set()),
        ("1", 1),
        (b"a", "a"),
        (b"a", bytearray(b"a")),
        ({1: 2}, {"1": 2}),
        ({1, 2}, [1, 2]),
        ([1, 2], [2, 1]),
        ([1, 2], [1, 2, 3]),
        ([1, 2, 3], [1, 2]),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 1}),
        (1, math.nan),
        (math.inf, -math.inf),
        (range(3), [0, 1, 2]),
        (2**53, 2.0**53 + 2),
        (10**400, 1e308),
        ("a", "a\x00"),
    ],
)
def test_these_do_not_match(expected: Any, returned: Any):
    assert not same(expected, returned)


@pytest.mark.parametrize(
    ("expected", "returned"),
    [(1.0, 1.0 + 5e-7), (1e9, 1e9 + 500), (0.0, 5e-7), ([{"a": 2.0}], [{"a": 2}]), (1j, 1j + 5e-7), (2, 2.0000005)],
)
def test_numbers_within_the_tolerance_match(expected: Any, returned: Any):
    assert same(expected, returned, 1e-6)


@pytest.mark.parametrize(
    ("expected", "returned"),
    [
        (1.0, 1.00001),
        (1.0, math.nan),
        (1.0, math.inf),
        (math.inf, 1e308),
        (1.0, 1e300),
        (1e300, -1e300),
        (1.0, 10**400),
        (10**400, 1.0),
        (1, True),
        (1.0, "1.0"),
        ({1.0}, {1.0000001}),
        ({1.0: 0}, {1.0000001: 0}),
    ],
)
def test_the_tolerance_is_of_the_expected_number_alone(expected: Any, returned: Any):
    assert not same(expected, returned, 1e-6)


@pytest.mark.parametrize(
    "returned",
    [
        {}, {"t": 1}, {"d": [[1, 2, 3]]}, {"d": {}}, {"i": None}, {"f": "one"}, {"x": "int"}, {"t": [], "s": []},
        {"s": [[1], [1]]}, {"d": [[[1], 1]]}, {"c": "ab"}, {"c": [1, 2]}, {"s": [{"s": []}, {"q": 1}]}, {"b": []},
    ],
)  # fmt: skip
def test_malformed_text_matches_nothing(returned: Any):
    for expected in (None, 0, "", [], {}, {1}, {"a": 1}, {(1,), (2,)}, 1j, b""):
        assert not matches(tagged(expected), returned)


def test_repeated_elements_and_keys_do_not_stand_for_others():
    assert not matches(tagged({1, 2}), {"s": [1, 1]})
    assert not matches(tagged({1: 0, 2: 0}), {"d": [[1, 0], [1, 0]]})


def test_numbers_made_to_collide_cost_the_host_no_time():
    colliding = [number * (2**61 - 1) for number in range(40_000)]
    returned = json.loads(json.dumps({"s": [{"i": f"{number:x}"} for number in colliding]}))
    start = time.perf_counter()
    assert not matches(tagged(set(range(40_000))), returned)
    assert not matches(tagged({0: 0}), {"d": [[number, 0] for number in returned["s"]]})
    assert time.perf_counter() - start < 3


def test_deep_nesting_in_keys_costs_the_host_nothing():
    deep: Any = 1
    for _ in range(900):
        deep = {"t": [deep]}
    assert not matches(tagged({1}), {"s": [deep]})


def test_a_value_that_is_not_plain_cannot_be_expected():
    with pytest.raises(UnsendableError):
        tagged([Fraction(1, 2)])
