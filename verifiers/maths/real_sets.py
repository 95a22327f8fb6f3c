"""Sets of real numbers as unions of intervals: what inequalities, intervals and set operations describe."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from verifiers.maths.nodes import (
    Apply,
    Bracketed,
    Call,
    Constant,
    Listing,
    NamedSet,
    Negative,
    Node,
    Product,
    Relation,
    SetBuilder,
    SetOf,
    SetOperation,
    Sum,
    Symbol,
    children,
    symbols,
)

_INFINITY = float("inf")
End = Fraction | float
"""A point, or an infinity."""
Evaluate = Callable[[Node], Fraction]
"""Gives a constant as a fraction: exactly, or irrational ones to a fixed number of digits."""
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


class NotASetError(Exception):
    """The answer describes no set of real numbers that can be worked out."""


class EmptyIntervalError(NotASetError):
    """An interval is written that holds nothing."""


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers between two ends."""

    low: End
    low_closed: bool
    high: End
    high_closed: bool

    def is_empty(self) -> bool:
        """Tell whether nothing lies in it."""
        return self.low > self.high or (self.low == self.high and not (self.low_closed and self.high_closed))


RealSet = tuple[Interval, ...]
"""Disjoint intervals that do not touch, in ascending order."""
REALS: RealSet = (Interval(-_INFINITY, False, _INFINITY, False),)


def real_set(node: Node, evaluate: Evaluate) -> RealSet:
    """Return the set of real numbers that `node` describes.

    Raises:
        NotASetError: it is no set, or not one that can be worked out: more than one unknown, not linear.
    """
    match node:
        case NamedSet("R"):
            return REALS
        case NamedSet("R+"):
            return (Interval(Fraction(0), False, _INFINITY, False),)
        case NamedSet("R-"):
            return (Interval(-_INFINITY, False, Fraction(0), False),)
        case Bracketed(opening, (low, high), closing):
            interval = Interval(_end(low, evaluate), opening == "[", _end(high, evaluate), closing == "]")
            if (
                interval.is_empty()
                or (interval.low == -_INFINITY and opening == "[")
                or (interval.high == _INFINITY and closing == "]")
            ):
                raise EmptyIntervalError("an interval with its ends the wrong way round")
            return (interval,)
        case SetOf(items):
            return _union(_point(evaluate(item)) for item in items)
        case SetBuilder(Symbol() as element, None | NamedSet("R"), condition) if unknowns(condition) <= {element}:
            return real_set(condition, evaluate)
        case SetOperation("union", parts):
            return _union(interval for part in parts for interval in real_set(part, evaluate))
        case SetOperation("intersection", parts):
            found = REALS
            for part in parts:
                found = _intersection(found, real_set(part, evaluate))
            return found
        case SetOperation("difference", (whole, without)):
            return _intersection(real_set(whole, evaluate), _complement(real_set(without, evaluate)))
        case Relation():
            return _solutions(node, evaluate)
        case Listing(items, word):
            return _joined([real_set(item, evaluate) for item in _same_unknown(items)], word)
        case _:
            raise NotASetError(f"a {type(node).__name__.lower()}")


def describes_a_set(node: Node) -> bool:
    """Tell whether `node` is written as a set of reals and not merely could be read as one."""
    match node:
        case SetOperation() | SetBuilder() | NamedSet():
            return True
        case Bracketed(opening, (_, _), closing):
            return (opening, closing) != ("(", ")")
        case Relation(_, operators):
            return any(operator not in ("=", "==", "~") for operator in operators)
        case Listing(items, _):
            return any(isinstance(item, Relation) and describes_a_set(item) for item in items)
        case _:
            return False


def unknowns(node: Node) -> frozenset[Node]:
    """Return what a set written with relations says something about: x of "x > 2", f(x) of "f(x) > 2"."""
    match node:
        case Relation((left, _), ("in" | "not in",)):
            return frozenset((left,))
        case Relation(sides, _):
            return frozenset[Node]().union(*map(_letters, sides))
        case Listing(items, _):
            return frozenset[Node]().union(*map(unknowns, items))
        case _:
            return frozenset()


def _letters(node: Node) -> frozenset[Node]:
    if isinstance(node, Symbol | Apply):
        return frozenset((node,))
    return frozenset[Node]().union(*map(_letters, children(node)))


def _same_unknown(items: tuple[Node, ...]) -> tuple[Node, ...]:
    if len(frozenset[Node]().union(*map(unknowns, items))) > 1 or not all(isinstance(item, Relation) for item in items):
        raise NotASetError("relations of several unknowns")
    return items


def _joined(sets: list[RealSet], word: str) -> RealSet:
    common = REALS
    for part in sets:
        common = _intersection(common, part)
    if word == "or" or (word == "," and not common):  # "x < -1, x > 2" can only mean either
        return _union(interval for part in sets for interval in part)
    return common


def _end(node: Node, evaluate: Evaluate) -> End:
    match node:
        case Constant("infinity"):
            return _INFINITY
        case Negative(Constant("infinity")):
            return -_INFINITY
        case _:
            return evaluate(node)


