r"""Return what a response says aloud: without reasoning, comments and control tokens, and with eaten escapes restored.

Only what stands behind the last end of reasoning (</think>, <|end_of_thought|> and the like) is said aloud, and what
follows an opening tag behind it is not.
"""

import re
from collections.abc import Iterator

_REASONING = r"(?:think|thinking|thoughts?|reasoning|analysis|reflection|scratchpad)"
_REASONING_END = re.compile(
    rf"<(?=[/|])(?:/{_REASONING}|\|end_of_thought\||\|channel\|>final<\|message\|)>|\[/THINK\]|\u25c1/think\u25b7",
    re.IGNORECASE,
)
_REASONING_START = re.compile(
    rf"<(?=[tras|])(?:{_REASONING}|\|begin_of_thought\|)>|\[THINK\]|\u25c1think\u25b7", re.IGNORECASE
)
_CONTROL_TOKEN = re.compile(r"<\|\w{1,40}\|>|</?s>")
_EMPHASIS = re.compile(r"(?<![A-Za-z0-9_)\]}*])\*\*(?=[^\s*])|(?<=[^\s*])\*\*(?![A-Za-z0-9_(*])")  # not 2**3

_ODD_BACKSLASHES = re.compile(r"(?<!\\)\\(?:\\\\)*+(?!\\)")

# Escapes that Python read before LaTeX could: "\boxed" in a string that is not raw begins with a backspace.
_EATEN = {"\a": "\\a", "\b": "\\b", "\v": "\\v", "\f": "\\f", "\t": "\\t", "\r": "\\r"}
_EATEN_ESCAPE = re.compile(r"[\x07\x08\x0b\x0c](?=[a-z])|\t(?=d?frac\b|ext\b|imes\b|heta\b)|\r(?=ight\b|angle\b)")


def spoken(response: str) -> str:
    """Return the part of `response` in which an answer counts."""
    end = 0
    for match in _REASONING_END.finditer(response):
        end = match.end()
    start = _REASONING_START.search(response, end)
    text = _escaped_once(response[end : start.start() if start else len(response)])
    text = _EATEN_ESCAPE.sub(lambda match: _EATEN[match[0]], text)
    return _CONTROL_TOKEN.sub("\n", "".join(_outside_comments(text))).replace("\r", "\n")


def _escaped_once(text: str) -> str:
    r"""Return a text that was escaped twice, "\\boxed{\\frac{1}{2}}", escaped once."""
    return text.replace("\\\\", "\\") if "\\\\boxed" in text and not _ODD_BACKSLASHES.search(text) else text


def without_emphasis(text: str) -> str:
    """Return `text` without the ** of bold print."""
    return _EMPHASIS.sub("", text) if "**" in text else text


def _outside_comments(text: str) -> Iterator[str]:
    position = 0
    while (start := text.find("<!--", position)) >= 0:
        yield text[position:start]
        end = text.find("-->", start)
        position = end + 3 if end >= 0 else len(text)
    yield text[position:]
