import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.processes import Command, failure_of, rlvr_in
from support.terminals import HOME, is_running, press_ctrl_c, start_in_group

BOXED = ("--verifier", "numeric", "--answer-format", "boxed")


def row(gold: object, answer: object, **others: Any) -> dict[str, Any]:
    return {"gold": gold, "response": f"\\boxed{{{answer}}}", **others}


def write(path: Path, rows: Sequence[Mapping[str, Any] | str]) -> None:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in rows))


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


LABELLED = [
    row("72", "72.0", correct=True, kind="easy"),
    row("72", "73", correct=False, kind="easy"),
    row("28", "28%", correct=False, kind="percent"),
    row("7", "x + 1", correct=True, kind="percent"),
]


def test_every_row_is_written_with_its_verdict(tmp_path: Path):
    write(tmp_path / "rows.jsonl", LABELLED)
    command = rlvr_in(tmp_path, "verify", "rows.jsonl", *BOXED, "--out", "new/judged.jsonl")
    assert command.end() == 0, command.stderr
    judged = read(tmp_path / "new" / "judged.jsonl")
    assert [record["outcome"] for record in judged] == ["correct", "incorrect", "correct", "incorrect"]
    for record, original in zip(judged, LABELLED, strict=True):
        assert original.items() <= record.items()
        assert {"outcome", "score", "answer", "detail"} <= record.keys()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["judged.jsonl"]


def test_the_summary_compares_with_the_labels(tmp_path: Path):
    write(tmp_path / "rows.jsonl", LABELLED)
    command = rlvr_in(tmp_path, "verify", "rows.jsonl", *BOXED, "--workers", "1")
    assert command.stderr == ""
    lines = command.stdout.splitlines()
    assert lines[0] == "4 rows, 4 judged, 0 could not be judged"
    assert "  correct            2    50.0 %" in lines
    assert "accuracy 50.0 % [15.0, 85.0]   n = 4" in lines
    assert "false positives 1: line 3" in lines
    assert "false negatives 1: line 4" in lines
    assert any(line.split() == ["easy", "2", "100.0", "%", "0", "0"] for line in lines)
    assert any(line.split() == ["percent", "2", "0.0", "%", "1", "1"] for line in lines)
    assert any("rows/s" in line and "p99" in line for line in lines)


def test_without_labels_there_is_no_comparison(tmp_path: Path):
    write(tmp_path / "rows.jsonl", [row("72", "72")])
    assert "accuracy" not in rlvr_in(tmp_path, "verify", "rows.jsonl", *BOXED).stdout


def test_bad_rows_are_told_by_line_number_and_exit_1(tmp_path: Path):
    write(tmp_path / "rows.jsonl", [row("72", "72"), "{", "", row("x + y", "72"), {"gold": "1"}])
    command = rlvr_in(tmp_path, "verify", "rows.jsonl", *BOXED, "--out", "judged.jsonl")
    assert command.end() == 1
    first, second, third = command.stderr.splitlines()
    assert first.startswith("rows.jsonl, line 2: not valid JSON")
    assert second == "rows.jsonl, line 4: problem row 4: the gold answer 'x + y' is not a number"
    assert third == "rows.jsonl, line 5: no field 'response'; fields seen: gold"
    assert command.stdout.startswith("4 rows, 1 judged, 3 could not be judged\n")
    judged = read(tmp_path / "judged.jsonl")
    assert [record.get("line") for record in judged] == [None, 2, 4, 5]
    assert judged[2]["gold"] == "x + y"
    assert "score" not in judged[2]


def test_of_many_bad_rows_ten_are_told_and_the_rest_counted(tmp_path: Path):
    write(tmp_path / "rows.jsonl", ["{"] * 300)
    command = rlvr_in(tmp_path, "verify", "rows.jsonl", *BOXED)
    lines = command.stderr.splitlines()
    assert len(lines) == 11
    assert lines[-1] == "rows.jsonl: 290 more rows could not be judged"


def test_fields_and_the_verifier_are_chosen_by_options(tmp_path: Path):
    write(tmp_path / "rows.jsonl", [{"answer": 100, "text": "so #### 101", "right": True}])
    fields = ("--gold-field", "answer", "--response-field", "text", "--correct-field", "right")
    command = rlvr_in(
        tmp_path, "verify", "rows.jsonl", "--verifier", "numeric", "--options", "rel_tol=0.01",
        "--answer-format", "marker:####", *fields, "--out", "judged.jsonl", "--prefix", "v_",
    )  # fmt: skip
    assert command.end() == 0, command.stderr
    record = read(tmp_path / "judged.jsonl")[0]
    assert (record["answer"], record["v_answer"], record["v_outcome"]) == (100, "101", "correct")


