r"""Tell what stands around a box: whether a factor, an operator or a function makes the answer another one.

\boxed{5}\pi, 2\boxed{5}, \sqrt{\boxed{5}}, \boxed{5}!, x > \boxed{5} and (\boxed{5}, 6) do not say 5: the formula
around the box is the answer. x = \boxed{5}, {\Large\boxed{5}}, (\boxed{5}), \boxed{5}\text{ cm} and words say 5. Inside
a formula whatever is not known to be harmless changes the answer; among words only what is glued to the box does.
"""

import re
from dataclasses import dataclass

REACH = 200
"""Characters on either side of a box that are looked at."""
MAX_FORMULA = 2000
"""Characters; a longer formula around a box is no answer."""

_CONJUNCTIONS = r"""
    (?: [\s$,;&\u3001\uff0c\u548c\u6216\u53ca] | \\[()\[\],;!:\\] | \\q?quad\b | \\text\{\s*(?:and|or)\s*\}
      | (?<![a-z])(?:and|or|und|et|y|o|ou|oder)(?![a-z]) )*+
"""
_UNKNOWN = r"\\?[A-Za-z]+(?:_\w|_\{\w+\})?"
JOINT = re.compile(rf"{_CONJUNCTIONS}(?P<unknown>{_UNKNOWN})?(?P<equals>\s*+&?=\s*+)?", re.VERBOSE)
"""What may stand between two boxes that are one answer together."""
UNKNOWN_BEFORE = re.compile(rf"(?:^|[\s$(\[{{,;&])({_UNKNOWN})\s?&?=\s?\Z")
"""The x of "$x = \\boxed{5}$"."""

_JOINED = rf"(?:{_CONJUNCTIONS}(?:(?:{_UNKNOWN})?\s*+&?=\s*+)?|[\s$]*/[\s$]*)"
_JOINED_BEFORE = re.compile(_JOINED, re.VERBOSE)
_BOX = r"\\{0,2}(?:[Af]?boxed|[fb]box|oxed)\b"
_NEXT_BOX = re.compile(_JOINED + _BOX, re.VERBOSE)
_OPEN_BOX = re.compile(r"\\+(?:[Af]?boxed|fbox)\s*+(?=[{\\\d])")
_NUMBER = re.compile(r"\d[\d.,]*")

SIGN_BEFORE = re.compile(r"(?:^|[=$(\s&:])(-|\\pm\s?)\$?\Z")

_STYLE = r"displaystyle|textstyle|large|Large|LARGE|huge|Huge|bf|bfseries|it|rm|centering|noindent|hfill|bigl?|Bigl?"
_BLANK = r"[\s~\x00-\x1f\u200b-\u200f\u2060\ufeff\ud800-\udfff\u2500-\u27bf\U0001f300-\U0001faff]"  # and ornaments
_WRAPPING = re.compile(
    r"\\(?:(?:math|text)(?:bf|rm|it|sf|tt|normal)?|emph|bm|boldsymbol|underline|centerline|large|Large|mbox"
    r"|(?:text)?color\s?\{[^{}]*\})\s*\Z"
)
_IDLE_BEFORE = re.compile(
    rf"(?:{_BLANK}|(?<!\\)\\[,;:!]?|</?\w[^<>]{{0,30}}>|\\(?:{_STYLE})(?![A-Za-z])|\\left\.|\\hspace\*?\{{[^{{}}]*\}})\Z"
)
_IDLE_AFTER = re.compile(
    rf"(?:{_BLANK}|(?<!\\)\\[,;:!\s]|</?\w[^<>]{{0,30}}>|\\(?:{_STYLE})(?![A-Za-z])|\\right\.|\\hspace\*?\{{[^{{}}]*\}})++"
)
_PAIRS = (("\\left(", "\\right)"), ("(", ")"), ("**", "**"), ("*", "*"), ("_", "_"), ("`", "`"), ('"', '"'), ("'", "'"))

