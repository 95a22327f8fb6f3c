r"""Find what a response announces as its answer in words: "The answer is 42", "### Final Answer", "\u7b54\u6848: 42".

Claims that are negated, asked, supposed or ascribed to somebody else are left out.
"""

import re
from collections import deque
from dataclasses import dataclass

from verifiers.lenient.doubts import is_denied, is_negated
from verifiers.lenient.spans import has_maths, is_answer, read_span

MAX_CLAIMS = 100
"""Of more claims than these, the last are read: so many of them cost nothing."""

_FOREIGN = (
    r"r[e\u00e9]ponse|r\u00e9sultat",  # French
    r"respuesta|resultado|soluci\u00f3n|resposta|risposta|risultato|soluzione",  # Spanish, Portuguese, Italian
    r"antwort|l[o\u00f6]sung|loesung|ergebnis|antwoord|svar",  # German, Dutch, Scandinavian
    r"odpowied\u017a|odpov\u011b\u010f|cevap|jawaban(?:nya)?|\u0111\u00e1p\s\u00e1n",  # Polish to Vietnamese
    r"\u043e\u0442\u0432\u0435\u0442|\u0432\u0456\u0434\u043f\u043e\u0432\u0456\u0434\u044c",  # Russian, Ukrainian
    r"\u7b54\u6848|\u7b54\u3048|\u89e3\u7b54|\u7b54(?=[:\uff1a])",  # Chinese, Japanese
    r"\uc815\ub2f5|\ub2f5(?=[:\uff1a\uc740])",  # Korean
    r"\u0627\u0644\u062c\u0648\u0627\u0628|\u0627\u0644\u0625\u062c\u0627\u0628\u0629",  # Arabic
    r"\u067e\u0627\u0633\u062e|\u05ea\u05e9\u05d5\u05d1\u05d4",  # Persian, Hebrew
    r"\u0909\u0924\u094d\u0924\u0930|\u0989\u09a4\u09cd\u09a4\u09b0",  # Hindi, Bengali
    r"\u03b1\u03c0\u03ac\u03bd\u03c4\u03b7\u03c3\u03b7|\u0e04\u0e33\u0e15\u0e2d\u0e1a",  # Greek, Thai
)
_COPULA = (
    r"est|es|\u00e9|\u00e8|ist|lautet|betr\u00e4gt|is|\u00e4r|er|l\u00e0|adalah|\u2014|\u2013|-(?=\s)|\u662f|\u70ba"
    r"|\u4e3a|\u306f|\uc740|\ub294|\u0647\u0648|\u0647\u064a|\u0939\u0948|\u0e04\u0e37\u0e2d|\u05d4\u05d9\u05d0"
)
_ADJECTIVE = r"finale?|finala|definitiva|d\u00e9finitive|correcta|correcte|correta|corretta"
# Searched in lower-case text: without IGNORECASE a search for literals is many times as fast.
_NOUN = re.compile(
    rf"""
    (?: (?P<answer>answers?) | result|value|total|amount|solution|expression | (?P<option>choice|option)
      | statement|alternative | (?P<correct>correct|right) )(?![a-z])
  | (?P<foreign>{"|".join(_FOREIGN)})
    """,
    re.VERBOSE,
)
_IS = r"""(?:
    (?:is|are|was|(?:must|should|will|would|can\s+only)\s+be|becomes|equals|comes\s+(?:out\s+)?to(?:\s+be)?)\b
    | [:=\uff1a] )
"""
_WORDS_BETWEEN = r"(?:,?[ \t]+(?!(?:is|are|was|choices|key|format|options)\b)[\w'()-]{1,20},?)"  # to part (b)
_AFTER_ANSWER = re.compile(rf"{_WORDS_BETWEEN}{{0,6}}? \}}? \s*{_IS}", re.IGNORECASE | re.VERBOSE)
_AFTER_NOUN = re.compile(rf"\s*{_IS}", re.IGNORECASE | re.VERBOSE)
_AFTER_FOREIGN = re.compile(
    rf"(?:\s+(?:{_ADJECTIVE}))?\s*(?:[:=\uff1a]|(?:{_COPULA})(?=[\s\W]|[\dA-Z\u4e00-\u9fff])|(?=[\d$\\(-]))"
)
_MATHS_AFTER = re.compile(r"[ \t]+(?=[\d$\\(-])")
_HEADING_AFTER = re.compile(r"[ \t_#]*+\n")
_FINAL_BEFORE = re.compile(r"\bfinal\s+\Z", re.IGNORECASE)
_CORRECT_BEFORE = re.compile(r"\b(?:correct|right|best)\s+\Z", re.IGNORECASE)
_HEADING_BEFORE = re.compile(r"(?:^|\n)[#>_ \t]*(?:the\s+)?(?:final\s+)?\Z", re.IGNORECASE)
_IS_THE_BEFORE = re.compile(
    r"\b(?:is\s+(?:the|our|my)\s+(?:(?:final|correct|right)\s+)?|(?:est|es|\u00e9|\u00e8|ist)\s+(?:la|le|a|die|das)\s+)\Z",
    re.IGNORECASE,
)
_OPTION_IS_BEFORE = re.compile(
    r"(?:\b(?:option|choice|answer)\s+(\(?[A-Z]\)?)|(\([A-Z]\)|(?-i:\b[A-J])))\s+is\s+\Z", re.IGNORECASE
)

