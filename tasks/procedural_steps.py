"""The steps that the programs of tasks.procedural_code are made of: in words, as source, and as what they do.

A family makes steps that differ in their parameters. Most have a slip: the mistake that people make there, too.
"""

import operator
import random
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["ints", "int", "index", "text"]
"""Of a value: a list of integers, an integer, an integer from 0 to 8, a text."""

_COMPARISONS = {">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le}
_RELATIONS = (("over", ">", ">="), ("under", "<", "<="), ("at least", ">=", ">"), ("at most", "<=", "<"))
"""The word, the sign, and the sign that a slip takes: the bound itself falls on the wrong side."""
_ORDINALS = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th")
_MARKS = ",;:/-+_|.~*=&%"


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One operation on a value, which `text` calls "it" or "them"."""

    text: str
    source: str
    """A Python expression with {v} for the value; where it recurs, it calls f, the function that it is the whole of."""
    apply: Callable[[Any], Any]
    """Does what `text` says, written apart from `source`."""
    slip_source: str | None = None
    slip: Callable[[Any], Any] | None = None
    """Does what `slip_source` does; None where that raises."""
    notable: tuple[int | str, ...] = ()
    """Numbers or letters near which inputs are worth trying."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """Steps that take and give values of certain kinds."""

    takes: Kind
    gives: Kind | None
    """None: no step can follow."""
    draw: Callable[[random.Random], Step]


def _keep(rng: random.Random) -> Step:
    (word, sign, wrong), bound = rng.choice(_RELATIONS), rng.randint(-9, 60)
    return Step(
        text=f"keep numbers {word} {bound}",
        source=f"[x for x in {{v}} if x{sign}{bound}]",
        apply=lambda values: [x for x in values if _COMPARISONS[sign](x, bound)],
        slip_source=f"[x for x in {{v}} if x{wrong}{bound}]",
        slip=lambda values: [x for x in values if _COMPARISONS[wrong](x, bound)],
        notable=(bound,),
    )


def _count(rng: random.Random) -> Step:
    (word, sign, wrong), bound = rng.choice(_RELATIONS), rng.randint(-9, 60)
    return Step(
        text=f"count numbers {word} {bound}",
        source=f"sum(x{sign}{bound} for x in {{v}})",
        apply=lambda values: len([x for x in values if _COMPARISONS[sign](x, bound)]),
        slip_source=f"sum(x{wrong}{bound} for x in {{v}})",
        slip=lambda values: len([x for x in values if _COMPARISONS[wrong](x, bound)]),
        notable=(bound,),
    )


def _slice(rng: random.Random) -> Step:
    """Slips count from one, where Python counts from zero."""
    count = rng.randint(2, 12)
    return rng.choice(
        (
            Step(
                text=f"take the first {count}",
                source=f"{{v}}[:{count}]",
                apply=lambda values: [x for i, x in enumerate(values) if i < count],
                slip_source=f"{{v}}[1:{count}]",
                slip=lambda values: values[1:count],
            ),
            Step(
                text=f"drop the first {count}",
                source=f"{{v}}[{count}:]",
                apply=lambda values: [x for i, x in enumerate(values) if i >= count],
                slip_source=f"{{v}}[{count - 1}:]",
                slip=lambda values: values[count - 1 :],
            ),
            Step(
                text=f"take the last {count}",
                source=f"{{v}}[-{count}:]",
                apply=lambda values: [x for i, x in enumerate(values) if i >= len(values) - count],
            ),
            Step(
                text=f"drop the last {count}",
                source=f"{{v}}[:-{count}]",
                apply=lambda values: [x for i, x in enumerate(values) if i < len(values) - count],
            ),
        )
    )


def _every(rng: random.Random) -> Step:
    """Slips count from one, where Python counts from zero."""
    step, first = rng.randint(2, 9), rng.randint(1, 9)
    return Step(
        text=f"take every {_ORDINALS[step - 1]} from the {_ORDINALS[first - 1]} on",
        source=f"{{v}}[{first - 1}::{step}]",
        apply=lambda values: [x for i, x in enumerate(values, start=1) if i >= first and (i - first) % step == 0],
        slip_source=f"{{v}}[{first}::{step}]",
        slip=lambda values: values[first::step],
    )


def _scale(rng: random.Random) -> Step:
    addend, factor = rng.randint(1, 99), rng.randint(2, 60)
    return rng.choice(
        (
            Step(
                text=f"add {addend} to each",
                source=f"[x+{addend} for x in {{v}}]",
                apply=lambda values: list(map(addend.__add__, values)),
            ),
            Step(
                text=f"multiply each by {factor}",
                source=f"[x*{factor} for x in {{v}}]",
                apply=lambda values: list(map(factor.__mul__, values)),
            ),
        )
    )


def _largest(rng: random.Random) -> Step:
    """The slip forgets the empty list."""
    default = rng.randint(-9, 60)
    return Step(
        text=f"take the largest, or {default} if empty",
        source=f"max({{v}},default={default})",
        apply=lambda values: sorted(values)[-1] if values else default,
        slip_source="max({v})",
        slip=lambda values: max(values) if values else None,
    )


def _total(rng: random.Random) -> Step:
    addend = rng.randint(1, 99)
    return Step(
        text=f"sum them and add {addend}",
        source=f"sum({{v}})+{addend}",
        apply=lambda values: sum([*values, addend]),
    )


def _join(rng: random.Random) -> Step:
    mark, (left, right) = rng.choice(_MARKS), rng.choice(("()", "[]", "<>"))
    return Step(
        text=f"join them with {mark} in {left}{right}",
        source=f"'{left}'+'{mark}'.join(map(str,{{v}}))+'{right}'",
        apply=lambda values: left + mark.join(str(x) for x in values) + right,
    )


def _sum_to(rng: random.Random) -> Step:
    """The slip leaves the last number out."""
    first = rng.randint(1, 60)
    return Step(
        text=f"sum the integers from {first} to it",
        source=f"sum(range({first},{{v}}+1))",
        apply=lambda last: (first + last) * (last - first + 1) // 2 if last >= first else 0,
        slip_source=f"sum(range({first},{{v}}))",
        slip=lambda last: sum(range(first, last)),
        notable=(first,),
    )


def _multiples(rng: random.Random) -> Step:
    """The slip forgets the negative numbers."""
    factor = rng.randint(2, 60)
    return Step(
        text=f"count multiples of {factor} from 1 to it",
        source=f"max({{v}},0)//{factor}",
        apply=lambda last: len(range(factor, last + 1, factor)),
        slip_source=f"{{v}}//{factor}",
        slip=lambda last: last // factor,
        notable=(factor, 2 * factor),
    )


def _pad(rng: random.Random) -> Step:
    """The slip puts the zeros before the sign of a negative number."""
    width = rng.randint(4, 40)
    return Step(
        text=f"zero-pad it to {width} characters, sign first",
        source=f"str({{v}}).zfill({width})",
        apply=lambda number: f"{number:0{width}}",
        slip_source=f"str({{v}}).rjust({width},'0')",
        slip=lambda number: str(number).rjust(width, "0"),
    )


def _letter(rng: random.Random) -> Step:
    """The slip forgets the capitals."""
    letter = rng.choice(string.ascii_lowercase)
    return Step(
        text=f"count the letter {letter} in either case",
        source=f"{{v}}.lower().count('{letter}')",
        apply=lambda text: text.count(letter) + text.count(letter.upper()),
        slip_source=f"{{v}}.count('{letter}')",
        slip=lambda text: text.count(letter),
        notable=(letter, letter.upper()),
    )


def _repeat(rng: random.Random) -> Step:
    """The slip leaves a mark at the end."""
    times, mark = rng.randint(2, 9), rng.choice(_MARKS)
    return Step(
        text=f"repeat it {times} times with {mark} between",
        source=f"'{mark}'.join([{{v}}]*{times})",
        apply=lambda text: text + (mark + text) * (times - 1),
        slip_source=f"({{v}}+'{mark}')*{times}",
        slip=lambda text: (text + mark) * times,
    )


def _shorten(rng: random.Random) -> Step:
    """The slip marks texts as cut that are not."""
    length, mark = rng.randint(2, 12), rng.choice(("~", "..", "...", "[]"))
    return Step(
        text=f"cut it to {length} characters, adding {mark} if cut",
        source=f"{{v}} if len({{v}})<={length} else {{v}}[:{length}]+'{mark}'",
        apply=lambda text: text[:length] + (mark if len(text) > length else ""),
        slip_source=f"{{v}}[:{length}]+'{mark}'",
        slip=lambda text: text[:length] + mark,
    )


def _recurrence(rng: random.Random) -> Step:
    """The slip ends one call too early."""
    start, factor, addend = rng.randint(0, 9), rng.randint(2, 5), rng.randint(1, 9)

    def value(start_at: int, n: int) -> int:
        result = start
        for _ in range(start_at, n):
            result = factor * result + addend
        return result

    rule = f"{factor}*f({{v}}-1)+{addend}"
    return Step(
        text=f"f(0)={start} and f(n)={rule.format(v='n')}",
        source=f"{start} if {{v}}<1 else {rule}",
        apply=lambda n: value(0, n),
        slip_source=f"{start} if {{v}}<2 else {rule}",
        slip=lambda n: value(1, n),
    )


FAMILIES: Mapping[str, Family] = {
    "keep": Family(takes="ints", gives="ints", draw=_keep),
    "slice": Family(takes="ints", gives="ints", draw=_slice),
    "every": Family(takes="ints", gives="ints", draw=_every),
    "scale": Family(takes="ints", gives="ints", draw=_scale),
    "count": Family(takes="ints", gives="int", draw=_count),
    "largest": Family(takes="ints", gives="int", draw=_largest),
    "total": Family(takes="ints", gives="int", draw=_total),
    "join": Family(takes="ints", gives="text", draw=_join),
    "sum_to": Family(takes="int", gives="int", draw=_sum_to),
    "multiples": Family(takes="int", gives="int", draw=_multiples),
    "pad": Family(takes="int", gives="text", draw=_pad),
    "letter": Family(takes="text", gives="int", draw=_letter),
    "repeat": Family(takes="text", gives="text", draw=_repeat),
    "shorten": Family(takes="text", gives="text", draw=_shorten),
    "recurrence": Family(takes="index", gives=None, draw=_recurrence),
}
