import math

import pytest

from rlvr.report.rounding import short


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.123456, 0.1235), (123456.0, 123500), (1.0, 1), (-0.00001234567, -1.235e-05), (0.0, 0), (None, None)],
)
def test_numbers_keep_four_significant_digits(value: float | None, expected: float | None):
    assert short(value) == expected


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_becomes_null(value: float):
    assert short(value) is None


def test_whole_numbers_are_written_without_a_point():
    assert repr(short(2.0)) == "2"
