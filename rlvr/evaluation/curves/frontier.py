"""What a pass rate costs in KL from the reference: the frontier that a KL penalty moves along."""

from collections.abc import Sequence

from rlvr.errors import ConfigError
from rlvr.evaluation.curves.learning_curve import require_recorded
from rlvr.evaluation.curves.quantities import Quantity, measurement
from rlvr.evaluation.curves.recorded_runs import RecordedRun
from rlvr.evaluation.curves.series import Point, Series, Subject


def frontier(run: RecordedRun, *, quantity: Quantity) -> Subject:
    """Return a run's held-out rate by the KL of the evaluated policy from the reference, in evaluation order.

    Raises:
        ConfigError: the run has not recorded the KL, or not the quantity.
    """
    if not run.kl:
        raise ConfigError(
            f"{run.path} has recorded no kl/per_response, so it has no place on a KL axis; is there a PPO step yet?"
        )
    require_recorded(run, quantity)
    points = []
    for record in run.curve:
        found, kl = measurement(record, quantity), kl_after(run, record["step"])
        if found is not None and kl is not None:
            step = record["step"]
            points.append(Point(key=step, step=step, x=kl, y=found.value, low=found.low, high=found.high, n=found.n))
    if not points:
        raise ConfigError(f"{run.path} recorded kl/per_response at none of its evaluated steps; there is no frontier")
    line = Series(name=quantity.name, role="frontier", points=tuple(points), n_of="responses")
    return Subject(label=run.name, runs=(run.name,), series=(line,))


def kl_after(run: RecordedRun, step: int) -> float | None:
    """Return the KL from the reference, in nats per response, of the policy after `step` PPO steps.

    The rollouts of step s are drawn before its update, so that policy's own estimate is of step s + 1. To calm the
    noise it is averaged with the estimates on both sides, s to s + 2, as far as there are any; the policy that PPO
    starts from is the reference.
    """
    if step == 0:
        return 0.0
    return _mean([run.kl[at] for at in (step, step + 1, step + 2) if at in run.kl])


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
