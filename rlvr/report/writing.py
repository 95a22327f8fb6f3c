"""The report of some runs as a file that stays within a size, once or again and again while a run goes."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rlvr.report.page import render_page
from rlvr.report.payload import build_payload
from rlvr.report.run_data import read_run
from rlvr.tracking.atomic import atomic_write
from rlvr.tracking.run_folder import RunFolder

MEGABYTE = 1_000_000
_TRIES = 4
_REST = 0.5
"""Of the time between two pages, at least so much is left to the run."""


def report_page(
    folders: Sequence[RunFolder], *, max_mb: float, problems: int, refresh_s: float | None = None
) -> tuple[str, bool]:
    """Return the page, and whether it is within `max_mb` megabytes (10^6 bytes).

    What is not text of responses is always in it; the texts get the rest.

    Raises:
        RunFolderError: as `build_payload`.
    """
    most = max_mb * MEGABYTE
    bare = len(render_page(build_payload(folders, texts_bytes=0, problems=problems)).encode())
    texts_bytes = max(0.0, most - bare)
    page = ""
    for _ in range(_TRIES):
        page = render_page(build_payload(folders, texts_bytes=texts_bytes, problems=problems, refresh_s=refresh_s))
        excess = len(page.encode()) - most
        if excess <= 0:
            return page, True
        # Estimates of what packs how well were too low: ask for less by what is too much, and a little.
        texts_bytes = max(0.0, texts_bytes - 1.1 * excess)
    return page, False


def write_report(
    folders: Sequence[RunFolder], out: Path, *, max_mb: float, problems: int, refresh_s: float | None = None
) -> tuple[int, bool]:
    """Write the page in place of an earlier one; return its bytes, and whether it is within `max_mb`."""
    page, fits = report_page(folders, max_mb=max_mb, problems=problems, refresh_s=refresh_s)
    out.parent.mkdir(parents=True, exist_ok=True)
    content = page.encode()
    atomic_write(out, content)
    return len(content), fits


def watch_report(
    folders: Sequence[RunFolder],
    out: Path,
    *,
    every_s: float,
    max_mb: float,
    problems: int,
    wrote: Callable[[int, bool], Any],
    sleep: Callable[[float], Any] = time.sleep,
) -> None:
    """Write the page anew whenever a run's records change, until every run has finished or Ctrl-C.

    The page reloads itself as often; the last one, also after Ctrl-C, no longer does.
    """
    seen: object = None
    try:
        while not all(read_run(folder).finished for folder in folders):
            began_s = time.monotonic()
            now = _state(folders)
            if now != seen:
                try:
                    wrote(*write_report(folders, out, max_mb=max_mb, problems=problems, refresh_s=every_s))
                    seen = now
                except FileNotFoundError:
                    pass  # a run that was resumed has just forgotten what came after its checkpoint: look again
            sleep(max(every_s, (time.monotonic() - began_s) * _REST / (1 - _REST)))
    except KeyboardInterrupt:
        wrote(*write_report(folders, out, max_mb=max_mb, problems=problems))
        raise
    wrote(*write_report(folders, out, max_mb=max_mb, problems=problems))


def _state(folders: Sequence[RunFolder]) -> list[tuple[str, int, int]]:
    """Return what changes when a run's records do: their times and sizes."""
    paths = [
        path
        for folder in folders
        for path in (folder.metrics_path, folder.evaluations_path, folder.summary_path, folder.reference_path)
        if path.exists()
    ]
    return [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
