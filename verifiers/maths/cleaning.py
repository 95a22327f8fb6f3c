r"""Write an answer in one way before it is read: unicode as LaTeX, delimiters, sizes and spacing commands gone.

Linear in the length. Nothing is evaluated and nothing that carries meaning is dropped.
"""

import re
import unicodedata

_GREEK = dict(
    zip(
        "\u03b1\u03b2\u03b3\u03b4\u03b5\u03b6\u03b7\u03b8\u03ba\u03bb\u03bc\u03bd\u03be\u03c0\u03c1\u03c3\u03c4\u03c6\u03c7\u03c8\u03c9"
        "\u0394\u0393\u039b\u03a6\u03a8\u03a9\u03c6\u03d5\u03f5",
        (
            "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega "
            "Delta Gamma Lambda Phi Psi Omega phi phi epsilon"
        ).split(),
        strict=True,
    )
)
_OPERATORS = {
    "\u00d7": "times", "\u2715": "times", "\u2a2f": "times", "\u00b7": "cdot", "\u22c5": "cdot", "\u2219": "cdot",
    "\u00f7": "div", "\u2264": "le", "\u2a7d": "le", "\u2266": "le", "\u2265": "ge", "\u2a7e": "ge", "\u2267": "ge",
    "\u2260": "ne", "\u2248": "approx", "\u2245": "approx", "\u2243": "approx", "\u00b1": "pm", "\u2213": "mp",
    "\u222a": "cup", "\u2229": "cap", "\u2208": "in", "\u2216": "setminus", "\u2205": "emptyset", "\u2300": "emptyset",
    "\u221e": "infty", "\u2192": "to", "\u21d2": "implies", "\u2261": "equiv", "\u2211": "sum", "\u220f": "prod",
    "\u222b": "int", "\u2220": "angle", "\u25b3": "triangle", "\u2223": "mid", "\u2223\u2223": "parallel",
    "\u2227": "wedge", "\u2228": "vee", "\u2236": "ratio", "\u2212": "minus", "\u2026": "ldots", "\u22ef": "cdots",
    "\u230a": "lfloor", "\u230b": "rfloor", "\u2308": "lceil", "\u2309": "rceil", "\u27e8": "langle",
    "\u27e9": "rangle", "\u2102": "mathbb{C}", "\u211d": "mathbb{R}", "\u2115": "mathbb{N}", "\u2124": "mathbb{Z}",
    "\u211a": "mathbb{Q}", "\u2202": "partial", "\u2135": "aleph", "\u212f": "mathrm{e}", "\u2147": "mathrm{e}",
    "\u2148": "mathrm{i}", "\u22a5": "perp", "\u2225": "parallel", "\u2218": "circ",
}  # fmt: skip
_SUPERSCRIPTS = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b\u207d\u207e\u207f\u2071\u02e3"
_SUPERSCRIPT_PLAIN = "0123456789+-()nix"
_SUBSCRIPTS = "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089\u208a\u208b\u208d\u208e\u2099\u2093"
_SUBSCRIPT_PLAIN = "0123456789+-()nx"
_TO_PLAIN = str.maketrans(_SUPERSCRIPTS + _SUBSCRIPTS, _SUPERSCRIPT_PLAIN + _SUBSCRIPT_PLAIN)

FULL_ROOT = "\\fullroot"
"""What the root sign becomes: unlike LaTeX's \\sqrt it takes the whole number behind it."""
GROUP_SPACE = "\u2009"
"""What blanks that may group digits become."""

_CHARACTERS = str.maketrans(
    {
        **{sign: f" \\{name} " for sign, name in _GREEK.items()},
        **{sign: f" \\{name} " for sign, name in _OPERATORS.items() if len(sign) == 1},
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-"),
        **dict.fromkeys("\u00a0\u202f\u2007\u2009\u2008\u2005\u2006", GROUP_SPACE),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u2061\u2062"),  # invisible: dropped
        **dict.fromkeys("\u2032\u2019\u02b9\u2018", "'"),
        **dict.fromkeys("\u201c\u201d\u2033", '"'),
        "\u221a": FULL_ROOT + " ",
        "\u221b": "\\sqrt[3] ",
        "\u221c": "\\sqrt[4] ",
        "\u2044": "/",
        "\u2215": "/",
        "\u00b0": "^{\\circ}",
        "\u2103": "^{\\circ} \\text{C}",
        "\u2109": "^{\\circ} \\text{F}",
        "\u3001": ",",
        "\uff0c": ",",
        "\u066b": ".",
        "\u066c": ",",
        "\u3002": ".",
        "\uff1b": ";",
        "\u2460": "1",
        "\u22c6": "*",
        "\u2217": "*",
        "\u00bf": None,
    }
)
_VULGAR = re.compile("[\u00bc-\u00be\u2150-\u215e\u2189]")
_SUPERSCRIPT_RUN = re.compile(f"[{_SUPERSCRIPTS}]++")
_SUBSCRIPT_RUN = re.compile(f"[{_SUBSCRIPTS}]++")
_HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\x00]")
"""Characters that reorder what is seen, and NUL."""

