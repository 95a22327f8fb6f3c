import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.numerals import read_numeral
from verifiers.wrong_answers import foreign_golds, integer_of, near_misses, other_styles, surely_differs

rationals = st.fractions(max_denominator=10**6) | st.integers(-(10**12), 10**12).map(Fraction)


def value(text: str) -> Fraction:
    numeral = read_numeral(text)
    assert numeral is not None, text
    return numeral.value


@given(rationals)
def test_every_other_style_of_a_number_has_its_value(number: Fraction):
    for style in other_styles(str(number)):
        assert value(style) == number, style


@given(rationals, st.integers(0, 3))
def test_every_near_miss_of_a_number_has_another_value(number: Fraction, seed: int):
    misses = near_misses(str(number), random.Random(seed))
    assert misses
    for miss in misses:
        assert value(miss) not in (number, 100 * number, number / 100), miss


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("73", "72"),
        ("-72", "72"),
        ("7.2", "72"),
        ("29", "28%"),
        ("1/2", "1/3"),
        ("West", "\\text{East}"),
        ("B", "(C)"),
        ("1000001", "1000000"),
    ],
)
def test_what_no_convention_accepts_surely_differs(answer: str, gold: str):
    assert surely_differs(answer, gold)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("72.0", "72"),
        ("28", "28%"),
        ("28", "0.28"),
        ("120 minutes", "2 hours"),
        ("3.1416", "3.14159"),
        ("East", "\\text{east}"),
        ("Mon", "Monday"),
        ("true", "Yes"),
        ("No solution", "None"),
        ("triangle", "(C)"),
        ("ba", "ab"),
        ("2\\sqrt{3}", "\\sqrt{12}"),
        ("x = 5", "5"),
    ],
)
def test_what_some_convention_accepts_does_not_surely_differ(answer: str, gold: str):
    assert not surely_differs(answer, gold)


def test_a_list_is_changed_in_an_element_in_length_and_in_both_ways():
    misses = near_misses("(3, 5, 7)", random.Random(0))
    assert {len(miss.split(",")) for miss in misses} == {2, 3, 4}
    assert all(miss.startswith("(") and miss.endswith(")") for miss in misses)
    assert "(3, 5, 7)" not in misses


@pytest.mark.parametrize(
    ("gold", "unchanged"),
    [("x^2 + 1", None), ("\\sqrt{5}", "5"), ("x^{2}", None), ("1011_2", None), ("\\frac{\\sqrt{3}}{12}", "3")],
)
def test_of_an_expression_a_digit_is_changed_that_decides_its_value(gold: str, unchanged: str | None):
    misses = near_misses(gold, random.Random(0))
    assert len(misses) == (unchanged is not None)
    for miss in misses:
        assert miss != gold
        assert len(miss) == len(gold)
        assert unchanged not in miss


def test_other_choices_are_near_misses_of_a_choice():
    for gold in ("B", "(B)", "\\text{(B)}"):
        misses = near_misses(gold, random.Random(0))
        assert len(misses) == 2
        assert set(misses) < set("ACDE")


def test_foreign_golds_are_those_that_surely_differ_each_once():
    assert foreign_golds("72", ["72", "72.0", "5", "5", "x+1", "7200"]) == ["5"]


@pytest.mark.parametrize(("gold", "integer"), [("72", 72), ("0", 0), ("-72", None), ("072", None), ("7.2", None)])
def test_a_plain_integer_is_told_from_the_rest(gold: str, integer: int | None):
    assert integer_of(gold) == integer
