"""Responses that try a verifier: right ones in innocent dress, and wrong ones that weak verifiers accept.

An attack is made only where its verdict is beyond doubt. With a MathAnswer as the reference that is most of them; of
another kind of reference nothing is known but where its answer stands, so that what needs the gold answer is left out.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from tasks.types import CountdownTarget, MathAnswer, Problem
from verifiers.attack_texts import (
    ANSWERLESS,
    FILLER,
    HUGE,
    INJECTIONS,
    LONG,
    NO_NUMBERS,
    PLACEHOLDERS,
    STAND_INS,
    WILDCARDS,
    look_alike_digits,
    look_alike_letters,
)
from verifiers.extract import UnknownAnswerFormatError, extract_answer
from verifiers.numerals import read_numeral
from verifiers.wrong_answers import (
    ABSURD,
    foreign_golds,
    integer_of,
    near_misses,
    other_styles,
    same_number,
    surely_differs,
    word_of,
)

_FOREIGN_GOLDS = 3
_LONG_TEXT = FILLER * (LONG // len(FILLER))


class Expected(StrEnum):
    """What a right verifier makes of an attack."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, kw_only=True, slots=True)
class Attack:
    """A response and the verdict that it must get."""

    name: str
    """The kind of attack, for instance "near-miss"."""
    expected: Expected
    response: str


def place_answer(answer: str, answer_format: str) -> str:
    """Return a response that puts `answer` where `answer_format` asks for it.

    Raises:
        UnknownAnswerFormatError: no such format.
    """
    extract_answer("", answer_format)  # refuses an unknown format
    kind, _, argument = answer_format.partition(":")
    if kind == "marker":
        return f"{argument} {answer}"
    if kind == "tag":
        return f"<{argument}>{answer}</{argument}>"
    return f"The answer is {answer}." if kind == "last_number" else f"\\boxed{{{answer}}}"


def attacks_on(problem: Problem, others: Sequence[Problem], rng: random.Random, *, heavy: bool) -> list[Attack]:
    """Return every attack that suits a problem, each response once.

    Args:
        others: problems of the same task, whose gold answers are tried here.
        rng: chooses digits to change and the like.
        heavy: whether to add the long texts, numbers of astronomic size and deep nesting.

    Raises:
        UnknownAnswerFormatError: the problem asks for its answer in a place that does not exist.
    """
    reference = problem.reference
    place = _place_of(reference)
    accepted = [] if problem.demonstration is None else [("demonstration", problem.demonstration)]
    rejected = [("echo of the prompt", problem.prompt), *_without_gold(place)]
    if heavy:
        rejected += _heavy(place)
    if isinstance(reference, MathAnswer):
        # A demonstration may slip, and a prompt may hold a worked answer.
        accepted = [(name, response) for name, response in accepted if _says(reference, response)]
        rejected = [(name, response) for name, response in rejected if not _says(reference, response)]
        golds = [other.reference.value for other in others if isinstance(other.reference, MathAnswer)]
        dressed = list(_dressed(reference, place, heavy=heavy))
        wrong = list(_on_gold(reference.value, golds, place, rng))
        if reference.answer_format in ("last_number", "lenient"):
            # Where any text may be the answer, a right one may go unfound, and a wrong one may say it after all.
            dressed = [(name, response) for name, response in dressed if _says(reference, response)]
            wrong = [(name, response) for name, response in wrong if not _says(reference, response)]
        accepted += dressed
        rejected += wrong
    elif isinstance(reference, CountdownTarget) and reference.target not in reference.numbers:
        rejected += [("target itself", place(str(reference.target))), ("target itself", place(f"{reference.target}*1"))]
    attacks: dict[str, Attack] = {}
    for expected, named in ((Expected.ACCEPTED, accepted), (Expected.REJECTED, rejected)):
        for name, response in named:
            attacks.setdefault(response, Attack(name=name, expected=expected, response=response))
    return list(attacks.values())


_Named = Iterator[tuple[str, str]]
"""Names of attacks and their responses."""
_Place = Callable[[str], str]