_DESCRIBED = re.compile(r"[^\d$\\=()]{3,60}?\s(?:is|are|equals|=)\s(?=\S)", re.IGNORECASE)
_WHICH_IS = re.compile(r",?\s+which\s+(?:is|equals|gives|simplifies\s+to|evaluates\s+to|comes\s+to)\s", re.IGNORECASE)
_NOT = re.compile(r"[\s:*]*+(?:(?:not|neither|never)\b|\u4e0d|\u975e)", re.IGNORECASE)
_NOT_X_BUT = re.compile(r"[^.\n]{0,60}?\bbut(?:\s+rather)?\s", re.IGNORECASE)
_SUPPOSED = re.compile(r"\b(?:if|suppose|supposing|assum\w+|whether|unless|wrong)\b", re.IGNORECASE)
_TENTATIVE = re.compile(r"\b(?:maybe|perhaps|possibly|might|guess)\b", re.IGNORECASE)
_NOT_OURS = re.compile(
    r"""
    \b(?:ground[ -]?truth|expected|reference|gold(?:en)?|official|textbook|student\S*|previous|grader|problem\s+says
      |one\s+might|key)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LETTER = re.compile(r"\(?[A-Z]\)?")
_SENTENCE_END = re.compile(r"[.!?;]\s|\n|[\u3002\uff01\uff1f]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """Something that the response says its answer is."""

    start: int
    end: int
    text: str
    final: bool = False
    """Whether it is announced as the final answer."""
    tentative: bool = False
    """Whether it is only a guess."""

    @property
    def kind(self) -> str:
        """What the answer is made of: "letter" of an option, "maths" or "words"."""
        if _LETTER.fullmatch(self.text):
            return "letter"
        return "maths" if has_maths(self.text) else "words"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Anchor:
    start: int
    answer_at: int
    final: bool
    tentative: bool


def stated_claims(text: str) -> list[Claim]:
    """Return the claims of `text`, in order."""
    lowered = text.lower()
    if len(lowered) != len(text):  # the one letter that grows
        lowered = text.replace("\u0130", "I").lower()
    nouns = deque(_NOUN.finditer(lowered), maxlen=MAX_CLAIMS)
    found = [anchor for noun in nouns if (anchor := _claim_or_anchor(text, noun))]
    claims: list[Claim] = []
    limit = len(text)
    for anchor in reversed(found):
        claim = anchor if isinstance(anchor, Claim) else _claim(text, anchor, limit)
        if claim and is_answer(claim.text):
            claims.append(claim)
        limit = min(limit, anchor.start)
    return claims[::-1]


def _claim(text: str, anchor: _Anchor, limit: int) -> Claim | None:
    position = anchor.answer_at
    if negation := _NOT.match(text, position, limit):
        contrast = _NOT_X_BUT.match(text, negation.end(), limit)
        if contrast is None:
            return None
        position = contrast.end()
    span = read_span(text, position, max(limit, position))
    if span.asked:
        return None
    answer = span.text
    if answer[:3].isalpha() and (result := _WHICH_IS.match(text, span.end, limit)):  # "the sum of 3 and 4, which is 7"
        answer = read_span(text, result.end(), limit).text
    if described := _DESCRIBED.match(answer):  # "Final Answer", and below it "The area is 12."
        answer = read_span(answer, described.end()).text
    return Claim(start=anchor.start, end=span.end, text=answer, final=anchor.final, tentative=anchor.tentative)


def _claim_or_anchor(text: str, noun: re.Match[str]) -> Claim | _Anchor | None:
    start = noun.start()
    sentence = _sentence_start(text, start)
    before, lead = text[max(0, start - 40) : start], text[sentence:start]
    if (
        (noun[0].isascii() and before[-1:].isalpha())
        or _SUPPOSED.search(lead)
        or _NOT_OURS.search(lead)
        or is_denied(lead)
    ):
        return None
    tentative = bool(_TENTATIVE.search(lead))
    if noun["correct"]:
        option = _OPTION_IS_BEFORE.search(text, sentence, start)
        return option and Claim(start=sentence, end=noun.end(), text=option[1] or option[2], tentative=tentative)
    final = _FINAL_BEFORE.search(before)
    anchor, heading = _anchor(text, noun, before, final=bool(final))
    if anchor and is_negated(anchor[0]):
        return None
    if anchor:
        return _Anchor(
            start=start - len(final[0]) if final else start,
            answer_at=anchor.end(),
            final=bool(final) or heading,
            tentative=tentative,
        )
    if (noun["answer"] or noun["foreign"]) and (behind := _IS_THE_BEFORE.search(text, sentence, start)):
        span = read_span(text, sentence, behind.start())
        return Claim(start=sentence, end=noun.end(), text=span.text, tentative=tentative)
    return None


def _anchor(text: str, noun: re.Match[str], before: str, *, final: bool) -> tuple[re.Match[str] | None, bool]:
    """Return what leads from `noun` to an answer, and whether the noun is a heading."""
    if noun["foreign"]:
        return _AFTER_FOREIGN.match(text, noun.end()), False
    if noun["answer"]:
        heading = _HEADING_BEFORE.search(before) and _HEADING_AFTER.match(text, noun.end())
        bare = _MATHS_AFTER.match(text, noun.end()) if final else None
        return heading or bare or _AFTER_ANSWER.match(text, noun.end()), bool(heading)
    wanted = final or noun["option"] or _CORRECT_BEFORE.search(before)
    return (_AFTER_NOUN.match(text, noun.end()) if wanted else None), False


def _sentence_start(text: str, position: int) -> int:
    start = max(0, position - 120)
    for match in _SENTENCE_END.finditer(text, start, position):
        start = match.end()
    return start
