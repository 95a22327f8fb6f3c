"""A comparison as text for people."""

import textwrap
from collections.abc import Iterator, Sequence

from rlvr.cli.text_table import aligned, one_line
from rlvr.evaluation.comparison import Comparison, Flip, ModeComparison, Place
from rlvr.evaluation.comparison_words import (
    SEEDS_NOTE,
    difference_text,
    flips_text,
    left_out_text,
    range_text,
    rate_text,
    reached_text,
    several_note,
)
from rlvr.evaluation.curve_comparison import CurveComparison
from rlvr.evaluation.measured import Measured

_SHOWN = 60
_WIDTH = 118


def comparison_lines(comparison: Comparison, *, show: int) -> Iterator[str]:
    """Yield the lines of a comparison.

    Args:
        show: flipped problems of each direction and mode.
    """
    yield f"A  {_title(comparison.a)}"
    yield f"B  {_title(comparison.b)}"
    for warning in comparison.warnings:
        yield from _wrapped(f"warning: {one_line(warning, 400)}", "")
    for found in comparison.modes.values():
        yield ""
        yield from _mode_lines(found, show)
    for curve in comparison.curves.values():
        yield ""
        yield from _curve_lines(curve)
    yield ""
    yield "In brackets: 95 % intervals."
    if comparison.curves:
        yield from _wrapped(SEEDS_NOTE, "")
    if len(comparison.modes) > 1:
        yield from _wrapped(several_note(len(comparison.modes)), "")


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def _title(measured: Measured) -> str:
    where = f"{measured.task or 'task unknown'}/{measured.split or 'split unknown'}"
    return one_line(f"{measured.name}   {where}   {measured.origin}", 300)


def _mode_lines(found: ModeComparison, show: int) -> Iterator[str]:
    left_out = left_out_text(found.only_a, found.only_b, found.unjudged)
    yield f"{found.mode}: {found.n:,} problems of both" + (f" (left out: {left_out})" if left_out else "")
    yield from _wrapped(one_line(found.sentence, 500), "  ")
    rates = {"pass rate": found.rate, **{f"pass@{k}": rate for k, rate in found.pass_at_k.items()}}
    rows = [
        [name, rate_text(rate.a), rate_text(rate.b), difference_text(rate.difference)] for name, rate in rates.items()
    ]
    yield from (f"  {line}" for line in aligned(["", "A", "B", "B - A"], rows))
    flips = flips_text(len(found.gained), len(found.lost), p=found.p, samples=found.samples)
    yield f"  flips: {flips}"
    yield from _flip_lines("gained", found.gained, show)
    yield from _flip_lines("lost", found.lost, show)
    if show and (found.gained or found.lost):
        first = (*found.gained, *found.lost)[0].b
        cat = "zcat" if first.path.suffix == ".gz" else "cat"
        yield f"  to read a response: {cat} {one_line(str(first.path), 200)} | sed -n {first.line}p"


def _flip_lines(word: str, flips: Sequence[Flip], show: int) -> Iterator[str]:
    for flip in flips[:show]:
        yield f"    {word} {one_line(flip.problem, 80)}  {one_line(flip.prompt, _SHOWN)}"
        yield f"      A {_place(flip.a)}"
        yield f"      B {_place(flip.b)}"
    if show and len(flips) > show:
        yield f"    ... and {len(flips) - show:,} more {word}"


def _place(place: Place) -> str:
    answer = place.row.get("answer")
    said = "no answer" if answer is None else one_line(str(answer), _SHOWN)
    return f"{place.row['outcome']}: {said}   {one_line(str(place.path), 200)}:{place.line}"


def _curve_lines(curve: CurveComparison) -> Iterator[str]:
    where = range_text(curve.first, curve.last, curve.x)
    yield f"{curve.mode} curves over {where}: {curve.problems:,} problems that all evaluations of both have"
    difference = curve.difference
    yield from (
        f"  {line}"
        for line in aligned(
            ["", "A", "B", "B - A"],
            [
                ["mean height (area under the curve)", rate_text(curve.a_area), rate_text(curve.b_area),
                 difference_text(difference) + ("" if difference.distinguishable else ", not distinguishable")],
                [f"first reaches {100 * curve.threshold:g} % after", reached_text(curve.a_reached, curve.x),
                 reached_text(curve.b_reached, curve.x), ""],
            ],
        )
    )  # fmt: skip
