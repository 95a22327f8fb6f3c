r"""Cut the answer out of the sentence that states it: "72, in total, so she sold ..." says 72.

Formulas ($...$, $$...$$, \(...\), \[...\]), brackets and numbers stay whole, and so do lists with "or" and "and": what
is left is the answer as written, or too much, never a fragment. Every function takes time linear in the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from string import punctuation, whitespace

MAX_LENGTH = 5000
"""Characters; what goes on for longer is no answer."""

_DELIMITER = re.compile(r"\$\$?|\\.", re.DOTALL)
_CLOSING = {"$$": "$$", "$": "$", "\\(": "\\)", "\\[": "\\]"}

_AFTER_COMMA = r"""
    in\s+total|in\s+all|altogether|overall|as|so|which|who|because|since|not|rather|instead|thus|hence|therefore|where
    |making|giving|meaning|i\.e|that\s+is|namely|though|although|however|note|but\s+not|this|these|it|we|he|she|they
    |the|there|is|are|and\s+(?:so|we|therefore|thus|hence|he|she|they|not)
"""
_AFTER_BLANK = r"""
    because|since|so|hence|thus|therefore|which|as|but\s+not|and\s+not|rather\s+than|instead\s+of
    |in\s+total|in\s+all|altogether|overall
"""
_PLACE = r"(?:in|on|at|from)\s(?:the|her|his|their|its|my|your|a|each)"
_PURPOSE = (
    r"to\s(?:do|choose|pick|select|arrange|order|place|seat|make|form|get|reach|complete|finish|pay|divide|colou?r)"
)
_REASON = r"(?=[^()\n]{0,200}\b(?:rejected|extraneous|invalid|since|because)\b)"
_OTHER_VALUE = r"(?:mod|or|and|if|alternatively|maybe|perhaps|possibly)"
_STOP = re.compile(
    rf"""
    (?P<open>\\begin\b|\\\{{|[(\[{{]) | (?P<close>\\end\b|\\[\}})\]]|[)\]}}])
  | (?P<line>\n)
  | (?P<sentence>(?<!\.)[.!?](?=["'\u201d\u2019*_`)\]]*+(?:\s|$)) | [\u3002\uff01\uff1f\u0964\uff1b])
  | [,;\uff0c]\s*+(?=(?:{_AFTER_COMMA})\b)
  | (?<!\sor)\s(?=(?:{_AFTER_BLANK})\b)
  | \s(?=(?:left|remaining|{_PLACE}|{_PURPOSE})\b[^\d$\\=\n]{{0,80}}(?:[.!\n]|$))
  | \s(?=(?:[\u2014\u2013]|--?)\s[^\W\d_]{{2}})
  | \s(?=\((?!{_OTHER_VALUE}\b)(?:[^\W\d_]{{2}}|i\.e|{_REASON})[^()\n]{{0,200}}\)\s*(?:[.,;!\n]|$))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ABBREVIATED = re.compile(
    r"(?:\b(?:sq|cu|ft|in|yd|mi|lb|oz|hr|min|sec|approx|no|mr|mrs|ms|dr|st|vs)|\b[ap]\.m)\Z", re.IGNORECASE
)
_HOURS = re.compile(r"\b[ap]\.m\Z", re.IGNORECASE)
_LIST_GOES_ON = re.compile(r"(?:[,=+&]|\b(?:and|or)|\\\\)[ \t]*\Z")
_LIST_CONTINUED = re.compile(r"\s*+(?:(?:and|or)\b|=)", re.IGNORECASE)

_BEFORE = re.compile(
    r"(?:[\s:=*#},\uff1a\uff0c]|(?<=\n)>)*+(?:__?\s++)?(?:(?:as\s+follows|given\s+by|the\s+following)\b[\s:*]*+)?",
    re.IGNORECASE,
)
_LISTED = re.compile(r"(?:[-*\u2022]|(?P<number>\d{1,2})[.)])[ \t]+(?=\S)")
_AROUND = " \t\r\n*`\u201c\u201d\u300c\u300d"
_FILLER = re.compile(
    r"""
    (?:therefore|thus|hence|so|then|finally|indeed|simply|just|exactly|precisely|clearly|only
    |equal\s+to|found\s+to\s+be|option|choice|the\s+(?:number|value|integer|fraction|letter)|the|now)\b[\s,:]*+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CJK_WORDS = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]{1,12}+\s*+(?=[-(\\$\d])")
_COPULA_BEHIND = re.compile(  # Hindi, Japanese and Korean put "is" last
    r"\s*(?:\u0939\u0948\u0902?|\u3067\u3059|\u3067\u3042\u308b|\uc785\ub2c8\ub2e4|\uc774\ub2e4)\Z"
)
_YES_OR_NO = re.compile(r"(yes|no|true|false)\s*[,;:.\u2014](?![^\n]*\d)", re.IGNORECASE)
_COMMAND = re.compile(r"\\[A-Za-z]+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_MATHS = re.compile(r"[\d\\$=^]")
_NO_ANSWERS = frozenset(
    (
        "not sure|unsure|unknown|unclear|no answer|no idea|done|correct|right|verified|confirmed|clear|obvious|above"
        "|below|given|wrong|incorrect|as above|ok|okay|sorry|the|so|an|we|here|this|that|it|yours|let me|let's see"
        "|found|not clear|not known|thought process|reasoning|solution|answer|final answer|the answer|explanation"
    ).split("|")
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """An answer cut out of a text."""

    text: str
    end: int
    """Where in the text it ends."""
    asked: bool = False
    """Whether a question mark ends it."""


def formulas(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield where formulas between math delimiters start and end; a lone $ is a currency."""
    end = len(text) if end is None else end
    absent: set[str] = set()  # searched once: "\( " repeated must not cost its square
    while opening := _DELIMITER.search(text, start, end):
        start = opening.end()
        closing = _CLOSING.get(opening[0])
        if closing is None or closing in absent:
            continue
        close = text.find(closing, start, end)
        while close > 0 and closing == "$" and text[close - 1] == "\\":
            close = text.find(closing, close + 1, end)
        if close < 0:
            absent.add(closing)
        elif closing != "$" or text[start].isspace() or not text[close - 1].isspace():
            start = close + len(closing)
            yield opening.start(), start


def without_delimiters(text: str) -> str:
    """Return the inside of a text that is one formula between math delimiters, any other text as it is."""
    if next(formulas(text), None) != (0, len(text)):
        return text
    width = 1 if text[0] == "$" and text[1] != "$" else 2
    return text[width:-width].strip()


def outside_formulas(text: str) -> str:
    """Return `text` without its formulas."""
    parts = []
    position = 0
    for start, end in formulas(text):
        parts.append(text[position:start])
        position = end
    return "".join([*parts, text[position:]])


def read_span(text: str, start: int = 0, end: int | None = None) -> Span:
    """Return the answer that stands at `start`, or on the next lines where nothing does; "" for one without end."""
    end = len(text) if end is None else end
    before = _BEFORE.match(text, start, end)
    assert before is not None  # it matches nothing at least
    start = before.end()
    reach = min(end, start + MAX_LENGTH)
    span = (_listed(text, start, reach) if "\n" in before[0] else None) or _inline(text, start, reach)
    return Span(text="", end=reach) if span.end == reach < end else span


def _inline(text: str, start: int, end: int) -> Span:
    stop = _stop(text, start, end)
    mark = text[stop : stop + 1]
    hours = mark == "." and _HOURS.search(text, start, stop)
    return Span(text=clean(text[start : stop + bool(hours)]), end=stop, asked=mark in ("?", "\uff1f"))


def _listed(text: str, start: int, end: int) -> Span | None:
    """Return the lines of a list, "- a" or "1. a", joined by commas; a lone "- 3" is a negative number."""
    items = []
    numbered = False
    while item := _LISTED.match(text, start, end):
        numbered = item["number"] == str(len(items) + 1)
        if item["number"] and not numbered:
            break
        stop = text.find("\n", item.end(), end)
        stop = end if stop < 0 else stop
        items.append(clean(text[item.end() : stop]))
        start = min(stop + 1, end)
    return Span(text=", ".join(items), end=start) if items and (numbered or len(items) > 1) else None


def _stop(text: str, start: int, end: int) -> int:
    """Return where the answer at `start` ends; where a bracket stays open, none means anything."""
    spans = formulas(text, start, end)
    span = next(spans, None)
    depth = 0
    unbracketed = None
    for match in _STOP.finditer(text, start, end):
        while span and span[1] <= match.start():
            span = next(spans, None)
        if span and span[0] <= match.start():
            continue
        if match["open"] or (match["close"] and not depth and match.start() == start):  # ]0, 5[
            depth += 1
        elif match["close"] and depth:
            depth -= 1
        elif (depth and unbracketed is not None) or _goes_on(text, match, end):
            continue
        elif depth:
            unbracketed = match.start()
        else:
            return match.start()
    return unbracketed if depth and unbracketed is not None else end


def _goes_on(text: str, match: re.Match[str], end: int) -> bool:
    start = match.start()
    if match["line"]:
        unfinished = _LIST_GOES_ON.search(text, max(0, start - 6), start)
        return bool(unfinished or _LIST_CONTINUED.match(text, match.end(), end))
    if match[0] == "!":
        return not text[max(0, start - 2) : start].isalpha()  # 6! and n! are factorials
    following = text[match.end() : min(match.end() + 2, end)].strip()
    if match[0] != "." or not following or following.isupper():
        return False
    return bool(_ABBREVIATED.search(text, max(0, start - 8), start))


def clean(span: str) -> str:
    """Strip what does not belong to an answer from both ends: emphasis, quotes, fillers, math delimiters, stops."""
    for _ in range(6):  # wrappings in wrappings; more of them is no answer
        span = span.strip(_AROUND).rstrip(",;:\uff1a\uff0c")
        if span[:1] in ("'", '"'):
            span = span[1:].removesuffix(span[0])
        if span.endswith(".") and not span.endswith((".m.", "...")):
            span = span[:-1]
        span = _COPULA_BEHIND.sub("", without_delimiters(span))
        for words in (_FILLER, _CJK_WORDS):
            found = words.match(span)
            if found and found.end() < len(span):
                span = span[found.end() :]
    answer = _YES_OR_NO.match(span)
    return answer[1] if answer else span.strip()


def has_maths(span: str) -> bool:
    """Whether a span is more than words: has a digit, a formula or a command."""
    return bool(_MATHS.search(span))


def is_answer(span: str) -> bool:
    """Whether a span has few enough words to be an answer rather than prose."""
    words = _WORD.findall(_COMMAND.sub(" ", outside_formulas(span)))
    if not span.strip(punctuation + whitespace):
        return False
    return len(words) <= 8 if has_maths(span) else len(words) <= 4 and span.lower() not in _NO_ANSWERS
