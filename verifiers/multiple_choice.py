"""Judge answers that name one choice, or several, by their labels."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tasks.types import Problem
from verifiers.errors import BadReferenceError, VerifierOptionError
from verifiers.extract import read_answer
from verifiers.types import Verdict
from verifiers.verdicts import correct, incorrect, no_answer, shown

MAX_LENGTH = 2000
"""Characters; a longer answer names no choice."""

_MAX_WRAPPINGS = 8

Choices = Mapping[str, str]
"""Normalised texts by upper-case label; "" where the text is not known."""

_STYLE = re.compile(
    r"\\(?:text(?:bf|rm|it|sf|tt|normal)?|math(?:bf|rm|it|sf|tt)|boldsymbol|mbox|boxed|fbox)\s*+\{([^{}]*)\}"
)
_SPACING = re.compile(r"\\[,;:! ]|\\(?:quad|qquad|left|right)(?![A-Za-z])|~")
_DELIMITERS = re.compile(r"\\?\$|\\[()\[\]]|\*\*|`")
_WRAPPINGS = (("\\{", "\\}"), ("{", "}"), ("*", "*"), ("_", "_"))
_LEAD_IN = re.compile(
    r"(?:the )?(?:(?:correct|right|final|best) )?(?:answer|option|choice)\b(?: is\b)?(?: ?:)? ?", re.IGNORECASE
)
_HEDGE = re.compile(r"(?:or|and|not|nor|but|no|wait|actually|maybe)\b|[,;/&?]", re.IGNORECASE)


class MultipleChoice:
    r"""Compares the label that the response names with the gold label.

    Read as C are C, c, (C), [C], C., C), C:, \text{(C)}, \textbf{C}, option C, the answer is (C), and each of the
    delimited forms with the choice's text behind it: "C: 12 cm", "C) 12", "(C) 12". Not read are "C 12" and "A dog"
    (the letter may be a word or a quantity), "not C", and a label whose text goes on to name another choice
    ("C. No, D"). A gold of several labels ("A, C") wants all of them and no other, in any order: "A and C", "(A), (C)",
    "CA".

    Where problem.metadata["choices"] holds the texts of the choices (a sequence, or a mapping from labels), an answer
    that is exactly the text of one choice, blanks and case apart, counts as its label; a label with the text of another
    choice contradicts itself and is incorrect. Without the texts, one that mentions another label on its own
    ("C: vitamin D") is taken for a hedge.

    Args:
        choices: the labels, each one letter or digit, in order.

    Raises:
        VerifierOptionError: `choices` is empty, repeats a label or has one that is no letter or digit.
    """

    def __init__(self, *, choices: str = "ABCDEFGHIJ") -> None:
        if not _are_labels(choices):
            raise VerifierOptionError(
                "task.verifier_options.choices: must be different ASCII letters or digits (upper and lower case are "
                f'the same), for instance "ABCD", got {choices!r}'
            )
        self._labels = choices.upper()

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on `response`.

        Raises:
            BadReferenceError: the gold answer names no choice, the problem's choices cannot be read, the answer format
                finds no labels, or the reference is of another kind.
        """
        reference, extraction = read_answer(problem, response)
        if reference.answer_format == "last_number":
            raise BadReferenceError(
                f"problem {problem.id}: the answer format 'last_number' finds no labels; use 'boxed', 'tag:answer' or a"
                " marker"
            )
        choices = self._choices(problem)
        gold = _read(reference.value, dict.fromkeys(choices, ""), several=True)
        if not gold.labels:
            raise BadReferenceError(
                f"problem {problem.id}: the gold answer {shown(reference.value)} names none of the choices "
                f"{', '.join(choices)}"
            )
        if extraction.text is None:
            return no_answer(reference.answer_format)
        several = len(gold.labels) > 1
        named = _read(extraction.text, choices, several=several)
        if not named.labels:
            return incorrect(extraction.text, named.mistake)
        for rival in extraction.rivals:
            other = _read(rival, choices, several=several)
            # "#### Step 1" is a heading of markdown, so that after a marker only labels are answers.
            heading = not other.labels and reference.answer_format.startswith("marker:")
            if other.labels != named.labels and not heading:
                return incorrect(extraction.text, f"several answers: {shown(rival)} and {shown(extraction.text)}")
        if named.labels != gold.labels:
            return incorrect(extraction.text, f"names {_listed(named.labels)}, not {_listed(gold.labels)}")
        return correct(extraction.text, f"names {_listed(gold.labels)}")

    def _choices(self, problem: Problem) -> Choices:
        given = problem.metadata.get("choices")
        if given is None:
            return dict.fromkeys(self._labels, "")
        if isinstance(given, Mapping):
            pairs = [*given.items()]
        elif isinstance(given, Sequence) and not isinstance(given, str) and len(given) <= len(self._labels):
            pairs = [*zip(self._labels, given, strict=False)]
        else:
            pairs = []
        if not (
            all(isinstance(label, str) and len(label) == 1 and isinstance(text, str) for label, text in pairs)
            and _are_labels("".join(label for label, _ in pairs))
        ):
            raise BadReferenceError(
                f"problem {problem.id}: metadata['choices'] must be a list of at most {len(self._labels)} texts, or "
                f"map labels of one letter or digit to texts; got {shown(repr(given))}"
            )
        return {label.upper(): _normalised(text) for label, text in pairs}


