"""Exact values of formulas as fractions, within fixed bounds. What is irrational or unbounded raises."""

import math
from collections.abc import Mapping
from fractions import Fraction

from verifiers.maths.nodes import (
    Bound,
    Call,
    Constant,
    Negative,
    Node,
    Number,
    Numeral,
    Percent,
    Power,
    Product,
    Quantity,
    Quotient,
    Sum,
    Symbol,
    contains,
)

MAX_BITS = 400_000
"""Size of an integer that a worker works out; 3^{1000}+1 is far below it and 9^{9^{9}} far above."""
MAX_TERMS = 2000
"""Terms of a sum or product that are added up."""


class NoValueError(Exception):
    """The formula has no value: 1/0, the square root of -1 among reals, or one too large to work out."""


class TooLargeError(NoValueError):
    """The value has more bits than were allowed."""


class NotExactError(Exception):
    """The value is no fraction, or not one that can be seen without numerics."""


def exact(node: Node, at: Mapping[str, Fraction] | None = None, *, bits: int = MAX_BITS) -> Fraction:
    """Return the value of `node` with its symbols at the values `at`.

    Args:
        bits: size of the largest integer on the way.

    Raises:
        NotExactError: it is irrational, or needs more than this to see that it is not.
        NoValueError: it is undefined or too large.
    """
    match node:
        case Number(value):
            return value
        case Symbol(name):
            if at is None or name not in at:
                raise NotExactError(name)
            return at[name]
        case Sum(terms):
            return _bounded(sum((exact(term, at, bits=bits) for term in terms), Fraction(0)), bits)
        case Product(factors):
            product = Fraction(1)
            for factor in factors:
                product = _bounded(product * exact(factor, at, bits=bits), bits)
            return product
        case Quotient(top, bottom):
            divisor = exact(bottom, at, bits=bits)
            dividend = exact(top, at, bits=bits)
            if divisor == 0:
                raise NoValueError("a division by zero")
            return dividend / divisor
        case Negative(operand):
            return -exact(operand, at, bits=bits)
        case Power(base, exponent):
            return exact_power(exact(base, at, bits=bits), exact(exponent, at, bits=bits), bits)
        case Percent(value):
            return exact(value, at, bits=bits) / 100
        case Quantity(value, _):
            return exact(value, at, bits=bits)
        case Numeral(digits, base):
            return Fraction(int(digits, base))
        case Call(function, arguments):
            return _call(function, [exact(argument, at, bits=bits) for argument in arguments], bits)
        case Bound(kind, variable, low, high, body) if kind in ("sum", "prod") and low and high:
            return _added_up(
                kind, variable, exact(low, at, bits=bits), exact(high, at, bits=bits), body, at or {}, bits
            )
        case Constant():
            raise NotExactError(node.name)
        case _:
            raise NotExactError(type(node).__name__)


def exact_power(base: Fraction, exponent: Fraction, bits: int = MAX_BITS) -> Fraction:
    """Return base ^ exponent where it is a fraction; 0^0 is 1. Odd roots of negative numbers are negative.

    Raises:
        NotExactError, NoValueError: as `exact`.
    """
    if exponent.denominator != 1:
        return exact_power(_exact_root(base, exponent.denominator), Fraction(exponent.numerator), bits)
    power = exponent.numerator
    if base == 0 and power < 0:
        raise NoValueError("a division by zero")
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if base not in (0, 1, -1) and (size - 1) * abs(power) > bits:
        raise TooLargeError("a number too large to work out")
    if base in (1, -1):
        power %= 2
    return base**power


def _exact_root(base: Fraction, degree: int) -> Fraction:
    if base < 0:
        if degree % 2 == 0:
            raise NotExactError("an even root of a negative number")
        return -_exact_root(-base, degree)
    if degree > 64:
        raise NotExactError("a high root")
    return Fraction(_integer_root(base.numerator, degree), _integer_root(base.denominator, degree))


