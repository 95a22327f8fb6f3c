"""Where the time goes."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Adds up the seconds spent in named stages."""

    def __init__(self) -> None:
        self.totals_s: dict[str, float] = defaultdict(float)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Add the time the block takes to `stage`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.totals_s[stage] += time.perf_counter() - start
