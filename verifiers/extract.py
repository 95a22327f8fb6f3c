r"""Find the answer in a response, in the place that the problem's answer format declares.

    boxed          the last balanced \boxed{...}
    marker:####    what follows the last "####" on its line
    tag:answer     inside the last <answer>...</answer>
    last_number    the last number of the text, wherever it stands
    lenient        wherever a response announces it, in any of these ways and in words (see verifiers.lenient)

What stands around the declared place does not change the answer: 2\boxed{5} declares 5, as a prompt that asks for a box
has it. Only "lenient", which reads responses to other prompts, takes the formula around a box into account.
Reasoning does not count: neither what comes before the last </think>, nor an unclosed <think> and what follows it.
Every reader takes time linear in the text and raises on no text whatever.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tasks.types import MathAnswer, Problem
from verifiers.errors import BadReferenceError
from verifiers.numerals import tidy

# "\\\\" is a line break, so that the brace behind it counts; before "boxed" it is an answer that was escaped twice.
_BRACES = re.compile(r"\\boxed\s*+\{|\\\\(?!boxed)|\\[{}]|[{}]")
_TAG_NAME = re.compile(r"[A-Za-z][\w-]*", re.ASCII)

# Loose on purpose: a whole run of digits, commas and stops is taken, so that "3,5" is not read as 5. What it means is
# decided by verifiers.numerals. Possessive throughout: nothing is scanned twice.
_RUN = r"(?:\d++(?:[.,\u2009]\d++)*+|\.\d++)"
_APART = r"(?<![A-Za-z0-9_])"  # x_1, file5 and the like name things
_LAST_NUMBER = re.compile(
    rf"""
    (?:(?<![\w)\]}}.])[-+])?+ [$\u20ac\u00a3\u00a5\u20b9]?+ (?:(?<![\w)\]}}.])[-+])?+
    (?:
        (?:(?<!\d)\d{{1,9}}\s?)?\\[cdt]?frac\s?(?:\{{\s?[-+]?{_RUN}\s?\}}|\d)\s?(?:\{{\s?[-+]?{_RUN}\s?\}}|\d)
      | {_APART}(?:(?<![.,])\d{{1,9}}[ ])?{_RUN}\s?/\s?{_RUN}
      | {_APART}{_RUN}(?:[eE][-+]?\d++|\s?[\u00d7x*]\s?10\s?\^\s?(?:\{{\s?[-+]?\d++\s?\}}|[-+]?\d++))?
        (?:\^(?:\{{\s?[-+]?\d++\s?\}}|[-+]?\d++))?
    )
    (?:\s?(?:%|percent\b))? (?:\s(?i:dozen|hundred|thousand|million|billion|trillion)\b)?
    """,
    re.VERBOSE,
)


class UnknownAnswerFormatError(ValueError):
    """No such answer format. Verifiers turn it into a BadReferenceError that names the problem."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What stands in the declared place."""

    text: str | None
    """The last answer without blanks around it; None where there is none."""
    rivals: tuple[str, ...] = ()
    """Other answers in the same place that differ from `text` in more than blanks."""

    @property
    def hedged(self) -> bool:
        """Whether the response declares several different answers."""
        return bool(self.rivals)


def extract_answer(response: str, answer_format: str) -> Extraction:
    """Return what `response` gives as its answer.

    Raises:
        UnknownAnswerFormatError: the format is none of the five.
    """
    kind, _, argument = answer_format.partition(":")
    if answer_format == "lenient":
        from verifiers.lenient import find_answer  # here, because it builds on this module

        return find_answer(response)
    if answer_format == "last_number":
        return Extraction(_last_number(_after_thinking(response)))
    if answer_format == "boxed":
        answers = _boxed(_after_thinking(response))
    elif kind == "marker" and argument.strip():
        answers = _marked(_after_thinking(response), argument)
    elif kind == "tag" and _TAG_NAME.fullmatch(argument):
        answers = _tagged(_after_thinking(response), argument)
    else:
        raise UnknownAnswerFormatError(
            f'unknown answer format {answer_format!r}; use "boxed", "last_number", "lenient", "marker:" and a text'
            ' such as "marker:####", or "tag:" and a name such as "tag:answer"'
        )
    if not answers or not answers[-1].strip():
        return Extraction(None)
    *others, last = ((" ".join(answer.split()), answer.strip()) for answer in answers)
    return Extraction(last[1], tuple({key: text for key, text in others if key and key != last[0]}.values()))


def read_answer(problem: Problem, response: str, *, lenient: bool = False) -> tuple[MathAnswer, Extraction]:
    """Return the problem's reference and what `response` gives as its answer.

    Args:
        lenient: look everywhere and not only in the place that the problem declares.

    Raises:
        BadReferenceError: the reference is no MathAnswer, or asks for an unknown answer format.
    """
    reference = problem.reference
    if not isinstance(reference, MathAnswer):
        raise BadReferenceError(
            f"problem {problem.id}: this verifier needs a MathAnswer as the reference, not a {type(reference).__name__}"
        )
    try:
        return reference, extract_answer(response, "lenient" if lenient else reference.answer_format)
    except UnknownAnswerFormatError as error:
        raise BadReferenceError(f"problem {problem.id}: {error}") from error


def _after_thinking(response: str) -> str:
    return response.rpartition("</think>")[2].partition("<think>")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Box:
    start: int
    end: int
    inside: slice


def _boxed(text: str) -> list[str]:
    r"""Return the contents of every balanced \boxed{}, of nested boxes the outer.

    A box that holds nothing but another box is that other box: \boxed{\boxed{5}} says 5.
    """
    open_braces: list[tuple[int, int] | None] = []
    boxes: list[_Box] = []
    for match in _BRACES.finditer(text):
        token = match[0]
        if token.startswith("\\boxed"):
            open_braces.append(match.span())
        elif token == "{":
            open_braces.append(None)
        elif token == "}" and open_braces and (opening := open_braces.pop()):
            box = _Box(start=opening[0], end=match.end(), inside=slice(opening[1], match.start()))
            last_inner = boxes[-1] if boxes and boxes[-1].start > box.start else None
            if last_inner and not (text[opening[1] : last_inner.start] + text[last_inner.end : match.start()]).strip():
                box = replace(box, inside=last_inner.inside)
            while boxes and boxes[-1].start > box.start:
                boxes.pop()
            boxes.append(box)
    return [text[box.inside] for box in boxes]


def _marked(text: str, marker: str) -> list[str]:
    return [part for line in re.split(r"[\r\n]", text) for part in line.split(marker)[1:] if part.strip()]


def _tagged(text: str, name: str) -> list[str]:
    return list(_tag_contents(text, f"<{name}>", f"</{name}>"))


def _tag_contents(text: str, opening: str, closing: str) -> Iterator[str]:
    position = 0
    while (end := text.find(closing, position)) >= 0:
        start = text.rfind(opening, position, end)
        if start >= 0:
            yield text[start + len(opening) : end]
        position = end + len(closing)


def _last_number(text: str) -> str | None:
    last = None
    for match in _LAST_NUMBER.finditer(tidy(text)):
        last = match
    return last[0].strip() if last else None
