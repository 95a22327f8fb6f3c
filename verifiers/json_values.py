"""Read JSON strictly and within bounds, and compare values by meaning."""

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NoReturn

from verifiers.numerals import MAX_EXPONENT
from verifiers.numerals import MAX_LENGTH as MAX_DIGITS

MAX_LENGTH = 200_000
"""Characters; a longer text is not read."""
MAX_DEPTH = 100
MAX_COMPARISONS = 300_000
"""Pairs of values in one comparison; only long lists in any order come near it."""

_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*+"?|(?P<open>[\[{])|(?P<close>[\]}])', re.DOTALL)


class NotJsonError(ValueError):
    """The text is no JSON value that we read; says why in one line."""


class TooManyComparisonsError(Exception):
    """The comparison was given up."""


def parse_json(text: str) -> Any:
    """Return the value that `text` is, with every number as an exact Fraction.

    Raises:
        NotJsonError: it is none, or has NaN or Infinity, an object that repeats a key, or anything beyond the bounds.
    """
    if len(text) > MAX_LENGTH:
        raise NotJsonError(f"longer than {MAX_LENGTH} characters")
    depth = 0
    for token in _STRUCTURE.finditer(text):  # before the parser, which recurses
        depth += (token["open"] is not None) - (token["close"] is not None)
        if depth > MAX_DEPTH:
            raise NotJsonError(f"more than {MAX_DEPTH} levels")
    try:
        return json.loads(
            text, parse_float=_number, parse_int=_number, parse_constant=_refuse_constant, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        raise NotJsonError(f"{error.msg} at character {error.pos}") from None


def _number(text: str) -> Fraction:
    digits, _, exponent = text.lower().partition("e")
    if len(digits) > MAX_DIGITS or len(exponent) > 6 or abs(int(exponent or "0")) > MAX_EXPONENT:
        raise NotJsonError(f"a number beyond {MAX_DIGITS} digits or a power of ten beyond {MAX_EXPONENT}")
    return Fraction(text)


def _refuse_constant(name: str) -> NoReturn:
    raise NotJsonError(f"{name} is no JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotJsonError("an object repeats a key")
    return found


class Comparison:
    """Compares values of `parse_json` with gold ones, up to MAX_COMPARISONS in all.

    Args:
        subset: whether objects may have keys that the gold's lack.
        unordered_lists: whether the order of lists counts for nothing.
        abs_tol: how far a number may lie from the gold number.
    """

    def __init__(self, *, subset: bool, unordered_lists: bool, abs_tol: Fraction) -> None:
        self.subset = subset
        self._unordered_lists = unordered_lists
        self._abs_tol = abs_tol
        self._left = MAX_COMPARISONS

    def equal(self, gold: Any, value: Any) -> bool:
        """Raises TooManyComparisonsError once the comparisons are spent."""
        self._spend()
        if type(gold) is not type(value):  # true is not 1, though Python says so
            return False
        if isinstance(gold, Fraction):
            return gold == value or abs(gold - value) <= self._abs_tol
        if isinstance(gold, dict):
            if not (gold.keys() <= value.keys() if self.subset else gold.keys() == value.keys()):
                return False
            return all(self.equal(content, value[key]) for key, content in gold.items())
        if isinstance(gold, list):
            return len(gold) == len(value) and self._equal_lists(gold, value)
        return gold == value

    def _equal_lists(self, gold: list[Any], value: list[Any]) -> bool:
        if not self._unordered_lists:
            return all(map(self.equal, gold, value))
        partners = []
        for wanted in gold:
            partners.append([index for index, given in enumerate(value) if self.equal(wanted, given)])
            if not partners[-1]:
                return False
        return self._all_can_be_paired(partners)

    def _all_can_be_paired(self, partners: Sequence[Sequence[int]]) -> bool:
        """Return whether each row can have a partner of its own: maximum bipartite matching by augmenting paths.

        With a tolerance or with subsets, the first partner that fits may be the only one of a later row.
        """
        partner_of: dict[int, int] = {}
        row_of: dict[int, int] = {}
        for start in range(len(partners)):
            reached_from: dict[int, int] = {}
            free = None
            rows = [start]
            for row in rows:  # grows while it is walked
                for partner in partners[row]:
                    self._spend()
                    if partner not in reached_from:
                        reached_from[partner] = row
                        if partner not in row_of:
                            free = partner
                            break
                        rows.append(row_of[partner])
                if free is not None:
                    break
            while free is not None:
                row = reached_from[free]
                row_of[free], partner_of[row], free = row, free, partner_of.get(row)
            if start not in partner_of:
                return False
        return True

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooManyComparisonsError
