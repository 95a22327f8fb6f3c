"""Decide whether an answer is the gold answer: read both, then compare."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from verifiers.lenient import find_answer
from verifiers.maths import words
from verifiers.maths.cleaning import UnreadableError, clean
from verifiers.maths.equality import MAX_ITEMS, Comparison
from verifiers.maths.nodes import Listing, Node, Number, Quantity, Relation, SetOf, Text, symbols
from verifiers.maths.policy import Numerics, Policy
from verifiers.maths.reading import read
from verifiers.maths.real_sets import EmptyIntervalError, NotASetError, describes_a_set, real_set
from verifiers.maths.tokens import MAX_LENGTH
from verifiers.maths.values import NotExactError, NoValueError, TooLargeError, exact

_CHOICE_GOLD = re.compile(r"\(([A-J])\)(?:\s.*)?|([A-J])(?:[.:)]\s.*)?", re.DOTALL)
_DIGITS = re.compile(r"\s*+(-?)\$?(\d{1,3}(?:,\d{3})++|\d{1,300}+)(\.\d{1,300}+)?+\.?\s*+", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[-+]?\s*+\d++,\d++")
_WORDY = re.compile(r"[^\W\d_]{2}")
_MATHEMATICAL = re.compile(r"[=<>^_+*/|\\{}\[\]]")
_ESCAPED_BRACE = re.compile(r"\\\\|\\[{}]")
_PLACEHOLDERS = frozenset(("see solution", "proof", "see proof", "n/a", "null", "nan", "omitted", "see above"))
_CHOICE_TEXT = re.compile(r"\(?[A-Za-z]\)?[.:)]?\s++(.++)", re.DOTALL)
_ANNOUNCED = re.compile(r"\b(?:answer|result)\b[^\n]{0,20}?(?:\bis\b|:|=)", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")


NOT_UNDERSTOOD = "not understood"
"""How the reason begins where an answer cannot be read."""
_CHEAP_BITS = 8000
_LETTERS = re.compile(r"[A-J]{2,6}")
_LETTER_LIST = re.compile(r"\(?[A-Ja-j]\)?(?:(?:\s|,|;|and|&|\(|\))+[A-Ja-j]\)?)+")


class BadGoldError(ValueError):
    """The gold answer cannot be read; the message says why."""


class NeedsNumericsError(Exception):
    """The comparison needs more than exact fractions."""


class CheapNumerics:
    """Refuses: what needs numerics is left to a worker process."""

    def exact(self, node: Node) -> Fraction:
        """Return a value that costs nothing to work out."""
        try:
            return exact(node, bits=_CHEAP_BITS)
        except TooLargeError as error:
            raise NeedsNumericsError from error

    def equal(self, left: Node, right: Node) -> bool:
        """Refuse."""
        raise NeedsNumericsError

    def same_curve(self, left: Node, right: Node) -> bool:
        """Refuse."""
        raise NeedsNumericsError

    def proportional(self, left: Node, right: Node, *, positive: bool = False) -> bool:
        """Refuse."""
        raise NeedsNumericsError

    def rounded(self, node: Node) -> Fraction:
        """Refuse."""
        raise NeedsNumericsError


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold answer, read once."""

    text: str
    node: Node
    choice: str | None
    """The letter, where the answer is a choice from a list."""


@lru_cache(maxsize=8192)
def read_gold(text: str) -> Gold:
    """Return the gold answer `text`.

    Raises:
        BadGoldError: it is empty, or mathematics that cannot be read.
    """
    if not text.strip():
        raise BadGoldError("it is empty")
    text = _final_part(text)
    plain = words.plain(text)
    choice = (match[1] or match[2]) if (match := _CHOICE_GOLD.fullmatch(plain)) else None
    if words.as_date(text):
        return Gold(text, Text(words.normal(text)), None)
    if words.normal(text) in _PLACEHOLDERS:
        raise BadGoldError("it stands for an answer that is not given")
    try:
        node = read(text)
        _check_gold(node, text)
    except UnreadableError as error:
        if choice is None and (not _WORDY.search(plain) or _MATHEMATICAL.search(plain)):
            raise BadGoldError(str(error)) from error
        node = Text(words.normal(text))
    return Gold(text, node, choice)


def _check_gold(node: Node, text: str) -> None:
    """Refuse what can be read and yet is no answer."""
    bare = _ESCAPED_BRACE.sub("", clean(text))
    french = bare.startswith("]") or bare.endswith("[")
    for opening, closing in (("{", "}"), ("([", ")]")):
        if not french and sum(map(bare.count, opening)) != sum(map(bare.count, closing)):
            raise BadGoldError("its brackets do not match")
    cheap = CheapNumerics()
    try:
        if isinstance(node, Relation) and not Comparison(Policy(), cheap).same(node, node):
            raise BadGoldError("it states what is not so")
        if describes_a_set(node):
            real_set(node, cheap.exact)
        cheap.exact(node)
    except NoValueError as error:
        raise BadGoldError(f"it has no value: {error}") from error
    except EmptyIntervalError as error:
        raise BadGoldError(str(error)) from error
    except (NeedsNumericsError, NotExactError, NotASetError, RecursionError):
        return  # nothing is wrong that can be seen at once


