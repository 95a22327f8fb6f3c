"""Answers in words: their normal form, and what a few of them mean."""

import re
import unicodedata
from fractions import Fraction

from verifiers.maths.nodes import Constant, NamedSet, Negative, Node, Number, SetOf

_TEXT_COMMAND = re.compile(
    r"\\(?:text(?:bf|rm|it|normal|sf|tt|up|sc)?|mbox|hbox|math(?:rm|bf|it|sf|tt|normal|cal|bb)|boldsymbol|bm|bold|emph"
    r"|underline|operatorname)\s*+\*?"
)
_SPACING = re.compile(r"\\(?:quad|qquad|left|right|displaystyle|textstyle|large|[,;:! ])|[~$*`{}]|\\[()\[\]]")
_EDGES = " \t\r\n.,;:!\"'"
_ARTICLES = frozenset(("the", "a", "an"))
_DROPPED_AT_THE_END = frozenset(("only",))

NEGATIONS = frozenset("not no non never neither nor isn't doesn't don't cannot can't without".split())
VERDICTS = frozenset(
    "wrong incorrect false true right correct invalid contradiction error nope fails fail failed ignore ignored "
    "excluded guess unsure unknown maybe perhaps possibly probably".split()
)
"""Words that judge an answer instead of being part of it."""
CHANGE_MEANING = (
    NEGATIONS
    | VERDICTS
    | frozenset("or and any anything all every each some for where if when unless except but is are from to".split())
    | frozenset("equals equal least most more less greater fewer lower higher than approximately about roughly".split())
    | frozenset("around nearly almost between mod modulo plus minus times negative positive undefined none".split())
    | frozenset("nothing either infinitely answer base point points over under below above upto onwards".split())
    | frozenset("upward downward inclusive exclusive off short inverse reciprocal factorial root power".split())
    | frozenset("percent percentage pct mille bps half halves third quarter quarters".split())
    | frozenset("sin cos tan cot sec csc log ln lg exp sqrt cis pi alpha beta gamma theta phi omega lambda".split())
)
"""Words that say more than what a number counts: behind a number they are no unit."""
_FRACTION_WORD = re.compile(
    r"(?:third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\w+teenth|\w+tieth|hundredth|thousandth"
    r"|millionth|billionth)s?"
)

_SYNONYMS = {
    "dne": "does not exist",
    "doesn't exist": "does not exist",
    "do not exist": "does not exist",
    "not exist": "does not exist",
    "no solutions": "no solution",
    "no real solution": "no solution",
    "no real solutions": "no solution",
    "there is no solution": "no solution",
    "there are no solutions": "no solution",
    "no such number": "no solution",
    "has no solution": "no solution",
    "empty set": "no solution",
    "not defined": "undefined",
    "infinity": "infinity",
    "infinite": "infinity",
    "infinitely many solutions": "infinitely many",
    "infinite solutions": "infinitely many",
    "infinitely many": "infinitely many",
    "all reals": "all real numbers",
    "all real": "all real numbers",
    "real numbers": "all real numbers",
    "every real number": "all real numbers",
    "any real number": "all real numbers",
    "all real numbers x": "all real numbers",
    "all real values": "all real numbers",
    "reals": "all real numbers",
}
_ONES = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * number
    for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_SCALES = {
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
    "lakh": 10**5,
    "crore": 10**7,
    "score": 20,
    "gross": 144,
}
_OTHER_NUMBER_WORDS = frozenset("bn mln mn googol couple zillion myriad".split())
_PARTS = {"half": Fraction(1, 2), "third": Fraction(1, 3), "quarter": Fraction(1, 4), "fourth": Fraction(1, 4)}
_MONTHS = {
    month: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for month in names.split()
}
_ORDINAL = re.compile(r"(?<!\d)(\d{1,9})(?:st|nd|rd|th)\b")
_CHOICE = re.compile(
    r"""(?:(?:the\s+)?(?:option|choice|answer)\s*+)?
        (?: \(\s*+(?P<round>[A-Za-z])\s*+\)(?P<after_round>.*+)
          | (?P<bare>[A-Za-z])\s*+(?:[.:)]|$)(?P<after_bare>.*+) )""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_OTHER_CHOICE = re.compile(r"\b[A-J]\b(?!')")


def plain(text: str) -> str:
    """Return the words of `text` without LaTeX's and markdown's wrapping, one blank between them, case kept."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    text = _SPACING.sub(" ", _TEXT_COMMAND.sub(" ", text))
    return " ".join(text.split()).strip(_EDGES).strip()


def normal(text: str) -> str:
    """Return `text` in the form in which two texts that say the same are equal."""
    words = _ORDINAL.sub(r"\1", plain(text).casefold())
    words = words.removeprefix("(").removesuffix(")") if re.fullmatch(r"\([^()]*\)", words) else words
    pieces = [piece for piece in re.split(r"[\s\-]+", words.strip(_EDGES)) if piece]
    while len(pieces) > 1 and pieces[0] in _ARTICLES:
        pieces.pop(0)
    while len(pieces) > 1 and pieces[-1] in _DROPPED_AT_THE_END:
        pieces.pop()
    words = " ".join(pieces)
    return _SYNONYMS.get(words, words)


def same(gold: str, answer: str) -> bool:
    """Tell whether two answers in words say the same; both in normal form. A plural counts as its singular."""
    if gold == answer:
        return True
    if _yes_or_no(gold) and _yes_or_no(gold) == _leading_yes_or_no(answer):
        return True
    return bool(gold) and _singular(gold) == _singular(answer)


def _yes_or_no(words: str) -> str:
    return words if words in ("yes", "no", "true", "false") else ""


def _leading_yes_or_no(words: str) -> str:
    """Return the "yes" of "yes, it does", unless the opposite is in it too."""
    first, separator, rest = re.match(r"(\w*)([,.;:]?)(.*)", words, re.DOTALL).groups()  # type: ignore[union-attr]
    opposites = {"yes", "no"} | NEGATIONS | VERDICTS
    return first if separator and not opposites & set(re.findall(r"[\w']+", rest)) else ""


def _singular(words: str) -> str:
    if len(words) > 4 and words.endswith("s") and not words.endswith("ss"):
        return words[:-1]
    return words


def as_date(text: str) -> tuple[int, ...] | None:
    """Return (month, day) or (month, day, year) where `text` is a date with the month in letters."""
    if len(text) > 100:
        return None
    pieces = re.findall(r"[^\W\d_]+|\d+", _ORDINAL.sub(r"\1", plain(text).casefold()))
    months = [_MONTHS[piece] for piece in pieces if piece in _MONTHS]
    numbers = [int(piece) for piece in pieces if piece.isdecimal() and len(piece) <= 4]
    others = [
        piece for piece in pieces if not piece.isdecimal() and piece not in _MONTHS and piece not in ("of", "the")
    ]
    if (
        len(months) != 1
        or others
        or not 1 <= len(numbers) <= 2
        or len(months) + len(numbers) != len(pieces) - sum(piece in ("of", "the") for piece in pieces)
    ):
        return None
    days = [number for number in numbers if number <= 31]
    years = [number for number in numbers if number > 31]
    return (months[0], *days, *years)


def choice(text: str) -> str | None:
    """Return the letter that `text` chooses: "C" of "C", "(c)", "C. 12 cm", "option C"; None where it names several."""
    match = _CHOICE.fullmatch(plain(text))
    if match is None:
        return None
    rest = (match["after_round"] if match["round"] else match["after_bare"]) or ""
    if _OTHER_CHOICE.search(rest) or (NEGATIONS | VERDICTS | {"or"}) & set(re.findall(r"[\w']+", rest.lower())):
        return None
    return (match["round"] or match["bare"]).upper()


def meaning(words: str) -> Node | None:
    """Return the mathematics that an answer in words (in normal form) stands for, or None."""
    match words:
        case "infinity" | "positive infinity" | "+infinity" | "inf":
            return Constant("infinity")
        case "negative infinity" | "minus infinity" | "infinity negative":
            return Negative(Constant("infinity"))
        case "all real numbers":
            return NamedSet("R")
        case "no solution":
            return SetOf(())
        case "all integers" | "integers":
            return NamedSet("Z")
        case _:
            return _number(words.split())


def _number(words: list[str]) -> Number | None:
    """Read "forty two", "three hundred", "minus seven", "two thirds"."""
    if not words or len(words) > 8:
        return None
    if words[0] in ("minus", "negative"):
        number = _number(words[1:])
        return Number(-number.value) if number else None
    if words in (["half"], ["one", "half"]):
        return Number(Fraction(1, 2))
    if len(words) == 2 and words[0] in _ONES and _PARTS.get(words[1].removesuffix("s")):
        return Number(_ONES[words[0]] * _PARTS[words[1].removesuffix("s")])
    total = current = 0
    seen = ""
    for word in words:
        if word in _ONES and seen in ("", "tens", "scale") and not (seen == "tens" and not 0 < _ONES[word] < 10):
            current, seen = current + _ONES[word], "ones"
        elif word in _TENS and seen in ("", "scale"):
            current, seen = current + _TENS[word], "tens"
        elif word in _SCALES and seen in ("ones", "tens", "scale"):
            if _SCALES[word] == 100:
                current *= 100
            else:
                total, current = total + current * _SCALES[word], 0
            seen = "scale"
        elif word == "and" and seen == "scale":
            continue
        else:
            return None
    return Number(Fraction(total + current)) if seen else None


def scale(word: str) -> int | None:
    """Return the factor that "million" and its like stand for."""
    return _SCALES.get(word.lower())


def is_number_word(word: str) -> bool:
    """Tell whether a word is a number, a fraction or a scale: behind a number it changes the value."""
    word = word.lower()
    return (
        word in _ONES
        or word in _TENS
        or word.removesuffix("s") in _SCALES
        or word in _OTHER_NUMBER_WORDS
        or _FRACTION_WORD.fullmatch(word) is not None
    )
