r"""Read a number as people and models write it, exactly and in bounded time.

All of the text must be the number: what is left over makes it no number, never a fragment. Read are

    72  -3  +5  007             signs, unicode minus signs and digits
    3.14  .5  1e-3  2.5E6       decimals and scientific notation, also 2.5 \times 10^{6}
    1,234,567  10{,}000         thousands in well-formed groups: comma, LaTeX {,} or thin space
    3/4  \frac{3}{4}  \frac34  1\frac{1}{2}   simple fractions and mixed numbers
    28%  3 million  2 dozen     scales, which change the value
    $5  \$5  5 km/h  72 clips   currencies and units, which do not
    $72$  \text{72}  {72}  **72**  72.        wrappings

A comma in front of anything but three digits ("3,5") is ambiguous and is not read.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from unicodedata import normalize

MAX_LENGTH = 1000
"""Characters; a longer text is not a number."""
MAX_EXPONENT = 1000
"""Powers of ten beyond it are not read: 1e999999999 must cost nothing."""

_SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_CURRENCIES = {"$": "dollar", "\u20ac": "euro", "\u00a3": "pound", "\u00a5": "yen", "\u20b9": "rupee"}

# Words that would change what the number says; behind a number they are no unit.
_NOT_A_UNIT = re.compile(
    r"""
    or|and|nor|not|no|to|but|if|is|plus|minus|times|over|by|negative|approximately|about|roughly|least|most|wrong
    |dozens?|hundreds?|thousands?|millions?|billions?|trillions?|percentage|percent|half|halves|quarters?
    |(?:third|fifth|sixth|seventh|eighth|ninth|tenth|hundredth|thousandth|millionth)s?
    |squared|cubed|factorial|base|mod|modulo|pi|sqrt|root|log|ln|exp|sin|cos|tan|infinity|point
    |zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen
    |(?:twen|thir|for|fif|six|seven|eigh|nine)ty
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ONE_LETTER_UNIT = re.compile(r"[mgshlLa]")
"""Letters that are units rather than unknowns; a: "5 dollars a day"."""
_ATTACHED_UNIT = re.compile(
    r"[mcdk]m|[mk]?g|[mcd][lL]|ft|in|yd|mi|lbs?|oz|hrs?|mins?|secs?|ms|am|pm|mph|kph|\w{4,}", re.ASCII
)
"""Units that may follow without a blank: "5km", while "5xy" is algebra."""

_REPLACEMENTS = (
    ("{,}", ","),
    ("\\!", ""),
    ("\\%", "%"),
    ("\\$", "$"),
    ("US$", "$"),
    ("\\,", "\u2009"),
    ("\\;", " "),
    ("\\:", " "),
    ("\\ ", " "),
    ("~", " "),
    ("\\times", "\u00d7"),
    ("\\cdot", "\u00d7"),
    ("\\degree", " degrees"),
)
_VULGAR_FRACTIONS = [chr(point) for point in (*range(0xBC, 0xBF), *range(0x2150, 0x215F))]
_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d", "-"),
        **dict.fromkeys("\u00a0\u202f\u2007", "\u2009"),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff"),  # zero width: dropped
        **{sign: f" {normalize('NFKC', sign)}".replace("\u2044", "/") for sign in _VULGAR_FRACTIONS},
        "\uff0b": "+",
        "\uff0c": ",",
        "\uff0e": ".",
        "\uff0f": "/",
        "\u2044": "/",
        "\uff05": "%",
        "\uff04": "$",
        "\u00b7": "\u00d7",
        "\u00b0": " degrees",
    }
)
_WRAPPINGS = (
    ("$$", "$$"),
    ("$", "$"),
    ("\\(", "\\)"),
    ("\\[", "\\]"),
    ("**", "**"),
    ("*", "*"),
    ("`", "`"),
    ("{", "}"),
    ("__", "__"),
)
_TEXT = re.compile(
    r"\\(?:text|textbf|textrm|textit|textnormal|boldsymbol|mathrm|mathbf|mbox|operatorname)\s*+\{([^{}]*)\}"
)
_BLANKS = re.compile(r"[ \t\r\n]+")
_CIRCLE = re.compile(r"\^\s*+(?:\\circ|\{\s*\\circ\s*\})")

_INTEGER = r"(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:\u2009\d{3})+|\d+)"
_DECIMAL = rf"(?:{_INTEGER}(?:\.\d+)?|\.\d+)"
_SIGNED = rf"[-+]?\s?{_DECIMAL}"
_TEN_TO_THE = r"10\s?\^\s?"
_WORD = r"[^\W\d_]+(?:\.[^\W\d_]+)*(?:\^\{?[23]\}?|[\u00b2\u00b3])?\.?"

