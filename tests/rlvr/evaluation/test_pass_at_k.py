import math
from collections.abc import Callable, Iterable
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr.evaluation.pass_at_k import pass_at_k, pass_hat_k


def by_enumeration(n: int, c: int, k: int, *, wanted: Callable[[Iterable[bool]], bool]) -> float:
    draws = list(combinations(range(n), k))
    return sum(wanted(index < c for index in draw) for draw in draws) / len(draws)


@pytest.mark.parametrize("n", range(1, 8))
def test_every_small_case_equals_enumeration_of_all_draws(n):
    for c, k in product(range(n + 1), range(1, n + 1)):
        assert pass_at_k(n, c, k) == pytest.approx(by_enumeration(n, c, k, wanted=any), abs=1e-12)
        assert pass_hat_k(n, c, k) == pytest.approx(by_enumeration(n, c, k, wanted=all), abs=1e-12)


def test_drawing_with_replacement_would_be_biased():
    """checklist 35: a bootstrap gives [.125, .2344, .4138, .6564] here."""
    assert [pass_at_k(8, 1, k) for k in (1, 2, 4, 8)] == pytest.approx([0.125, 0.25, 0.5, 1.0], abs=1e-12)


@given(st.integers(1, 400), st.data())
def test_many_responses_agree_with_exact_binomials(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert pass_at_k(n, c, k) == pytest.approx(1 - math.comb(n - c, k) / math.comb(n, k), abs=1e-9)


def test_a_million_responses_neither_overflow_nor_take_long():
    assert pass_at_k(10**6, 10, 10**5) == pytest.approx(1 - 0.9**10, abs=1e-5)
    assert pass_at_k(10**6, 5 * 10**5, 3) == pytest.approx(0.875, abs=1e-5)


def drawn_with_replacement(n: int, c: int, k: int) -> float:
    """What a bootstrap of k of the n responses gives on average."""
    return 1 - (1 - c / n) ** k


def assert_unbiased(estimate, p: float) -> None:
    """Its expectation over the binomial number of right responses must be 1 - (1 - p)^k."""
    n, k = 10, 4
    expectation = sum(math.comb(n, c) * p**c * (1 - p) ** (n - c) * estimate(n, c, k) for c in range(n + 1))
    assert expectation == pytest.approx(1 - (1 - p) ** k, abs=1e-12)


@pytest.mark.parametrize("p", [0.1, 0.6])
def test_the_estimate_is_unbiased(p):
    assert_unbiased(pass_at_k, p)


@pytest.mark.parametrize("p", [0.1, 0.6])
def test_an_estimate_that_draws_with_replacement_would_not_pass_for_unbiased(p):
    with pytest.raises(AssertionError):
        assert_unbiased(drawn_with_replacement, p)


@pytest.mark.parametrize("p", [0.1, 0.6])
def test_pass_hat_k_is_unbiased(p):
    n, k = 10, 4
    expectation = sum(math.comb(n, c) * p**c * (1 - p) ** (n - c) * pass_hat_k(n, c, k) for c in range(n + 1))
    assert expectation == pytest.approx(p**k, abs=1e-12)


@pytest.mark.parametrize(("n", "c", "k"), [(4, 5, 1), (4, -1, 1), (4, 2, 5), (4, 2, 0), (0, 0, 1)])
def test_impossible_counts_are_an_error(n, c, k):
    with pytest.raises(ValueError, match=f"got {c if not 0 <= c <= n else n}"):
        pass_at_k(n, c, k)
