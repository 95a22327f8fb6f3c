"""Pictures of run folders and measured policies: read, computed, drawn, written; or written as numbers."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rlvr.evaluation.curves.canvas import picture_style, require_suffix, write_file, write_picture
from rlvr.evaluation.curves.crossover import (
    MeasuredPolicy,
    on_common_problems,
    policies_of,
    subject_of_policies,
)
from rlvr.evaluation.curves.draw_crossover import crossover_figure
from rlvr.evaluation.curves.draw_frontier import frontier_figure
from rlvr.evaluation.curves.draw_learning_curve import learning_curve_figure
from rlvr.evaluation.curves.frontier import frontier
from rlvr.evaluation.curves.grouping import group_warnings, grouped, subject_of
from rlvr.evaluation.curves.learning_curve import learning_curve
from rlvr.evaluation.curves.quantities import X_NAMES, parse_quantity
from rlvr.evaluation.curves.recorded_runs import RecordedRun, differing_problems, distinct_names, load_runs
from rlvr.evaluation.curves.series import Subject, csv_text
from rlvr.evaluation.run_curve import Axis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_curves(
    runs: Sequence[Path], out: Path, *, x: Axis = "step", y: str | None = None, group: bool = False
) -> list[str]:
    """Draw held-out pass rates of run folders into a .png or .svg file, or write the numbers into a .csv file.

    Greedy and sampled responses are a line each, with 95 % bands (for several runs the greedy line alone has one);
    behind them, thin, the pass rate on the training problems; for a single run also what its audit verifiers found.

    Args:
        y: another quantity in the place of the two: "greedy", "sampled", "pass@8", "pass^8", "maj@8".
        group: draw runs that differ in their seed only as one curve, the mean with its 95 % band over seeds.

    Returns:
        Warnings about what was compared.

    Raises:
        RunFolderError: a path is not a run folder, or has no evaluation yet.
        ConfigError: `out` is no picture, or a run has not recorded `x` or `y`.
    """
    require_suffix(out)
    quantities = [parse_quantity(name) for name in ((y,) if y else ("greedy", "sampled"))]
    loaded = load_runs(runs)
    lines_of = partial(learning_curve, x=x, quantities=quantities, audits=y in (None, "sampled"))
    subjects, warnings = _subjects(loaded, lines_of, group=group)
    if len(subjects) > 1:
        # Several would hide one another: a picture of one run has these.
        subjects = [replace(own, series=tuple(own.of("first", "second", "training"))) for own in subjects]
    what = _words(y)
    _write(
        out, "curve", X_NAMES[x], subjects,
        lambda: learning_curve_figure(subjects, x=x, what=what, over_seeds=_over_seeds(subjects)),
    )  # fmt: skip
    return warnings


def plot_frontier(runs: Sequence[Path], out: Path, *, y: str | None = None, group: bool = False) -> list[str]:
    """Draw the held-out rate of run folders by the KL of the policy from the reference; otherwise as `plot_curves`.

    Args:
        y: the rate; without one that of sampled responses, from which the KL is estimated too.
    """
    require_suffix(out)
    quantity = parse_quantity(y or "sampled")
    subjects, warnings = _subjects(load_runs(runs), partial(frontier, quantity=quantity), group=group)
    what = _words(quantity.name)
    _write(
        out, "frontier", "kl_nats", subjects,
        lambda: frontier_figure(subjects, what=what, over_seeds=_over_seeds(subjects)),
    )  # fmt: skip
    return warnings


def plot_crossover(policies: Sequence[str], out: Path, *, group: bool = False) -> list[str]:
    """Draw pass@k against k with 95 % bands; otherwise as `plot_curves`.

    Args:
        policies: a run folder gives its base model, SFT start and last policy; an evaluation folder, RUN@sft and the
            like one line each.
        group: the runs among them.
    """
    require_suffix(out)
    found = {text: policies_of(text) for text in policies}
    every, warnings = on_common_problems([policy for own in found.values() for policy in own])
    tasks = dict.fromkeys(policy.task for policy in every)
    if len(tasks) > 1:
        warnings.append(f"the policies were measured on different tasks: {'; '.join(tasks)}")
    remaining = iter(every)
    found = {text: [next(remaining) for _ in own] for text, own in found.items()}
    runs = [text for text in found if (Path(text) / "config.toml").is_file()]
    subjects: list[Subject] = []
    if group and runs:
        loaded = load_runs([Path(text) for text in runs])
        by_name = {run.name: found[text] for run, text in zip(loaded, runs, strict=True)}
        subjects, more = _group(loaded, partial(_run_lines, by_name))
        warnings += more
    else:
        names = distinct_names([Path(text) for text in runs])
        subjects = [
            subject_of_policies(name, found[text], step_in_name=True) for name, text in zip(names, runs, strict=True)
        ]
    for text, own in found.items():
        if text not in runs:
            subjects.append(subject_of_policies(_own_name(text, found), own, step_in_name=False))
    _write(out, "crossover", "k", subjects, lambda: crossover_figure(subjects, over_seeds=_over_seeds(subjects)))
    return warnings


def _subjects(
    runs: Sequence[RecordedRun], lines_of: Callable[[RecordedRun], Subject], *, group: bool
) -> tuple[list[Subject], list[str]]:
    different = differing_problems(runs)
    warnings = [different] if different else []
    if not group:
        return [lines_of(run) for run in runs], warnings
    subjects, more = _group(runs, lines_of)
    return subjects, warnings + more


def _group(runs: Sequence[RecordedRun], lines_of: Callable[[RecordedRun], Subject]) -> tuple[list[Subject], list[str]]:
    groups = grouped(runs)
    warnings = group_warnings(groups)
    subjects = []
    for own in groups:
        subject, more = subject_of(own, lines_of)
        subjects.append(subject)
        warnings += more
    return subjects, warnings


def _run_lines(policies: dict[str, list[MeasuredPolicy]], run: RecordedRun) -> Subject:
    return subject_of_policies(run.name, policies[run.name], step_in_name=False)


def _own_name(text: str, found: dict[str, list[MeasuredPolicy]]) -> str:
    name = found[text][0].name
    same = [own for own in found.values() if own[0].name == name]
    return name if len(same) == 1 else text


def _words(y: str | None) -> str:
    return "pass rate" if y is None else f"{y} pass rate" if y in ("greedy", "sampled") else y


def _over_seeds(subjects: Sequence[Subject]) -> bool:
    return any(series.n_of == "seeds" for subject in subjects for series in subject.series)


def _write(out: Path, kind: str, x_name: str, subjects: Sequence[Subject], figure: "Callable[[], Figure]") -> None:
    if out.suffix == ".csv":
        write_file(out, csv_text(kind, x_name, subjects))
        return
    with picture_style():
        write_picture(figure(), out)
