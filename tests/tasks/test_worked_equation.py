from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.worked_equation import plain_number, worked_equation


@pytest.mark.parametrize(
    ("equation", "steps"),
    [
        ("( ( 7.0 + 2.0 ) - 3.0 )", ("7 + 2 = 9", "9 - 3 = 6")),
        ("( 10.0 - ( 2.0 * 3.0 ) )", ("2 * 3 = 6", "10 - 6 = 4")),
        ("( 1.0 / 8.0 )", ("1 / 8 = 0.125",)),
        ("2 + 3 * 4", ("3 * 4 = 12", "2 + 12 = 14")),
        ("8 - 2 - 1", ("8 - 2 = 6", "6 - 1 = 5")),
        ("( 55.0 / 15.0 ) * 60.0", ("55 / 15 = 11/3", "11/3 * 60 = 220")),
        ("8.0", ()),
    ],
)
def test_an_equation_is_worked_innermost_first(equation: str, steps: tuple[str, ...]):
    worked = worked_equation(equation)
    assert worked is not None
    assert worked.steps == steps


@pytest.mark.parametrize(
    "equation",
    [
        "",
        " ",
        "x",
        "(1",
        "1)",
        "1 +",
        "1 2",
        "1 / 0",
        "1 / (2 - 2)",
        "1 ** 2",
        "__import__",
        "1e5",
        "(" * 5000,
        "1+" * 150,
    ],
)
def test_anything_else_has_no_working(equation: str):
    assert worked_equation(equation) is None


@given(st.text(alphabet="0123456789.+-*/() ", max_size=220))
def test_no_text_raises(equation: str):
    worked_equation(equation)


@given(st.integers(-(10**9), 10**9), st.integers(0, 6), st.integers(0, 6))
def test_a_terminating_decimal_is_written_exactly(numerator: int, twos: int, fives: int):
    value = Fraction(numerator, 2**twos * 5**fives)
    written = plain_number(value)
    assert Fraction(written) == value
    assert "/" not in written


@given(st.fractions())
def test_every_number_is_written_so_that_it_reads_back(value: Fraction):
    assert Fraction(plain_number(value)) == value