_IN_WORDS = r"(?:or|and|times|plus|minus|over|than|least|most|about|not|of|to|hundred|thousand|million|billion|dozen)"
_ARROW = r"[A-Za-z]*arrow|implies|iff|to|therefore|because"
_HARMLESS_BEFORE = re.compile(
    rf"""
    (?: (?<![!<>])= | & | : | \\[\\$\[(] | \$ | \\\\\[[\w.]+\] | (?<!\d)[.;] | [.;]\s+
      | [\u2192\u21d2\u2234\u3001-\u30ff\u4e00-\u9fff\uff0c\uff1a]
      | \\(?:{_ARROW}|equiv|in|approx|simeq|coloneqq|triangleq|doteq|q?quad)
      | \\(?:text\w*|mbox|mathrm)\s?\{{(?![^{{}}]*\b{_IN_WORDS}\s*\}})[^{{}}]*\}}
      | \\(?:tag|label|begin)\*?\{{[^{{}}]*\}}(?:\{{[\w|@{{}}\\ ]*\}}|\[\w\])?
      | \\(?:text\w*|mbox)\s?\{{(?:[^{{}}]*[^{{}}A-Za-z])?(?!{_IN_WORDS}\s*\Z)[A-Za-z]*\s*
    )\s*\Z
    """,
    re.VERBOSE,
)
_VALUE = r"\s*[-+]?\s*(?:\d|\\[dt]?frac|\\sqrt|\\pi)"
_HARMLESS_AFTER = re.compile(
    rf"""
    \Z | \.(?!\d) | [;?] | :(?!\s*[\d\\]) | ,(?!{_VALUE}) | \\\\ | & | \$ | \\[)\]] | [\uff0c\u3002]
  | \\(?:{_ARROW}|approx|q?quad|end|tag|label|qed|square|blacksquare|Box|checkmark|notag|nonumber|color|phantom)
    (?![A-Za-z])
  | \\(?:text\w*|mbox)\s?\{{(?!\s*{_IN_WORDS}\b)
    """,
    re.VERBOSE,
)
_MATRIX = re.compile(r"\\(begin|end)\{\w*(?:matrix|array)\}")
_OPERATION = r"\\(?:cdot|times|div|pm|mp|ast|lt|gt|leq?(?:slant)?|geq?(?:slant)?|neq?|sim|propto|cong)(?![A-Za-z])"
_GLUED_BEFORE = re.compile(
    rf"""
    (?: \d[.,]? | (?<![A-Za-z\\])(?!is|it|be|so|as|to)[A-Za-z]{{1,2}} | [\^_] | [A-Za-z]\{{ | \}}\s?\{{ | \\[{{|]
      | \S\s*[+\u00d7\u00f7]\s* | [\d$}})]\s*[*/\u2212-]\s* | (?<![-=<\w])[b-zB-Z]\s*[-*/]\s*
      | (?<![-=])(?:[<>]=?|[\u2264\u2265\u2260])\s* | {_OPERATION}\s*
      | \\(?:sqrt|[cdt]?frac|log|ln|l?floor|lceil|lvert|sin|cos|tan|arc\w+)\s*
      | \b(?:twice|thrice|half|minus|plus|times|negative
          |(?:half|double|square|cube|root|reciprocal|opposite|negative)\sof
          |(?:less|more|greater|fewer|larger|smaller|other)\sthan|at\s(?:least|most)|exceeds)\s\$?
    )\Z
    """,
    re.VERBOSE,
)
_LABEL_BEFORE = re.compile(
    r"""
    (?: ^[\s>\#*|\u2022]*(?:\(?[\dA-Za-z]{1,2}[.):]\)?)?
      | \b(?:step|part|case|question|problem|exercise|method|option|no\.?)\s\(?[\dA-Za-z]{1,2}[.):]? )
    [-*>|.:\u2022\s]*\Z
  | <[/\w][^<>]{0,30}>\s*\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OPERAND = r"\s*[-+]?\s*(?:[\d\\$]|\([-\d\\]|[b-hj-zB-HJ-Z](?![A-Za-z]))"
_GLUED_AFTER = re.compile(
    rf"""
    \d | [.,:]\d | [A-Za-z](?![A-Za-z]) | \([-\d\\b-z](?![a-z])
  | \s*(?: \^ | [-+/<>=\u00d7\u00f7\u2212\u2264\u2265\u2260]{_OPERAND} | (?<!\*)\*(?!\*){_OPERAND} | \}}\s*[{{^]
      | {_OPERATION}
      | \\(?:pi|sqrt|[cdt]?frac|[pb]?mod|choose|log|ln|sin|cos|tan|infty)(?![A-Za-z])
      | and\s+\$?[-\d.\\{{}}/^]+\$?\s*(?:[.\n]|\Z) )
    """,
    re.VERBOSE,
)
_FIRST_IN_LINE = re.compile(r"[\s>#|\u2022-]*(?:\*\s)?\s*(?:\(?\w{1,2}[.):]\)?\s+)?")
_NO_WORDS = re.compile(r"\\(?:text\w*|begin|end|tag|label|mathrm|mbox|(?:text)?color)\*?\s?\{[^{}]*\}?|\\[A-Za-z]+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|[\u3002\uff01\uff1f]")
_ROW_MARK = re.compile(r"&|\\(?:begin|end|tag|label)\*?\{[^{}]*\}|\\(?:notag|nonumber|displaystyle)\b")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The text in which a box stands."""

    text: str
    start: int
    end: int
    formula: tuple[int, int] | None
    """Where the formula around the box starts and ends, delimiters included."""


def formula_around(around: Surroundings, content: str, previous_end: int) -> str | None:
    """Return the formula that is the answer instead of the box's `content`; None where the content is the answer.

    Args:
        around: where the box stands.
        content: what the box holds.
        previous_end: where the box before this one ends.

    Returns:
        "" where the formula has no end within reach.
    """
    if around.formula is None:
        return _in_line(around, content, previous_end)
    opening, closing = around.formula
    width = 1 if around.text[opening] == "$" and around.text[opening + 1] != "$" else 2
    first, last = opening + width, closing - width
    before = around.text[max(first, previous_end, around.start - REACH) : around.start]
    after = around.text[around.end : min(last, around.end + REACH)]
    if _changes(before, after, joined=_is_joined(around, previous_end)):
        return _whole(around, content, first, last)
    line = _line(around.text, opening, closing)
    outside_before = "" if _trimmed(before) or previous_end > opening else around.text[line.start : opening]
    outside_after = "" if _behind(after) else around.text[closing : line.stop]
    return _among_words(around, content, outside_before, outside_after)


def _in_line(around: Surroundings, content: str, previous_end: int) -> str | None:
    line = _line(around.text, around.start, around.end)
    before, after = around.text[max(line.start, previous_end) : around.start], around.text[around.end : line.stop]
    whole_line = around.text[line.start : around.start] + " " + after
    if _WORD.search(_NO_WORDS.sub(" ", whole_line)):
        return _among_words(around, content, "" if _is_joined(around, previous_end) else before, after)
    if whole_line.lstrip().startswith("| "):  # a cell of a table
        before, after = before.rpartition("|")[2], after.partition("|")[0]
    before = before[_first(before) :]
    if _changes(before, after, joined=_is_joined(around, previous_end)):
        return _whole(around, content, line.start + _first(around.text[line.start : around.start]), line.stop)
    return None


def _first(before: str) -> int:
    match = _FIRST_IN_LINE.match(before)
    assert match is not None  # it matches nothing at least
    return match.end() - (match.end() == len(before) and before.endswith("-"))  # a minus sign right at the box


def _line(text: str, start: int, end: int) -> slice:
    """Return the line around text[start:end], no further than REACH."""
    first = text.rfind("\n", max(0, start - REACH), start) + 1 or max(0, start - REACH)
    last = text.find("\n", end, end + REACH)
    return slice(first, last if last >= 0 else min(len(text), end + REACH))


def _is_joined(around: Surroundings, previous_end: int) -> bool:
    """Whether nothing but commas, conjunctions or a slash stand between this box and the one before."""
    if not 0 < previous_end <= around.start <= previous_end + 200:
        return False
    return bool(_JOINED_BEFORE.fullmatch(around.text, previous_end, around.start))


def _trimmed(before: str) -> str:
    before = before.rstrip()
    while idle := _IDLE_BEFORE.search(before, max(0, len(before) - 40)):
        before = before[: idle.start()].rstrip()
    return before


def _behind(after: str) -> str:
    idle = _IDLE_AFTER.match(after)
    return after[idle.end() :] if idle else after


def _unwrapped(before: str, after: str) -> tuple[str, str] | None:
    r"""Return what stands outside of brackets and braces right around the box; None where they change it: \sqrt{ }."""
    for _ in range(6):
        left, right = _trimmed(before), _behind(after)
        if left.endswith("{") and not left.endswith("\\{") and right.startswith("}"):
            left, right = left[:-1], right[1:]
            if style := _WRAPPING.search(left):
                left = left[: style.start()]
            elif left[-1:].isalpha() or left[-1:] in ("}", "^", "_", "]"):
                return None
        else:
            for opening, closing in _PAIRS:
                if left.endswith(opening) and right.startswith(closing) and not left.endswith("\\("):
                    left, right = left.removesuffix(opening), right.removeprefix(closing)
                    break
            else:
                return before, after
        before, after = left, right
    return None


def _changes(before: str, after: str, *, joined: bool) -> bool:
    """Whether what stands beside the box in a formula makes the answer another one."""
    environments = _MATRIX.findall(before)
    outside = _unwrapped(before, after)
    if outside is None or (environments and environments[-1] == "begin"):
        return True
    left, right = _trimmed(outside[0]), _behind(outside[1])
    if outside[0] == before and (sign := SIGN_BEFORE.search(before)):
        left = _trimmed(before[: sign.start(1)])
    if not joined and left and not _HARMLESS_BEFORE.search(left):
        return True
    while right.startswith("}"):  # of a group that began further left
        right = right[1:].lstrip()
        if right[:1] in ("{", "^", "_"):
            return True
    return not (_HARMLESS_AFTER.match(right) or _NEXT_BOX.match(right))


def _among_words(around: Surroundings, content: str, before: str, after: str) -> str | None:
    outside = _unwrapped(before, after)
    if outside is not None:
        left, right = outside
        styled = left.endswith("{") and _WRAPPING.search(left[:-1])
        changed = _GLUED_BEFORE.search(left) and not styled and not _LABEL_BEFORE.search(left)
        if not changed and (_NEXT_BOX.match(right) or not _GLUED_AFTER.match(right)):
            return None
    text = around.text
    line = _line(text, around.start, around.end)
    first, last = line.start, line.stop
    for end in _SENTENCE_END.finditer(text, first, around.start):
        first = end.end()
    if end := _SENTENCE_END.search(text, around.end, last):
        last = end.start()
    return _whole(around, content, first, last)


def _whole(around: Surroundings, content: str, first: int, last: int) -> str:
    """Return text[first:last], of several rows the one in question, without the box."""
    if last - first > MAX_FORMULA or first > around.start or last < around.end:
        return ""
    before, after = around.text[first : around.start], around.text[around.end : last]
    if not _MATRIX.search(before):
        before, after = before.rpartition("\\\\")[2], after.partition("\\\\")[0]
        before, after = _ROW_MARK.sub("", before), _ROW_MARK.sub("", after)
    bare = _NUMBER.fullmatch(content) and not re.search(r"[\^_A-Za-z]\Z", before)
    shown = content if bare else "{" + content + "}"
    return (_OPEN_BOX.sub("", before) + shown + re.sub(r"(?<![.\s])[\s.]\s*\Z", "", _OPEN_BOX.sub("", after))).strip()
