r"""Cut a cleaned answer into tokens: numbers with their grouping, commands, words, \text{...}, single signs."""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from verifiers.maths import units
from verifiers.maths.cleaning import GROUP_SPACE, UnreadableError
from verifiers.maths.nodes import Number

MAX_LENGTH = 30_000
"""Characters of an answer that are read; a longer one is not mathematics that anybody wrote."""
MAX_TOKENS = 60_000
"""Tokens that are cut; reading.MAX_TOKENS are left when redundant brackets are gone."""
MAX_DIGITS = 1000
"""Digits of a number that are read; decimals are cut there, and an integer beyond it is refused."""
MAX_EXPONENT = 1000
"""Powers of ten in 1e... that are read."""

Kind = Literal["number", "command", "word", "text", "sign"]


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of an answer."""

    kind: Kind
    text: str
    number: Number | None = None
    after_blank: bool = False
    """Whether a blank stood before it."""


_S = f"[ {GROUP_SPACE}]"
_GROUPED = rf"""
    \d{{1,3}}+(?:\.\d{{3}}(?!\d)){{1,60}}+,\d++(?!,\d)                        # 1.234,5
  | \d{{1,3}}+(?:\.\d{{3}}(?!\d)){{2,60}}+(?!\.\d)                       # 1.234.567
  | \d{{1,3}}+(?:{_S}\d{{3}}(?!\d)){{1,60}}+(?:[.,]\d++)?+(?!,\d)             # 1 234,56
  | \d{{1,3}}+(?:,\d{{3}}(?!\d)){{1,60}}+(?:\.\d++)?+(?!,\d)                  # 1,234.5
  | \d{{1,2}}+(?:,\d{{2}}(?!\d)){{1,60}}+,\d{{3}}(?!\d)(?:\.\d++)?+(?!,\d)   # 12,34,567
  | \d{{1,3}}+(?:'\d{{3}}(?!\d)){{1,60}}+(?:\.\d++)?+                         # 1'234'567
"""
_REPEATING = r"""
    (?P<whole>\d*+)\.(?P<fixed>\d*+)
    (?: \\(?:overline|bar)\s*+\{\s*+(?P<bar>\d++)\s*+\} | \((?P<brackets>\d++)\)(?!\s*+[\^_\d(A-Za-z])
      | \\dot\s*+\{?(?P<dot>\d)\}?(?:(?P<between>\d*+)\\dot\s*+\{?(?P<last_dot>\d)\}?)?+ )
"""
_TOKEN = re.compile(
    rf"""
    (?P<blank>[\s{GROUP_SPACE}]++)
  | (?P<repeating>{_REPEATING})
  | (?P<grouped>{_GROUPED})
  | (?P<plain>(?:\d++(?:\.\d++)?+|\.\d++)(?:[eE][+-]?\d++(?![\w.]))?+)
  | \\(?P<command>operatorname\*|[A-Za-z]++|.)
  | (?P<word>[^\W\d_]++(?:'(?:s|t)\b)?)
  | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_TEXT_COMMANDS = frozenset(
    "text textbf textrm textit textnormal textsf texttt textup textsc mbox hbox mathrm mathbf mathit mathsf mathtt "
    "mathnormal boldsymbol bm pmb bold emph underline operatorname operatorname* rm fbox boxed mathop mathcal".split()
)
_LETTER_COMMANDS = frozenset("mathbf mathit mathsf mathcal boldsymbol bm pmb".split())
"""Those that set one letter as the symbol it is."""
_FORMULA = re.compile(r"\\|\d|[=<>^_+*/|]|^\s*+[ei]\s*+$|^\s*+d\s*+$")
_UNIT = re.compile(r"[^\W\d_]{1,15}(?:[\s/*.^{}\-\d]|[^\W\d_]){0,30}")
_LABELLED = re.compile(r"^\s*+\(?[A-Za-z]\)|^\s*+[A-Za-z][.:)]\s")


def tokenise(text: str) -> list[Token]:
    """Return the tokens of a cleaned answer.

    Raises:
        UnreadableError: too long, or a number in it is.
    """
    if len(text) > MAX_LENGTH:
        text = _cut_decimal(text)
    return _tokens(text, depth=0)


def _cut_decimal(text: str) -> str:
    """Shorten a decimal with thousands of places; anything else this long is refused."""
    if re.fullmatch(r"[-+]?\s*+\d{0,400}+\.\d++", text):
        return text[:MAX_DIGITS]
    raise UnreadableError(f"longer than {MAX_LENGTH} characters")


def _tokens(text: str, depth: int) -> list[Token]:
    tokens: list[Token] = []
    position, blank = 0, False
    while position < len(text):
        if len(tokens) > MAX_TOKENS and not depth:
            raise UnreadableError(f"more than {MAX_TOKENS} numbers and signs")
        match = _TOKEN.match(text, position)
        assert match is not None
        position = match.end()
        kind = match.lastgroup
        if match["blank"] is not None:
            blank = True
            continue
        if match["repeating"] is not None:
            tokens.append(Token("number", match["repeating"], _repeating(match), blank))
        elif match["grouped"] is not None:
            tokens.append(Token("number", match["grouped"], _grouped(match["grouped"]), blank))
        elif match["plain"] is not None:
            tokens.append(Token("number", match["plain"], plain_number(match["plain"]), blank))
        elif match["command"] is not None:
            if match["command"] in _TEXT_COMMANDS:
                inside, position = _argument(text, position)
                tokens += _text(inside, match["command"], blank, depth)
            else:
                tokens.append(Token("command", match["command"], None, blank))
        elif match["word"] is not None:
            tokens.append(Token("word", match["word"], None, blank))
        else:
            assert kind == "sign"
            tokens.append(Token("sign", match["sign"], None, blank))
        blank = False
    return tokens


def _text(inside: str, command: str, blank: bool, depth: int) -> list[Token]:
    """Return \\text{...} as words, or as mathematics where mathematics stands in it."""
    if depth > 5:
        raise UnreadableError("text commands nested too deeply")
    stripped = inside.strip(f" \t\r\n{GROUP_SPACE}~")
    if not stripped:
        return []
    if command.startswith("operatorname") or command == "mathop" or stripped in ("cis", "max", "min", "gcd", "lcm"):
        return [Token("command", stripped, None, blank)]
    words = re.search(r"[^\W\d_]{2}", re.sub(r"\\[A-Za-z]+", "", stripped))
    if len(stripped) == 1 and stripped.isalpha() and command in _LETTER_COMMANDS:
        return [Token("word", stripped, None, blank)]
    if _UNIT.fullmatch(stripped) and units.is_unit(stripped):
        return [Token("text", stripped, None, blank or inside[:1] != stripped[:1])]
    if _FORMULA.search(stripped) and (not words or "\\" in stripped) and not _LABELLED.search(stripped):
        return _tokens(stripped, depth + 1)
    return [Token("text", stripped, None, blank or inside[:1] != stripped[:1])]


def _argument(text: str, position: int) -> tuple[str, int]:
    """Return what stands in the braces at `position`, or the one character there, and where it ends."""
    while position < len(text) and text[position].isspace():
        position += 1
    if position >= len(text):
        return "", position
    if text[position] != "{":
        return text[position], position + 1
    level, start = 0, position + 1
    for index in range(position, len(text)):
        if text[index] == "{":
            level += 1
        elif text[index] == "}":
            level -= 1
            if level == 0:
                return text[start:index], index + 1
    return text[start:], len(text)


def plain_number(written: str) -> Number:
    """Return the number written in digits with at most one point and an exponent.

    Raises:
        UnreadableError: more digits or a larger exponent than are read.
    """
    mantissa, _, exponent = written.lower().partition("e")
    whole, point, places = mantissa.partition(".")
    if len(whole) > MAX_DIGITS or len(exponent.lstrip("+-")) > 4 or abs(int(exponent or 0)) > MAX_EXPONENT:
        raise UnreadableError("a number too long to read")
    places = places[:MAX_DIGITS]
    value = Fraction(int((whole or "0") + places), 10 ** len(places)) * Fraction(10) ** int(exponent or 0)
    if not point and not exponent:
        return Number(value)
    digits = len((whole + places).lstrip("0"))
    return Number(value, places=len(places) - int(exponent or 0), digits=digits)


def _grouped(written: str) -> Number:
    if re.search(r",\d+$", written) and re.search(rf"[.{GROUP_SPACE} ]\d{{3}}", written):  # a decimal comma
        whole, _, places = written.rpartition(",")
        return plain_number(re.sub(r"\D", "", whole) + "." + places)
    if written.count(".") > 1:
        return plain_number(written.replace(".", ""))
    return plain_number(re.sub(r"[^\d.]", "", written))


def _repeating(match: re.Match[str]) -> Number:
    whole, fixed = match["whole"] or "0", match["fixed"]
    if match["dot"] is not None:
        period = match["dot"] + (match["between"] or "") + (match["last_dot"] or "")
    else:
        period = match["bar"] or match["brackets"]
    if len(whole) + len(fixed) + len(period) > MAX_DIGITS:
        raise UnreadableError("a number too long to read")
    value = Fraction(int(whole + fixed), 10 ** len(fixed))
    return Number(value + Fraction(int(period), (10 ** len(period) - 1) * 10 ** len(fixed)))