_SIZES = re.compile(
    r"\\(?:[bB]ig{1,2}[lrm]?|[bB]igg[lrm]?)(?![A-Za-z])"
    r"|\\(?:left|right|middle)(?![A-Za-z])(?:\s*+\.(?!\d))?"
    r"|\\(?:displaystyle|textstyle|scriptstyle|limits|nolimits|large|Large|LARGE|huge|small|normalsize|tiny|bf|rm|it"
    r"|boldmath|bfseries|mathstrut|strut|nonumber|notag|centering)(?![A-Za-z])"
    r"|\\(?:color|textcolor|phantom|hphantom|vphantom|hspace|vspace|label|tag)\*?\s*+\{[^{}]*\}"
)
_THIN = re.compile(r"(?<!\\)\\,|\\thinspace(?![A-Za-z])|~")
_NEGATIVE_THIN = re.compile(r"(?<!\\)\\!|\\allowbreak(?![A-Za-z])|(?<!\\)\\/")
_GROUP_COMMA = re.compile(r"(?<=\d)(?:\{,\}|,\\!)\s*+(?=\d{3})")
_WIDE = re.compile(r"(?<!\\)\\[;: >]|\\(?:quad|qquad|enspace|enskip|space|medspace|thickspace|hfill)(?![A-Za-z])")
_DELIMITERS = re.compile(r"(?<!\\)\$|(?<!\\)\\[()]|(?<!\\)\\\[|(?<!\\)\\\](?!\s*+[a-z0-9])")
_EATEN = {"\x0c": "\\f", "\x08": "\\b", "\x0b": "\\v", "\x07": "\\a"}
"""What a language makes of backslash and letter, undone: a form feed before "rac" was \\frac."""
_DOUBLED = re.compile(r"\\\\(?=[A-Za-z])")
_SHOWN_PERIOD = re.compile(r"(\.\d{0,20}?)(\d{1,12}?)\2{2,20}\d{0,2}\s*(?:\.\.\.|\\(?:l|c)?dots(?![A-Za-z]))")
"""0.444...: a period shown three times and the dots."""
_MEASURE = re.compile(r"(?<![A-Za-z])m\s*(?=\\angle)")
_COMBINATIONS = re.compile(
    r"(?:\{\s*\})?\s*[\^_]\s*\{?\s*(\d{1,4})\s*\}?\s*C\s*_\s*\{?\s*(\d{1,4})\s*\}?"
    r"|(?<![A-Za-z])C\s*(?:\^\s*\{?\s*(\d{1,4})\s*\}?\s*_\s*\{?\s*(\d{1,4})\s*\}?)"
    r"|(?<![A-Za-z])C\s*_\s*\{?\s*(\d{1,4})\s*\}?\s*\^\s*\{?\s*(\d{1,4})\s*\}?"
)
"""{}^{12}C_3, C_{12}^3 and C^3_{12}: of twelve, three."""
_MINUS_WORD = re.compile(r"^(?:minus|negative)\s+(?=[\d\\.])", re.IGNORECASE)
_MARKDOWN = re.compile(r"\*\*|(?<!\w)__|__(?!\w)|`")


class UnreadableError(ValueError):
    """The text is not mathematics that can be read; the message says why."""


def clean(text: str) -> str:
    """Return `text` in the one way the tokeniser knows.

    Raises:
        UnreadableError: it holds characters that make what is seen differ from what is stored.
    """
    if _HIDDEN.search(text):
        raise UnreadableError("it holds control characters")
    if not text.isascii():
        text = _ascii_mathematics(text)
    for eaten, written in _EATEN.items():
        text = text.replace(eaten, written)
    if "\\\\" in text and "\\begin" not in text:
        text = _DOUBLED.sub(lambda _: "\\", text)
    if "**" in text or "`" in text or "__" in text:
        text = _MARKDOWN.sub(" ", text) if _is_emphasis(text) else text
    text = text.replace("\\$", " \\dollar ").replace("US$", " \\dollar ")
    if "\\" in text or "{" in text or "$" in text or "~" in text:
        text = _GROUP_COMMA.sub(",", text)
        text = _NEGATIVE_THIN.sub("", text)
        text = _GROUP_COMMA.sub(",", _THIN.sub(GROUP_SPACE, text))
        text = _SIZES.sub(" ", _WIDE.sub(" ", text))
        text = _DELIMITERS.sub(" ", text)
    text = _SHOWN_PERIOD.sub(r"\1\\overline{\2}", text)
    if "..." in text:
        text = text.replace("...", "\\ldots ")
    if "\\angle" in text:
        text = _MEASURE.sub("", text)
    if "C" in text:
        text = _COMBINATIONS.sub(
            lambda match: f"\\binom{{{match[1] or match[4] or match[5]}}}{{{match[2] or match[3] or match[6]}}}", text
        )
    return _MINUS_WORD.sub("-", text.strip())


def _is_emphasis(text: str) -> bool:
    """Tell markdown from Python's power: 2**10 keeps its stars."""
    return not re.search(r"[\w)]\s*+\*\*\s*+[\w(-]", text)


def _ascii_mathematics(text: str) -> str:
    text = _VULGAR.sub(lambda match: _vulgar_fraction(match[0]), text)
    text = _SUPERSCRIPT_RUN.sub(lambda match: "^{" + match[0].translate(_TO_PLAIN) + "}", text)
    text = _SUBSCRIPT_RUN.sub(lambda match: "_{" + match[0].translate(_TO_PLAIN) + "}", text)
    text = unicodedata.normalize("NFKC", text.translate(_CHARACTERS)).translate(_CHARACTERS)
    if text.isascii():
        return text
    return "".join(_digit(character) if not character.isascii() else character for character in text)


def _vulgar_fraction(sign: str) -> str:
    top, _, bottom = unicodedata.normalize("NFKC", sign).partition("\u2044")
    return f"\\frac{{{top}}}{{{bottom}}}"


def _digit(character: str) -> str:
    value = unicodedata.decimal(character, None)
    return character if value is None else str(value)
