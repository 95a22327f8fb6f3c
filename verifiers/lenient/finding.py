r"""Find the answer in any model's free-form response.

In this order: the last box, the last <answer>...</answer>, what follows the last "####", the last announced answer
("The answer is ..."), and in a short response what its last statement says. Reasoning never counts.
Takes time linear in the text and raises on no text whatever.
"""

import re
from collections import deque

from verifiers.extract import Extraction
from verifiers.lenient.box_groups import last_answer, last_retraction
from verifiers.lenient.boxes import Box, stated_boxes
from verifiers.lenient.claims import MAX_CLAIMS, Claim, stated_claims
from verifiers.lenient.doubts import afterthought
from verifiers.lenient.last_statement import last_statement
from verifiers.lenient.spans import clean, has_maths, read_span
from verifiers.lenient.spoken import spoken, without_emphasis

MAX_UNANNOUNCED = 2000
"""Characters; a longer response that announces no answer is taken for one that was cut off."""

MAX_ANSWER = 30_000
"""Characters; what is longer is no value. A rival that is longer stands against every answer."""

_TAG = re.compile(r"<(?=[/af])(/?)(?:answer|final_answer|final-answer)>", re.IGNORECASE)
_HEADING = re.compile(
    r"""
    \s*(?:\d{1,2}[.)]\s+[A-Za-z]{2}
      |(?:step|final|answer|solution|conclusion|part|case|verif|check|explan|note|summary|problem|question|method))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"""
    [\W_]*+ (?:(?:hm+|oh)\b[\W_]*+)?+
    (?: no\b(?=[,:.]|\s+wait) | (?:wait|actually|correction|scratch\sthat|oops|hold\son|sorry|on\ssecond\sthought)\b )
    (?: [\W_]*+ (?:no|wait|actually|sorry)\b )*+
    """,
    re.VERBOSE | re.IGNORECASE,
)


def find_answer(response: str) -> Extraction:
    """Return the answer that `response` gives, as written, and its other answers that are not taken back."""
    text = spoken(response)
    boxes, any_empty = stated_boxes(text)
    if boxes:
        return _from_boxes(text, boxes)
    if any_empty:
        return Extraction(None)
    text = without_emphasis(text)
    for answers in (_tagged(text), _marked(text)):
        if answers:
            return _extraction(answers[-1], answers[:-1])
    return _from_words(text)


def _extraction(text: str, rivals: list[str]) -> Extraction:
    if len(text) > MAX_ANSWER:
        return Extraction(None)
    keys = {_key(text): text, **{_key(rival): rival for rival in rivals if _key(rival) != _key(text)}}
    return Extraction(text.strip(), tuple(keys.values())[1:])


def _key(text: str) -> str:
    return "".join(text.replace("$", "").split()).rstrip(".")


def _from_boxes(text: str, boxes: list[Box]) -> Extraction:
    box, rivals = last_answer(text, boxes)
    rest = without_emphasis(text[box.end :])
    claims = [claim for claim in stated_claims(rest) if not claim.tentative and claim.kind != "words"]
    if claims and not _repeats(claims[-1].text, box.text):
        if claims[-1].final or last_retraction(rest, 0, claims[-1].start):
            return _extraction(claims[-1].text, [])
        rivals.append(claims[-1].text)
    elif not claims and (corrected := _corrected(rest)):
        return _extraction(corrected, [])
    if other := afterthought(rest, 0):
        rivals.append(other)
    return _extraction(box.text, rivals)


def _repeats(claim: str, box: str) -> bool:
    """Whether a claim is the boxed answer, with a unit at most: "8 apples" and 8."""
    claim, box = claim.replace("$", "").strip(), box.replace("$", "").strip()
    rest = claim.removeprefix(box)
    return _key(claim) == _key(box) or (
        rest != claim and rest[:1] in (" ", "\\", "%") and not re.search(r"[\d=]", rest)
    )


def _tagged(text: str) -> list[str]:
    tags = list(deque(_TAG.finditer(text), maxlen=MAX_CLAIMS))
    answers = []
    for tag, following in zip(tags, [*tags[1:], None], strict=False):
        if tag[1]:
            continue
        if following is None:  # left open
            inside = text[tag.end() :].partition("\n")[0]
        else:
            inside = text[tag.end() : following.start()]
        claims = stated_claims(inside)
        answers.append(claims[-1].text if claims else clean(inside))
    return [answer for answer in answers if answer]


def _marked(text: str) -> list[str]:
    answers = []
    for part in text.rsplit("####", MAX_CLAIMS)[1:]:
        line, _, below = part.partition("\n")
        if not line.strip() or line.startswith("#") or _HEADING.match(line):
            continue
        answer = read_span(line).text
        if answer and (has_maths(answer) or " " not in answer or not below.strip()):  # a heading stands above a text
            answers.append(answer)
    return answers


def _from_words(text: str) -> Extraction:
    claims = stated_claims(text)
    claims = [claim for claim in claims if not claim.tentative] or claims
    claims = [claim for claim in claims if claim.kind != "words"] or claims
    if claims:
        corrected = _corrected(text[claims[-1].end :])
        return _extraction(corrected, []) if corrected else _extraction(claims[-1].text, _rival_claims(text, claims))
    if len(text) > MAX_UNANNOUNCED or "boxed" in text:  # cut off; boxed what does not count
        return Extraction(None)
    statement = last_statement(text)
    if statement is None:
        return Extraction(None)
    stands = re.search(rf"(?<![\w.]){re.escape(statement)}(?!\w)", text)
    other = afterthought(text, stands.end()) if stands else None
    return _extraction(statement, [other] if other else [])


def _rival_claims(text: str, claims: list[Claim]) -> list[str]:
    *others, last = claims
    retraction = last_retraction(text, others[0].end, last.start) if others else 0
    rivals = [
        claim.text
        for claim in others
        if claim.end > retraction and claim.final >= last.final and claim.kind == last.kind
    ]
    other = afterthought(text, last.end)
    return [*rivals, other] if other else rivals


def _corrected(rest: str) -> str | None:
    """Return the answer that replaces the one before `rest`: ". Wait, no, it is 6." """
    correction = _CORRECTION.match(rest)
    if len(rest) > MAX_UNANNOUNCED or correction is None:
        return None
    statement = last_statement(rest[correction.end() :].lstrip(" ,;:.-"))
    return statement if statement and has_maths(statement) else None