@dataclass(frozen=True, slots=True)
class _Named:
    """What an answer names."""

    labels: frozenset[str] = frozenset()
    mistake: str = ""
    """Why it names nothing, where `labels` is empty."""


def _read(answer: str, choices: Choices, *, several: bool) -> _Named:
    """Read the labels that `answer` names.

    Args:
        several: whether run-together labels ("AC") are read; where one label is wanted, that is a word.
    """
    if len(answer) > MAX_LENGTH:
        return _Named(mistake=f"too long for a choice: {shown(answer)}")
    patterns = _patterns("".join(choices))
    text = _plain(answer)
    lead_in = _LEAD_IN.match(text)
    text_alone = text[lead_in.end() :] if lead_in else text
    by_text = _label_of(text, choices) or _label_of(text_alone, choices)
    if patterns.labels.fullmatch(text_alone):
        labels = frozenset(re.sub(r"\b(?i:and)\b", "", text_alone).upper()) & choices.keys()
        if by_text and labels != {by_text} and text_alone.isalnum():
            return _Named(mistake=f"ambiguous: {text_alone} is a label, and the text of {by_text}")
        return _Named(labels)
    if by_text:
        return _Named(frozenset(by_text))
    if several and len(text_alone) == len(set(text_alone)) and set(text_alone) <= choices.keys():
        return _Named(frozenset(text_alone))
    match = patterns.label_and_text.fullmatch(text_alone)
    if match is None:
        return _Named(mistake=f"not a choice: {shown(answer)}")
    mistake = _takes_back(match["label"].upper(), match["text"], choices, patterns.mention)
    return _Named(mistake=mistake) if mistake else _Named(frozenset(match["label"].upper()))


def _takes_back(label: str, text: str, choices: Choices, mention: re.Pattern[str]) -> str:
    """Return why the text behind a label contradicts it, "" where it does not."""
    if choices[label] and _normalised(text) == choices[label]:
        return ""
    other = _label_of(text, choices)
    if other:
        return f"the label {label} with the text of {other}"
    mentioned = {found[found.lastindex or 0].upper() for found in mention.finditer(text)}
    if _HEDGE.match(text) or mentioned - {label}:
        return f"{label} is taken back by what follows: {shown(text)}"
    return ""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Patterns:
    labels: re.Pattern[str]
    """One label alone, or several with blanks, commas or "and" between them."""
    label_and_text: re.Pattern[str]
    mention: re.Pattern[str]
    """A label that stands on its own within a text; the only group that matched holds it."""


@lru_cache(maxsize=64)
def _patterns(labels: str) -> _Patterns:
    label = f"[{labels}{labels.lower()}]"
    lone = rf"(?:\({label}\)|\[{label}\]|{label})"
    joint = r"(?: ?[,;&] ?(?:and )?| and | )"
    return _Patterns(
        labels=re.compile(rf"{lone}(?:[.):]|(?:{joint}{lone})*)", re.IGNORECASE),
        label_and_text=re.compile(
            rf"(?:[(\[](?=.[)\]]))?(?P<label>{label})(?:[)\]][.:]?|:|\.(?![^\W\d_])) ?(?P<text>.+)"
        ),
        mention=re.compile(
            # "A" before a word is an article, "I" a pronoun, and f(d) a function's value.
            rf"(?<![\w\\])(?![AI] [a-z])([{labels}])(?!\w)|(?<!\w)\(({label})\)"
            rf"|\b(?i:or|and|not|option|choice) (?!a \w)({label})(?!\w)"
        ),
    )


def _plain(text: str) -> str:
    """Return `text` without LaTeX and markdown styling, closing punctuation and surplus blanks."""
    for _ in range(_MAX_WRAPPINGS):
        before = text
        text = _STYLE.sub(r"\1", _DELIMITERS.sub("", _SPACING.sub(" ", text)))
        text = " ".join(text.split()).rstrip(".,;: ")
        for start, end in _WRAPPINGS:
            if len(text) > len(start) + len(end) and text.startswith(start) and text.endswith(end):
                text = text[len(start) : -len(end)]
        if text == before:
            break
    return text


def _normalised(text: str) -> str:
    return _plain(text).casefold()


def _label_of(text: str, choices: Choices) -> str | None:
    """Return the label of the one choice that has this text."""
    wanted = _normalised(text)
    found = [label for label, own in choices.items() if own and own == wanted]
    return found[0] if len(found) == 1 else None


def _are_labels(text: str) -> bool:
    return text.isascii() and text.isalnum() and len(set(text.upper())) == len(text)


def _listed(labels: frozenset[str]) -> str:
    return ", ".join(sorted(labels))
