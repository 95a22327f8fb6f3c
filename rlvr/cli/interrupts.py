"""Ctrl-C once finishes the step and saves; twice exits at once."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Remembers that the user, or a cluster's scheduler, asked the run to stop."""

    def __init__(self) -> None:
        self._signal_number: int | None = None
        self.note: Callable[[str], None] = print
        """Shows a line."""

    @property
    def requested(self) -> bool:
        """Whether the run should stop after this step."""
        return self._signal_number is not None

    @property
    def exit_code(self) -> int:
        """128 plus the signal's number, as shells have it: 130 after Ctrl-C."""
        return 128 + (self._signal_number or signal.SIGINT)

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Take a signal."""
        if self.requested:
            os._exit(128 + number)
        self._signal_number = number
        self.note("stopping: this step is finished and saved first; once more exits at once")


@contextmanager
def catching_interrupts() -> Iterator[Interrupts]:
    """Turn SIGINT and SIGTERM into a request that the loop reads between steps."""
    interrupts = Interrupts()
    before = {number: signal.signal(number, interrupts.handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
