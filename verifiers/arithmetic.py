r"""Evaluate arithmetic on whole numbers, exactly and in bounded time; nothing is ever handed to Python's own eval.

    expression = sum ["=" ["-"] number]
    sum        = product {("+" | "-") product}
    product    = operand {("*" | "/") operand}
    operand    = number | "(" sum ")" | "[" sum "]" | "{" sum "}" | \frac "{" sum "}" "{" sum "}"

Operators may also be written x, \times, \cdot, \div or in unicode. There are no signs in front of operands (puzzles
give operations with two operands), no powers, no decimals, and no numbers set side by side.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

MAX_LENGTH = 1000
"""Characters; a longer expression is not read."""
MAX_DEPTH = 50
"""Levels of parentheses."""

_TOKEN = re.compile(
    r"(?P<number>[0-9]+)"
    r"|(?P<blank>[ \t\r\n\u00a0\u2009\u202f]+|\\[,;:! ]|\\(?:left|right|quad|qquad)(?![A-Za-z]))"
    r"|(?P<sign>\\(?:times|cdot|ast|div|[dt]?frac)(?![A-Za-z])|[^\\])"
)
_SIGNS = {
    **{sign: sign for sign in "+-*/()[]{}="},
    **dict.fromkeys(("x", "X", "\\times", "\\cdot", "\\ast", "\u00d7", "\u00b7", "\u22c5", "\u2217", "\u2715"), "*"),
    **dict.fromkeys(("\\div", "\u00f7", "\u2215", "\u2044"), "/"),
    **dict.fromkeys(("\u2212", "\u2013"), "-"),
    **dict.fromkeys(("\\frac", "\\dfrac", "\\tfrac"), "frac"),
}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_WRAPPINGS = (("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("`", "`"), ("**", "**"))


class ExpressionError(ValueError):
    """The text is no expression; says why in a few words that follow the text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expression:
    """An expression that was read."""

    value: Fraction
    numbers: tuple[int, ...]
    """In the order in which they stand."""
    claimed: int | None
    """What is said to come out: the number behind "="."""


def read_expression(text: str) -> Expression:
    """Evaluate `text`, which may have math delimiters or backquotes around it and a full stop behind it.

    Raises:
        ExpressionError: it is no expression, divides by zero or is beyond the bounds.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"is longer than {MAX_LENGTH} characters")
    reader = _Reader(_tokens(_unwrapped(text)))
    value = reader.sum(depth=0)
    return Expression(value=value, numbers=tuple(reader.numbers), claimed=reader.claim())


def _unwrapped(text: str) -> str:
    before = None
    while text != before:
        before = text
        text = text.strip().removesuffix(".").strip()
        for start, end in _WRAPPINGS:
            if len(text) > len(start) + len(end) and text.startswith(start) and text.endswith(end):
                text = text[len(start) : -len(end)]
    return text


def _tokens(text: str) -> list[str | int]:
    """Return numbers, and signs in their one form, with "" at the end."""
    tokens: list[str | int] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or (match["sign"] and match["sign"] not in _SIGNS):
            raise ExpressionError(f"has {text[position : position + 10]!a} in it, which is no arithmetic")
        position = match.end()
        if match["number"]:
            tokens.append(int(match["number"]))
        elif match["sign"]:
            tokens.append(_SIGNS[match["sign"]])
    return [*tokens, ""]


class _Reader:
    """Reads tokens from left to right by recursive descent, no deeper than MAX_DEPTH."""

    def __init__(self, tokens: list[str | int]) -> None:
        self._tokens = tokens
        self._position = 0
        self.numbers: list[int] = []

    def sum(self, depth: int) -> Fraction:
        value = self._product(depth)
        while self._token in ("+", "-"):
            plus = self._take() == "+"
            term = self._product(depth)
            value = value + term if plus else value - term
        return value

    def claim(self) -> int | None:
        """Read what is left, which is nothing or "=" and a whole number."""
        if self._token == "":
            return None
        self._expect("=")
        sign = 1
        if self._token == "-":
            self._take()
            sign = -1
        claimed = self._take()
        if not isinstance(claimed, int):
            raise ExpressionError("has no whole number behind its '='")
        self._expect("")
        return sign * claimed

    def _product(self, depth: int) -> Fraction:
        value = self._operand(depth)
        while self._token in ("*", "/"):
            times = self._take() == "*"
            factor = self._operand(depth)
            value = value * factor if times else _quotient(value, factor)
        return value

    def _operand(self, depth: int) -> Fraction:
        token = self._take()
        if isinstance(token, int):
            self.numbers.append(token)
            return Fraction(token)
        if depth == MAX_DEPTH:
            raise ExpressionError(f"has more than {MAX_DEPTH} levels of parentheses")
        if token == "frac":
            over = self._group("{", depth)
            return _quotient(over, self._group("{", depth))
        if token in _CLOSING:
            self._position -= 1
            return self._group(token, depth)
        raise ExpressionError(f"has {_named(token)} where a number should be")

    def _group(self, opening: str, depth: int) -> Fraction:
        self._expect(opening)
        value = self.sum(depth + 1)
        self._expect(_CLOSING[opening])
        return value

    @property
    def _token(self) -> str | int:
        return self._tokens[self._position]

    def _take(self) -> str | int:
        token = self._token
        self._position += 1
        return token

    def _expect(self, wanted: str) -> None:
        if self._token != wanted:
            raise ExpressionError(f"has {_named(self._token)} where {_named(wanted)} should be")
        self._position += 1


def _quotient(over: Fraction, under: Fraction) -> Fraction:
    if under == 0:
        raise ExpressionError("divides by zero")
    return over / under


def _named(token: str | int) -> str:
    if isinstance(token, int):
        return "a number"
    return repr(token) if token else "its end"
