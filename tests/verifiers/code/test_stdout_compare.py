"""What a program printed against what it should have printed."""

import time

import pytest

from tasks.types import Compare
from verifiers.code.stdout_compare import decoded, difference

WHITESPACE = Compare()
TOKENS = Compare(mode="tokens")
FLOAT = Compare(mode="float", abs_tol=1e-5)
RELATIVE = Compare(mode="float", abs_tol=1e-9, rel_tol=1e-3)
UNORDERED = Compare(mode="unordered_lines")


@pytest.mark.parametrize(
    ("compare", "expected", "printed"),
    [
        (WHITESPACE, "6\n", "6"),
        (WHITESPACE, "6", "6 \t\n\n \n"),
        (WHITESPACE, "a\nb\n", "a\r\nb\r\n"),
        (WHITESPACE, "", "\n\n"),
        (WHITESPACE, "\n a\n", "\n a\n"),
        (WHITESPACE, "\u2028x", "\u2028x"),
        (TOKENS, "0 1 2", "0\n1\n\n2\n"),
        (UNORDERED, "a\nb\nb\n", "b\na\nb"),
        (FLOAT, "2.3333333333", "2.333333"),
        (FLOAT, "0.15 x", "0.150001\nx"),
        (FLOAT, "5.0", "5"),
        (FLOAT, "1e2", "100"),
        (FLOAT, "inf -inf", "inf -inf"),
        (FLOAT, "1" * 500, "1" * 500),
        (RELATIVE, "1000000", "1000999"),
        (RELATIVE, "-1000000", "-1000999"),
    ],
)
def test_these_are_the_same(compare: Compare, expected: str, printed: str):
    assert difference(compare, expected, printed) is None


@pytest.mark.parametrize(
    ("compare", "expected", "printed"),
    [
        (WHITESPACE, "6", "7"),
        (WHITESPACE, "6", " 6"),
        (WHITESPACE, "6", "\n6"),
        (WHITESPACE, "1 2", "1\n2"),
        (WHITESPACE, "1 2", "1  2"),
        (WHITESPACE, "6", "6\x00"),
        (WHITESPACE, "6", "6\u00a0"),
        (WHITESPACE, "6", "6\u2028"),
        (WHITESPACE, "6\n7", "6\u20287"),
        (WHITESPACE, "6", "\x1b[0m6"),
        (WHITESPACE, "6", ""),
        (WHITESPACE, "6", "6\n6"),
        (WHITESPACE, "10", "1_0"),
        (WHITESPACE, "10", "10.0"),
        (TOKENS, "0 1 2", "0 1"),
        (TOKENS, "0 1 2", "2 1 0"),
        (TOKENS, "0 1", "0\u00a01"),
        (UNORDERED, "a\nb\nb", "a\na\nb"),
        (UNORDERED, "a b", "b a"),
        (FLOAT, "2.3333333333", "2.33"),
        (FLOAT, "1", "nan"),
        (FLOAT, "nan", "0"),
        (FLOAT, "1", "inf"),
        (FLOAT, "inf", "1e308"),
        (FLOAT, "inf", "-inf"),
        (FLOAT, "10", "1_0"),
        (FLOAT, "10", "\u0661\u0660"),
        (FLOAT, "10", "0xa"),
        (FLOAT, "1 2", "1"),
        (FLOAT, "1", "1 1"),
        (FLOAT, "x", "y"),
        (RELATIVE, "1000000", "1002000"),
        (RELATIVE, "0", "1"),
        (RELATIVE, "1", "1000000"),
    ],
)
def test_these_differ(compare: Compare, expected: str, printed: str):
    assert difference(compare, expected, printed)


def test_huge_numbers_take_no_time():
    start = time.perf_counter()
    for word in ("9" * 400_000, "1e999999999", "-" * 100_000, "0." + "0" * 400_000 + "1"):
        assert difference(FLOAT, "1", word)
    assert time.perf_counter() - start < 1


def test_a_wrong_byte_does_not_become_a_right_character():
    assert decoded(b"\xff") is None
    assert decoded("\ufffd".encode()) == "\ufffd"


def test_the_first_difference_is_told():
    assert difference(WHITESPACE, "a\nb", "a\nc") == "line 2 is 'c', expected 'b'"
    assert difference(TOKENS, "a b", "a") == "printed 1 words, expected 2"
