"""Integrals, limits, infinite sums and cleared denominators, by sympy. Runs in a worker process."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy

from verifiers.maths.nodes import (
    Bound,
    Call,
    Constant,
    Degrees,
    Negative,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Quotient,
    Sum,
    Symbol,
)
from verifiers.maths.values import NoValueError

_FUNCTIONS = {
    **{name: getattr(sympy, name) for name in "sin cos tan cot sec csc sinh cosh tanh exp factorial binomial".split()},
    **{f"arc{name}": getattr(sympy, f"a{name}") for name in ("sin", "cos", "tan")},
    "sqrt": sympy.sqrt,
    "ln": sympy.log,
    "abs": sympy.Abs,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "cbrt": sympy.cbrt,
    "root": sympy.root,
    "max": sympy.Max,
    "min": sympy.Min,
}


def worked_out(node: Bound, at: Mapping[str, Fraction], digits: int) -> Any:
    """Return the value of an integral, a limit or a sum to `digits` digits, as an mpmath number.

    Raises:
        NoValueError: sympy finds none.
    """
    if node.kind == "int" and (node.low is None or node.high is None):
        raise NoValueError("an integral without limits")
    found = _sympy(node, at).doit()
    number = sympy.N(found, digits)
    if not number.is_number or not number.is_finite or number.has(sympy.Integral, sympy.Sum, sympy.Limit):
        raise NoValueError("sympy finds no value")
    real, imaginary = number.as_real_imag()
    if imaginary != 0:
        raise NoValueError("not real")
    return real._to_mpmath(int(digits * 3.33) + 10)


def numerator(node: Node) -> Any:
    """Return the numerator of a formula over a common denominator, as a sympy expression.

    Raises:
        NoValueError: sympy cannot hold it.
    """
    return sympy.fraction(sympy.together(_sympy(node, {})))[0]


def same_up_to_a_factor(left: Any, right: Any) -> bool:
    """Tell whether two sympy expressions differ by a constant factor other than 0."""
    ratio = sympy.cancel(left / right) if right != 0 else sympy.Integer(0)
    return bool(ratio.is_number and ratio != 0 and ratio.is_finite)


def _sympy(node: Node, at: Mapping[str, Fraction]) -> Any:
    match node:
        case Number(value):
            return sympy.Rational(value.numerator, value.denominator)
        case Symbol(name):
            if name in at:
                return sympy.Rational(at[name].numerator, at[name].denominator)
            return sympy.Symbol(name, real=True)
        case Constant(name):
            return {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "infinity": sympy.oo}[name]
        case Sum(terms):
            return sympy.Add(*(_sympy(term, at) for term in terms))
        case Product(factors):
            return sympy.Mul(*(_sympy(factor, at) for factor in factors))
        case Quotient(top, bottom):
            divisor = _sympy(bottom, at)
            if divisor == 0:
                raise NoValueError("a division by zero")
            return _sympy(top, at) / divisor
        case Negative(operand):
            return -_sympy(operand, at)
        case Power(base, exponent):
            power = _sympy(exponent, at)
            if power.is_number and abs(power) > 10_000:
                raise NoValueError("a number too large to work out")
            return _sympy(base, at) ** power
        case Percent(value):
            return _sympy(value, at) / 100
        case Degrees(value):
            return _sympy(value, at) * sympy.pi / 180
        case Call("log", (value, base)):
            return sympy.log(_sympy(value, at), _sympy(base, at))
        case Call("log" | "lg", (value,)):
            return sympy.log(_sympy(value, at), 10)
        case Call(function, arguments) if function in _FUNCTIONS:
            return _FUNCTIONS[function](*(_sympy(argument, at) for argument in arguments))
        case Bound(kind, variable, low, high, body):
            return _bound(kind, variable, low, high, body, at)
        case _:
            raise NoValueError(f"a {type(node).__name__.lower()} in calculus")


def _bound(
    kind: str, variable: str, low: Node | None, high: Node | None, body: Node, at: Mapping[str, Fraction]
) -> Any:
    inner = {name: value for name, value in at.items() if name != variable}
    symbol = sympy.Symbol(variable, real=True)
    inside = _sympy(body, inner)
    if low is None:
        raise NoValueError("limits are missing")
    if kind == "lim":
        direction = "+-"
        if isinstance(low, Call) and low.function in ("from_above", "from_below"):
            direction, low = ("+" if low.function == "from_above" else "-"), low.arguments[0]
        target = _sympy(low, at)
        if target in (sympy.oo, -sympy.oo):
            return sympy.limit(inside, symbol, target)
        return sympy.limit(inside, symbol, target, direction)
    if high is None:
        raise NoValueError("limits are missing")
    limits = (symbol, _sympy(low, at), _sympy(high, at))
    if kind == "int":
        return sympy.integrate(inside, limits)
    integer = sympy.Symbol(variable, integer=True)
    limits = (integer, *limits[1:])
    return (sympy.Sum if kind == "sum" else sympy.Product)(inside.subs(symbol, integer), limits).doit()