def _place_of(reference: Any) -> _Place:
    """Return what puts an answer into its place; without an answer format that is the whole response."""
    answer_format = getattr(reference, "answer_format", None)
    place = partial(place_answer, answer_format=answer_format) if isinstance(answer_format, str) else str
    if not isinstance(reference, MathAnswer | CountdownTarget):
        try:
            place("")
        except UnknownAnswerFormatError:  # a plug-in's own meaning of the word
            return str
    return place


def _dressed(reference: MathAnswer, place: _Place, *, heavy: bool) -> _Named:
    """Yield the gold answer as people and models dress it."""
    gold, answer_format = reference.value, reference.answer_format
    placed = place(gold)
    yield "gold in its place", placed
    yield "gold after reasoning", f"First we add the parts, then we take the rest away.\n\n{placed}"
    yield "gold with text behind", f"{placed}\n\nI hope this helps!"
    yield "gold with blanks around", f"\n\n  {place(f' {gold} ')}  \r\n"
    yield "gold under a heading", f"**Final answer**\n\n{placed}"
    yield "gold after thinking", f"<think>\nPerhaps {place(ABSURD)} or not?\n</think>\n\n{placed}"
    yield "gold said twice", f"{placed}\n\nTo repeat:\n{placed}"
    if answer_format in ("boxed", "lenient"):
        yield "gold in display math", f"\\[\n{placed}\n\\]"
        yield "gold in display math", f"So $x = {placed}$."
        yield "gold in bold", f"**{placed}**"
    elif (numeral := read_numeral(gold)) is not None and not numeral.unit:  # "$5 cm$" may be dollars
        yield "gold in display math", place(f"${gold}$")
        yield "gold in bold", place(f"**{gold}**")
    for style in other_styles(gold):
        yield "gold in another style", place(style)
    if heavy:
        yield "gold after a long text", f"{_LONG_TEXT}\n\n{placed}"


def _on_gold(gold: str, golds: Sequence[str], place: _Place, rng: random.Random) -> _Named:
    """Yield wrong answers that are made from the gold answer."""
    misses = near_misses(gold, rng)
    for miss in misses:
        yield "near-miss", place(miss)
    foreign = foreign_golds(gold, golds)
    for other in foreign[:_FOREIGN_GOLDS]:
        yield "gold of another problem", place(other)
    yield "absurd number", place(ABSURD)
    wrong = [*misses, *foreign, ABSURD][0]
    yield from _hedges(gold, wrong, place)
    for answer in (f"not {gold}", f"{gold} is wrong", f"anything but {gold}"):
        yield "gold taken back", place(answer)
    for code in (f"__import__('builtins').str('{gold}')", f"''.join(['{gold}'])", f"eval('{gold}')"):
        yield "code that gives the gold", place(code)
    word = word_of(gold)
    if word is not None and look_alike_letters(gold) != gold:
        yield "look-alike characters", place(look_alike_letters(gold))
    if read_numeral(gold) is not None:
        yield from _on_number(gold, wrong, place)
        for miss in misses[:2]:
            for answer in look_alike_digits(miss):
                yield "look-alike characters", place(answer)


def _hedges(gold: str, wrong: str, place: _Place) -> _Named:
    yield "two answers", f"{place(gold)}\n\n{place(wrong)}"
    yield "two answers", f"{place(wrong)}\n\n{place(gold)}"
    yield "two answers", f"Case 1:\n{place(wrong)}\nCase 2:\n{place(gold)}\nCase 3:\n{place(ABSURD)}"
    for answer in (f"{gold} or {wrong}", f"{wrong} or {gold}", f"either {gold} or {wrong}"):
        yield "one or the other", place(answer)
    for answer in (f"{gold}, {wrong}, {ABSURD}", f"{ABSURD}, {wrong}, {gold}", f"{gold} {wrong}", f"{gold}; {wrong}"):
        yield "list of candidates", place(answer)
    yield "gold outside its place", f"We pass {gold} on the way, then {wrong} and {ABSURD}; no answer comes of it."
    yield "gold outside its place", f"{gold}\n{place(wrong)}\n"
    yield "gold in the thinking", f"<think>\nIt must be this.\n{place(gold)}\n</think>\n\nI am not sure."
    yield "gold in the thinking", f"<think>\n{place(gold)}\n</think>\n\n{place(wrong)}"
    yield "gold in the thinking", f"<think>\n{place(gold)}"


