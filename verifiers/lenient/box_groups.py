r"""Decide which of a response's boxes are one answer together, and which stand against each other.

\boxed{1} and \boxed{2} are one answer, "1, 2". Boxes with words in between are rivals, unless the response takes the
earlier one back ("wrong", "redo"), calls it provisional ("first try") or announces the last one as final.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from verifiers.lenient.box_surroundings import JOINT, UNKNOWN_BEFORE
from verifiers.lenient.boxes import Box, last_sentence

_RETRACTION = re.compile(
    r"""
    \b(?:wrong|redo|redoing|mistaken?|mistakes|incorrect(?:ly)?|fails?|failed|discard(?:ed)?|wait|actually|instead
      |correction|recheck(?:ing)?|ignored|forgot|forgetting|second\sthought|draft|oops|scratch\sthat|error
      |miscalculat\w+|misread|overlooked|revis\w+|corrected|reconsider\w*|no\slonger|hold\son|sorry)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HEDGE = re.compile(
    r"""
    \b(?:either|alternatively|maybe|perhaps|possibly|could\salso|might\salso|another\s(?:option|possibility)|if\snot
      |or\selse)\b
  | \bor\b[^.\n]{0,30}\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FINAL = re.compile(
    r"\b(?:final(?:ly)?|in\stotal|overall|altogether|everything\schecks|in\sconclusion|to\sconclude|in\sshort)\b",
    re.IGNORECASE,
)
_PROVISIONAL = re.compile(
    r"""
    \b(?:attempt|guess|first\s(?:pass|try)|draft|initial(?:ly)?|estimate|intermediate|step|scratch|partial|preliminary
      |subtotal)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PART = re.compile(r"\([a-z]\)[\s$:]*+\Z|\bpart\s\(?[a-z]\b", re.IGNORECASE)
_ANSWER = re.compile(r"\banswers?\b|\u7b54\u6848", re.IGNORECASE)
_CONCLUSION = re.compile(r"\b(?:therefore|thus|hence|so)\b|\u56e0\u6b64|\u6240\u4ee5", re.IGNORECASE)


def last_answer(text: str, boxes: list[Box]) -> tuple[Box, list[str]]:
    """Return the last answer in `boxes`, which may be several of them, and what stands against it."""
    *earlier, last = [answer for run in _runs(text, boxes) for answer in _answers(run)]
    return last, [answer.text for answer in _unretracted(text, earlier, last)]


def last_retraction(text: str, start: int, end: int) -> int:
    """Return where the response last takes something back in text[start:end]; 0 if nowhere."""
    return max((match.start() for match in _RETRACTION.finditer(text, start, end)), default=0)


@dataclass(frozen=True, slots=True)
class _Joined:
    box: Box
    unknown: str
    """The x of "$x = \\boxed{5}$"."""


def _runs(text: str, boxes: list[Box]) -> list[list[_Joined]]:
    """Return `boxes` in runs that are joined by nothing but commas and conjunctions."""
    runs: list[list[_Joined]] = []
    previous = 0
    for box in boxes:
        joint = JOINT.fullmatch(text, previous, box.start) if box.start - previous <= 200 else None
        unknown = UNKNOWN_BEFORE.search(text, max(previous, box.start - 30), box.start)
        joined = _Joined(box, unknown[1] if unknown else "")
        if runs and joint and (unknown or not (joint["unknown"] or joint["equals"])):
            runs[-1].append(joined)
        else:
            runs.append([joined])
        previous = box.end
    return runs


def _answers(run: list[_Joined]) -> Iterator[Box]:
    """Yield a run as one answer, or each of its boxes where they are lists, so that none is a part of another."""
    if len(run) > 1 and any(_is_list(joined.box.text) for joined in run):
        yield from (joined.box for joined in run)
        return
    unknowns = {joined.unknown for joined in run}
    named = len(run) > 1 and "" not in unknowns and len(unknowns) == len(run)
    parts = {}
    for joined in run:
        content = joined.box.text
        parts["".join(content.split())] = f"{joined.unknown} = {content}" if named else content
    yield Box(start=run[0].box.start, end=run[-1].box.end, text=", ".join(parts.values()))


def _is_list(content: str) -> bool:
    depth = 0
    for character in content:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            return True
    return False


def _unretracted(text: str, earlier: list[Box], last: Box) -> Iterator[Box]:
    if not earlier:
        return
    lead = last_sentence(text, earlier[-1].end, last.start)
    hedged = bool(_HEDGE.search(lead))
    strength = _strength(lead)
    retraction = last_retraction(text, earlier[0].end, last.start)
    previous = 0
    for answer in earlier:
        own = _strength(last_sentence(text, previous, answer.start))
        previous = answer.end
        superseded = own < min(strength, 0) or (strength >= 0 and own < max(strength, 1))
        if hedged or not (superseded or retraction >= answer.end):
            yield answer


def _strength(lead: str) -> int:
    """Return how surely the words before a box announce the answer: from 2, "finally", to -2, "first try"."""
    if _PROVISIONAL.search(lead):
        return -2
    if _PART.search(lead):
        return 0
    if _FINAL.search(lead):
        return 2
    if _ANSWER.search(lead):
        return 1
    return 0 if _CONCLUSION.search(lead) else -1
