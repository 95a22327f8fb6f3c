"""The outcome of a bench as a page for people and a record for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlvr.evaluation.bench_measures import (
    Arm,
    SeedRun,
    changed_problems,
    mean_after,
    mean_before,
    mean_gain,
    mean_lead,
    rollouts_to,
)
from rlvr.evaluation.bench_words import control_sentence, points, rate
from rlvr.evaluation.measured import MODES
from rlvr.evaluation.over_seeds import SeedMean
from rlvr.tracking.rates import rate_text

_NOTHING = "-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """Everything that a bench came to."""

    name: str
    seeds: Sequence[int]
    main_arm: str
    threshold: float | None
    """Greedy pass rate; None takes half of the main arm's gain."""
    arms: Sequence[Arm]
    """All of the suite's; those without a finished run are empty."""
    warm_starts_s: Sequence[float]
    """Wall time of each warm start that arms share; empty where there was none."""
    missing: Mapping[str, str]
    """Why a cell is not in the table, by its name."""
    stamp: Mapping[str, Any]
    """commit, time, machine, versions, command."""

    @property
    def main(self) -> Arm:
        return next(arm for arm in self.arms if arm.name == self.main_arm)


def threshold_of(bench: Bench) -> float | None:
    """Return the pass rate whose first reaching is reported; None where the main arm has gained nothing so far."""
    before, after = mean_before(bench.main, "greedy"), mean_after(bench.main, "greedy")
    if bench.threshold is not None or before is None or after is None:
        return bench.threshold
    return (before.value + after.value) / 2 if after.value > before.value else None


def bench_record(bench: Bench) -> dict[str, Any]:
    """Return the outcome as table.json has it."""
    threshold = threshold_of(bench)
    return {
        "suite": bench.name,
        "seeds": list(bench.seeds),
        "main_arm": bench.main_arm,
        "threshold": threshold,
        "arms": [_arm_record(bench, arm, threshold) for arm in bench.arms],
        "sentences": sentences(bench),
        "warm_starts_s": list(bench.warm_starts_s),
        "missing": dict(bench.missing),
        "stamp": dict(bench.stamp),
    }


def _arm_record(bench: Bench, arm: Arm, threshold: float | None) -> dict[str, Any]:
    def record(mean: SeedMean | None) -> dict[str, object] | None:
        return None if mean is None else mean.as_record()

    return {
        "name": arm.name,
        "control": arm.control,
        **{
            mode: {
                "before": record(mean_before(arm, mode)),
                "after": record(mean_after(arm, mode)),
                "gain": record(mean_gain(arm, mode)),
                "lead_over_main": None if arm.name == bench.main_arm else record(mean_lead(arm, bench.main, mode)),
            }
            for mode in MODES
        },
        "seeds": [
            {
                "seed": run.seed,
                "run": run.folder,
                "commit": run.commit,
                "before": run.before,
                "after": run.after,
                "rewarded": run.rewarded,
                "rollouts": run.rollouts,
                "rollouts_to_threshold": None if threshold is None else rollouts_to(run, threshold),
                "wall_s": run.wall_s,
            }
            for run in arm.runs
        ],
    }


def sentences(bench: Bench) -> list[str]:
    """Return what each control arm says, in words."""
    main_gain = mean_gain(bench.main, "greedy")
    found = []
    for arm in bench.arms:
        gain = mean_gain(arm, "greedy")
        if arm.control and gain is not None:
            rewarded = [run.rewarded for run in arm.runs if run.rewarded is not None]
            sentence = control_sentence(
                arm.name,
                gain,
                main=bench.main_arm,
                main_gain=main_gain,
                lead=mean_lead(bench.main, arm, "greedy"),
                changed=changed_problems(arm, "greedy"),
                never_rewarded=arm.name != "lr_zero" and max(rewarded, default=None) == 0.0,
            )
            found.append(sentence)
    return found


def bench_summary(bench: Bench) -> str:
    """Return the tables over seeds and the controls' sentences, as they are printed and open the page."""
    threshold = threshold_of(bench)
    drawn = "seeds and problems" if len(bench.seeds) > 1 else "problems"
    lines: list[str] = []
    for mode in MODES:
        lines += [
            f"Held-out pass rate, {mode}, with 95 % intervals over {drawn}:",
            "",
            *_mode_table(bench, mode, threshold),
            "",
        ]
    lines += [f"- {sentence}" for sentence in sentences(bench)]
    if bench.missing:
        lines += ["", "Not in the tables:", "", *(f"- {cell}: {why}" for cell, why in bench.missing.items())]
    return "\n".join(lines).strip()