def decide(gold: Gold, answer: str, policy: Policy, numerics: Numerics) -> tuple[bool, str]:
    """Return whether `answer` is the gold answer, and the reason in a few words.

    Raises:
        NeedsNumericsError: from `numerics`, where it refuses.
    """
    if _squeezed(answer) == _squeezed(gold.text):
        return True, "written the same"
    if len(answer) > MAX_LENGTH:
        return False, f"longer than {MAX_LENGTH} characters"
    if gold.choice is not None:
        return _same_choice(gold, answer)
    date = words.as_date(gold.text)
    if date is not None:
        return words.as_date(answer) == date, "a date"
    if isinstance(gold.node, Text):
        return words.same(gold.node.words, words.normal(answer)), "compared as words"
    if _LETTERS.fullmatch(gold.text.strip()) and _LETTER_LIST.fullmatch(plain := words.plain(answer)):
        letters = sorted(re.findall(r"\b[A-Ja-j]\b", plain.upper()))
        return letters == sorted(gold.text.strip()), "several choices"
    try:
        node = _read_answer(gold.node, answer)
    except UnreadableError as error:
        return False, f"{NOT_UNDERSTOOD}: {error}"
    try:
        return Comparison(policy, numerics).same(gold.node, node), "compared as mathematics"
    except RecursionError:
        return False, "nested too deeply"


def _same_choice(gold: Gold, answer: str) -> tuple[bool, str]:
    """Compare the letters; the text of the choice, where the gold answer gives it, answers too and must not differ."""
    chosen, text = words.choice(answer), _text_of_choice(gold.text)
    if chosen is None:
        return bool(text) and words.same(text, words.normal(answer)), "no choice"
    other = _text_of_choice(answer)
    return chosen == gold.choice and (not text or not other or words.same(text, other)), f"choice {chosen}"


def _text_of_choice(text: str) -> str:
    match = _CHOICE_TEXT.match(words.plain(text))
    return words.normal(match[1]) if match else ""


def decide_all(gold: Gold, answer: str, rivals: Sequence[str], policy: Policy, numerics: Numerics) -> tuple[bool, str]:
    """Return whether a response that declares `answer` and, before it, `rivals` gives the gold answer.

    Rivals must say the same as the answer, or be the other parts of a gold answer that has several.
    """
    if not rivals and (numeral := _numeral(gold.text)) and (other := _numeral(answer)):
        return numeral == other, "compared as numbers"
    correct, reason = decide(gold, answer, policy, numerics)
    if correct:
        for rival in rivals:
            if not _same_answers(rival, answer, gold, policy, numerics):
                return False, f"several answers: {rival[:40]!a} and {answer[:40]!a}"
    elif rivals and isinstance(gold.node, Listing | SetOf) and len(rivals) < MAX_ITEMS:
        return decide(gold, ", ".join((*rivals, answer)), policy, numerics)
    return correct, reason


def _numeral(text: str) -> str | None:
    """Return a number written in plain digits in its one form, None for anything else: most answers are that simple."""
    match = _DIGITS.fullmatch(text)
    if match is None:
        return None
    sign, whole, places = match.groups()
    number = whole.replace(",", "").lstrip("0") or "0"
    if places and (places := places.rstrip("0")) != ".":
        number += places
    return f"-{number}" if sign and number != "0" else number


def _same_answers(left: str, right: str, gold: Gold, policy: Policy, numerics: Numerics) -> bool:
    if _squeezed(left) == _squeezed(right):
        return True
    if len(left) > MAX_LENGTH or len(right) > MAX_LENGTH:
        return False
    if gold.choice is not None:
        return words.choice(left) == words.choice(right) is not None
    try:
        nodes = _read_answer(gold.node, left), _read_answer(gold.node, right)
    except UnreadableError:
        return words.normal(left) == words.normal(right)
    try:
        return Comparison(policy, numerics).same(*nodes)
    except RecursionError:
        return False


def _read_answer(gold: Node, answer: str) -> Node:
    number = gold.value if isinstance(gold, Quantity) else gold
    if isinstance(number, Number) and _DECIMAL_COMMA.fullmatch(words.plain(answer)) and len(answer) < 100:
        node = read(answer, words_only=True)
        if isinstance(node, Listing):  # 0,5 where one number is asked: a decimal comma
            return read(words.plain(answer).replace(",", "."), words_only=True)
        return node
    return read(answer, words_only=not symbols(gold))


def _final_part(text: str) -> str:
    r"""Return the answer of a gold text that is a whole solution: what is boxed, behind #### or announced."""
    if "\\boxed" in text or "####" in text or _ANNOUNCED.search(text):
        found = find_answer(text)
        return found.text if found.text is not None and not found.rivals else text
    return text


def _squeezed(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()
