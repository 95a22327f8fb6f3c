"""Runs that differ in their seed only, as one: the mean over seeds with its interval."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rlvr.algorithms.presets import PRESETS
from rlvr.errors import ConfigError
from rlvr.evaluation.curves.recorded_runs import RecordedRun
from rlvr.evaluation.curves.series import Point, Series, Subject
from rlvr.evaluation.student import seed_interval

_NOT_COMPARED = ("run.seed", "run.name", "run.dir")
_FILLED_BY_PRESET = {f"algorithm.{name}" for fields in PRESETS.values() for name in fields}
_KEYS_SHOWN = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Runs of one configuration."""

    label: str
    """The keys that other groups have other values of, without the number of seeds."""
    runs: Sequence[RecordedRun]

    @property
    def title(self) -> str:
        seeds = f"{len(self.runs)} seed{'' if len(self.runs) == 1 else 's'}"
        return f"{self.label} ({seeds})" if self.label else seeds


def grouped(runs: Sequence[RecordedRun]) -> list[Group]:
    """Return the runs by configuration, in the order given; name, seed and place of a run do not tell groups apart."""
    members: dict[str, list[RecordedRun]] = defaultdict(list)
    for run in runs:
        members[json.dumps(_compared(run), sort_keys=True)].append(run)
    settings = [_compared(own[0]) for own in members.values()]
    keys = _telling_keys(settings)
    shown = _shown_keys(keys, settings)
    labels = [_label(own, shown, more=len(keys) - len(shown)) for own in settings]
    return [Group(label=label, runs=own) for label, own in zip(labels, members.values(), strict=True)]


def group_warnings(groups: Sequence[Group]) -> list[str]:
    """Return what makes a mean over seeds less than it seems."""
    warnings = []
    for group in groups:
        seeds = [run.settings.get("run.seed") for run in group.runs]
        if len(set(seeds)) < len(seeds):
            warnings.append(f"{group.title}: some runs have the same seed, so they are not independent")
    return warnings


def subject_of(group: Group, lines_of: Callable[[RecordedRun], Subject]) -> tuple[Subject, list[str]]:
    """Return a group as one subject, with a warning for what its seeds do not share.

    Each line is the mean over seeds where *every* seed has a point of the same key, at the mean of their places on the
    x axis: nothing is interpolated, and no seed leaves or enters the mean half-way. Intervals are by `seed_interval`;
    a single seed keeps its own.

    Raises:
        ConfigError: its seeds have no point in common.
    """
    subjects = [lines_of(run) for run in group.runs]
    names = tuple(run.name for run in group.runs)
    if len(subjects) == 1:
        series = subjects[0].series
    else:
        wanted = {(series.name, series.role): None for subject in subjects for series in subject.series}
        by_name = [{(series.name, series.role): series for series in subject.series} for subject in subjects]
        shared = [key for key in wanted if all(key in own for own in by_name)]
        means = [mean_series([own[key] for own in by_name]) for key in shared]
        series = tuple(line for line in means if line.points)
        if all(line.role in ("training", "before") for line in series):
            raise ConfigError(f"--group: the runs of {group.title} share no evaluated step; plot them without --group")
    whole = Subject(label=group.title, runs=names, series=series, group=group.label, start=subjects[0].start)
    return whole, _left_out(group, subjects, whole)


def mean_series(seeds: Sequence[Series]) -> Series:
    """Return the mean over seeds of one line, at the keys that all of them have."""
    by_key = [{point.key: point for point in series.points} for series in seeds]
    shared = [key for key in by_key[0] if all(key in own for own in by_key)]
    points = tuple(_mean_point([own[key] for own in by_key]) for key in shared)
    return Series(name=seeds[0].name, role=seeds[0].role, points=points, n_of="seeds")


def _mean_point(points: Sequence[Point]) -> Point:
    rates = [point.y for point in points]
    interval = seed_interval(rates)
    low, high = interval.low, interval.high
    if len(set(rates)) == 1:
        # No spread between a few seeds is no proof of certainty: as far as any seed's own interval reaches.
        low = min((point.low for point in points if point.low is not None), default=low)
        high = max((point.high for point in points if point.high is not None), default=high)
    return Point(
        key=points[0].key,
        step=points[0].step,
        x=sum(point.x for point in points) / len(points),
        y=sum(rates) / len(points),
        low=low,
        high=high,
        n=len(points),
    )


def _left_out(group: Group, subjects: Sequence[Subject], whole: Subject) -> list[str]:
    kept = {(series.name, point.key) for series in whole.series for point in series.points}
    lost = {
        (series.name, point.key)
        for subject in subjects
        for series in subject.series
        if series.role != "training"
        for point in series.points
    } - kept
    if not lost:
        return []
    steps = sorted({key for _, key in lost})
    shown = ", ".join(map(str, steps[:6])) + (", ..." if len(steps) > 6 else "")
    return [f"{group.title}: not every seed has the points at {shown}, so the mean leaves them out"]


def _compared(run: RecordedRun) -> dict[str, str]:
    compared = {key: value for key, value in run.settings.items() if key not in _NOT_COMPARED}
    # Each seed of a bench starts from a model of its own: ".../seed-3/reference".
    model, seed = compared.get("model.name"), run.settings.get("run.seed")
    if model is not None:
        compared["model.name"] = re.sub(rf"\bseed-{seed}\b", "seed-*", model)
    return compared


def _telling_keys(settings: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the keys in which groups differ, the preset first and without what follows from it."""
    every = dict.fromkeys(key for own in settings for key in own)
    differing = [key for key in every if len({own.get(key) for own in settings}) > 1]
    preset = "algorithm.preset"
    if preset not in differing:
        return differing
    rest = [key for key in differing if key != preset]
    return [preset, *(key for key in rest if key not in _FILLED_BY_PRESET or not _follows(key, preset, settings))]


def _shown_keys(keys: Sequence[str], settings: Sequence[Mapping[str, str]]) -> list[str]:
    """Return as many of the keys as tell all groups apart, those that tell most first, and three where there are."""
    if len(keys) <= _KEYS_SHOWN:
        return list(keys)
    shown = [key for key in keys[:1] if key == "algorithm.preset"]

    def told(names: Sequence[str]) -> int:
        return len({tuple(own.get(name) for name in names) for own in settings})

    while told(shown) < told(keys):
        shown.append(max((key for key in keys if key not in shown), key=lambda key: told([*shown, key])))
    rest = [key for key in keys if key not in shown]
    return [*shown, *rest[: max(0, _KEYS_SHOWN - len(shown))]]


def _follows(key: str, other: str, settings: Sequence[Mapping[str, str]]) -> bool:
    values: dict[str | None, set[str | None]] = defaultdict(set)
    for own in settings:
        values[own.get(other)].add(own.get(key))
    return all(len(found) == 1 for found in values.values())


def _label(settings: Mapping[str, str], keys: Sequence[str], *, more: int) -> str:
    if not keys:
        return f"algorithm.preset={settings['algorithm.preset']}" if "algorithm.preset" in settings else ""
    shown = [f"{key}={settings[key]}" if key in settings else f"no {key}" for key in keys]
    return ", ".join(shown) + (f" and {more} more" if more else "")