def bench_page(bench: Bench) -> str:
    """Return table.md."""
    stamp = bench.stamp
    several = len(bench.seeds) > 1
    lines = [
        f"# {bench.name}",
        "",
        bench_summary(bench),
        "",
        "![Held-out pass rate by arm](figure.png)",
        "",
        "## Seeds",
        "",
        "Intervals of a single run are over its problems (95 %).",
        "",
        *_seed_table(bench, threshold_of(bench)),
        "",
        "## How to read this",
        "",
        "- Intervals are 95 %, over seeds and problems: both count as drawn at random."
        if several
        else "- One seed: intervals are over problems alone and say nothing of how another seed would fare.",
        "- Gains compare the same problems before and after training; an arm is compared with "
        f"{bench.main_arm} on the same problems and seeds.",
        '- "rewarded" is the mean share of training responses that the arm\'s own reward called right. Held-out '
        "responses of every arm are judged by one and the same verifier.",
        *_sampling_notes(bench),
        *_warm_start_notes(bench),
        *_commit_notes(bench),
        "",
        "## Where it comes from",
        "",
        f"Commit `{stamp['commit']}`, {stamp['time']}, {stamp['machine']['cpus']} CPUs, "
        f"{stamp['machine']['platform']}, Python {stamp['machine']['python']}; "
        f"{', '.join(f'{name} {version}' for name, version in stamp['versions'].items())}. "
        f"Made by `{stamp['command']}`; the numbers are in table.json.",
        "",
    ]
    return "\n".join(lines)


def _sampling_notes(bench: Bench) -> list[str]:
    temperatures = sorted({run.after["sampled"]["temperature"] for arm in bench.arms for run in arm.runs})
    if len(temperatures) < 2:
        return []
    return [
        "- Sampled responses were drawn at the temperature that an arm trains at, and these differ "
        f"({', '.join(f'{temperature:g}' for temperature in temperatures)}): compare the greedy rates."
    ]


def _warm_start_notes(bench: Bench) -> list[str]:
    if not bench.warm_starts_s:
        return []
    minutes = sum(bench.warm_starts_s) / 60
    return [
        f"- The arms of a seed start from one and the same warm start, which was trained once ({minutes:.1f} minutes "
        "for all seeds) and is not in the arms' wall times."
    ]


def _commit_notes(bench: Bench) -> list[str]:
    commits = {run.commit for arm in bench.arms for run in arm.runs}
    if len(commits) < 2:
        return []
    return [f"- The runs were trained by {len(commits)} different commits; table.json has each run's."]


def _mode_table(bench: Bench, mode: str, threshold: float | None) -> list[str]:
    greedy = mode == "greedy"
    reach = [] if threshold is None else [f"rollouts to {100 * threshold:.1f} %"]
    cost = [*reach, "rewarded", "wall time"] if greedy else []
    rows = [["arm", "seeds", "start", "end", "gain, points", f"end against {bench.main_arm}, points", *cost]]
    for arm in bench.arms:
        is_main = arm.name == bench.main_arm
        lead = None if is_main else mean_lead(arm, bench.main, mode)
        cells = [
            arm.name,
            f"{len(arm.runs)} of {len(bench.seeds)}",
            rate(mean_before(arm, mode)),
            rate(mean_after(arm, mode)),
            points(mean_gain(arm, mode)),
            points(lead),
        ]
        if greedy:
            reached = [] if threshold is None else [_reached(arm.runs, threshold)]
            cells += [*reached, _rewarded(arm.runs), _wall_time(arm.runs)]
        rows.append(cells)
    return _aligned(rows)


def _seed_table(bench: Bench, threshold: float | None) -> list[str]:
    heads = [f"{mode}, {when}" for mode in MODES for when in ("start", "end")]
    rows = [["arm", "seed", *heads, "rollouts to it", "wall time", "run"]]
    for arm in bench.arms:
        for run in arm.runs:
            rates = [_record_rate(found[mode]) for mode in MODES for found in (run.before, run.after)]
            reached = _NOTHING if threshold is None else _reached([run], threshold)
            rows.append([arm.name, str(run.seed), *rates, reached, _wall_time([run]), run.folder])
    return _aligned(rows)


def _record_rate(record: Mapping[str, Any]) -> str:
    return rate_text(record) or "none judged"


def _reached(runs: Sequence[SeedRun], threshold: float) -> str:
    places = [place for run in runs if (place := rollouts_to(run, threshold)) is not None]
    if not places:
        return "not reached" if runs else _NOTHING
    mean, low, high = sum(places) / len(places), min(places), max(places)
    if len(runs) == 1:
        return f"{mean:,.0f}"
    if len(places) < len(runs):
        return f"{low:,.0f} to {high:,.0f} ({len(places)} of {len(runs)} seeds)"
    return f"{mean:,.0f} ({low:,.0f} to {high:,.0f})"


def _rewarded(runs: Sequence[SeedRun]) -> str:
    shares = [run.rewarded for run in runs if run.rewarded is not None]
    return f"{100 * sum(shares) / len(shares):.1f} %" if shares else _NOTHING


def _wall_time(runs: Sequence[SeedRun]) -> str:
    return f"{sum(run.wall_s for run in runs) / len(runs):,.0f} s" if runs else _NOTHING


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a Markdown table that reads as well in a terminal."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))} |"

    return [line(rows[0]), f"|{'|'.join('-' * (width + 2) for width in widths)}|", *map(line, rows[1:])]
