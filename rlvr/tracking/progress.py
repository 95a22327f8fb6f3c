"""Progress of a phase: a bar on a terminal, plain lines in a log file."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol, TextIO

from tqdm import tqdm

PERCENTAGES = frozenset({"pass"})
"""Labels whose number in [0, 1] is shown as a percentage."""

_PASSING_INTERVAL_S = 10.0


class Progress(Protocol):
    """What a phase reports to while it works."""

    def advance(self, numbers: Mapping[str, float | None], count: int = 1) -> None:
        """Report `count` more steps done, with short labels and their latest numbers."""
        ...

    def note(self, text: str) -> None:
        """Show a line, such as a warning, without disturbing the progress."""
        ...


@contextmanager
def progress(
    label: str,
    total: int,
    *,
    initial: int = 0,
    lines: int | None = None,
    passing: bool = False,
    stream: TextIO | None = None,
) -> Iterator[Progress]:
    """Show the progress of `total` steps of which `initial` are done already.

    Args:
        lines: about how many lines to write when the stream is not a terminal; None writes one for each `advance`.
        passing: the phase is a short one within another: its bar goes when it ends, and without a terminal it
            writes a line only after every ten seconds.
        stream: standard error unless given.
    """
    where = sys.stderr if stream is None else stream
    if where.isatty():
        with tqdm(total=total, initial=initial, desc=label, file=where, dynamic_ncols=True, leave=not passing) as bar:
            yield _Bar(bar, where)
    else:
        every = max(1, total // lines) if lines else 1
        yield _Lines(label, total, initial, every, _PASSING_INTERVAL_S if passing else 0.0, where)


class _Bar:
    def __init__(self, bar: tqdm, stream: TextIO) -> None:
        self._bar = bar
        self._stream = stream

    def advance(self, numbers: Mapping[str, float | None], count: int = 1) -> None:
        self._bar.set_postfix_str("  ".join(_words(numbers)), refresh=False)
        self._bar.update(count)

    def note(self, text: str) -> None:
        tqdm.write(text, file=self._stream)


class _Lines:
    def __init__(self, label: str, total: int, initial: int, every: int, interval_s: float, stream: TextIO) -> None:
        self._label = label
        self._total = total
        self._initial = initial
        self._done = initial
        self._every = every
        self._interval_s = interval_s
        self._stream = stream
        self._start_s = time.monotonic()
        self._last_line_s = self._start_s

    def advance(self, numbers: Mapping[str, float | None], count: int = 1) -> None:
        before, self._done = self._done, self._done + count
        first, last = before == self._initial, self._done >= self._total
        if self._interval_s:
            is_due = time.monotonic() - self._last_line_s >= self._interval_s
        else:
            is_due = first or last or self._done // self._every > before // self._every
        if is_due:
            self._last_line_s = time.monotonic()
            self.note(self._line(numbers))

    def note(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    def _line(self, numbers: Mapping[str, float | None]) -> str:
        pace_s = (time.monotonic() - self._start_s) / max(1, self._done - self._initial)
        width = len(str(self._total))
        words = [f"{self._label} {self._done:>{width}}/{self._total}", *_words(numbers), f"{pace_s:.2g} s/step"]
        if self._done < self._total:
            words.append(f"left {duration(pace_s * (self._total - self._done))}")
        return "  ".join(words)


def _words(numbers: Mapping[str, float | None]) -> list[str]:
    return [f"{label} {_number(label, value)}" for label, value in numbers.items()]


def _number(label: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.1f} %" if label in PERCENTAGES else f"{value:.3f}"


def duration(seconds: float) -> str:
    """Return a time as people write it: "48s", "1m48s", "2h05m"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
