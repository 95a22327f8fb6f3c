from collections.abc import Iterator

import pytest
from support.chromium import Browser, chromium
from support.report_payloads import (
    COMPARISON,
    HOSTILE,
    begun_run,
    hostile_run,
    payload_of,
    poor_run,
    probed_run,
    response,
    whole_run,
)

from rlvr.report.page import render_page


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One Chromium for all tests of this folder, with a page for each kind of payload."""
    long_run = whole_run()
    long_run["browser"]["responses"].append(response(1, 1, [" word", " \n"] * 2000))
    pages = {
        "whole": payload_of(whole_run()),
        "pair": payload_of(whole_run("run-a"), whole_run("run-b"), comparison=COMPARISON),
        "begun": payload_of(begun_run()),
        "poor": payload_of(poor_run()),
        "hostile": payload_of(hostile_run(), title=HOSTILE, version=HOSTILE, notes=[HOSTILE]),
        "watched": payload_of(whole_run(), refresh_s=0.4),
        "long": payload_of(long_run),
        "probed": payload_of(probed_run()),
        "probed-pair": payload_of(probed_run("run-a"), probed_run("run-b")),
    }
    folder = tmp_path_factory.mktemp("pages")
    for name, payload in pages.items():
        (folder / f"{name}.html").write_text(render_page(payload), encoding="utf-8")
    with chromium(folder) as opened:
        yield opened
