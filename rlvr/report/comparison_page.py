"""A comparison as one self-contained HTML page: no script, no network, no text of a response as markup."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import rlvr
from rlvr.evaluation import comparison_words as words
from rlvr.evaluation.comparison import Comparison, Flip, ModeComparison, Place
from rlvr.evaluation.curve_comparison import CurveComparison
from rlvr.report.comparison_plot import interval_plot

_FLIPS_SHOWN = 200
_CHARACTERS_SHOWN = 8000
_OPEN_AT_FIRST = 2


def comparison_page(comparison: Comparison) -> str:
    """Return the page: the answer in words, tables, an interval plot, and flipped problems with both responses.

    Up to 200 flipped problems of each direction and mode are in it, and up to 8,000 characters of a text; the page says
    where it stops. The same comparison gives the same page.
    """
    environment = Environment(
        loader=PackageLoader("rlvr.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    style = _style(environment)
    taken: set[str] = set()
    page = environment.get_template("comparison.html.jinja").render(
        version=rlvr.__version__,
        # Our own file, not data: the only text that goes into the page as it is.
        style=Markup(style),
        policy=f"default-src 'none'; style-src '{_digest(style)}'; img-src data:; base-uri 'none'; form-action 'none'",
        a=_side(comparison, "a"),
        b=_side(comparison, "b"),
        warnings=comparison.warnings,
        plot=interval_plot(comparison),
        modes=[_mode(found, taken) for found in comparison.modes.values()],
        curves=[_curve(curve) for curve in comparison.curves.values()],
        notes=_notes(comparison),
    )
    # Lone surrogates, which a decoder of model output can make, cannot be written as UTF-8.
    return page.encode("utf-8", "replace").decode("utf-8")


def _style(environment: Environment) -> str:
    if environment.loader is None:
        raise AssertionError("the environment was made with a loader")
    return environment.loader.get_source(environment, "comparison.css")[0]


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _side(comparison: Comparison, side: str) -> dict[str, str]:
    measured = comparison.a if side == "a" else comparison.b
    where = f"{measured.task or 'task unknown'}/{measured.split or 'split unknown'}"
    if measured.step is not None:
        where += f", {measured.step} PPO steps"
    return {"name": measured.name, "where": where, "origin": str(measured.origin)}


def _mode(found: ModeComparison, taken: set[str]) -> dict[str, Any]:
    several = max(found.samples) > 1
    rates = {"pass rate": found.rate, **{f"pass@{k}": rate for k, rate in found.pass_at_k.items()}}
    return {
        "name": found.mode,
        "sentence": found.sentence,
        "n": found.n,
        "left_out": words.left_out_text(found.only_a, found.only_b, found.unjudged),
        "samples": found.samples,
        "rates": [
            (name, words.rate_text(rate.a), words.rate_text(rate.b), words.difference_text(rate.difference))
            for name, rate in rates.items()
        ],
        "flips_text": words.flips_text(len(found.gained), len(found.lost), p=found.p, samples=found.samples),
        "directions": [
            _direction(found.mode, "gained", found.gained, taken, several=several),
            _direction(found.mode, "lost", found.lost, taken, several=several),
        ],
    }


def _direction(mode: str, word: str, flips: Sequence[Flip], taken: set[str], *, several: bool) -> dict[str, Any]:
    shown = flips[:_FLIPS_SHOWN]
    return {
        "word": word,
        "anchor": f"{mode}-{word}",
        "count": len(flips),
        "left_out": len(flips) - len(shown),
        "flips": [
            _flip(flip, _anchor(f"{mode}-{flip.problem}", taken), several=several, opened=index < _OPEN_AT_FIRST)
            for index, flip in enumerate(shown)
        ],
    }


def _flip(flip: Flip, anchor: str, *, several: bool, opened: bool) -> dict[str, Any]:
    return {
        "anchor": anchor,
        "opened": opened,
        "problem": flip.problem,
        "prompt": _cut(flip.prompt),
        "first_line": next(iter(flip.prompt.strip().splitlines()), "")[:120],
        "sides": [
            _response("A", flip.a, flip.a_rate if several else None),
            _response("B", flip.b, flip.b_rate if several else None),
        ],
    }


def _response(name: str, place: Place, rate: float | None) -> dict[str, Any]:
    row: Mapping[str, Any] = place.row
    return {
        "name": name,
        "outcome": str(row["outcome"]).replace("_", " "),
        "is_right": row["outcome"] == "correct",
        "answer": row.get("answer"),
        "detail": row.get("detail") or "",
        "text": _cut(str(row.get("text", ""))),
        "where": f"{place.path}:{place.line}",
        "rate": None if rate is None else f"right {words.points(rate)} % of the time",
    }


def _curve(curve: CurveComparison) -> dict[str, Any]:
    return {
        "mode": curve.mode,
        "range": words.range_text(curve.first, curve.last, curve.x),
        "problems": curve.problems,
        "areas": (
            words.rate_text(curve.a_area), words.rate_text(curve.b_area), words.difference_text(curve.difference),
        ),
        "threshold": f"{100 * curve.threshold:g} %",
        "reached": [words.reached_text(own, curve.x) for own in (curve.a_reached, curve.b_reached)],
    }  # fmt: skip


def _notes(comparison: Comparison) -> list[str]:
    notes = ["In brackets, and as bars: 95 % intervals. Both policies are compared problem by problem."]
    if comparison.curves:
        notes.append(words.SEEDS_NOTE)
    if len(comparison.modes) > 1:
        notes.append(words.several_note(len(comparison.modes)))
    return notes


def _anchor(text: str, taken: set[str]) -> str:
    stem = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")[:80]
    anchor, number = stem, 1
    while anchor in taken:
        number += 1
        anchor = f"{stem}-{number}"
    taken.add(anchor)
    return anchor


def _cut(text: str) -> str:
    if len(text) <= _CHARACTERS_SHOWN:
        return text
    return f"{text[:_CHARACTERS_SHOWN]}\n[... {len(text) - _CHARACTERS_SHOWN:,} more characters]"
