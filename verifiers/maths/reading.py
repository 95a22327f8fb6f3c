r"""Read an answer as a tree: strip what is only wrapping, then read every token that is left."""

import re

from verifiers.maths import words
from verifiers.maths.answers import AnswerReader
from verifiers.maths.arguments import numeral
from verifiers.maths.cleaning import UnreadableError, clean
from verifiers.maths.nodes import Node
from verifiers.maths.tokens import Token, tokenise

_AND_OR = re.compile(r"\s*(,?\s*\b(?:and|or)\b|[,;])\s*", re.IGNORECASE)
_FRENCH = re.compile(
    r"([\[\]])([^\[\](){}]*(?:\{[^{}]*\}[^\[\](){}]*)*[,;][^\[\](){}]*(?:\{[^{}]*\}[^\[\](){}]*)*)([\[\]])"
)
MAX_TOKENS = 1500
"""Tokens of an answer that are read."""
_FRENCH_LENGTH = 200
_LETTERED_NUMERAL = re.compile(
    r"\(?(?:\\(?:text|mathrm)\s*\{)?([0-9A-Za-z]{1,60})\}?\)?\s*_\s*"
    r"(?:\{\s*(1[1-9]|2\d|3[0-6])\s*\}|(1[1-9]|2\d|3[0-6]))"
)
"""2A_{16}: letters are digits from base eleven on."""
_WRAPPED = {"(": ")", "{": "}", "[": "]"}


def read(text: str, *, words_only: bool = False) -> Node:
    """Return what `text` says. What is no mathematics is returned as Text.

    Args:
        words_only: read every bare word as a word ("5 men"), never as a product of letters. For answers to a question
            whose gold answer holds no unknown.

    Raises:
        UnreadableError: it looks like mathematics and is not understood, or is empty.
    """
    meaning = words.meaning(words.normal(text)) if len(text) < 100 else None
    if meaning is not None:
        return meaning
    cleaned = clean(text)
    match = _LETTERED_NUMERAL.fullmatch(cleaned)
    if match and any(map(str.isdecimal, match[1])):
        return numeral(match[1], int(match[2] or match[3]))
    tokens = _bare(tokenise(_french_intervals(cleaned)))
    if not tokens:
        raise UnreadableError("it is empty")
    if len(tokens) > MAX_TOKENS:
        raise UnreadableError(f"more than {MAX_TOKENS} numbers and signs")
    reader = AnswerReader(_split_texts(tokens), words_only=words_only)
    try:
        answer = reader.answer()
    except RecursionError as error:
        raise UnreadableError("nested too deeply") from error
    if not reader.at_end():
        raise UnreadableError("not all of it is understood")
    return answer


def _french_intervals(text: str) -> str:
    """Write ]a, b[ with the brackets that the rest of the world uses."""
    if len(text) > _FRENCH_LENGTH or not (text.startswith("]") or text.endswith("[")):
        return text
    open_to_close = {"]": "(", "[": "["}, {"[": ")", "]": "]"}
    return _FRENCH.sub(lambda match: open_to_close[0][match[1]] + match[2] + open_to_close[1][match[3]], text)


def _bare(tokens: list[Token]) -> list[Token]:
    """Strip closing punctuation and brackets around the whole, however many there are; linear in the length."""
    end = len(tokens)
    while end and tokens[end - 1].kind == "sign" and tokens[end - 1].text in ".,;:":
        end -= 1
    if [token.text for token in tokens[end:]].count(".") > 1:
        raise UnreadableError("it goes on")
    tokens = tokens[:end]
    start = 0
    while start < len(tokens) and tokens[start].kind == "sign" and tokens[start].text in ",;:.":
        start += 1
    tokens = tokens[start:]
    if any(token.kind == "command" and token.text in ("choose", "over") for token in tokens):
        return tokens
    partner: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind == "sign" and token.text in _WRAPPED:
            opened.append(index)
        elif token.kind == "sign" and token.text in ")}]":
            if opened and _WRAPPED[tokens[opened[-1]].text] == token.text:
                partner[opened.pop()] = index
            else:
                opened.clear()  # half-open intervals: nothing that holds one is a wrapping
    first, last = 0, len(tokens) - 1
    while (
        first < last
        and partner.get(first) == last
        and tokens[first].text != "["
        and not _top_comma(tokens, first, last)
    ):
        first, last = first + 1, last - 1
    return tokens[first : last + 1]


def _top_comma(tokens: list[Token], first: int, last: int) -> bool:
    """Tell whether the brackets from `first` to `last` hold several items: a tuple, not a wrapping."""
    if tokens[first + 1].kind == "sign" and tokens[first + 1].text in _WRAPPED and last - first > 2000:
        return False
    level = 0
    for token in tokens[first + 1 : last]:
        sign = token.text if token.kind in ("sign", "command") else ""
        level += (sign in _WRAPPED) - (sign in (")", "}", "]"))
        if level <= 0 and sign in (",", ";"):
            return True
    return False


def _split_texts(tokens: list[Token]) -> list[Token]:
    """Cut "x and y" inside one text into its parts, so that joining words are tokens of their own."""
    pieces: list[Token] = []
    for token in tokens:
        if token.kind != "text" or words.as_date(token.text):
            pieces.append(token)
            continue
        for index, part in enumerate(_AND_OR.split(token.text)):
            part = part.strip()
            if index % 2 and "," not in part and ";" not in part:
                pieces.append(Token("word", part.lower(), None, True))
            elif index % 2:
                pieces.append(Token("sign", part[0], None, True))
                if part[1:].strip():
                    pieces.append(Token("word", part[1:].strip().lower(), None, True))
            elif part and re.fullmatch(r"[\d.,]+", part):
                pieces += tokenise(part)
            elif part:
                pieces.append(Token("text", part, None, token.after_blank))
    return pieces
