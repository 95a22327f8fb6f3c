"""Counts of what a sandbox does, for the `sandbox/` metrics of a run."""

import threading
from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxMetrics:
    """What a sandbox has done since it was made; differences of two snapshots tell of the time between."""

    runs: int = 0
    """Programs that came to an Execution."""
    ends: dict[str, int] = field(default_factory=dict)
    """Of those, how many by each End."""
    retries: int = 0
    """Runs that were started again because a container was lost."""
    failures: int = 0
    """Runs that ended in a SandboxError: no verdict was had."""
    lost: int = 0
    """Containers that died or did not answer, while at work or idle."""
    started: int = 0
    """Containers started."""
    failed_starts: int = 0
    recycled: dict[str, int] = field(default_factory=dict)
    """Containers replaced, by reason."""
    queue_s: float = 0.0
    """Seconds that calls waited for a container, added up."""
    run_s: float = 0.0
    """Seconds from a request to its reply, added up."""
    program_s: float = 0.0
    """Seconds that programs ran, added up."""
    clean_ms: float = 0.0
    """Milliseconds spent on cleaning up after programs, added up."""


_TOTALS = ("runs", "retries", "failures", "lost", "started", "failed_starts")


class Counters:
    """The live counts behind SandboxMetrics; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: Counter[str] = Counter()
        self._ends: Counter[str] = Counter()
        self._recycled: Counter[str] = Counter()
        self._seconds = {"queue_s": 0.0, "run_s": 0.0, "program_s": 0.0, "clean_ms": 0.0}

    def count(self, name: str) -> None:
        """Add one to a total: retries, failures, lost, started or failed_starts."""
        with self._lock:
            self._totals[name] += 1

    def count_recycled(self, reason: str) -> None:
        """Note that a container is replaced."""
        with self._lock:
            self._recycled[reason] += 1

    def count_run(self, end: str, *, queue_s: float, run_s: float, program_s: float, clean_ms: float) -> None:
        """Note a run that came to an Execution."""
        with self._lock:
            self._totals["runs"] += 1
            self._ends[end] += 1
            seconds = self._seconds
            seconds["queue_s"] += queue_s
            seconds["run_s"] += run_s
            seconds["program_s"] += program_s
            seconds["clean_ms"] += clean_ms

    def snapshot(self) -> SandboxMetrics:
        """Return the counts as they stand."""
        with self._lock:
            totals = {name: self._totals[name] for name in _TOTALS}
            seconds = self._seconds
            return SandboxMetrics(
                **totals,
                ends=dict(self._ends),
                recycled=dict(self._recycled),
                queue_s=seconds["queue_s"],
                run_s=seconds["run_s"],
                program_s=seconds["program_s"],
                clean_ms=seconds["clean_ms"],
            )
