"""The lines of a learning curve: held-out pass rates along a run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlvr.errors import ConfigError
from rlvr.evaluation.curves.quantities import (
    X_NAMES,
    Measurement,
    Quantity,
    audit_measurement,
    measurement,
    place,
    recorded_quantities,
)
from rlvr.evaluation.curves.recorded_runs import RecordedRun
from rlvr.evaluation.curves.series import Point, Role, Series, Subject
from rlvr.evaluation.run_curve import Axis

_ROLES: tuple[Role, ...] = ("first", "second")


def learning_curve(run: RecordedRun, *, x: Axis, quantities: Sequence[Quantity], audits: bool) -> Subject:
    """Return what was measured along a run: the quantities, the audits of sampled responses, the training problems.

    Training steps lie between evaluations in rollouts, tokens and minutes by interpolation.

    Raises:
        ConfigError: the run has not recorded that axis, or none of the quantities.
    """
    if all(place(record, x) is None for record in run.curve):
        there = [name for name in X_NAMES if any(place(record, name) is not None for record in run.curve)]
        raise ConfigError(f"--x: {run.path} did not record {x} with its evaluations; it has {', '.join(there)}")
    lines: list[Series] = []
    for quantity, role in zip(quantities, _ROLES, strict=False):
        line = _line(run.curve, quantity.name, role, x, lambda record, own=quantity: measurement(record, own))
        if line.points:
            lines.append(line)
    if not lines:
        require_recorded(run, quantities[0])
    for verifier in _audit_names(run.curve) if audits else []:
        line = _line(
            run.curve, f"audited by {verifier}", "audit", x, lambda record, own=verifier: audit_measurement(record, own)
        )
        if line.points:
            lines.append(line)
    for quantity in quantities if run.base else []:
        name = f"{quantity.name}, before SFT"
        before = _line([run.base or {}], name, "before", x, lambda record, own=quantity: measurement(record, own))
        if before.points:
            lines.append(before)
    training = _training(run, x)
    start = {"sft": "SFT start"}.get(run.curve[0]["phase"], "start")
    return Subject(label=run.name, runs=(run.name,), series=(*lines, *([training] if training else [])), start=start)


def require_recorded(run: RecordedRun, quantity: Quantity) -> None:
    """Raise when no evaluation of a run has measured that.

    Raises:
        ConfigError: none has; the message lists what there is.
    """
    if any(measurement(record, quantity) is not None for record in run.curve):
        return
    there = recorded_quantities(run.curve)
    cure = "; more responses per problem (evaluation.samples_per_problem) give larger k" if quantity.k > 1 else ""
    raise ConfigError(f"--y: {run.path} has no {quantity.name}; it recorded {', '.join(there) or 'no rate'}{cure}")


def _line(
    records: Sequence[Mapping[str, Any]],
    name: str,
    role: Role,
    x: Axis,
    measure: Callable[[Mapping[str, Any]], Measurement | None],
) -> Series:
    points = []
    for record in records:
        where, found = place(record, x), measure(record)
        if where is not None and found is not None:
            step = record["step"]
            points.append(Point(key=step, step=step, x=where, y=found.value, low=found.low, high=found.high, n=found.n))
    return Series(name=name, role=role, points=tuple(points), n_of="responses")


def _audit_names(records: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in (record.get("sampled") or {}).get("audit") or {}))


def _training(run: RecordedRun, x: Axis) -> Series | None:
    known = [(record["step"], where) for record in run.curve if (where := place(record, x)) is not None]
    first, last = known[0][0], known[-1][0]
    inside = [step for step in sorted(run.train) if x == "step" or first <= step <= last]
    if not inside:
        return None
    steps, places = zip(*known, strict=True)
    where = inside if x == "step" else np.interp(inside, steps, places).tolist()
    points = tuple(
        Point(key=step, step=step, x=float(at), y=run.train[step]) for step, at in zip(inside, where, strict=True)
    )
    return Series(name="training problems", role="training", points=points, n_of="responses")
