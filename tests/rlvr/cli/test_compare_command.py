"""`rlvr compare`, called as the command line calls it."""

import json
from pathlib import Path

import pytest
import typer
from support.measured_runs import made_evaluation, made_run, rows_of
from typer.testing import CliRunner

from rlvr.cli.compare_command import compare
from rlvr.errors import ConfigError, RunFolderError

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(compare)


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    a = dict.fromkeys(range(60), "iiii") | dict.fromkeys(range(20), "ccic")
    b = dict.fromkeys(range(60), "iiii") | dict.fromkeys(range(1, 45), "cccc")
    rows = [{"greedy": rows_of({key: own[0] for key, own in who.items()}), "sampled": rows_of(who)} for who in (a, b)]
    return made_evaluation(tmp_path / "before", rows[0]), made_evaluation(tmp_path / "after", rows[1])


def test_it_says_what_is_better_by_how_much_and_where_to_look(pair):
    a, b = pair
    text = run(a, b, "--show", 2)
    assert "B (after) is better than A (before) by 40.0 points, 95 % interval" in text
    assert "flips: 25 gained (only B is right), 1 lost (only A is right); exact McNemar test p < 0.001" in text
    assert "lost made/test/0  What is problem 0?" in text
    assert f"A correct: 7   {a}/greedy.jsonl:1" in text
    assert f"B incorrect: 8   {b}/greedy.jsonl:1" in text
    assert "... and 23 more gained" in text
    assert "pass@4" in text
    assert "2 comparisons are shown" in text


def test_one_mode_is_one_comparison(pair):
    text = run(*pair, "--mode", "greedy", "--show", 0)
    assert "sampled" not in text
    assert "comparisons are shown" not in text
    assert "made/test/0" not in text


def test_two_runs_have_their_curves_told(tmp_path: Path):
    for name, middle in (("slow", 12), ("fast", 36)):
        points = {("sft", 0): 8, ("ppo", 10): middle, ("ppo", 20): 38}
        outcomes = {
            key: dict.fromkeys(range(40), "i") | dict.fromkeys(range(count), "c") for key, count in points.items()
        }
        made_run(tmp_path / name, outcomes)
    text = run(tmp_path / "slow", tmp_path / "fast", "--mode", "greedy", "--threshold", 0.8)
    assert "greedy curves over 0 to 2,000 rollouts: 40 problems that all evaluations of both have" in text
    assert "mean height (area under the curve)" in text
    assert "first reaches 80 % after" in text
    assert "857 rollouts [" in text
    assert "another seed" in text
    never = run(tmp_path / "slow", tmp_path / "fast", "--mode", "greedy", "--threshold", 1)
    assert "not reached" in never
    assert "20 steps" in run(tmp_path / "slow", tmp_path / "fast", "--x", "step")
    assert "1.7 min" in run(tmp_path / "slow", tmp_path / "fast", "--x", "wall_s")


def test_the_record_is_written_as_json(pair, tmp_path: Path):
    out = tmp_path / "new" / "c.json"
    assert f"wrote {out}" in run(*pair, "--out", out)
    record = json.loads(out.read_text())
    assert record["modes"]["greedy"]["n"] == 60
    assert record["sentence"].startswith("B (after) is better than A (before)")


def test_a_page_and_a_text_are_written(pair, tmp_path: Path):
    run(*pair, "--out", tmp_path / "c.html")
    run(*pair, "--out", tmp_path / "c.md")
    assert (tmp_path / "c.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "c.md").read_text().startswith("# before (A) and after (B) compared")


def test_nothing_that_a_model_wrote_reaches_the_terminal_raw(tmp_path: Path):
    a = made_evaluation(tmp_path / "a", {"greedy": rows_of({1: "c"}, prompt="one\n\x1b[31mtwo\u202e")})
    b = made_evaluation(tmp_path / "b", {"greedy": rows_of({1: "i"}, answer="\x1b]0;title\x07\ud800")})
    text = run(a, b)
    assert not {"\x1b", "\x07", "\u202e", "\ud800"} & set(text)
    assert "\\u001b[31mtwo" in text


def test_an_unknown_ending_a_rate_out_of_range_and_no_folder_are_one_line(pair, tmp_path: Path):
    with pytest.raises(ConfigError, match=r"ends in none of \.html, \.json, \.md"):
        run(*pair, "--out", tmp_path / "c.pdf")
    with pytest.raises(ConfigError, match=r"--threshold: 90 is no pass rate above 0 and at most 1"):
        run(*pair, "--threshold", 90)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"--out: .* cannot be written"):
        run(*pair, "--out", tmp_path / "file" / "c.json")
    with pytest.raises(RunFolderError, match="does not exist"):
        run(tmp_path / "none", pair[0])