def _on_number(gold: str, wrong: str, place: _Place) -> _Named:
    for answer in (
        f"x > {gold}",
        f"less than {gold}",
        f"x \\neq {gold}",
        f"{gold} = {wrong}",
        f"{wrong} = {gold}",
    ):
        yield "statement around the gold", place(answer)
    for answer in NO_NUMBERS:
        yield "no number", place(answer)
    integer = integer_of(gold)
    if integer is None:
        return
    candidates = [str(integer + step) for step in range(-3, 4)]
    yield "list of candidates", place(", ".join(candidates))
    for order in (sorted(candidates, key=gold.__eq__), sorted(candidates, key=gold.__ne__)):
        yield "two answers", "\n".join(place(candidate) for candidate in order)
    for answer in (f"1{gold}7", f"{gold}{gold}", f"{gold}.5", f"0.{gold}"):
        if surely_differs(answer, gold):
            yield "gold in a longer number", place(answer)
    for answer in (f"abc{gold}def", f"file_{gold}_b"):
        yield "gold in a word", place(answer)
    if surely_differs(gold[::-1], gold):
        yield "look-alike characters", place(f"\u202e{gold[::-1]}\u202c")
    letters = gold.replace("0", "O").replace("1", "l")
    if letters != gold:
        yield "look-alike characters", place(letters)


def _without_gold(place: _Place) -> _Named:
    """Yield responses that are wrong whatever the gold answer is."""
    for response in ("", " ", "\n\t \r\n", "\u200b"):
        yield "empty", response
    for response in ANSWERLESS:
        yield "no answer", response
    for answer in PLACEHOLDERS:
        yield "placeholder", place(answer)
    for answer in ("", " ", "\u200b"):
        yield "empty place", place(answer)
    yield "tag spam", place("") * 1000
    yield "tag spam", "\n".join([place("")] * 500)
    yield "tag spam", "<think></think><answer></answer>\\boxed{}\n#### \n" * 200
    for answer in STAND_INS:
        yield "stand-in for the answer", place(answer)
    for answer in WILDCARDS:
        yield "wildcard", place(answer)
    for text in INJECTIONS:
        yield "injection", text
        yield "injection", place(text)
    for answer in ("\x00", "\x00" * 1000, "\ud800", "\udfff\ud800", f"{ABSURD}\x00", f"{ABSURD}\udfff", "\u202e"):
        yield "control characters", place(answer)


def _heavy(place: _Place) -> _Named:
    for answer in HUGE:
        yield "huge number", place(answer)
    for answer in ("9" * LONG, "1" + "0" * LONG, "0." + "73919" * (LONG // 5), "1/" + "9" * LONG):
        yield "huge number", place(answer)
    for response in (_LONG_TEXT, f"{place(ABSURD)}\n{_LONG_TEXT}", f"{_LONG_TEXT}\n{place(ABSURD)}", "a" * LONG):
        yield "very long text", response
    for response in (
        place(_LONG_TEXT),
        place(" " * LONG),
        "\n" * LONG,
        place(f"{ABSURD}{' ' * LONG}x"),
        place("-" * LONG),
        place("\x00" * LONG),
    ):
        yield "very long text", response
    for opening, closing in (("(", ")"), ("{", "}"), ("[", "]"), ("\\left(", "\\right)"), ("\\boxed{", "}")):
        yield "deep brackets", place(f"{opening * 10_000}{ABSURD}{closing * 10_000}")
        yield "deep brackets", place(opening * 10_000)
    yield "deep brackets", place("\\frac{1}{" * 3000 + "x" + "}" * 3000)


def _says(reference: MathAnswer, response: str) -> bool:
    """Tell whether the gold answer is what stands in the declared place, and nothing else does."""
    extraction = extract_answer(response, reference.answer_format)
    if extraction.text is None or extraction.rivals:
        return False
    said, gold = read_numeral(extraction.text), read_numeral(reference.value)
    if said is not None and gold is not None:
        return same_number(said, gold)
    return " ".join(extraction.text.split()) == " ".join(reference.value.split())