def test_what_is_read_is_never_written_over(tmp_path: Path):
    write(tmp_path / "rows.jsonl", [{"answer": "1", "response": "1"}])
    error = failure_of(tmp_path, "verify", "rows.jsonl", *BOXED, "--gold-field", "answer", "--out", "judged.jsonl")
    assert error.startswith("error: --out would replace the field 'answer'")


def test_compressed_files_and_plug_ins_work_in_several_processes(tmp_path: Path):
    (tmp_path / "mine.py").write_text(
        "from verifiers import Outcome, Verdict, register_verifier\n\n\n"
        '@register_verifier("mine")\nclass Mine:\n    def verify(self, problem, response):\n'
        "        return Verdict(outcome=Outcome.CORRECT, score=1.0)\n"
    )
    with gzip.open(tmp_path / "rows.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row("1", "2")) + "\n" for _ in range(100))
    command = rlvr_in(
        tmp_path, "verify", "rows.jsonl.gz", "--verifier", "mine", "--answer-format", "boxed", "--plugin", "mine.py",
        "--workers", "2", "--out", "judged.jsonl.gz",
    )  # fmt: skip
    assert command.end() == 0, command.stderr
    with gzip.open(tmp_path / "judged.jsonl.gz", "rt") as file:
        assert [json.loads(line)["outcome"] for line in file] == ["correct"] * 100


def test_rows_may_come_from_standard_input(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "rlvr", "verify", "-", *BOXED, "--workers", "1"],
        input=json.dumps(row("1", "1")) + "\n{\n", capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(HOME)},
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.startswith("2 rows, 1 judged, 1 could not be judged\n")
    assert done.stderr.startswith("standard input, line 2: ")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--verifier", "nope", "--answer-format", "boxed"), "error: no verifier named 'nope'"),
        (("--verifier", "numeric", "--answer-format", "box"), "error: --answer-format: unknown answer format 'box'"),
        ((*BOXED, "--options", "rel_tol=-1"), "error: task.verifier_options.rel_tol: must be at least 0"),
        ((*BOXED, "--options", "rel_tol"), 'error: command line: "rel_tol" is not key=value'),
        ((*BOXED, "--plugin", "nope.py"), "error: plug-in file nope.py: no such file"),
    ],
)
def test_mistakes_are_told_before_anything_is_judged(arguments: tuple[str, ...], error: str, tmp_path: Path):
    write(tmp_path / "rows.jsonl", [row("1", "1")])
    assert failure_of(tmp_path, "verify", "rows.jsonl", *arguments).startswith(error)


def test_a_missing_file_exits_2(tmp_path: Path):
    assert Command("verify", "nope.jsonl", folder=tmp_path).end() == 2


SLOW = """
import os, time
from verifiers import Outcome, Verdict, register_verifier


@register_verifier("slow")
class Slow:
    def verify(self, problem, response):
        open(f"worker-{os.getpid()}", "w").close()
        time.sleep(600 if response == "slow" else 0)
        return Verdict(outcome=Outcome.CORRECT, score=1.0)
"""


def start_slow(folder: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """Start judging rows of which the later ones take for ever; return the process and its workers, both at work."""
    (folder / "slow.py").write_text(SLOW)
    rows = [{"gold": "1", "response": "quick" if i < 400 else "slow"} for i in range(1000)]
    write(folder / "rows.jsonl", rows)
    process = start_in_group(
        "verify", "rows.jsonl", "--verifier", "slow", "--answer-format", "boxed", "--plugin", "slow.py",
        "--workers", "2", "--out", "judged.jsonl", folder=folder,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while len(workers := list(folder.glob("worker-*"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1.0)  # the quick rows are through
    return process, [int(worker.name.partition("-")[2]) for worker in workers]


def test_ctrl_c_exits_130_keeps_what_was_judged_and_leaves_no_process(tmp_path: Path):
    process, workers = start_slow(tmp_path)
    stderr = press_ctrl_c(process)
    assert process.returncode == 130
    kept = read(tmp_path / "judged.jsonl.partial")
    assert stderr.strip() == f"stopped; judged.jsonl.partial holds the first {len(kept)} rows"
    assert 0 < len(kept) <= 400
    assert not (tmp_path / "judged.jsonl").exists()
    assert not any(map(is_running, workers))


def test_workers_end_with_a_command_that_is_killed(tmp_path: Path):
    process, workers = start_slow(tmp_path)
    process.kill()
    process.communicate(timeout=30)
    deadline = time.monotonic() + 10
    while any(map(is_running, workers)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
