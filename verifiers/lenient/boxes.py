r"""Find the boxes that a response stands by, written with or without care.

Beside \boxed{...} and \fbox{...} of any nesting these are boxes: \boxed 7, boxed{7}, \\boxed{\\frac{1}{2}} (escaped
twice; given back escaped once), and \boxed{7 without its last brace, up to the end of the line. Boxes that are struck
out, negated, empty or labelled as somebody else's answer are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from verifiers.lenient.spans import without_delimiters

MAX_BOXES = 300
"""Of more boxes than these, the last are read: so many of them cost nothing."""

_TOKEN = re.compile(
    r"""
    (?P<box>(?:(?<!\\)\\++[Af]?(?:boxed|box)|(?<![A-Za-z\\])b?oxed(?=\s?\{))(?![A-Za-z]))(?:\s*+(?P<brace>\{))?
  | \\\\ | \\[{}] | [{}]
    """,
    re.VERBOSE,
)
_UNBRACED = re.compile(
    r"""
    \s*+( \([^()\n]{1,50}\) | [-+]?[\d.][^\s$\\{},;]*+ | [A-Z](?![A-Za-z])
        | \\[A-Za-z]++\s?(?:\{[^{}]*\}|\d)?(?:\{[^{}]*\}|\d)? )
    """,
    re.VERBOSE,
)
_TO_LINE_END = re.compile(r"\s*+(?:[^\n$\\]|\\(?![)\]]))*+")
_INNER_BOX = re.compile(r"\\(?:boxed|fbox)\s*+(?=\{)")
_INVISIBLE = re.compile(
    r"""
    \\(?:q?quad|[,;:!\ ]|[hv]space\*?\{[^{}]*\}|[hv]?phantom\{[^{}]*\}|(?:text|mathrm|mbox)(?=\s*+\{\s*+\}))
  | [~{}$\s]
    """,
    re.VERBOSE,
)
_PLACEHOLDERS = frozenset(
    r"? ... _ \_ \ldots \dots \cdots answer youranswer finalanswer theanswer yourfinalanswer".split()
)
_SIGN_BEFORE = re.compile(r"(?:^|[=$(\s])(-|\\pm\s?)\Z")
_SUFFIX = re.compile(r"(?:\s?\\?%|\s?\^\s?(?:\{\s?\\circ\s?\}|\\circ)|\s?\\degree\b|\u00b0|_(?:\{\d+\}|\d+))")

_STRUCK = re.compile(
    r"""
    (?:\bnot|n't(?:\sbe)?|\brather\sthan|\binstead\sof|\bneither|\bnor|\\[xb]?cancel\{|\\sout\{|\\neq?|\u2260)
    [\s$(:]*(?:\\[(\[])?\s*\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NOT_OURS = re.compile(
    r"""
    \b(?:ground[ -]?truth|expected\s*:|previous\s(?:question|problem|exercise)|answer\skey|e\.g\.
      |(?:expected|reference|given|gold(?:en)?|official|textbook|student'?s?)\s(?:answer|solution|output|result)
      |(?:problem|question|grader|exercise|book|hint)\s(?:says|states|claims|gives|suggests|expects))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DISCARDED = re.compile(
    r"""
    [\s$)\]\\]*+\?
  | [\s$.,:;)\]\\]*+(?:(?:is|was|it|this|that|which|would\sbe|but|\u2014|can(?:not|'t)\sbe)\b\s*+)?(?:also\s)?
    (?:wrong|incorrect|not\s(?:right|correct|the\sanswer|possible|valid)|impossible|invalid|fails|discard|rejected
      |extraneous|does(?:n't|\snot)\s(?:work|fit)|too\s(?:big|large|small|high|low)
      |the\s(?:ground\struth|(?:expected|reference|given)\sanswer))\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?]\s|\n\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """A box, or several that form one answer."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    inside: slice
    opening: str


def stated_boxes(text: str) -> tuple[list[Box], bool]:
    """Return the boxes of `text` that count, in order, and whether any box is empty."""
    places = _outermost(text) if "oxed" in text or "box" in text else []
    stated = []
    previous, any_empty = 0, False
    for place in places[-MAX_BOXES:]:
        box = _box(text, place)
        if not box.text:
            any_empty = True
        elif _counts(text, box, text[max(previous, box.start - 120) : box.start]):
            stated.append(box)
        previous = box.end
    return stated, any_empty


def last_sentence(text: str, start: int, end: int) -> str:
    """Return the part of text[start:end] that leads up to its end, of 200 characters at most."""
    return _SENTENCE_END.split(text[max(start, end - 200) : end])[-1]


def _counts(text: str, box: Box, lead: str) -> bool:
    if lead.endswith("~~") and text.startswith("~~", box.end):
        return False
    if _STRUCK.search(lead) or _NOT_OURS.search(_SENTENCE_END.split(lead)[-1]):
        return False
    return not _DISCARDED.match(text, box.end, box.end + 60)


def _outermost(text: str) -> list[_Place]:
    """Return where the outermost boxes stand, in the order in which they start."""
    pending: list[re.Match[str] | None] = []
    places: list[_Place] = []
    for match in _TOKEN.finditer(text):
        if match["box"] and not match["brace"]:
            if match["box"].endswith("boxed") and (bare := _UNBRACED.match(text, match.end())):
                places.append(_Place(match.start(), bare.end(), slice(*bare.span(1)), match["box"]))
        elif match["box"]:
            pending.append(match)
        elif match[0] == "{":
            pending.append(None)
        elif match[0] == "}" and pending and (opening := pending.pop()):
            inside = slice(opening.end(), match.start())
            inner = None
            while places and places[-1].start > opening.start():
                inner = places.pop()  # in the end the first one inside
            if inner and not (text[inside.start : inner.start] + text[inner.end : inside.stop]).strip():
                inside = inner.inside  # a box around a box
            places.append(_Place(opening.start(), match.end(), inside, opening["box"]))
    unclosed = [opening for opening in pending if opening]
    return sorted([*places, *_unclosed(text, unclosed, places)], key=lambda place: place.start)


def _unclosed(text: str, openings: list[re.Match[str]], closed: list[_Place]) -> Iterator[_Place]:
    starts = sorted([*(place.start for place in closed), *(opening.start() for opening in openings), len(text)])
    next_start = dict(pairwise(starts))
    for opening in openings:
        line = _TO_LINE_END.match(text, opening.end(), next_start[opening.start()])
        assert line is not None  # it matches nothing at least
        yield _Place(opening.start(), line.end(), slice(opening.end(), line.end()), opening["box"])


def _box(text: str, place: _Place) -> Box:
    content = text[place.inside].strip()
    if place.inside.stop == place.end:  # no closing brace
        content = content.rstrip(".:? ")
        content = content[:-1] if content.endswith(")") and content.count(")") > content.count("(") else content
    backslashes = len(place.opening) - len(place.opening.lstrip("\\"))
    if backslashes and backslashes % 2 == 0:
        content = _once_escaped(content)
    content = without_delimiters(_INNER_BOX.sub("", content))
    visible = _INVISIBLE.sub("", content) if len(content) <= 200 else content
    if not visible or visible.lower() in _PLACEHOLDERS:
        return Box(start=place.start, end=place.end, text="")
    end = place.end
    if suffix := _SUFFIX.match(text, end):
        content, end = content + suffix[0].strip(), suffix.end()
    if sign := _SIGN_BEFORE.search(text, max(0, place.start - 6), place.start):
        content = sign[1] + content
    return Box(start=place.start, end=end, text=content)


def _once_escaped(content: str) -> str:
    halved = content.replace("\\\\", "\\")
    return halved if content.count("\\") == 2 * halved.count("\\") else content
