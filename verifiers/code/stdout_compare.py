"""Compare what a program printed with what it should have printed."""

import math
import re
from collections import Counter

from tasks.types import Compare

_BLANKS = " \t\r\f\v"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|infinity)", re.ASCII | re.IGNORECASE)
_NUMBER_CHARACTERS = 400


def decoded(stdout: bytes) -> str | None:
    """Return what was printed as text, None where it is not UTF-8. A wrong byte must not become a right character."""
    try:
        return stdout.decode("utf-8")
    except UnicodeDecodeError:
        return None


def difference(compare: Compare, expected: str, printed: str) -> str | None:
    """Return the first difference in words, None where `printed` is what was expected.

    All modes but "checker", which is not for here, read CRLF as LF.
    """
    if compare.mode == "whitespace":
        return _first_difference("line", _lines(expected), _lines(printed))
    if compare.mode == "unordered_lines":
        missing = Counter(_lines(expected)) - Counter(_lines(printed))
        surplus = Counter(_lines(printed)) - Counter(_lines(expected))
        if missing or surplus:
            return f"{missing.total()} lines missing, {surplus.total()} too many"
        return None
    wanted, got = _words(expected), _words(printed)
    if compare.mode == "float":
        got = [
            want if _near(want, word, compare) else word for want, word in zip(wanted, got, strict=False)
        ] + got[len(wanted) :]  # fmt: skip
    return _first_difference("word", wanted, got)


def _lines(text: str) -> list[str]:
    # Neither splitlines() nor rstrip() alone: they take U+2028 and no-break spaces for line ends and blanks.
    lines = [line.rstrip(_BLANKS) for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _words(text: str) -> list[str]:
    return [word for line in text.split("\n") for word in re.split(r"[ \t\r\f\v]+", line) if word]


def _near(expected: str, word: str, compare: Compare) -> bool:
    wanted, got = _number(expected), _number(word)
    if wanted is None or got is None:
        return False
    # The scale is the expected number's alone, and nothing is near to infinity but itself.
    allowed = max(compare.abs_tol, compare.rel_tol * abs(wanted))
    return wanted == got or (math.isfinite(wanted) and math.isfinite(got) and abs(wanted - got) <= allowed)


def _number(word: str) -> float | None:
    # By pattern, because float() also reads 1_0 and digits of other scripts; by length, because digits cost time.
    return float(word) if len(word) <= _NUMBER_CHARACTERS and _NUMBER.fullmatch(word) else None


def _first_difference(noun: str, expected: list[str], printed: list[str]) -> str | None:
    if expected == printed:
        return None
    pairs = zip(expected, printed, strict=False)
    number = next((number for number, (want, got) in enumerate(pairs, 1) if want != got), None)
    if number is None:
        return f"printed {len(printed)} {noun}s, expected {len(expected)}"
    return f"{noun} {number} is {printed[number - 1][:40]!a}, expected {expected[number - 1][:40]!a}"
