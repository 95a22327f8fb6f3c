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
    Piecewise,
    Power,
    Symbol,
    children,
    contains,
    symbols,
)
from verifiers.maths.values import NotExactError, NoValueError, exact

DIGITS = 50
"""Digits that two values must share beyond those that cancellation may cost."""
SPREADS = (3, 3, -3, 8, 60, -60, 1, 3000)
"""Sizes of the points at which formulas are compared; negative ones take both signs."""
INTEGERS = (3, 5, 8, 4, 9, 6, 13, 7, 1, 2, 0, 11, 24, 40, 150)
MAX_CORNERS = 12
"""Numbers in a formula that are tried as values of its unknowns."""


def equal(left: Node, right: Node) -> bool:
    """Tell whether two formulas have the same value wherever both have one.

    Constants are compared once, formulas with symbols at several points, exactly where all is rational. Numerical
    values count as equal when their difference keeps shrinking as digits are added.
    """
    complex_too = _has_i(left) or _has_i(right)
    if not symbols(left) | symbols(right):
        try:
            return _equal_at(left, right, {}, complex_too)
        except NoValueError:
            return not complex_too and _equal_complex(left, right, {})
    if _is_complex(left) or _is_complex(right):
        return all(_equal_complex(left, right, at) for at in _complex_points(symbols(left) | symbols(right)))
    seen = 0
    points = list(_points(left, right))
    whole = contains(left, Piecewise) or contains(right, Piecewise)  # a missing branch is a difference
    for at in points:
        try:
            if not _equal_at(left, right, at, complex_too):
                return False
        except NoValueError:
            if whole and _has_value(left, at, complex_too) != _has_value(right, at, complex_too):
                return False
            continue
        seen += 1
    if seen >= 2:
        return True
    return not complex_too and all(_equal_complex(left, right, at) for at in points[:3])


def _has_value(node: Node, at: At, complex_too: bool) -> bool:
    try:
        Evaluator(DIGITS, complex_too).value(node, at)
    except NoValueError:
        return False
    return True


def proportional(left: Node, right: Node, *, positive: bool = False) -> bool:
    """Tell whether left = c * right for a constant c other than 0, at all points."""
    first: At | None = None
    seen = 0
    for at in _points(left, right):
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
    rational = {name: value for name, value in at.items() if isinstance(value, Fraction)}
    try:
        return exact(left, rational) == exact(right, rational)
    except NotExactError:
        pass
    return _vanishes(lambda evaluator: evaluator.value(left, at) - evaluator.value(right, at), complex_too=complex_too)


def _vanishes(difference: "Callable[[Evaluator], Value]", *, complex_too: bool) -> bool:
    """Tell whether a difference is 0 to DIGITS digits more than lie between its largest and smallest part."""
    rough = Evaluator(DIGITS, complex_too)
    remainder = difference(rough)
    if remainder != 0 and int(mpmath.mag(remainder)) > rough.largest - DIGITS:  # bits, far above any rounding
        return False
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


def _is_complex(node: Node) -> bool:
    """Tell whether the unknowns of `node` are complex numbers."""
    match node:
        case Call("conjugate" | "re" | "im" | "arg", _):
            return bool(symbols(node))
        case Call("abs", (Symbol("z" | "w"),)):
            return True
        case _:
            return any(map(_is_complex, children(node)))


def _jumps(node: Node) -> bool:
    """Tell whether `node` may change its course: a few points do not show all of it."""
    match node:
        case Piecewise() | Call("floor" | "ceil" | "sign" | "abs" | "max" | "min" | "gcd" | "lcm", _):
            return True
        case _:
            return any(map(_jumps, children(node)))


def _numbers(node: Node) -> frozenset[Fraction]:
    if isinstance(node, Number):
        return frozenset((node.value,))
    return frozenset[Fraction]().union(*map(_numbers, children(node)))


def _points(left: Node, right: Node) -> Iterator[At]:
    """Yield points of several sizes and signs, the same ones at every call.

    Unknowns that must be integers get small, middling and larger ones. Where a formula may jump, there are points at
    integers, halves, far out, and around every number that it contains.
    """
    names = sorted(symbols(left) | symbols(right))
    integers = _integer_symbols(left) | _integer_symbols(right)
    jumps = _jumps(left) or _jumps(right)
    corners = sorted(_numbers(left) | _numbers(right))[:MAX_CORNERS] if jumps else []
    whole = [*INTEGERS, *(number for number in corners if number.denominator == 1 and 0 < number <= 10_000)]
    generator = random.Random("rlvr")
    for index, spread in enumerate(SPREADS):
        point: dict[str, Fraction | tuple[Fraction, Fraction]] = {}
        for place, name in enumerate(names):
            size = Fraction(generator.randint(2000, 9973), 9973) * abs(spread)
            sign = -1 if spread < 0 and generator.random() < 0.7 else 1
            point[name] = Fraction(INTEGERS[(index + 2 * place) % len(INTEGERS)]) if name in integers else sign * size
        yield point
    if not (jumps or integers):
        return
    far = [Fraction(sign * size) for size in (10**5, 10**9) for sign in (1, -1)]
    around = [corner + step for corner in corners for step in (-1, Fraction(-1, 2), 0, Fraction(1, 2), 1)]
    values = [*map(Fraction, range(-3, 4)), Fraction(1, 2), Fraction(-5, 2), *far, *around] if jumps else []
    for index in range(max(len(values), len(whole))):
        yield {
            name: Fraction(whole[(index + 3 * place) % len(whole)])
            if name in integers
            else values[(index + 5 * place) % len(values)] if values else Fraction(index + 2, 7 + place)
            for place, name in enumerate(names)
        }  # fmt: skip


def _complex_points(names: frozenset[str]) -> Iterator[At]:
    generator = random.Random("rlvr")
    for _ in range(4):
        yield {
            name: (Fraction(generator.randint(-300, 300), 97), Fraction(generator.randint(-300, 300), 89))
            for name in sorted(names)
        }
