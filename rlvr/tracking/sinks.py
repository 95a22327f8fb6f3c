"""Where a step's numbers go."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from rlvr.tracking.jsonl import mend, to_json
from rlvr.tracking.metrics import Metric, combine


class Sink(Protocol):
    """Takes the numbers of each step somewhere."""

    def log(self, step: int, numbers: Mapping[str, float | None]) -> None:
        """Record the numbers of one step; None stands for a number that does not exist."""
        ...

    def close(self) -> None:
        """Let go of whatever is open."""
        ...


class JsonlSink:
    """Appends one flat JSON object per step to a file: {"step": 12, "reward/mean": 0.5, ...}, readable at once."""

    def __init__(self, path: Path) -> None:
        mend(path)
        self._file = path.open("a", encoding="utf-8")

    def log(self, step: int, numbers: Mapping[str, float | None]) -> None:
        self._file.write(to_json({"step": step, **numbers}) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class Tracker:
    """Combines a step's metrics and hands them to every sink."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = tuple(sinks)

    def log(self, step: int, metrics: Iterable[Metric]) -> dict[str, float | None]:
        """Record a step's metrics and return the combined numbers."""
        numbers = combine(metrics)
        for sink in self._sinks:
            sink.log(step, numbers)
        return numbers

    def close(self) -> None:
        """Close every sink, also where one of them fails to."""
        with ExitStack() as stack:
            for sink in self._sinks:
                stack.callback(sink.close)
