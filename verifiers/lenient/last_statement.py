r"""Find the answer of a short response that announces none: "So she has 5 apples left." says 5 apples.

Only what is plainly stated counts: a formula, a number or a name behind the last "is", "makes", "thus" and the like.
"""

import re
from collections.abc import Iterator

from verifiers.lenient.doubts import ends_negated, has_no_answer, is_denied, is_negated
from verifiers.lenient.spans import clean, formulas, has_maths, is_answer, read_span

_CONNECTIVE = re.compile(
    r"""
    \b(?:is|are|was|were|be|equals?|equal\s+to|makes?|making|gives?|giving|yields?|leaves(?:\s+us\s+with)?|leaving
      |totals?|becomes?|remains?|have|has|gets?|got|obtain|found|thus|so|hence|therefore|then|takes?|needs?|costs?
      |pays?|paid|spends?|spent|earns?|earned|sells?|sold|buys?|bought|saves?|saved|weighs?|measures?|contains?
      |travels?|uses?|used|walks?|choose|pick|select
      |est(?:\s+de)?|vaut|ist|lautet|betr\u00e4gt|ergibt|es(?:\s+de)?|\u00e9|\u00e8)\b(?=\s)
    | \bat(?=\s\d{1,2}:\d\d) | :(?=\s) | => | (?<=[A-Za-z]{3})\s?=(?=\s?[-(\\$\d])
    | [\u2192\u21d2\uff1a\u662f\u4e3a\u70ba\u6709] | \u7b49\u4e8e | \u5171\u6709? | \u6240\u4ee5 | \u56e0\u6b64
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'*)]*\s+|[\u3002\uff01\uff1f\u0964]")
_CODE = re.compile(r"```[^`]*(?:```|\Z)")
_ASIDE = re.compile(
    r"""
    [\W_]*(?:check|verif|confidence|references?\b|sources?\b|note\b|citation|i\s+hope|hope\b|let\s+me\b|let's\b
      |\[\d+\])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ENUMERATED = re.compile(r"\s*(?:[-*\u2022]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
_NAME = re.compile(r"(?!(?:i|we|you|it|let|please|to)\b)[\w'() -]{1,60}", re.IGNORECASE)
_OPTION = re.compile(r"\(?[A-J][.):]\s?[^\n]+")
_CONCLUSION = re.compile(
    r"\b(?:so|thus|hence|therefore|then|total|altogether|which|making|donc|also|por|daher)\b", re.IGNORECASE
)
_REPLY = re.compile(r"(?:no|yes)[,.:]\s+(?=[^\n]*\d)", re.IGNORECASE)
_SUPERLATIVE = re.compile(
    r"(?!(?:it|he|she|this|that|the|there|which|who|what|here|answer)\b)([A-Z][\w'-]+(?:\s[A-Z][\w'-]+)*)"
    r"\s(?:is|was)\sthe\s(?:[a-z]+est|(?:most|least)\s[a-z]+|winner)\b[^\d$\\=]*"
)
_AND = re.compile(r"\b(?:and|or|while|et|und|y)\b", re.IGNORECASE)


def last_statement(text: str) -> str | None:
    """Return the answer in the last sentence that states one, of the last three; None where there is none."""
    text = _CODE.sub("\n", text)
    if has_no_answer(text):
        return None
    if _OPTION.fullmatch(text.strip()):
        return clean(text)
    sentences = [
        sentence
        for sentence in _sentences(_on_one_line(text))
        if not (_ASIDE.match(sentence) or sentence.endswith("?"))
    ]
    for back, sentence in enumerate(reversed(sentences[-3:])):
        answer = _stated(sentence)
        if answer is not None and has_maths(answer) and is_negated(answer):
            return None
        if answer is not None and (has_maths(answer) or (back == 0 and _NAME.fullmatch(answer))):
            return answer
    return None


def _on_one_line(text: str) -> str:
    """Return `text` with every formula on one line."""
    characters = list(text)
    for start, end in formulas(text):
        characters[start:end] = text[start:end].replace("\n", " ")
    return "".join(characters)


def _sentences(text: str) -> Iterator[str]:
    announced = False  # behind "There are 10 objects:" the lines of a list say no more
    for line in text.split("\n"):
        if not line.strip() or (announced and _ENUMERATED.match(line)):
            continue
        announced = line.rstrip(" *").endswith(":")
        position = 0
        spans = list(formulas(line))
        for match in _SENTENCE_END.finditer(line):
            if not any(start < match.start() < end for start, end in spans):
                yield line[position : match.start()].strip()
                position = match.end()
        if line[position:].strip():
            yield line[position:].strip()


def _stated(sentence: str) -> str | None:
    if named := _SUPERLATIVE.fullmatch(sentence):
        return named[1]
    reply = _REPLY.match(sentence)
    sentence = sentence[reply.end() :] if reply else sentence
    spans = list(formulas(sentence))
    connectives = [
        match
        for match in _CONNECTIVE.finditer(sentence)
        if not any(start <= match.start() < end for start, end in spans)
    ]
    words = None
    for index, match in reversed(list(enumerate(connectives))):
        answer = read_span(sentence, match.end()).text
        if not answer or not is_answer(answer):
            continue
        before = sentence[: match.start()]
        if ends_negated(before) or is_denied(before):
            return None
        if has_maths(answer):
            several = index > 0 and _beside_another(sentence[connectives[index - 1].end() : match.end()])
            return clean(sentence) if several else answer
        words = words or answer
    if connectives:
        return words
    whole = read_span(sentence).text
    return whole if whole and is_answer(whole) else None


def _beside_another(between: str) -> bool:
    """Whether the words before a value hold another one, as in "is 12 and the perimeter is" 14."""
    return has_maths(between) and bool(_AND.search(between)) and not _CONCLUSION.search(between)
