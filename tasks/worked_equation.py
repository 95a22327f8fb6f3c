"""Work an arithmetic equation step by step, exactly, without eval."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

_TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<sign>[-+*/()]))")
_MAX_LENGTH = 200
"""Longer equations are not worked; this also bounds the depth of the parser's recursion."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Worked:
    """An equation worked to its end."""

    steps: tuple[str, ...]
    """One operation each, such as "7 + 2 = 9", innermost first."""
    value: Fraction


def worked_equation(equation: str) -> Worked | None:
    """Work `equation`: numbers, + - * / and parentheses, with the usual precedence.

    Returns None where it is not such an equation, is longer than 200 characters, or divides by zero.
    """
    tokens = list(_tokens(equation)) if len(equation) <= _MAX_LENGTH else []
    if not tokens:
        return None
    steps: list[str] = []
    try:
        value = _sum(tokens, steps)
    except (_NotAnEquationError, ZeroDivisionError):
        return None
    return None if tokens else Worked(steps=tuple(steps), value=value)


def plain_number(value: Fraction) -> str:
    """Write a number as people do: "145", "2.5", or "1/3" where the decimals do not end."""
    if value.denominator == 1:
        return str(value.numerator)
    places, rest = 0, value.denominator
    while rest % 10 in (0, 2, 4, 5, 6, 8):
        rest //= 10 if rest % 10 == 0 else 5 if rest % 5 == 0 else 2
        places += 1
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    whole, decimals = divmod(abs(value.numerator) * 10**places // value.denominator, 10**places)
    return f"{'-' if value < 0 else ''}{whole}.{str(decimals).zfill(places).rstrip('0')}"


class _NotAnEquationError(Exception):
    pass


def _tokens(equation: str) -> Iterator[str]:
    position = 0
    text = equation.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            yield "?"  # no rule takes it, so the parser stops there
            return
        yield match["number"] or match["sign"]
        position = match.end()


def _sum(tokens: list[str], steps: list[str]) -> Fraction:
    value = _product(tokens, steps)
    while tokens and tokens[0] in "+-":
        value = _apply(tokens.pop(0), value, _product(tokens, steps), steps)
    return value


def _product(tokens: list[str], steps: list[str]) -> Fraction:
    value = _factor(tokens, steps)
    while tokens and tokens[0] in "*/":
        value = _apply(tokens.pop(0), value, _factor(tokens, steps), steps)
    return value


def _factor(tokens: list[str], steps: list[str]) -> Fraction:
    token = tokens.pop(0) if tokens else ""
    if token == "-":
        return -_factor(tokens, steps)
    if token == "(":
        value = _sum(tokens, steps)
        if not tokens or tokens.pop(0) != ")":
            raise _NotAnEquationError
        return value
    if not token[:1].isdigit():
        raise _NotAnEquationError
    return Fraction(token)


def _apply(sign: str, left: Fraction, right: Fraction, steps: list[str]) -> Fraction:
    if sign == "+":
        value = left + right
    elif sign == "-":
        value = left - right
    elif sign == "*":
        value = left * right
    else:
        value = left / right
    steps.append(f"{plain_number(left)} {sign} {plain_number(right)} = {plain_number(value)}")
    return value
