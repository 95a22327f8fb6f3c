r"""Find the boxes that a response stands by, written with or without care.

Beside \boxed{...} and \fbox{...} of any nesting these are boxes: \boxed 7, boxed{7}, \\boxed{\\frac{1}{2}} (escaped
twice; given back escaped once), and \boxed{7 without its last brace, up to the end of the line. Boxes that are struck
out, negated, empty or labelled as somebody else's answer are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from verifiers.lenient.box_surroundings import SIGN_BEFORE, Surroundings, formula_around
from verifiers.lenient.doubts import is_denied
from verifiers.lenient.spans import formulas, without_delimiters

MAX_BOXES = 100
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
_ODD_BACKSLASHES = re.compile(r"(?<!\\)\\(?:\\\\)*+(?!\\)")
_ESCAPED_TWICE = re.compile(r"(?<!\\)(?:\\\\)++(?:[A-Za-z]{2}|[{}!,;:%$])")
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
_SUFFIX = re.compile(
    r"""
    \s?\\?% | \s?\^\s?(?:\{\s?\\circ\s?\}|\\circ) | \s?\\degree\b | \u00b0 | _(?:\{\d+\}|\d+)
  | \$?\s?(?:\\text\s?\{\s?)?\s?(?P<multiple>hundred|thousand|million|billion|trillion|dozen)\b(?:\s?\})?
    """,
    re.VERBOSE,
)
_SIMPLE = re.compile(r"[\w.,]+|\\[dt]?frac\{[^{}]*\}\{[^{}]*\}|\\sqrt\{[^{}]*\}")

_STRUCK = re.compile(
    r"""
    (?:(?:\bnot|\bcannot|n't|\bnever)(?:\s(?:be|equal(?:\sto)?|exactly|simply|just|really|actually|necessarily))*
      |\brather\sthan|\binstead\sof|\bneither|\bnor|\\[xb]?cancel\{|\\sout\{|\\neq?|\u2260)
    [\s$(:}]*(?:\\[(\[])?\s*\Z
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
_FORM = re.compile(
    r"""
    (?: (?:\be\.\s?g\.|\bfor\s(?:example|instance)|\bsuch\sas|\blike\s(?:this|so)|\b(?:something|looks?)\slike
      |\b(?:format|form|template|placeholder|example|notation)(?:\s(?:is|like|of|such\sas))? | ^\s*like)
        [\s$`"'(:,.*]*(?:\\[(\[])?\s*
    | \byour\s(?:final\s)?(?:answer|solution|result)\s(?:in|as|inside|within|using|with|like|should)\b[^.\n]*
    | (?:^|\n)\s*%.* | [.;:,]\s+%\s.* )\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DISCARDED = re.compile(
    r"""
    [\s$)\]\\]*+\?
  | [\s$.,:;)\]\\]*+(?:\w{1,6}\s)?(?:can(?:not|'t)\sbe|(?:is|was)n't\s(?:right|correct|the\sanswer|possible|valid))\b
  | [\s$.,:;)\]\\]*+(?:(?:is|was|it|this|that|which|would\sbe|but|\u2014|can(?:not|'t)\sbe)\b\s*+)?(?:also\s)?
    (?:wrong|incorrect|not\s(?:right|correct|the\sanswer|possible|valid)|impossible|invalid|fails|discard|rejected
      |extraneous|does(?:n't|\snot)\s(?:work|fit)|too\s(?:big|large|small|high|low)
      |the\s(?:ground\struth|(?:expected|reference|given)\sanswer))\b
  | [\s`"'$.,:;()\]\\*]*+(?:(?:is|was|as|in|being)\s)?
    (?:(?:the|an?|my|our|this|that|just|only|merely|required|requested|desired|expected|answer|output|sample)\s){0,4}
    (?:format|template|placeholder|example|notation|syntax)\b
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


class _Place(NamedTuple):  # made for every box of a response: a dataclass takes three times as long
    start: int
    end: int
    inside: slice
    opening: str


def stated_boxes(text: str) -> tuple[list[Box], bool]:
    """Return the boxes of `text` that count, in order, and whether any box is empty."""
    places = _outermost(text) if "oxed" in text or "box" in text else []
    stated = []
    previous, any_empty = 0, False
    spans = formulas(text) if places else iter(())
    span = next(spans, None)
    for place in places:
        while span and span[1] <= place.start:
            span = next(spans, None)
        around = span if span and span[0] <= place.start and place.end <= span[1] else None
        box = _box(text, place, around, previous)
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
    sentence = _SENTENCE_END.split(lead)[-1]
    if _STRUCK.search(lead) or _FORM.search(lead) or _NOT_OURS.search(sentence) or is_denied(sentence):
        return False
    return not _DISCARDED.match(text, box.end, box.end + 100)


def _outermost(text: str) -> list[_Place]:
    """Return where the last outermost boxes stand, in the order in which they start."""
    pending: list[re.Match[str] | None] = []
    places: list[_Place] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "{":
            pending.append(None)
        elif token == "}":
            if pending and (opening := pending.pop()):
                places.append(_closed(text, opening, match, places))
        elif token[-1] == "{" and token != "\\{":
            pending.append(match)
        elif token[-1] == "d" and (bare := _UNBRACED.match(text, match.end())):
            places.append(_Place(match.start(), bare.end(), slice(*bare.span(1)), token))
    unclosed = [opening for opening in pending if opening][-MAX_BOXES:]
    places = places[-MAX_BOXES:]
    return sorted([*places, *_unclosed(text, unclosed, places)], key=lambda place: place.start)[-MAX_BOXES:]


def _closed(text: str, opening: re.Match[str], closing: re.Match[str], places: list[_Place]) -> _Place:
    """Return the box between two braces; take those inside it out of `places`."""
    inside = slice(opening.end(), closing.start())
    inner = None
    while places and places[-1].start > opening.start():
        inner = places.pop()  # in the end the first one inside
    if inner and not (text[inside.start : inner.start] + text[inner.end : inside.stop]).strip():
        inside = inner.inside  # a box around a box
    return _Place(opening.start(), closing.end(), inside, opening["box"])


def _unclosed(text: str, openings: list[re.Match[str]], closed: list[_Place]) -> Iterator[_Place]:
    starts = sorted([*(place.start for place in closed), *(opening.start() for opening in openings), len(text)])
    next_start = dict(pairwise(starts))
    for opening in openings:
        line = _TO_LINE_END.match(text, opening.end(), next_start[opening.start()])
        assert line is not None  # it matches nothing at least
        yield _Place(opening.start(), line.end(), slice(opening.end(), line.end()), opening["box"])


def _box(text: str, place: _Place, formula: tuple[int, int] | None, previous_end: int) -> Box:
    content = text[place.inside].strip()
    if place.inside.stop == place.end:  # no closing brace
        content = content.rstrip(".:? ")
        content = content[:-1] if content.endswith(")") and content.count(")") > content.count("(") else content
    content = without_delimiters(_INNER_BOX.sub("", _once_escaped(content, place.opening)))
    visible = _INVISIBLE.sub("", content) if len(content) <= 200 else content
    if not visible or visible.lower() in _PLACEHOLDERS:
        return Box(start=place.start, end=place.end, text="")
    end = place.end
    if suffix := _SUFFIX.match(text, end):
        end = suffix.end()
        content += f" {suffix['multiple']}" if suffix["multiple"] else suffix[0].strip()
    backslashes = len(place.opening) - len(place.opening.lstrip("\\"))
    row_break = backslashes - 1 if backslashes % 2 else 0  # in "\\\boxed"
    around = Surroundings(text, place.start + row_break, end, formula)
    if (whole := formula_around(around, content, previous_end)) is not None:
        return Box(start=place.start, end=end, text=whole)
    if sign := SIGN_BEFORE.search(text, max(0, place.start - 6), place.start):
        content = sign[1] + (content if _SIMPLE.fullmatch(content) else f"{{{content}}}")
    return Box(start=place.start, end=end, text=content)


def _once_escaped(content: str, opening: str) -> str:
    """Return the content of a box with every pair of backslashes made one, where it was escaped twice."""
    backslashes = len(opening) - len(opening.lstrip("\\"))
    doubled = (backslashes and backslashes % 2 == 0) or _ESCAPED_TWICE.search(content)
    return content.replace("\\\\", "\\") if doubled and not _ODD_BACKSLASHES.search(content) else content
