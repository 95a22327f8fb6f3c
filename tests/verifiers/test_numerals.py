from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.numerals import MAX_EXPONENT, MAX_LENGTH, parse_number, read_numeral


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("72", "72"),
        ("-3", "-3"),
        ("+5", "5"),
        ("\u22125", "-5"),
        ("007", "7"),
        ("3.14", "3.14"),
        (".5", "0.5"),
        ("1e-3", "0.001"),
        ("2.5E6", "2500000"),
        (r"2.5 \times 10^{6}", "2500000"),
        ("2.5 x 10^6", "2500000"),
        ("10^3", "1000"),
        ("10^{-2}", "0.01"),
        ("1,234,567", "1234567"),
        ("10{,}000", "10000"),
        (r"10,\!080", "10080"),
        (r"10\,000", "10000"),
        ("10\u2009000", "10000"),
        ("10\u00a0000.5", "10000.5"),
        ("3/4", "3/4"),
        ("-3 / 4", "-3/4"),
        (r"\frac{3}{4}", "3/4"),
        (r"-\dfrac{-3}{4}", "3/4"),
        (r"\frac34", "3/4"),
        (r"1\frac{1}{2}", "3/2"),
        ("-1 1/2", "-3/2"),
        ("\u00bd", "1/2"),
        ("2\u00bd", "5/2"),
        ("28%", "0.28"),
        (r"28\%", "0.28"),
        ("28 percent", "0.28"),
        ("3 million", "3000000"),
        ("2 dozen", "24"),
        ("$5", "5"),
        (r"\$5", "5"),
        ("-$5", "-5"),
        ("$-5", "-5"),
        ("\u20ac5", "5"),
        ("\u00a35", "5"),
        ("5\u20ac", "5"),
        ("$1,234.50", "1234.5"),
        ("72.", "72"),
        ("72,", "72"),
        ("72 clips", "72"),
        ("72 clips.", "72"),
        ("5 km/h", "5"),
        ("5km", "5"),
        (r"72\text{ cm}^2", "72"),
        (r"90^\circ", "90"),
        ("5 dollars a day", "5"),
        ("$72$", "72"),
        (r"$\$72$", "72"),
        (r"\(72\)", "72"),
        (r"\text{72}", "72"),
        ("{72}", "72"),
        ("**72**", "72"),
        (" 72\n", "72"),
        ("\uff17\uff12", "72"),
    ],
)
def test_a_number_is_read_as_it_is_meant(text: str, value: str):
    assert parse_number(text) == Fraction(value)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "-", ".", ",", "$", "x", "nan", "inf", "infinity", "\x00", "\ud800"),
        *("1,23", "3,5", "1,2345", "12,34,567", "1.2.3", "1_000", "0x10", "--5", "-$-5", "12 34"),
        *("1/0", "1/2/3", "1 3/2", r"\frac{1}{0}", r"\frac{1}{x}", r"\frac{1}"),
        *("5!", "2^5", "10^10^10", "5\u00b2", "101_2", "5+3", "x=5", "\u221a5"),
        *(
            "5 or 6",
            "5 apples and 3 pears",
            "5 x",
            "5x",
            "5pi",
            "5 pi",
            "5k",
            "5 one",
            "5 squared",
            "3 hundred million",
        ),
        *("about 72", "not 72", "72 is wrong", "72 to 80", "5 hundredths"),
    ],
)
def test_what_is_not_one_number_is_not_read(text: str):
    assert parse_number(text) is None


@pytest.mark.parametrize(
    "text", ["1e999999999", "1e-999999999", "10^{99999999}", f"1e{MAX_EXPONENT + 1}", "1e" + "9" * 900]
)
def test_exponents_are_bounded(text: str):
    assert parse_number(text) is None


def test_the_largest_exponent_is_read():
    assert parse_number(f"1e{MAX_EXPONENT}") == 10**MAX_EXPONENT


def test_a_text_that_is_too_long_is_no_number():
    assert parse_number("9" * MAX_LENGTH) == 10**MAX_LENGTH - 1
    assert parse_number("9" * (MAX_LENGTH + 1)) is None


@pytest.mark.parametrize(
    ("text", "unit"), [("72", ""), ("72 Clips", "clip"), ("$5", "dollar"), ("5 dollars", "dollar")]
)
def test_the_unit_is_kept_in_one_form(text: str, unit: str):
    numeral = read_numeral(text)
    assert numeral is not None
    assert numeral.unit == unit


@given(st.integers(-(10**30), 10**30))
def test_grouped_and_plain_integers_are_the_same(number: int):
    assert parse_number(f"{number:,}") == parse_number(str(number)) == number


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12))
def test_decimals_are_exact(number):
    assert parse_number(str(number)) == Fraction(number)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_prints_of_a_float_is_read_exactly(number: float):
    assert parse_number(repr(number)) == Fraction(repr(number))
