"""Write answers in the form in which they are compared: every sign chosen, factors carried inside."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from verifiers.maths.nodes import (
    Bracketed,
    Degrees,
    Listing,
    Matrix,
    Negative,
    Node,
    Number,
    Percent,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Quotient,
    Relation,
    SetOf,
    Sum,
    children,
    contains,
    rebuilt,
)
from verifiers.maths.relations import in_order_of_names, is_name
from verifiers.maths.values import NotExactError, NoValueError, exact

_MAX_SIGNS = 5


def spread_out(node: Node) -> Node:
    r"""Write out what stands for several answers: \pm, "n = 2, 3, 4", "(x, y) = (1, 2)", x in {1, 2}."""
    if isinstance(node, Listing):
        items: list[Node] = []
        for item in node.items:
            spread = spread_out(item)
            items += spread.items if isinstance(spread, Listing) and not _is_tuple_of_names(item) else (spread,)
        return Listing(tuple(_with_name_carried(items)), node.word)
    if isinstance(node, SetOf):
        return SetOf(tuple(variant for item in node.items for variant in _variants(item)))
    if isinstance(node, Relation) and node.operators == ("in",) and isinstance(node.sides[1], SetOf):
        values = [value for item in node.sides[1].items for value in _variants(item)]
        return Listing(tuple(Relation((node.sides[0], value), ("=",)) for value in values), "or")
    if isinstance(node, Relation) and node.operators == ("=",):
        left, right = node.sides
        if isinstance(left, Bracketed) and isinstance(right, Bracketed) and len(left.items) == len(right.items):
            if not all(map(is_name, left.items)):
                return node
            if list(left.items) == in_order_of_names(left.items):
                return right
            return Listing(tuple(Relation(pair, ("=",)) for pair in zip(left.items, right.items, strict=True)), "and")
    variants = _variants(node)
    return node if len(variants) == 1 else Listing(tuple(variants), "and")


def _is_tuple_of_names(node: Node) -> bool:
    return isinstance(node, Relation) and isinstance(node.sides[0], Bracketed)


def _with_name_carried(items: list[Node]) -> list[Node]:
    """Give the values behind "n = 2" its name: n = 2, 3, 4."""
    if (
        not items
        or not isinstance(items[0], Relation)
        or items[0].operators != ("=",)
        or not is_name(items[0].sides[0])
    ):
        return items
    if any(isinstance(item, Relation) for item in items[1:]):
        return items
    name = items[0].sides[0]
    return [items[0], *(Relation((name, item), ("=",)) for item in items[1:])]


def _variants(node: Node) -> list[Node]:
    r"""Return `node` with every \pm read either way; several \pm independently, \mp together with them."""
    signs = _count(node)
    if not signs or signs > _MAX_SIGNS:  # then it is no number to any comparison
        return [node]
    has_lower = _has_lower(node)
    choices: Iterator[tuple[bool, ...]] = (
        iter([(True,) * signs, (False,) * signs]) if has_lower else product((True, False), repeat=signs)
    )
    return [_chosen(node, iter(choice)) for choice in choices]


def _count(node: Node) -> int:
    return isinstance(node, PlusMinus) + sum(map(_count, children(node)))


def _has_lower(node: Node) -> bool:
    return (isinstance(node, PlusMinus) and not node.upper) or any(map(_has_lower, children(node)))


def _chosen(node: Node, choice: Iterator[bool]) -> Node:
    if isinstance(node, PlusMinus):
        positive = next(choice) == node.upper
        inner = _chosen(node.operand, choice)
        return inner if positive else Negative(inner)
    return rebuilt(node, lambda child: _chosen(child, choice))


def folded(node: Node) -> Node:
    """Carry signs and factors into quantities, angles and matrices."""
    match node:
        case Negative(operand):
            match folded(operand):
                case Quantity(value, unit):
                    return Quantity(Negative(value), unit)
                case Degrees(value):
                    return Degrees(Negative(value))
                case Percent(value):
                    return Percent(Negative(value))
                case Matrix(rows):
                    return Matrix(tuple(tuple(Negative(entry) for entry in row) for row in rows))
                case _:
                    return node
        case Sum(terms) if all(isinstance(term, Degrees) for term in terms):
            return Degrees(Sum(tuple(term.value for term in terms if isinstance(term, Degrees))))
        case Sum(terms):
            inner = [folded(term) for term in terms] if contains(node, Matrix) else []
            matrices = [term for term in inner if isinstance(term, Matrix)]
            if (
                not inner
                or len(matrices) != len(inner)
                or len({(len(matrix.rows), len(matrix.rows[0])) for matrix in matrices}) != 1
            ):
                return node
            return Matrix(
                tuple(
                    tuple(Sum(entries) for entries in zip(*rows, strict=True))
                    for rows in zip(*(matrix.rows for matrix in matrices), strict=True)
                )
            )
        case Product(factors):
            matrices = [factor for factor in factors if isinstance(factor, Matrix)]
            if len(matrices) == 1:
                rest = tuple(factor for factor in factors if not isinstance(factor, Matrix))
                rows = matrices[0].rows
                return Matrix(tuple(tuple(Product((*rest, entry)) for entry in row) for row in rows))
            if len(factors) == 2 and isinstance(factors[1], Degrees | Percent):
                return type(factors[1])(Product((factors[0], factors[1].value)))
            return node
        case Bracketed("[", rows, "]") if all(_is_row(row) for row in rows):
            entries = tuple(row.items for row in rows if isinstance(row, Bracketed))
            return Matrix(entries) if len({len(row) for row in entries}) == 1 else node
        case Quotient(top, bottom):
            match folded(top):
                case Degrees(value):
                    return Degrees(Quotient(value, bottom))
                case Matrix(rows):
                    return Matrix(tuple(tuple(Quotient(entry, bottom) for entry in row) for row in rows))
                case _:
                    return node
        case _:
            return node


def _is_row(node: Node) -> bool:
    return isinstance(node, Bracketed) and (node.opening, node.closing) == ("[", "]")


def as_decimal(node: Node) -> Number | None:
    """Return the decimal that `node` writes out: 3.14, -3.14, 3.14 times a power of ten."""
    match node:
        case Number(_, places, _):
            return node if places is not None else None
        case Negative(operand):
            decimal = as_decimal(operand)
            return decimal and Number(-decimal.value, decimal.places, decimal.digits)
        case Product((first, Power(Number(ten), exponent))) if ten == 10:
            decimal = as_decimal(first)
            try:
                shift = exact(exponent)
            except (NotExactError, NoValueError):
                return None
            if decimal is None or shift.denominator != 1 or abs(shift) > 1000:
                return None
            return Number(
                decimal.value * Fraction(10) ** int(shift), (decimal.places or 0) - int(shift), decimal.digits
            )
        case _:
            return None