def _point(value: Fraction) -> Interval:
    return Interval(value, True, value, True)


def _solutions(relation: Relation, evaluate: Evaluate) -> RealSet:
    """Return the numbers for which a chain of linear relations in one unknown holds."""
    if relation.operators == ("in",):
        return real_set(relation.sides[1], evaluate)
    if relation.operators == ("not in",):
        return _complement(real_set(relation.sides[1], evaluate))
    found = REALS
    pairs = zip(relation.sides, relation.operators, relation.sides[1:], strict=False)
    for left, operator, right in pairs:
        if operator not in _FLIPPED:
            raise NotASetError(f"the relation {operator}")
        found = _intersection(found, _half_line(left, operator, right, evaluate))
    return found


def _half_line(left: Node, operator: str, right: Node, evaluate: Evaluate) -> RealSet:
    if left == right:
        if operator in ("<", ">", "!="):
            return ()
        raise NotASetError("a relation that always holds")
    if isinstance(left, Call) and left.function == "abs":
        return _around(left.arguments[0], operator, right, evaluate)
    if isinstance(right, Call) and right.function == "abs":
        return _around(right.arguments[0], _FLIPPED[operator], left, evaluate)
    if _infinite(left) or _infinite(right):
        raise NotASetError("a relation with infinity")
    slope, constant = _linear(Sum((left, Negative(right))), evaluate)
    if slope == 0:
        raise NotASetError("no unknown")
    bound = -constant / slope
    operator = operator if slope > 0 else _FLIPPED[operator]
    match operator:
        case "<" | "<=":
            return (Interval(-_INFINITY, False, bound, operator == "<="),)
        case ">" | ">=":
            return (Interval(bound, operator == ">=", _INFINITY, False),)
        case "=":
            return (_point(bound),)
        case _:
            return _complement((_point(bound),))


def _around(inner: Node, operator: str, bound: Node, evaluate: Evaluate) -> RealSet:
    """Return the numbers with |inner| < bound and the like."""
    above = _half_line(inner, operator, bound, evaluate)
    below = _half_line(inner, _FLIPPED[operator], Negative(bound), evaluate)
    if operator in ("<", "<=", "!="):
        return _intersection(above, below)
    return _union((*above, *below))


def _infinite(node: Node) -> bool:
    return node in (Constant("infinity"), Negative(Constant("infinity")))


def _linear(node: Node, evaluate: Evaluate) -> tuple[Fraction, Fraction]:
    """Return slope and constant of a formula that is linear in its one unknown.

    An unknown function's value, f(x), counts as the unknown where nothing else does.
    """
    if isinstance(node, Symbol | Apply):
        return Fraction(1), Fraction(0)
    if not symbols(node):
        return Fraction(0), evaluate(node)
    if len(symbols(node)) > 1:
        raise NotASetError("several unknowns")
    match node:
        case Sum(terms):
            parts = [_linear(term, evaluate) for term in terms]
            return sum((part[0] for part in parts), Fraction(0)), sum((part[1] for part in parts), Fraction(0))
        case Negative(operand):
            slope, constant = _linear(operand, evaluate)
            return -slope, -constant
        case Product(factors) if sum(bool(symbols(factor)) for factor in factors) == 1:
            scale = Fraction(1)
            slope = constant = Fraction(0)
            for factor in factors:
                if symbols(factor):
                    slope, constant = _linear(factor, evaluate)
                else:
                    scale *= evaluate(factor)
            return slope * scale, constant * scale
        case _:
            raise NotASetError("not linear")


def _union(intervals: Iterable[Interval]) -> RealSet:
    merged: list[Interval] = []
    for interval in sorted(
        (part for part in intervals if not part.is_empty()), key=lambda part: (part.low, not part.low_closed)
    ):
        last = merged[-1] if merged else None
        if last and (
            interval.low < last.high or (interval.low == last.high and (interval.low_closed or last.high_closed))
        ):
            high, closed = max((last.high, last.high_closed), (interval.high, interval.high_closed))
            merged[-1] = Interval(last.low, last.low_closed, high, closed)
        else:
            merged.append(interval)
    return tuple(merged)


def _intersection(left: RealSet, right: RealSet) -> RealSet:
    parts = []
    for one in left:
        for other in right:
            low, low_open = max((one.low, not one.low_closed), (other.low, not other.low_closed))
            high, high_closed = min((one.high, one.high_closed), (other.high, other.high_closed))
            parts.append(Interval(low, not low_open, high, high_closed))
    return _union(parts)


def _complement(of: RealSet) -> RealSet:
    gaps = []
    low: End = -_INFINITY
    low_closed = False
    for interval in of:
        gaps.append(Interval(low, low_closed, interval.low, not interval.low_closed))
        low, low_closed = interval.high, not interval.high_closed
    gaps.append(Interval(low, low_closed, _INFINITY, False))
    return _union(
        Interval(gap.low, gap.low_closed and gap.low != -_INFINITY, gap.high, gap.high_closed and gap.high != _INFINITY)
        for gap in gaps
    )


__all__ = ["REALS", "Interval", "NotASetError", "RealSet", "describes_a_set", "real_set", "unknowns"]