def _integer_root(number: int, degree: int) -> int:
    if degree == 2:
        root = math.isqrt(number)
    else:
        if number.bit_length() > 2000:
            raise NotExactError("a root of a large number")
        low, high = 0, 1 << (number.bit_length() // degree + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**degree <= number else (low, middle - 1)
        root = low
    if root**degree != number:
        raise NotExactError("an irrational root")
    return root


def _bounded(value: Fraction, bits: int) -> Fraction:
    if value.numerator.bit_length() + value.denominator.bit_length() > 2 * bits:
        raise TooLargeError("a number too large to work out")
    return value


def _integer(value: Fraction, *, least: int, most: int) -> int:
    if value.denominator != 1:
        raise NotExactError("not an integer")
    if value < least:
        raise NoValueError("an integer out of range")
    if value > most:
        raise TooLargeError("an integer too large to work out")
    return value.numerator


def _call(function: str, values: list[Fraction], bits: int) -> Fraction:
    match function, values:
        case "sqrt", [value]:
            return _exact_root(value, 2)
        case "cbrt", [value]:
            return _exact_root(value, 3)
        case "root", [value, degree]:
            return _exact_root(value, _integer(degree, least=2, most=64))
        case "abs", [value]:
            return abs(value)
        case "sign", [value]:
            return Fraction((value > 0) - (value < 0))
        case "floor", [value]:
            return Fraction(math.floor(value))
        case "ceil", [value]:
            return Fraction(math.ceil(value))
        case "factorial", [value]:
            return Fraction(math.factorial(_integer(value, least=0, most=bits // 20)))
        case "double_factorial", [value]:
            number = _integer(value, least=0, most=bits // 20)
            return Fraction(math.prod(range(number, 0, -2)))
        case "binomial", [top, bottom]:
            if top.denominator == 1 and top < 0:
                raise NotExactError("a negative binomial")
            if bottom > top >= 0 and bottom.denominator == 1:
                return Fraction(0)
            n = _integer(top, least=0, most=10**9)
            k = _integer(bottom, least=0, most=n)
            if min(k, n - k) * n.bit_length() > bits // 4:
                raise TooLargeError("a binomial too large to work out")
            return Fraction(math.comb(n, k))
        case "gcd", [_, *_] if all(value.denominator == 1 for value in values):
            return Fraction(math.gcd(*(value.numerator for value in values)))
        case "lcm", [_, *_] if all(value.denominator == 1 for value in values):
            return _bounded(Fraction(math.lcm(*(value.numerator for value in values))), bits)
        case "max", [_, *_]:
            return max(values)
        case "min", [_, *_]:
            return min(values)
        case (("re" | "conjugate"), [value]):
            return value
        case "im", [_]:
            return Fraction(0)
        case (("log" | "lg"), [value]):
            return _logarithm(value, Fraction(10))
        case "log", [value, base]:
            return _logarithm(value, base)
        case _:
            raise NotExactError(function)


def _logarithm(value: Fraction, base: Fraction) -> Fraction:
    """Return the integer logarithm where there is one."""
    if value <= 0 or base <= 0 or base == 1:
        raise NoValueError("a logarithm that does not exist")
    if value.numerator.bit_length() + value.denominator.bit_length() > 4000:
        raise NotExactError("a logarithm of a large number")
    sign = 1 if (value >= 1) == (base > 1) else -1
    power, target = Fraction(1), value if sign == 1 else 1 / value
    for count in range(4000):
        if power == target:
            return Fraction(sign * count)
        if (power > target) == (base > 1):
            break
        power *= base
    raise NotExactError("an irrational logarithm")


def _added_up(
    kind: str, variable: str, low: Fraction, high: Fraction, body: Node, at: Mapping[str, Fraction], bits: int
) -> Fraction:
    if low.denominator != 1 or high.denominator != 1:
        raise NoValueError("limits that are no integers")
    if high - low >= MAX_TERMS * bits // MAX_BITS:
        raise TooLargeError("a sum too long to work out")
    if bits < MAX_BITS and contains(body, Bound):
        raise TooLargeError("sums within sums")
    total = Fraction(0 if kind == "sum" else 1)
    for index in range(low.numerator, high.numerator + 1):
        term = exact(body, {**at, variable: Fraction(index)}, bits=bits)
        total = _bounded(total + term if kind == "sum" else total * term, bits)
    return total
