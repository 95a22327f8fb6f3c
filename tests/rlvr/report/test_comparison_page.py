"""The page of a comparison: complete, self-contained, and nothing of a response comes alive in it."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.measured_runs import made_evaluation, made_run, rows_of

from rlvr.evaluation.comparison import Comparison, compare
from rlvr.evaluation.measured import load_measured
from rlvr.report.comparison_markdown import comparison_markdown
from rlvr.report.comparison_page import comparison_page
from rlvr.report.comparison_plot import interval_plot

HOSTILE = (
    "</pre></details><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7 * 7 }}<!-- ]]> \u202e\ud800 "
    "[link](javascript:alert(3)) | `code` | **bold**"
)

VOID = {"meta", "link", "img", "br", "line", "rect", "circle"}


class Page(HTMLParser):
    """Tags with their attributes, ids, links, and whether every element is closed in its place."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def comparison_of(tmp_path: Path, a: dict[int, str], b: dict[int, str], **columns) -> Comparison:
    paths = [
        made_evaluation(tmp_path / name, {"greedy": rows_of(own, **columns)})
        for name, own in zip("ab", (a, b), strict=True)
    ]
    return compare(*(load_measured(str(path)) for path in paths))


@pytest.fixture
def hostile(tmp_path: Path) -> Comparison:
    columns = {"prompt": HOSTILE, "text": HOSTILE, "answer": HOSTILE, "detail": HOSTILE}
    rows = [
        [{**row, "problem": f"{HOSTILE}{row['problem']}"} for row in rows_of(own, **columns)]
        for own in ({1: "c", 2: "i"}, {1: "i", 2: "c"})
    ]
    paths = [
        made_evaluation(tmp_path / f"{name}<b>", {"greedy": own}, name=f"{name}{HOSTILE}")
        for name, own in zip("ab", rows, strict=True)
    ]
    return compare(*(load_measured(str(path)) for path in paths))


def test_what_a_response_says_stays_text(hostile: Comparison):
    html = comparison_page(hostile)
    page = Page(html)
    html.encode()
    assert not {"script", "img", "b<b>"} & {tag for tag, _ in page.tags}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", name or "") for name in ids)
    assert len(set(ids)) == len(ids)


def test_the_page_asks_for_nothing_and_runs_nothing(hostile: Comparison):
    page = Page(comparison_page(hostile))
    [policy] = [own["content"] for tag, own in page.tags if own.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    links = [own[name] for _, own in page.tags for name in ("href", "src", "action") if name in own]
    assert all(link is not None and (link.startswith("#") or link == "data:,") for link in links)
    assert not [own for _, own in page.tags if "style" in own]


def test_every_flip_can_be_linked_to_and_shows_both_responses(tmp_path: Path):
    a, b = {1: "c", 2: "i", 3: "i", 4: "c"}, {1: "i", 2: "c", 3: "c", 4: "c"}
    page = Page(comparison_page(comparison_of(tmp_path, a, b)))
    ids = {own["id"] for _, own in page.tags if "id" in own}
    anchors = {own["href"][1:] for tag, own in page.tags if tag == "a" and own["href"]}
    assert anchors == {"greedy-made-test-1", "greedy-made-test-2", "greedy-made-test-3"}
    assert anchors <= ids
    assert "greedy-made-test-4" not in ids
    assert page.text.count("It is c.") == page.text.count("It is i.") == 3
    assert f"{tmp_path}/b/greedy.jsonl:1" in page.text
    assert page.text.count("What is problem 2?") == 2


def test_the_sentence_the_table_and_the_warnings_are_in_it(tmp_path: Path):
    comparison = comparison_of(tmp_path, {1: "c", 2: "i"}, {1: "c", 2: "c", 3: "c"})
    page = Page(comparison_page(comparison))
    assert comparison.sentence in page.text
    assert "left out: 1 only of B" in page.text
    assert "Warning" not in page.text
    again = compare(comparison.a, comparison.a)
    assert "are the same measurement" in Page(comparison_page(again)).text


def test_runs_have_their_curves_in_it(tmp_path: Path):
    for name in "ab":
        made_run(tmp_path / name, {("sft", 0): {1: "ic", 2: "ii"}, ("ppo", 5): {1: "cc", 2: "ii"}})
    comparison = compare(load_measured(str(tmp_path / "a")), load_measured(str(tmp_path / "b")), threshold=0.6)
    text = Page(comparison_page(comparison)).text
    assert "Sampled curves over 0 to 500 rollouts" in text
    assert "first reaches 60 % after" in text
    assert "not reached" in text
    assert "2 comparisons are shown" in text
    assert "not reached" in comparison_markdown(comparison)


def test_long_texts_and_many_flips_are_cut_with_a_note(tmp_path: Path):
    a, b = dict.fromkeys(range(203), "i"), dict.fromkeys(range(203), "c")
    text = Page(comparison_page(comparison_of(tmp_path, a, b, text="x" * 9000))).text
    assert "3 more are not in this page" in text
    assert "[... 1,000 more characters]" in text


def test_the_same_comparison_gives_the_same_page(hostile: Comparison):
    assert comparison_page(hostile) == comparison_page(hostile)


def test_marks_stand_where_their_values_are(tmp_path: Path):
    plot = interval_plot(comparison_of(tmp_path, dict.fromkeys(range(40), "i"), dict.fromkeys(range(40), "ic")))
    for row in plot.rows:
        for mark in (row.a, row.b, row.difference):
            assert 0 <= mark.low <= mark.value <= mark.high <= plot.width
    [zero] = [tick.x for tick in plot.difference_ticks if tick.is_zero]
    assert plot.rows[0].difference.value > zero
    assert [tick.text for tick in plot.difference_ticks if tick.is_zero] == ["0"]
    assert len({tick.text for tick in plot.rate_ticks}) == len(plot.rate_ticks) >= 2


def test_markdown_keeps_strange_ids_and_paths_as_text(hostile: Comparison):
    text = comparison_markdown(hostile)
    text.encode()
    assert "<script>" not in text.replace("\\<", "")
    rows = [line for line in text.splitlines() if line.startswith("|") and "made/test" in line]
    assert len(rows) == 2
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in rows)
    assert not re.search(r"(?<!\\)\]\(javascript", text)
