"""A comparison as Markdown: sentences and tables for a pull request or a paper's notes; no text of a model."""

import re
from collections.abc import Iterator, Sequence

from rlvr.evaluation import comparison_words as words
from rlvr.evaluation.comparison import Comparison, Flip, ModeComparison
from rlvr.evaluation.curve_comparison import CurveComparison

_FLIPS_LISTED = 50


def comparison_markdown(comparison: Comparison) -> str:
    """Return the Markdown page of a comparison; flipped problems are named, with where their responses lie."""
    return "\n".join(_lines(comparison)).encode("utf-8", "replace").decode("utf-8") + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    yield f"# {_plain(comparison.a.name)} (A) and {_plain(comparison.b.name)} (B) compared"
    for warning in comparison.warnings:
        yield f"\n> **Warning:** {_plain(warning)}"
    for found in comparison.modes.values():
        yield from _mode_lines(found)
    for curve in comparison.curves.values():
        yield from _curve_lines(curve)
    yield "\nIn brackets: 95 % intervals."
    if comparison.curves:
        yield f"\n{words.SEEDS_NOTE}"
    if len(comparison.modes) > 1:
        yield f"\n{words.several_note(len(comparison.modes))}"


def _mode_lines(found: ModeComparison) -> Iterator[str]:
    left_out = words.left_out_text(found.only_a, found.only_b, found.unjudged)
    yield f"\n## {found.mode.capitalize()} responses"
    yield f"\n**{_plain(found.sentence)}.**\n"
    yield "| | A | B | B - A |"
    yield "|---|---|---|---|"
    for name, rate in {"pass rate": found.rate, **{f"pass@{k}": own for k, own in found.pass_at_k.items()}}.items():
        cells = (words.rate_text(rate.a), words.rate_text(rate.b), words.difference_text(rate.difference))
        yield f"| {name} | {' | '.join(cells)} |"
    flips = words.flips_text(len(found.gained), len(found.lost), p=found.p, samples=found.samples)
    yield f"\n{found.n:,} problems of both{f' (left out: {left_out})' if left_out else ''}. {flips}."
    yield from _flip_lines("Gained", found.gained)
    yield from _flip_lines("Lost", found.lost)


def _flip_lines(word: str, flips: Sequence[Flip]) -> Iterator[str]:
    if not flips:
        return
    yield f"\n| {word} | A | B |"
    yield "|---|---|---|"
    for flip in flips[:_FLIPS_LISTED]:
        cells = [flip.problem, *(f"{own.row['outcome']}, {own.path}:{own.line}" for own in (flip.a, flip.b))]
        yield f"| {' | '.join(map(_plain, cells))} |"
    if len(flips) > _FLIPS_LISTED:
        yield f"\n... and {len(flips) - _FLIPS_LISTED:,} more."


def _curve_lines(curve: CurveComparison) -> Iterator[str]:
    yield f"\n## {curve.mode.capitalize()} curves"
    where = words.range_text(curve.first, curve.last, curve.x)
    yield f"\nOver {where}, {curve.problems:,} problems that all evaluations of both have.\n"
    yield "| | A | B | B - A |"
    yield "|---|---|---|---|"
    areas = (words.rate_text(curve.a_area), words.rate_text(curve.b_area), words.difference_text(curve.difference))
    yield f"| mean height (area under the curve) | {' | '.join(areas)} |"
    reached = (words.reached_text(own, curve.x) for own in (curve.a_reached, curve.b_reached))
    yield f"| first reaches {100 * curve.threshold:g} % after | {' | '.join(reached)} | |"


def _plain(text: str) -> str:
    """Return a text on one line in which Markdown and HTML see nothing of theirs."""
    return re.sub(r"([\\`*_{}\[\]<>#|!&~])", r"\\\1", " ".join(text.split()))
