"""The value of a formula at a point, to any number of digits, noting how large and small it got on the way."""

import hashlib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import mpmath

from verifiers.maths.nodes import (
    Apply,
    Bound,
    Call,
    Constant,
    Degrees,
    Matrix,
    Negative,
    Node,
    Number,
    Numeral,
    Percent,
    Piecewise,
    Power,
    Product,
    Quantity,
    Quotient,
    Relation,
    Sum,
    Symbol,
    children,
    contains,
)
from verifiers.maths.values import MAX_TERMS, NotExactError, NoValueError, exact

MAX_SPREAD = 3000
"""Decimal orders of magnitude between the largest and the smallest intermediate value."""
MAX_MAGNITUDE = 1_000_000
"""Bits of a power's exponent; a power tower is beyond it."""
_FAR = 10**9
Value = Any
"""An mpf or mpc of the evaluator's context."""
At = Mapping[str, "Fraction | tuple[Fraction, Fraction]"]
"""Values of the symbols; a pair is a complex number."""


class Evaluator:
    """Works out formulas with so many digits, among the reals or among the complex numbers."""

    def __init__(self, digits: int, complex_too: bool) -> None:
        self._context = mpmath.mp  # the process's own: making another costs more than a comparison
        self._context.dps = digits
        self._complex = complex_too
        self.largest, self._smallest = -_FAR, _FAR  # exponents of two

    def spread(self) -> int:
        """Return the decimal orders between the largest and the smallest intermediate value so far.

        Raises:
            NoValueError: too many to work with.
        """
        orders = max(0, int((self.largest - self._smallest) * 0.302))
        if orders > MAX_SPREAD:
            raise NoValueError("values of too different size")
        return orders

    def value(self, node: Node, at: At) -> Value:
        """Return the value of `node` with its symbols at the values `at`.

        Raises:
            NoValueError: it has none here, or is too large to work out.
        """
        try:
            found = self._value(node, at)
        except (TypeError, ValueError, ArithmeticError) as error:  # what mpmath raises where there is no value
            raise NoValueError(str(error)) from error
        if not self._context.isfinite(found):
            raise NoValueError("not finite")
        if not self._complex and self._context.im(found) != 0:
            raise NoValueError("not real")
        if found != 0:
            magnitude = int(self._context.mag(found))
            self.largest, self._smallest = max(self.largest, magnitude), min(self._smallest, magnitude)
        return found

    def _value(self, node: Node, at: At) -> Value:
        context = self._context
        match node:
            case Number(number):
                return context.mpf(number.numerator) / number.denominator
            case Symbol(name):
                if name not in at:
                    raise NoValueError(f"the unknown {name}")
                return self._point(at[name])
            case Constant(name):
                if name == "infinity":
                    raise NoValueError("infinity")
                return {"pi": +context.pi, "e": +context.e, "i": context.mpc(0, 1)}[name]
            case Sum(terms):
                return context.fsum(self.value(term, at) for term in terms)
            case Product(factors):
                return context.fprod(self.value(factor, at) for factor in factors)
            case Quotient(top, bottom):
                return self._quotient(self.value(top, at), self.value(bottom, at))
            case Negative(operand):
                return -self.value(operand, at)
            case Power(base, exponent):
                return self._power(base, exponent, at)
            case Percent(inner):
                return self.value(inner, at) / 100
            case Degrees(inner):
                return self.value(inner, at) * context.pi / 180
            case Quantity(inner, _):
                return self.value(inner, at)
            case Numeral(digits, base):
                return context.mpf(int(digits, base))
            case Call("det", (Matrix(rows),)):
                if len(rows) != len(rows[0]) or len(rows) > 6:
                    raise NoValueError("a determinant of no square")
                return context.det(context.matrix([[self.value(entry, at) for entry in row] for row in rows]))
            case Call(function, arguments):
                return self._call(function, [self.value(argument, at) for argument in arguments])
            case Apply(name, arguments):
                return self._unknown(name, [self.value(argument, at) for argument in arguments])
            case Bound():
                return self._bound(node, at)
            case Piecewise(branches):
                for inner, condition in branches:
                    if condition is None or self._holds(condition, at):
                        return self.value(inner, at)
                raise NoValueError("no branch holds")
            case _:
                raise NoValueError(f"a {type(node).__name__.lower()} is no number")

    def _point(self, value: "Fraction | tuple[Fraction, Fraction]") -> Value:
        if isinstance(value, tuple):
            return self._context.mpc(self._point(value[0]), self._point(value[1]))
        return self._context.mpf(value.numerator) / value.denominator

    def _quotient(self, top: Value, bottom: Value) -> Value:
        # A divisor that is 0 but for rounding: tan 90 degrees, 1/(sqrt 2 - sqrt 2).
        if bottom == 0 or self._context.mag(bottom) < self._smallest_seen():
            raise NoValueError("a division by zero")
        return top / bottom

    def _smallest_seen(self) -> int:
        return min(self._smallest, 0) - self._context.prec + 20

    def _power(self, base: Node, exponent: Node, at: At) -> Value:
        context = self._context
        power = self.value(exponent, at)
        if base == Constant("e"):
            if abs(power) > MAX_MAGNITUDE:
                raise NoValueError("a number too large to work out")
            return context.exp(power)
        number = self.value(base, at)
        if number == 0:
            if context.re(power) < 0:
                raise NoValueError("a division by zero")
            return context.mpf(1 if power == 0 else 0)
        if abs(power) * (abs(context.mag(number)) + 1) > MAX_MAGNITUDE:
            raise NoValueError("a number too large to work out")
        if not self._complex and number < 0 and power != int(power):
            try:
                ratio = exact(exponent, _rational(at))
            except NotExactError as error:
                raise NoValueError("a power of a negative number") from error
            return self._real_power(number, ratio)
        if context.im(power) == 0 and power == int(context.re(power)):
            return number ** int(context.re(power))
        return context.power(number, power)

    def _real_power(self, number: Value, ratio: Fraction) -> Value:
        if ratio.denominator % 2 == 0:
            raise NoValueError("an even root of a negative number")
        size = self._context.power(-number, self._context.mpf(ratio.numerator) / ratio.denominator)
        return -size if ratio.numerator % 2 else size

    def _unknown(self, name: str, values: list[Value]) -> Value:
        """Return a value for an unknown function: an arbitrary one, the same wherever name and arguments are."""
        written = " ".join(str(self._context.nstr(value, 20, strip_zeros=True)) for value in values)
        digest = hashlib.blake2b(f"{name}({written})".encode(), digest_size=7).digest()
        return 1 + self._context.mpf(int.from_bytes(digest)) / 2**56

    def _call(self, function: str, values: list[Value]) -> Value:
        context = self._context
        match function, values:
            case "sqrt", [number]:
                return self._root(number, 2)
            case "cbrt", [number]:
                return self._root(number, 3)
            case "root", [number, degree] if degree == int(degree) and 2 <= degree <= 1000:
                return self._root(number, int(degree))
            case (("ln" | "log" | "lg"), [number]):
                if number == 0:
                    raise NoValueError("the logarithm of 0")
                natural = context.log(number)
                return natural if function == "ln" else natural / context.log(10)
            case "log", [number, base]:
                if number == 0 or base == 0 or base == 1:
                    raise NoValueError("a logarithm that does not exist")
                return context.log(number) / context.log(base)
            case "exp", [number]:
                if abs(number) > MAX_MAGNITUDE:
                    raise NoValueError("a number too large to work out")
                return context.exp(number)
            case (("sin" | "cos"), [number]):
                return getattr(context, function)(self._moderate(number))
            case "tan", [number]:
                return self._quotient(context.sin(self._moderate(number)), context.cos(number))
            case "cot", [number]:
                return self._quotient(context.cos(self._moderate(number)), context.sin(number))
            case "sec", [number]:
                return self._quotient(context.mpf(1), context.cos(self._moderate(number)))
            case "csc", [number]:
                return self._quotient(context.mpf(1), context.sin(self._moderate(number)))
            case "cis", [number]:
                return context.expj(self._moderate(number))
            case (("arcsin" | "arccos" | "arctan" | "acot" | "asec" | "acsc" | "asinh" | "acosh" | "atanh"), [number]):
                try:
                    return getattr(context, function.replace("arc", "a"))(number)
                except (ValueError, ZeroDivisionError) as error:
                    raise NoValueError(f"{function} has no value") from error
            case (("sinh" | "cosh" | "tanh"), [number]):
                return getattr(context, function)(self._moderate(number, MAX_MAGNITUDE))
            case "abs", [number]:
                return abs(number)
            case "sign", [number]:
                return context.sign(number)
            case "floor", [number]:
                return context.floor(number)
            case "ceil", [number]:
                return context.ceil(number)
            case "factorial", [number]:
                if number != int(context.re(number)) or not 0 <= number <= 20_000:
                    raise NoValueError("a factorial that is not worked out")
                return context.factorial(number)
            case "binomial", [top, bottom]:
                if not (abs(top) < 10**6 and abs(bottom) < 10**6):
                    raise NoValueError("a binomial that is not worked out")
                return context.binomial(top, bottom)
            case "max", [_, *_]:
                return max(values)
            case "min", [_, *_]:
                return min(values)
            case "re", [number]:
                return context.re(number)
            case "im", [number]:
                return context.im(number)
            case "arg", [number]:
                return context.arg(number)
            case "conjugate", [number]:
                return context.conj(number)
            case _:
                raise NoValueError(f"{function} of these")

    def _moderate(self, number: Value, most: int = 10**12) -> Value:
        if abs(number) > most:
            raise NoValueError("an argument too large")
        return number

    def _root(self, number: Value, degree: int) -> Value:
        if not self._complex and number < 0:
            if degree % 2 == 0:
                raise NoValueError("an even root of a negative number")
            return -self._context.root(-number, degree)
        return self._context.root(number, degree) if number != 0 else number

    def _bound(self, node: Bound, at: At) -> Value:
        if node.kind in ("sum", "prod") and node.low and node.high and not contains(node.high, Constant):
            try:
                low, high = exact(node.low, _rational(at)), exact(node.high, _rational(at))
            except NotExactError as error:
                raise NoValueError("limits that are no integers") from error
            if low.denominator != 1 or high.denominator != 1 or high - low >= MAX_TERMS:
                raise NoValueError("a sum that is not worked out")
            terms = [
                self.value(node.body, {**at, node.variable: Fraction(index)})
                for index in range(int(low), int(high) + 1)
            ]
            return self._context.fsum(terms) if node.kind == "sum" else self._context.fprod(terms)
        from verifiers.maths.calculus import worked_out

        return self._context.mpmathify(worked_out(node, _rational(at), self._context.dps))

    def _holds(self, condition: Node, at: At) -> bool:
        if not isinstance(condition, Relation):
            parts = children(condition)
            if not parts:
                raise NoValueError("a condition that is not understood")
            return all(self._holds(part, at) for part in parts)
        values = [self.value(side, at) for side in condition.sides]
        return all(
            _HOLDS[operator](left, right)
            for operator, left, right in zip(condition.operators, values, values[1:], strict=False)
            if operator in _HOLDS or _unknown_operator(operator)
        )


def _rational(at: At) -> dict[str, Fraction]:
    return {name: value for name, value in at.items() if isinstance(value, Fraction)}


def _unknown_operator(operator: str) -> bool:
    raise NoValueError(f"the relation {operator}")


_HOLDS = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}
