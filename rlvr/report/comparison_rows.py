"""Two runs of one report side by side, paired over the problems that both were measured on."""

from typing import Any

from rlvr.errors import ConfigError, RunFolderError
from rlvr.evaluation.comparison import Comparison, ModeComparison, PairedRate, compare
from rlvr.evaluation.comparison_words import difference_text, flips_text, range_text, rate_text, reached_text
from rlvr.evaluation.curve_comparison import CurveComparison
from rlvr.evaluation.measured import load_measured
from rlvr.report.run_data import RunData


def comparison(a: RunData, b: RunData) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the comparison of two runs' last evaluations on all problems, and what may make it unfair.

    None, and the reason, where there is nothing to compare. The command `rlvr compare` says more.
    """
    try:
        found = compare(*(load_measured(str(run.folder.path)) for run in (a, b)))
    except (ConfigError, RunFolderError) as error:
        return None, [f"The runs are not compared: {error}."]
    rows = [row for mode in found.modes.values() for row in _rows(mode)]
    rows += [row for curve in found.curves.values() for row in _curve_rows(curve)]
    record = {"a": found.a.name, "b": found.b.name, "sentence": _sentence(found), "rows": rows}
    return record, [f"Comparison: {warning}" for warning in found.warnings]


def _sentence(found: Comparison) -> str:
    text = found.sentence
    return f"{text[0].upper()}{text[1:]}."


def _rows(mode: ModeComparison) -> list[dict[str, str]]:
    rows = [_row(f"held-out pass rate, {mode.mode}", mode.rate, f" (n = {mode.n:,})")]
    rows += [_row(f"pass@{k}, {mode.mode}", found, "") for k, found in mode.pass_at_k.items()]
    several = max(mode.samples) > 1
    rows.append(
        {
            "label": f"problems that it is right on {'more often' if several else 'alone'}, {mode.mode}",
            "a": f"{len(mode.lost):,}",
            "b": f"{len(mode.gained):,}",
            "difference": flips_text(len(mode.gained), len(mode.lost), p=mode.p, samples=mode.samples),
        }
    )
    return rows


def _curve_rows(curve: CurveComparison) -> list[dict[str, str]]:
    return [
        {
            "label": f"mean height of the curve, {range_text(curve.first, curve.last, curve.x)}, {curve.mode}",
            "a": rate_text(curve.a_area),
            "b": rate_text(curve.b_area),
            "difference": f"{difference_text(curve.difference)} (n = {curve.problems:,})",
        },
        {
            "label": f"{100 * curve.threshold:g} % reached, {curve.mode}",
            "a": reached_text(curve.a_reached, curve.x),
            "b": reached_text(curve.b_reached, curve.x),
            "difference": "",
        },
    ]


def _row(label: str, found: PairedRate, suffix: str) -> dict[str, str]:
    return {
        "label": label,
        "a": rate_text(found.a),
        "b": rate_text(found.b),
        "difference": f"{difference_text(found.difference)}{suffix}",
    }
