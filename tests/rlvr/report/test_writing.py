import base64
import gzip
import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.report_runs import golden_copy, metric_lines, rollout_record

from rlvr.report.writing import MEGABYTE, report_page, watch_report, write_report
from rlvr.tracking.jsonl import write_records
from rlvr.tracking.run_folder import RunFolder


def embedded(page: str) -> dict[str, Any]:
    """The payload in a page."""
    longest = max(re.findall(r"[A-Za-z0-9+/=]{100,}", page), key=len)
    return json.loads(gzip.decompress(base64.b64decode(longest)))


def big_run(path: Path) -> RunFolder:
    """A hundred steps of 24 rollouts of about 1,100 tokens; of all steps the same ones, which no reader knows."""
    folder = golden_copy(path)
    for step in folder.steps_with_rollouts():
        folder.rollouts_path(step).unlink()
    draw = random.Random(0)
    records = [
        rollout_record(f"p/{row}", [draw.randrange(3, 90) for _ in range(draw.randint(1000, 1200))], seed=row)
        for row in range(24)
    ]
    folder.write_rollouts(1, records)
    for step in range(2, 101):
        os.link(folder.rollouts_path(1), folder.rollouts_path(step))
    write_records(folder.metrics_path, metric_lines(100))
    return folder


def test_the_page_of_a_big_run_stays_within_its_size_and_uses_it(tmp_path: Path):
    page, fits = report_page([big_run(tmp_path / "run")], max_mb=1.0, problems=24)
    assert fits
    assert 0.6 * MEGABYTE < len(page.encode()) <= MEGABYTE
    browser = embedded(page)["runs"][0]["browser"]
    assert {browser["steps"][0], browser["steps"][-1]} == {1, 100}
    assert len(embedded(page)["runs"][0]["metrics"]["kl/k1"]) == 100


def test_the_page_of_a_usual_run_is_small_and_holds_all_of_it(tmp_path: Path):
    out = tmp_path / "report.html"
    size_bytes, fits = write_report([golden_copy(tmp_path / "run")], out, max_mb=5.0, problems=24)
    assert fits
    assert size_bytes == out.stat().st_size < MEGABYTE
    payload = embedded(out.read_text())
    assert payload["refresh_s"] is None
    assert len(payload["runs"][0]["browser"]["responses"]) == 4 * 24


def test_a_page_that_cannot_be_as_small_is_written_and_said_to_be_too_large(tmp_path: Path):
    page, fits = report_page([golden_copy(tmp_path / "run")], max_mb=0.001, problems=24)
    assert not fits
    assert embedded(page)["runs"][0]["browser"] is None


def going(folder: RunFolder, *, finished: bool = False) -> None:
    summary = folder.read_summary()
    folder.write_summary({**(summary or {}), "finished": finished})


def watched(folder: RunFolder, out: Path, events: list[Callable[[], Any]]) -> list[float | None]:
    """Watch a run to which one event happens in each pause; return the refresh time of each page written."""
    pages: list[float | None] = []

    def pause(seconds: float) -> None:
        assert seconds >= 10.0
        events.pop(0)()

    def wrote(*_: Any) -> None:
        pages.append(embedded(out.read_text())["refresh_s"])

    watch_report([folder], out, every_s=10.0, max_mb=5.0, problems=2, wrote=wrote, sleep=pause)
    return pages


def test_watching_writes_on_news_until_the_run_has_finished_and_then_stops_reloading(tmp_path: Path):
    folder, out = golden_copy(tmp_path / "run"), tmp_path / "report.html"
    going(folder)
    lines = folder.read_metrics()
    write_records(folder.metrics_path, lines[:6])
    pages = watched(
        folder,
        out,
        [lambda: None, lambda: write_records(folder.metrics_path, lines), lambda: going(folder, finished=True)],
    )
    assert pages == [10.0, 10.0, None]


def test_watching_a_run_that_forgets_rollouts_meanwhile_looks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder, out = golden_copy(tmp_path / "run"), tmp_path / "report.html"
    going(folder)
    gone = [*folder.steps_with_rollouts(), 99]
    with monkeypatch.context() as context:
        context.setattr(RunFolder, "steps_with_rollouts", lambda _: gone)
        pages = watched(folder, out, [lambda: gone.pop(), lambda: going(folder, finished=True)])
    assert pages == [10.0, None]


def test_ctrl_c_leaves_a_page_that_no_longer_reloads(tmp_path: Path):
    folder, out = golden_copy(tmp_path / "run"), tmp_path / "report.html"
    going(folder)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watched(folder, out, [interrupt])
    assert embedded(out.read_text())["refresh_s"] is None


def test_watching_a_finished_run_writes_its_page_once(tmp_path: Path):
    assert watched(golden_copy(tmp_path / "run"), tmp_path / "report.html", []) == [None]
