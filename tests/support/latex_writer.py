"""Hypothesis strategies for answers: one value written twice, and another that differs from it for certain.

That it differs is known from the values (fractions, coefficients, ends of intervals), before anything is written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from hypothesis import assume
from hypothesis import strategies as st
from support.latex_forms import (
    Polynomial,
    Span,
    bracket_forms,
    inequality_forms,
    is_square_free,
    list_forms,
    matrix_forms,
    number_forms,
    product,
    root_forms,
    span_forms,
    term_forms,
)

_UNKNOWNS = ("xyz", "abc", "pqr", "tuv", "nkr", ("\\alpha", "\\beta", "\\theta"), ("x_1", "x_2", "x_3"))
_UNITS = {
    "cm": ("cm", "\\text{ cm}", "\\,\\mathrm{cm}", " centimeters", "~\\textrm{cm}"),
    "m": ("m", "\\text{ m}", " metres"),
}


V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Writings:
    """Answers as texts."""

    gold: str
    same: str
    """The same value."""
    other: str
    """Another value."""


def _pick(draw: st.DrawFn, forms: Sequence[str]) -> str:
    return draw(st.sampled_from(forms))


def wrapped(draw: st.DrawFn, text: str) -> str:
    """Return `text` in what may stand around an answer."""
    return _pick(
        draw, (text, text, f"${text}$", f"\\({text}\\)", f" {text} ", f"\\displaystyle {text}", f"$$ {text} $$")
    )


def _written(draw: st.DrawFn, value: V, other: V, write: Callable[[st.DrawFn, V], str]) -> Writings:
    return Writings(*(wrapped(draw, write(draw, each)) for each in (value, value, other)))


def small_rationals(*, limit: int = 30) -> st.SearchStrategy[Fraction]:
    return st.builds(Fraction, st.integers(-limit, limit), st.sampled_from((1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 20)))


@st.composite
def rationals(draw: st.DrawFn) -> Writings:
    """Integers up to a million, fractions, decimals, mixed numbers."""
    value = draw(st.one_of(small_rationals(limit=200), st.integers(-(10**6), 10**6).map(Fraction)))
    steps = [value + 1, value - 1, -value, value * 10, value / 10, value + Fraction(1, 2), value * Fraction(3, 2)]
    other = draw(st.sampled_from([*steps, value + Fraction(1, 100)]))
    assume(other not in (value * 100, value / 100))  # percent signs aside
    assume(abs(other - value) * 10**4 > abs(value))  # neither is the other, rounded
    return _written(draw, value, other, lambda draw, each: _pick(draw, number_forms(each)))


@st.composite
def quantities(draw: st.DrawFn) -> Writings:
    """Lengths; the other one has another value, or the same in a longer unit."""
    value = draw(small_rationals().filter(bool))
    other, unit = draw(st.sampled_from(((value + 1, "cm"), (-value, "cm"), (value, "m"))))

    def write(draw: st.DrawFn, quantity: tuple[Fraction, str]) -> str:
        return _pick(draw, number_forms(quantity[0])) + " " + _pick(draw, _UNITS[quantity[1]])

    texts = _written(draw, (value, "cm"), (other, unit), write)
    without = _pick(draw, number_forms(value))
    return replace(texts, same=without) if draw(st.booleans()) else texts


def _polynomial(draw: st.DrawFn, unknowns: int, *, most_terms: int = 4) -> Polynomial:
    monomials = st.tuples(*[st.integers(0, 3)] * unknowns)
    sizes = small_rationals(limit=9).filter(bool)
    return draw(st.dictionaries(monomials, sizes, min_size=1, max_size=most_terms))


def _write_polynomial(draw: st.DrawFn, names: Sequence[str], polynomial: Polynomial) -> str:
    text = ""
    for exponents, size in draw(st.permutations(list(polynomial.items()))):
        sign = "-" if size < 0 else "+" if text else ""
        blank = draw(st.sampled_from(("", " "))) if text else ""
        text += f"{blank}{sign}{blank}" + _pick(draw, term_forms(names, exponents, abs(size)))
    return text or "0"


def _write_factors(draw: st.DrawFn, names: Sequence[str], factors: Sequence[Polynomial]) -> str:
    """Write a product, multiplied out or not."""
    if draw(st.booleans()):
        whole = factors[0]
        for factor in factors[1:]:
            whole = product(whole, factor)
        return _write_polynomial(draw, names, whole)
    opening, closing = draw(st.sampled_from((("(", ")"), ("\\left(", "\\right)"), ("\\left[", "\\right]"))))
    pieces = [
        f"{opening}{_write_polynomial(draw, names, factor)}{closing}" for factor in draw(st.permutations(factors))
    ]
    return draw(st.sampled_from(("", " ", "*", " \\cdot "))).join(pieces)


def _changed(draw: st.DrawFn, polynomial: Polynomial) -> Polynomial:
    """Return another polynomial: a coefficient moved, its sign turned, or an exponent one higher."""
    monomial = draw(st.sampled_from(sorted(polynomial)))
    size = polynomial[monomial]
    rest = {key: value for key, value in polynomial.items() if key != monomial}
    change = draw(st.sampled_from(("moved", "turned", "raised")))
    if change == "raised":
        raised = (monomial[0] + 1, *monomial[1:])
        return {key: value for key, value in {**rest, raised: rest.get(raised, 0) + size}.items() if value}
    return {**rest, monomial: -size if change == "turned" or size == -1 else size + 1}


@st.composite
def polynomials(draw: st.DrawFn) -> Writings:
    """Polynomials in one to three unknowns, multiplied out or as a product."""
    unknowns = draw(st.integers(1, 3))
    names = draw(st.sampled_from(_UNKNOWNS))[:unknowns]
    factors = [_polynomial(draw, unknowns, most_terms=3) for _ in range(draw(st.integers(1, 2)))]
    index = draw(st.integers(0, len(factors) - 1))
    changed = [_changed(draw, factor) if place == index else factor for place, factor in enumerate(factors)]
    assume(any(map(any, factors[0])) or any(map(any, factors[-1])))  # not only numbers
    return _written(draw, factors, changed, lambda draw, each: _write_factors(draw, names, each))


@st.composite
def radicals(draw: st.DrawFn) -> Writings:
    """a + b sqrt(c); unlike a or b give unlike numbers, c being without square factors."""
    radicand = draw(st.integers(2, 30).filter(is_square_free))
    rational, times = draw(small_rationals(limit=9)), draw(small_rationals(limit=9).filter(bool))
    value = (rational, times, radicand)
    steps = [(rational + 1, times, radicand), (rational, -times, radicand), (rational, times + 1, radicand)]
    other = draw(st.sampled_from([*steps, (rational, times, 31)]))
    return _written(draw, value, other, _write_radical)


def _write_radical(draw: st.DrawFn, value: tuple[Fraction, Fraction, int]) -> str:
    rational, times, radicand = value
    if not times:
        return _pick(draw, number_forms(rational))
    root = _pick(draw, root_forms(radicand, abs(times)))
    sign = "-" if times < 0 else ""
    if not rational:
        return sign + root
    size = _pick(draw, number_forms(abs(rational), alone=False))
    if draw(st.booleans()):
        return f"{'-' if rational < 0 else ''}{size} {sign or '+'} {root}"
    return f"{sign}{root} {'-' if rational < 0 else '+'} {size}"


@st.composite
def complex_numbers(draw: st.DrawFn) -> Writings:
    """a + bi."""
    real, imaginary = draw(small_rationals(limit=9)), draw(small_rationals(limit=9).filter(bool))
    other = draw(st.sampled_from(((real, -imaginary), (real + 1, imaginary), (real, imaginary * 2), (imaginary, real))))
    assume(other != (real, imaginary))
    return _written(draw, (real, imaginary), other, _write_complex)


def _write_complex(draw: st.DrawFn, value: tuple[Fraction, Fraction]) -> str:
    terms = [(0,), (1,)]
    return _write_polynomial(draw, ["i"], {key: size for key, size in zip(terms, value, strict=True) if size})


@st.composite
def real_sets(draw: st.DrawFn) -> Writings:
    """One interval or two with a gap between them; the other one differs in an end, in a bracket or in a part."""
    whole = draw(st.lists(small_rationals(limit=12), min_size=4, max_size=4, unique=True).map(sorted))
    closed = draw(st.tuples(*[st.booleans()] * 4))
    first = draw(
        st.sampled_from((Span(whole[0], closed[0], whole[1], closed[1]), Span(None, False, whole[1], closed[1])))
    )
    second = draw(
        st.sampled_from((Span(whole[2], closed[2], whole[3], closed[3]), Span(whole[2], closed[2], None, False)))
    )
    value = draw(st.sampled_from(((first,), (second,), (first, second))))
    last = value[-1]
    others = [(*value[:-1], replace(last, high_closed=not last.high_closed))] if last.high is not None else []
    others += [(*value[:-1], replace(last, low_closed=not last.low_closed))] if last.low is not None else []
    others += [(*value[:-1], replace(last, high=last.high + 1))] if last.high is not None else []
    others += [value[:1]] if len(value) == 2 else []
    other = draw(st.sampled_from(others))
    name = draw(st.sampled_from(("x", "t", "y", "\\alpha")))
    return _written(draw, value, other, lambda draw, each: _write_spans(draw, name, each))


def _write_spans(draw: st.DrawFn, name: str, spans: Sequence[Span]) -> str:
    if len(spans) == 1:
        return _pick(draw, span_forms(spans[0], name))
    parts = draw(st.permutations(spans))
    if draw(st.booleans()):
        return draw(st.sampled_from((" \\cup ", "\u222a", " \\bigcup "))).join(
            _pick(draw, bracket_forms(part)[:3]) for part in parts
        )
    joint = draw(st.sampled_from((" or ", " \\text{ or } ", " \\quad\\text{or}\\quad ")))
    return joint.join(_pick(draw, inequality_forms(part, name)) for part in parts)


@st.composite
def finite_sets(draw: st.DrawFn) -> Writings:
    """Two to four numbers in any order; the other set has one more, one less or another one."""
    items = draw(st.lists(small_rationals(), min_size=2, max_size=4, unique=True))
    new = draw(small_rationals().filter(lambda item: item not in items))
    other = draw(st.sampled_from(([*items, new], items[:-1], [*items[:-1], new])))
    return _written(draw, items, other, _write_set)


def _write_set(draw: st.DrawFn, items: Sequence[Fraction]) -> str:
    written = [_pick(draw, number_forms(item, alone=False)) for item in draw(st.permutations(items))]
    return _pick(draw, list_forms(written))


@st.composite
def tuples(draw: st.DrawFn) -> Writings:
    """Two to four numbers in a fixed order; the other one has two of them swapped, one changed or one missing."""
    items = draw(st.lists(small_rationals(), min_size=2, max_size=4, unique=True))
    others = [[items[1], items[0], *items[2:]], [*items[:-1], items[-1] + 1]]
    others += [items[:-1]] if len(items) > 2 else []

    def write(draw: st.DrawFn, items: Sequence[Fraction]) -> str:
        written = [_pick(draw, number_forms(item, alone=False)) for item in items]
        forms = (
            f"({', '.join(written)})",
            f"\\left( {', '.join(written)} \\right)",
            f"\\left({' , '.join(written)}\\right)",
        )
        return _pick(draw, forms)

    return _written(draw, items, draw(st.sampled_from(others)), write)


@st.composite
def matrices(draw: st.DrawFn) -> Writings:
    """Up to 3 by 3; the other one is transposed, or has one entry or one sign changed."""
    height, width = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    rows = draw(st.lists(st.lists(small_rationals(), min_size=width, max_size=width), min_size=height, max_size=height))
    changed = [[rows[0][0] + 1, *rows[0][1:]], *rows[1:]]
    turned = [list(column) for column in zip(*rows, strict=True)]
    other = draw(st.sampled_from((changed, turned, [[-entry for entry in row] for row in rows])))
    assume(other != rows)

    def write(draw: st.DrawFn, rows: Sequence[Sequence[Fraction]]) -> str:
        written = [[_pick(draw, number_forms(entry, alone=False)) for entry in row] for row in rows]
        return _pick(draw, matrix_forms(written))

    return _written(draw, rows, other, write)


@st.composite
def equations(draw: st.DrawFn) -> Writings:
    """Equations in two unknowns, up to a factor and with terms on either side; the other one is no multiple."""
    monomials = [(1, 0), (0, 1), (0, 0), (2, 0), (1, 1)]
    sizes = [draw(small_rationals(limit=9).filter(bool)) for _ in range(3)]
    sizes += [draw(st.sampled_from((Fraction(0), Fraction(1), Fraction(-2)))) for _ in range(2)]
    value = {key: size for key, size in zip(monomials, sizes, strict=True) if size}
    index = draw(st.integers(0, 2))
    other = {**value, monomials[index]: sizes[index] * draw(st.sampled_from((-1, 2, Fraction(1, 3))))}
    names = draw(st.sampled_from(("xy", "ab", "pq", "tu")))
    return _written(draw, value, other, lambda draw, each: _write_equation(draw, names, each))


def _write_equation(draw: st.DrawFn, names: Sequence[str], polynomial: Polynomial) -> str:
    factor = draw(st.sampled_from((1, -1, 2, 3, Fraction(1, 2), Fraction(-5, 3))))
    moved = draw(st.sets(st.sampled_from(sorted(polynomial))))
    left = {key: size * factor for key, size in polynomial.items() if key not in moved}
    right = {key: -size * factor for key, size in polynomial.items() if key in moved}
    return f"{_write_polynomial(draw, names, left)} = {_write_polynomial(draw, names, right)}"


KINDS: dict[str, st.SearchStrategy[Writings]] = {
    "rationals": rationals(),
    "quantities": quantities(),
    "polynomials": polynomials(),
    "radicals": radicals(),
    "complex numbers": complex_numbers(),
    "real sets": real_sets(),
    "finite sets": finite_sets(),
    "tuples": tuples(),
    "matrices": matrices(),
    "equations": equations(),
}
