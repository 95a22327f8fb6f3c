import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser

from support.report_payloads import HOSTILE, begun_run, hostile_run, payload_of, whole_run

from rlvr.report.page import SCRIPTS, render_page


class Elements(HTMLParser):
    """Collects (tag, attributes) of every element that a parser sees, and the text of script and style."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] in ("script", "style") and data.strip():
            self.sources.append(data)


def elements(page: str) -> Elements:
    parser = Elements()
    parser.feed(page)
    return parser


def unpacked(page: str) -> dict:
    packed = re.search(r'<script type="text/plain" id="payload">([A-Za-z0-9+/=]*)</script>', page)
    assert packed
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def test_the_page_carries_the_payload_as_it_is() -> None:
    payload = payload_of(whole_run())
    payload["runs"][0]["metrics"].pop("kl/per_response")  # it holds a NaN

    assert unpacked(render_page(payload)) == payload


def test_numbers_that_are_not_finite_become_null() -> None:
    metrics = unpacked(render_page(payload_of(hostile_run())))["runs"][0]["metrics"]

    assert metrics["kl/per_response"][:2] == [None, None]
    assert metrics[HOSTILE][0] is None


def test_the_same_payload_gives_the_same_page() -> None:
    assert render_page(payload_of(whole_run())) == render_page(payload_of(whole_run()))


def test_hostile_text_adds_no_element_to_the_page() -> None:
    plain = elements(render_page(payload_of(whole_run())))
    hostile = elements(render_page(payload_of(hostile_run(), title=HOSTILE, version=HOSTILE)))

    assert [tag for tag, _ in hostile.found] == [tag for tag, _ in plain.found]


def test_a_page_with_lone_surrogates_can_be_written_as_utf_8() -> None:
    page = render_page(payload_of(hostile_run(), title=HOSTILE))

    assert page.encode("utf-8")


def test_nothing_in_the_page_is_fetched() -> None:
    page = elements(render_page(payload_of(whole_run())))
    references = [
        value for _, attributes in page.found for name, value in attributes.items() if name in ("src", "href")
    ]

    assert references == ["data:,", "#main"]
    assert not any(re.search(r"@import|url\(|\bfetch\(|XMLHttpRequest|\bimport\b", source) for source in page.sources)


def test_the_security_policy_allows_the_pages_own_script_and_style_alone() -> None:
    page = elements(render_page(payload_of(whole_run())))
    policy = next(a["content"] for tag, a in page.found if a.get("http-equiv") == "Content-Security-Policy")
    style, script = page.sources[0], page.sources[-1]

    def digest(source: str) -> str:
        return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()

    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'sha256-{digest(script)}';" in policy
    assert f"style-src 'sha256-{digest(style)}';" in policy
    assert "unsafe" not in policy


def test_the_script_never_parses_text_as_markup_or_code() -> None:
    script = elements(render_page(payload_of(whole_run()))).sources[-1]

    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser", script
    )


def test_our_own_sources_are_ascii_and_cannot_end_their_element() -> None:
    page = elements(render_page(payload_of(whole_run())))

    for source in (page.sources[0], page.sources[-1]):
        assert source.isascii()
        assert "</" not in source
    assert len(SCRIPTS) == len(set(SCRIPTS))


def test_a_watched_page_also_refreshes_without_javascript() -> None:
    refresh = '<noscript><meta http-equiv="refresh" content="3"></noscript>'

    assert refresh in render_page(payload_of(whole_run(), refresh_s=2.5))
    assert 'http-equiv="refresh"' not in render_page(payload_of(whole_run()))


def test_a_reader_without_javascript_sees_title_and_headline() -> None:
    page = render_page(payload_of(begun_run()))

    assert "<h1>A report</h1>" in page
    assert "<p>No evaluation yet.</p>" in page
    assert "<noscript>" in page
