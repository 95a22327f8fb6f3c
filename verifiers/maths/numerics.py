"""Values of formulas to as many digits as it takes to tell two of them apart. Runs in a worker process."""

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import mpmath

from verifiers.maths.evaluator import At, Evaluator, Value
from verifiers.maths.nodes import (
    Apply,
    Bound,
    Call,
    Constant,
    Negative,
    Node,
    Number,
    Power,
    Symbol,
    children,
    contains,
    symbols,
)
from verifiers.maths.values import NotExactError, NoValueError, exact

DIGITS = 50
"""Digits that two values must share beyond those that cancellation may cost."""
POINTS = 8


def equal(left: Node, right: Node) -> bool:
    """Tell whether two formulas have the same value wherever both have one.

    Constants are compared once, formulas with symbols at several points, exactly where all is rational. Numerical
    values count as equal when their difference keeps shrinking as digits are added.
    """
    complex_too = (contains(left, Constant) and _has_i(left)) or _has_i(right)
    names = symbols(left) | symbols(right)
    if not names:
        try:
            return _equal_at(left, right, {}, complex_too)
        except NoValueError:
            return not complex_too and _equal_complex(left, right, {})
    integers = _integer_symbols(left) | _integer_symbols(right)
    seen = 0
    for at in _points(names, integers):
        try:
            if not _equal_at(left, right, at, complex_too):
                return False
        except NoValueError:
            continue
        seen += 1
    if seen >= 2:
        return True
    return not complex_too and all(_equal_complex(left, right, at) for at in list(_points(names, integers))[:3])


def proportional(left: Node, right: Node, *, positive: bool = False) -> bool:
    """Tell whether left = c * right for a constant c other than 0, at all points."""
    names = symbols(left) | symbols(right)
    integers = _integer_symbols(left) | _integer_symbols(right)
    first: At | None = None
    seen = 0
    for at in _points(names, integers):
        try:
            here = value(left, at, DIGITS), value(right, at, DIGITS)
            if _tiny(here[0]) or _tiny(here[1]):
                if _tiny(here[0]) != _tiny(here[1]):
                    return False
                continue
            if positive and here[0] / here[1] < 0:
                return False
            first = first or at
            if not _vanishes(partial(_cross_difference, left, right, first, at), complex_too=False):
                return False
        except NoValueError:
            continue
        seen += 1
    return seen >= 3


def _cross_difference(left: Node, right: Node, first: At, at: At, evaluator: "Evaluator") -> Value:
    return evaluator.value(left, at) * evaluator.value(right, first) - evaluator.value(right, at) * evaluator.value(
        left, first
    )


def is_zero(node: Node) -> bool:
    """Tell whether `node` is 0 wherever it has a value."""
    return equal(node, Number(Fraction(0)))


def value(node: Node, at: At, digits: int) -> Value:
    """Return the real value of `node` to about `digits` digits.

    Raises:
        NoValueError: it has none among the reals.
    """
    return Evaluator(digits, complex_too=False).value(node, at)


def _tiny(number: Value) -> bool:
    return abs(number) < mpmath.mpf(10) ** (10 - DIGITS)


def _equal_complex(left: Node, right: Node, at: At) -> bool:
    try:
        return _equal_at(left, right, at, True)
    except NoValueError:
        return False


def _equal_at(left: Node, right: Node, at: At, complex_too: bool) -> bool:
    try:
        return exact(left, at) == exact(right, at)
    except NotExactError:
        pass
    return _vanishes(lambda evaluator: evaluator.value(left, at) - evaluator.value(right, at), complex_too=complex_too)


def _vanishes(difference: "Callable[[Evaluator], Value]", *, complex_too: bool) -> bool:
    """Tell whether a difference is 0 to DIGITS digits more than lie between its largest and smallest part."""
    rough = Evaluator(DIGITS, complex_too)
    difference(rough)
    digits = DIGITS + rough.spread()
    fine = Evaluator(digits + 30, complex_too)
    remainder = difference(fine)
    return remainder == 0 or int(mpmath.mag(remainder)) < fine.largest - int((digits + 10) * 3.33)


def _has_i(node: Node) -> bool:
    return (
        node == Constant("i") or any(map(_has_i, children(node))) or (isinstance(node, Call) and node.function == "cis")
    )


def _integer_symbols(node: Node) -> frozenset[str]:
    """Return the symbols that stand where only integers make sense."""
    found = frozenset[str]().union(*map(_integer_symbols, children(node)))
    match node:
        case Call("factorial" | "binomial" | "double_factorial" | "gcd" | "lcm", _):
            return found | symbols(node)
        case Power(Number(base), exponent) if base < 0:
            return found | symbols(exponent)
        case Power(Negative(), exponent):
            return found | symbols(exponent)
        case Bound("sum" | "prod", variable, low, high, _):
            limits = [limit for limit in (low, high) if limit is not None]
            return (found | frozenset[str]().union(*map(symbols, limits))) - {variable}
        case Apply(_, (index,)) if not isinstance(index, Symbol):
            return found
        case _:
            return found


def _points(names: frozenset[str], integers: frozenset[str]) -> Iterator[dict[str, Fraction]]:
    """Yield points of several sizes and signs, the same ones at every call."""
    generator = random.Random("rlvr")
    ordered = sorted(names)
    for spread in (3, 3, -3, 8, 60, -60, 1, 3000)[:POINTS]:
        point = {}
        for name in ordered:
            size = Fraction(generator.randint(2000, 9973), 9973) * abs(spread)
            sign = -1 if spread < 0 and generator.random() < 0.7 else 1
            point[name] = Fraction(generator.randint(3, 9)) if name in integers else sign * size
        yield point
