"""Answers near a gold answer: those that surely equal it, and those that surely do not.

An answer of which neither is sure is left out: an audit that asks for a wrong verdict is worth nothing.
"""

import random
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from verifiers.numerals import Numeral, read_numeral

ABSURD = "73919.0625"
"""Stands in where nothing nearer is surely wrong; no gold expression or text has this value."""

_PLAIN_INTEGER = re.compile(r"\d{1,300}")
_WORDS = re.compile(r"[A-Za-z][A-Za-z .'-]*")
_TEXT_COMMAND = re.compile(r"\\(?:text|textbf|textit|mathrm|mbox)\s*\{([^{}]*)\}")
_AMBIGUOUS = {
    *("yes", "no", "true", "false", "correct", "incorrect", "right", "wrong", "always", "never"),
    *("none", "nothing", "empty", "undefined", "infinity", "infinite"),
}
"""Words with synonyms among each other."""
# Neither an exponent nor an index nor 0 or 1: a changed exponent of 1, or factor of 0, may change nothing.
_FACTOR_DIGIT = re.compile(r"(?<![\^_\d.\\])(?<![\^_]\{)(?<![\^_]\{-)(?<![\^_]-)[2-9](?!\d)")
_LIST = re.compile(r"(?P<open>[(\[]?)(?P<inside>[^()\[\]]+)(?P<close>[)\]]?)")


def same_number(numeral: Numeral, other: Numeral) -> bool:
    """Tell whether two numbers may be meant to be the same, a per cent sign forgotten on either side included."""
    return other.value in (numeral.value, 100 * numeral.value, numeral.value / 100)


def surely_differs(answer: str, gold: str) -> bool:
    """Tell whether `answer` is wrong by any convention: another number, or another word that is no form of the gold."""
    numeral, gold_numeral = read_numeral(answer), read_numeral(gold)
    if numeral is not None and gold_numeral is not None:
        convertible = numeral.unit and gold_numeral.unit and numeral.unit != gold_numeral.unit
        return not (convertible or same_number(numeral, gold_numeral) or _may_be_rounded(numeral, gold_numeral))
    word, gold_word = word_of(answer), word_of(gold)
    if word is None or gold_word is None or _AMBIGUOUS & {*word.split(), *gold_word.split()}:
        return False
    if (len(word) == 1) is not (len(gold_word) == 1):  # the label of a choice and, perhaps, its text
        return False
    if sorted(word) == sorted(gold_word):  # a product: ab = ba
        return False
    return not (word.startswith(gold_word) or gold_word.startswith(word))


def _may_be_rounded(numeral: Numeral, gold: Numeral) -> bool:
    """Integers are exact; of other numbers the first three digits are, to any taste."""
    if gold.value.denominator == 1 and numeral.value.denominator == 1:
        return False
    return abs(numeral.value - gold.value) < abs(gold.value) / 1000


def word_of(text: str) -> str | None:
    """Return a text that consists of words, without wrappings and in lower case; None for any other."""
    plain = _TEXT_COMMAND.sub(r"\1", text).strip().strip("()$. ")
    return " ".join(plain.casefold().split()) if _WORDS.fullmatch(plain) else None


def integer_of(gold: str) -> int | None:
    """Return the gold answer if it is a plain integer that is not negative, and nothing around it."""
    return int(gold) if _PLAIN_INTEGER.fullmatch(gold) and str(int(gold)) == gold else None


def other_styles(gold: str) -> list[str]:
    """Return other ways to write a gold number that has neither unit nor per cent sign."""
    numeral = read_numeral(gold)
    if numeral is None or numeral.percent or numeral.unit:
        return []
    value = numeral.value
    if value.denominator == 1:
        styles = [f"{value.numerator}.0", f"{value.numerator}"]
        styles += [f"{value.numerator:,}"] if abs(value) >= 1000 else []
    else:
        styles = [f"{value.numerator}/{value.denominator}"]
        decimal = _written(value)
        styles += [] if "/" in decimal else [decimal, f"{decimal}0"]
    return [style for style in styles if style != gold and len(style) <= 30]


def near_misses(gold: str, rng: random.Random) -> list[str]:
    """Return answers that look like the gold answer and are wrong."""
    numeral = read_numeral(gold)
    if numeral is not None:
        return _unequal_numbers(gold, numeral, rng)
    letter = word_of(gold)
    if letter is not None and len(letter) == 1:
        return rng.sample(sorted({*"ABCDE"} - {letter.upper()}), 2)
    return [*_changed_lists(gold, rng), *_changed_digits(gold, rng)]


def _unequal_numbers(gold: str, numeral: Numeral, rng: random.Random) -> list[str]:
    shown = numeral.value * 100 if numeral.percent else numeral.value
    text = _written(shown)
    candidates = [_written(value) for value in (shown + 1, shown - 1, -shown, shown * 10, shown / 10)]
    digits = [place for place, character in enumerate(text) if character.isdigit()]
    place = rng.choice(digits)
    candidates.append(text[:place] + rng.choice("123456789") + text[place + 1 :])
    if len(digits) > 1 and text.isdigit():
        candidates += [text[:-1], text[1:], text[:-2] + text[-1] + text[-2]]
    candidates = [candidate for candidate in candidates if len(candidate) <= 300]
    return [candidate for candidate in dict.fromkeys(candidates) if surely_differs(candidate, gold)]


def _changed_lists(gold: str, rng: random.Random) -> Iterator[str]:
    """Yield a list of numbers with an element changed, dropped and added."""
    match = _LIST.fullmatch(gold)
    elements = [element.strip() for element in match["inside"].split(",")] if match else []
    numerals = [read_numeral(element) for element in elements]
    values = [numeral.value for numeral in numerals if numeral is not None]
    if match is None or len(elements) < 2 or len(values) < len(elements) or len(set(values)) < len(values):
        return
    place = rng.randrange(len(elements))
    new = _written(max(values) + 1)
    for changed in (
        [*elements[:place], new, *elements[place + 1 :]],
        [*elements[:place], *elements[place + 1 :]],
        [*elements, new],
    ):
        yield f"{match['open']}{', '.join(changed)}{match['close']}"


def _changed_digits(gold: str, rng: random.Random) -> Iterator[str]:
    places = [match.start() for match in _FACTOR_DIGIT.finditer(gold)]
    if places:
        place = rng.choice(places)
        digit = int(gold[place])
        yield gold[:place] + str(digit + 1 if digit < 9 else 8) + gold[place + 1 :]


def foreign_golds(gold: str, others: Sequence[str]) -> list[str]:
    """Return those of the other problems' gold answers that are surely wrong here."""
    return [other for other in dict.fromkeys(others) if surely_differs(other, gold)]


def _written(value: Fraction) -> str:
    """Write a number exactly: an integer, a decimal where it ends, else a fraction."""
    twos_and_fives = value.denominator
    for factor in (2, 5):
        while twos_and_fives % factor == 0:
            twos_and_fives //= factor
    if value.denominator == 1 or twos_and_fives != 1:
        return str(value)
    places = 1
    while (value * 10**places).denominator != 1:
        places += 1
    sign, digits = "-" if value < 0 else "", str(abs(value * 10**places).numerator).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}"
