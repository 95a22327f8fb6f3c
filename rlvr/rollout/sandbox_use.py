"""What judging a step's responses cost in the sandbox."""

from collections.abc import Sequence

from rlvr.tracking.metrics import Last, Metric
from sandbox.metrics import SandboxMetrics


def sandbox_metrics(before: Sequence[SandboxMetrics], after: Sequence[SandboxMetrics]) -> list[Metric]:
    """Return the metrics of the time between two counts; none where no program ran."""

    def grown(name: str) -> float:
        return sum(getattr(count, name) for count in after) - sum(getattr(count, name) for count in before)

    def ended(end: str) -> int:
        return sum(count.ends.get(end, 0) for count in after) - sum(count.ends.get(end, 0) for count in before)

    runs = int(grown("runs"))
    tries = runs + int(grown("failures"))
    if not tries:
        return []
    recycled = sum(sum(c.recycled.values()) for c in after) - sum(sum(c.recycled.values()) for c in before)
    metrics = {"sandbox/runs": runs, "sandbox/recycled": recycled}
    metrics |= {f"sandbox/{name}": int(grown(name)) for name in ("retries", "failures", "lost")}
    shares = {f"sandbox/{end}_frac": ended(end) / max(runs, 1) for end in ("timed_out", "out_of_memory")}
    means = {
        "sandbox/queue_ms": 1000 * grown("queue_s") / max(runs, 1),
        "sandbox/run_ms": 1000 * grown("run_s") / max(runs, 1),
        "sandbox/program_ms": 1000 * grown("program_s") / max(runs, 1),
        "sandbox/clean_ms": grown("clean_ms") / max(runs, 1),
    }
    return [Metric(name, Last(value)) for name, value in (metrics | shares | means).items()]
