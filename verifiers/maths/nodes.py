"""The tree of a mathematical answer. Frozen records of plain data; nothing here evaluates anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Number:
    """A number written in digits."""

    value: Fraction
    places: int | None = None
    """Digits written behind the decimal point; None for an integer, and for a repeating decimal, which is exact."""
    digits: int = 0
    """Significant digits written, where `places` is given."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """An unknown or a name, with its subscript: "x", "a_3", "A'"."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A number with a name."""

    name: Literal["pi", "e", "i", "infinity"]


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms added."""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """Factors multiplied."""

    factors: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    """top / bottom."""

    top: Node
    bottom: Node


@dataclass(frozen=True, slots=True)
class Power:
    """base ^ exponent."""

    base: Node
    exponent: Node


@dataclass(frozen=True, slots=True)
class Negative:
    """-operand."""

    operand: Node


@dataclass(frozen=True, slots=True)
class PlusMinus:
    """Both +operand and -operand: two values."""

    operand: Node
    upper: bool = True
    r"""True for \pm, False for \mp, whose signs are the other way round."""


@dataclass(frozen=True, slots=True)
class Call:
    """A known function: "sin", "sqrt", "log" (argument, base), "factorial", "binomial", "abs", ..."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Apply:
    """An unknown function or sequence: f(x), F_{n-1}."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """A sum, product, integral or limit over a bound variable; low and high are None where not written."""

    kind: Literal["sum", "prod", "int", "lim"]
    variable: str
    low: Node | None
    high: Node | None
    body: Node


@dataclass(frozen=True, slots=True)
class Piecewise:
    """Branches of value and condition; None is the condition "otherwise"."""

    branches: tuple[tuple[Node, Node | None], ...]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with a unit in its one written form (verifiers.maths.units)."""

    value: Node
    unit: str


@dataclass(frozen=True, slots=True)
class Percent:
    """So many hundredths."""

    value: Node


@dataclass(frozen=True, slots=True)
class Degrees:
    """An angle in degrees."""

    value: Node


@dataclass(frozen=True, slots=True)
class Numeral:
    """Digits in a base other than ten, or in ten where it is written out."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Ratio:
    """a : b : c."""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day, or minutes and seconds: 12:30, 7:45 pm."""

    hours: int
    minutes: int
    seconds: int = 0
    half: Literal["", "am", "pm"] = ""


@dataclass(frozen=True, slots=True)
class Bracketed:
    """Several items between round or square brackets: a tuple, a point, an interval."""

    opening: str
    items: tuple[Node, ...]
    closing: str


@dataclass(frozen=True, slots=True)
class SetOf:
    """{a, b, c}; the empty set has no items."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class NamedSet:
    r"""\mathbb{R} and its like, by letter."""

    name: str


@dataclass(frozen=True, slots=True)
class SetBuilder:
    """{element in domain : condition}; the domain is None where it is not written."""

    element: Node
    domain: Node | None
    condition: Node


@dataclass(frozen=True, slots=True)
class SetOperation:
    """A union, an intersection or a difference."""

    kind: Literal["union", "intersection", "difference"]
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of entries."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """A chain of sides: 1 < x <= 3 has sides (1, x, 3) and operators ("<", "<=")."""

    sides: tuple[Node, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Residue:
    """A value modulo another."""

    value: Node
    modulus: Node


@dataclass(frozen=True, slots=True)
class Listing:
    """Several answers: 1, 2 and 3."""

    items: tuple[Node, ...]
    word: Literal[",", "and", "or"]
    """What joins them; "or" wherever one was written."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words, in their normal form (verifiers.maths.words)."""

    words: str


Node: TypeAlias = (
    Number
    | Symbol
    | Constant
    | Sum
    | Product
    | Quotient
    | Power
    | Negative
    | PlusMinus
    | Call
    | Apply
    | Bound
    | Piecewise
    | Quantity
    | Percent
    | Degrees
    | Numeral
    | Ratio
    | Clock
    | Bracketed
    | SetOf
    | NamedSet
    | SetBuilder
    | SetOperation
    | Matrix
    | Relation
    | Residue
    | Listing
    | Text
)


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below `node`."""
    match node:
        case Sum(terms) | Ratio(terms):
            return terms
        case Product(factors):
            return factors
        case Quotient(top, bottom):
            return (top, bottom)
        case Power(base, exponent):
            return (base, exponent)
        case Negative(operand) | PlusMinus(operand):
            return (operand,)
        case Call(_, arguments) | Apply(_, arguments):
            return arguments
        case Bound(_, _, low, high, body):
            return tuple(part for part in (low, high, body) if part is not None)
        case Piecewise(branches):
            return tuple(part for branch in branches for part in branch if part is not None)
        case Quantity(value, _) | Percent(value) | Degrees(value):
            return (value,)
        case Bracketed(_, items, _) | SetOf(items) | Listing(items, _):
            return items
        case SetBuilder(element, domain, condition):
            return tuple(part for part in (element, domain, condition) if part is not None)
        case SetOperation(_, parts):
            return parts
        case Matrix(rows):
            return tuple(entry for row in rows for entry in row)
        case Relation(sides, _):
            return sides
        case Residue(value, modulus):
            return (value, modulus)
        case _:
            return ()


def product_of(left: Node, right: Node) -> Product:
    """Return left * right, flat where left is a product already."""
    if isinstance(left, Product):
        return Product((*left.factors, right))
    return Product((left, right))


def rebuilt(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return `node` with `change` applied to each node directly below it."""
    below = iter([change(child) for child in children(node)])

    def take(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(take(item) for item in value)
        return next(below) if is_dataclass(value) else value

    return replace(node, **{field.name: take(getattr(node, field.name)) for field in fields(node)})


def with_symbol(node: Node, old: Node, new: Node) -> Node:
    """Return `node` with every occurrence of `old` replaced by `new`."""
    return new if node == old else rebuilt(node, lambda child: with_symbol(child, old, new))


def symbols(node: Node) -> frozenset[str]:
    """Return the names of the free symbols of `node`."""
    if isinstance(node, Symbol):
        return frozenset((node.name,))
    found = frozenset[str]().union(*map(symbols, children(node)))
    return found - {node.variable} if isinstance(node, Bound) else found


def contains(node: Node, kinds: type | tuple[type, ...]) -> bool:
    """Tell whether `node` or anything below it is of one of the `kinds`."""
    return isinstance(node, kinds) or any(contains(child, kinds) for child in children(node))