_NUMBER = re.compile(
    rf"""
    (?P<sign>[-+]?)\s?(?P<currency>[$\u20ac\u00a3\u00a5\u20b9]?)\s?(?P<inner_sign>[-+]?)
    (?:
        (?P<plain>{_DECIMAL})
        (?:[eE](?P<exponent>[-+]?\d+)|\s?[\u00d7x*]\s?{_TEN_TO_THE}(?P<times_ten_to>[-+]?\d+|\{{\s?[-+]?\d+\s?\}}))?
      | {_TEN_TO_THE}(?P<ten_to>[-+]?\d+|\{{\s?[-+]?\d+\s?\}})
      | (?:(?P<whole>\d+)\s+)?(?P<over>{_DECIMAL})\s?/\s?(?P<under>{_DECIMAL})
      | (?P<tex_whole>\d+)?\s?\\[cdt]?frac\s?
        (?:\{{\s?(?P<tex_over>{_SIGNED})\s?\}}|\s?(?P<tex_over_digit>\d))\s?
        (?:\{{\s?(?P<tex_under>{_SIGNED})\s?\}}|(?P<tex_under_digit>\d))
    )
    (?:\s?(?P<percent>%|percent\b))?
    (?:\s?(?P<scale>(?i:{"|".join(_SCALES)}))\b)?
    (?:\s?(?P<currency_behind>[$\u20ac\u00a3\u00a5\u20b9]))?
    (?P<unit>(?:\s*{_WORD}(?:(?:\s|\s?/\s?|-){_WORD}){{0,3}})?)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number as it was written."""

    value: Fraction
    """Percent already divided by 100, "3 million" already multiplied."""
    percent: bool = False
    unit: str = ""
    """Unit or currency in lower case and the singular; "" where none was written."""


def parse_number(text: str) -> Fraction | None:
    """Return the exact value of `text`, or None where it is not one number; see the module for what is read."""
    numeral = read_numeral(text)
    return numeral.value if numeral else None


def read_numeral(text: str) -> Numeral | None:
    """Return the number that `text` is, with its unit, or None where it is not one number."""
    if len(text) > MAX_LENGTH:
        return None
    if text.isascii() and text.isdigit():  # most answers; the pattern costs twenty times as much
        return Numeral(Fraction(int(text)))
    match = _NUMBER.fullmatch(_unwrapped(tidy(text)))
    if match is None or (match["sign"] and match["inner_sign"]):
        return None
    unit = _unit(match)
    value = _magnitude(match)
    if unit is None or value is None:
        return None
    if match["scale"]:
        value *= _SCALES[match["scale"].lower()]
    if match["percent"]:
        value /= 100
    if "-" in (match["sign"], match["inner_sign"]):
        value = -value
    return Numeral(value, percent=match["percent"] is not None, unit=unit)


def tidy(text: str) -> str:
    r"""Write LaTeX spacing, \times, \text{...}, degree signs and unicode variants in one way; linear in the length."""
    if text.isascii() and "\\" not in text and "{" not in text and "~" not in text and "US$" not in text:
        return text
    for written, plain in _REPLACEMENTS:
        text = text.replace(written, plain)
    return _CIRCLE.sub(" degrees", _TEXT.sub(r" \1", text.translate(_CHARACTERS)))


def _unwrapped(text: str) -> str:
    """Strip blanks, markdown emphasis, math delimiters and closing punctuation from both ends."""
    before = None
    while text != before:
        before = text
        text = text.strip().rstrip(".,;:").rstrip()  # not "!", which is a factorial
        for start, end in _WRAPPINGS:
            if len(text) > len(start) + len(end) and text.startswith(start) and text.endswith(end):
                text = text[len(start) : -len(end)]
                break
    return _BLANKS.sub(" ", text)


def _magnitude(match: re.Match[str]) -> Fraction | None:
    if match["plain"]:
        return _scaled(_fraction(match["plain"]), match["exponent"] or match["times_ten_to"])
    if match["over"]:
        return _quotient(match["whole"], match["over"], match["under"])
    if match["tex_over"] or match["tex_over_digit"]:
        over, under = match["tex_over"] or match["tex_over_digit"], match["tex_under"] or match["tex_under_digit"]
        return _quotient(match["tex_whole"], over, under)
    return _scaled(Fraction(1), match["ten_to"])


def _scaled(value: Fraction, exponent: str | None) -> Fraction | None:
    if exponent is None:
        return value
    exponent = exponent.strip("{} ")
    if len(exponent) > 6 or abs(int(exponent)) > MAX_EXPONENT:
        return None
    return value * Fraction(10) ** int(exponent)


def _quotient(whole: str | None, over: str, under: str) -> Fraction | None:
    divisor = _fraction(under)
    if divisor == 0:
        return None
    quotient = _fraction(over) / divisor
    if whole is None:
        return quotient
    # A mixed number: "1 1/2". With anything but a proper fraction behind it, it means something else.
    return int(whole) + quotient if 0 < quotient < 1 else None


def _fraction(text: str) -> Fraction:
    return Fraction("".join(character for character in text if character not in ", \u2009"))


def _unit(match: re.Match[str]) -> str | None:
    """Return the unit in its one form, "" for none, None where the words behind the number are no unit."""
    words = re.split(r"[\s/-]+", match["unit"].strip().rstrip(".")) if match["unit"].strip() else []
    attached = bool(words) and not match["unit"][0].isspace()
    for word in words:
        letters = word.rstrip("^{}23.\u00b2\u00b3")
        if _NOT_A_UNIT.fullmatch(letters) or (len(letters) == 1 and not _ONE_LETTER_UNIT.match(letters)):
            return None
        if attached and word is words[0] and not _ATTACHED_UNIT.fullmatch(letters):
            return None
    if words:
        return " ".join(_singular(word.lower()) for word in words)
    return _CURRENCIES.get(match["currency"] or match["currency_behind"] or "", "")


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
