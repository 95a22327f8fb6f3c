import math

import pytest

from rlvr.report.rounding import rate_text, short


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


def test_rates_are_written_with_their_interval_where_there_is_one():
    assert rate_text({"pass_rate": 0.5118, "low": 0.468, "high": 0.556}) == "51.2 % [46.8, 55.6]"
    assert rate_text({"pass_rate": 0.5, "low": None, "high": None}) == "50.0 %"
    assert rate_text({"pass_rate": None}) is None
    assert rate_text(None) is None
