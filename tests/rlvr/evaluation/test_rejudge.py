import json
import multiprocessing
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import bad_verifiers

from rlvr.errors import JudgingFailedError
from rlvr.evaluation.rejudge import JudgedRow, RowFormat, RowJudge, judge_lines
from verifiers.errors import UnknownVerifierError
from verifiers.numeric import Numeric
from verifiers.recipe import VerifierRecipe
from verifiers.types import Outcome, Verdict

BOXED = RowFormat(answer_format="boxed")
NUMERIC = VerifierRecipe(name="numeric")


def judge(row: Any, row_format: RowFormat = BOXED) -> JudgedRow:
    text = row if isinstance(row, bytes) else json.dumps(row).encode()
    return RowJudge(Numeric(), "numeric", row_format).judge(17, text)


def line(gold: object, answer: object) -> bytes:
    return json.dumps({"gold": gold, "response": f"\\boxed{{{answer}}}"}).encode() + b"\n"


def plugin(folder: Path, verify: str) -> VerifierRecipe:
    """Write a plug-in whose verifier has this body, and return how to make it."""
    file = folder / "mine.py"
    file.write_text(
        "import os, time\nfrom verifiers import *\n\n\n"
        '@register_verifier("mine")\nclass Mine:\n    def verify(self, problem, response):\n'
        f"        {verify}\n        return Verdict(outcome=Outcome.CORRECT, score=1.0)\n"
    )
    return VerifierRecipe(name="mine", plugin_files=(file,))


def test_a_row_keeps_its_columns_and_gains_the_verdicts():
    row = {
        "id": "a",
        "gold": 72,
        "response": "\\boxed{72.0}",
        "note": [1, None, "\u00e9"],
        "kind": "easy",
        "correct": True,
    }
    judged = judge(row)
    assert json.loads(judged.record) == {
        **row, "outcome": "correct", "score": 1.0, "answer": "72.0", "detail": "equals '72'",
    }  # fmt: skip
    assert judged.record.endswith(b"}\n")
    assert (judged.line, judged.outcome, judged.error, judged.correct) == (17, Outcome.CORRECT, None, True)
    assert judged.group == "easy"
    assert judged.latency_s > 0


def test_parts_are_written_where_there_are_any():
    class Parted:
        def verify(self, problem: object, response: str) -> Verdict:
            return Verdict(outcome=Outcome.CORRECT, score=1.0, parts={"format": 1.0})

    judged = RowJudge(Parted(), "parted", BOXED).judge(1, line("1", "1"))
    assert json.loads(judged.record)["parts"] == {"format": 1.0}


def test_columns_have_the_names_that_were_asked_for():
    row_format = RowFormat(gold="a", response="b", correct="c", group="d", answer_format="boxed", prefix="v_")
    judged = judge({"a": "1", "b": "\\boxed{2}", "c": False, "d": 3, "answer": "mine"}, row_format)
    assert (judged.outcome, judged.correct, judged.group) == (Outcome.INCORRECT, False, "3")
    record = json.loads(judged.record)
    assert (record["answer"], record["v_answer"], record["v_outcome"]) == ("mine", "2", "incorrect")


@pytest.mark.parametrize(
    ("row", "error"),
    [
        (b"{", "not valid JSON: Expecting property name enclosed in double quotes at column 2"),
        (b"\xff{}", "not UTF-8 text (byte 0)"),
        (b"[1]", "expected an object with named fields, found [1]"),
        (b"[" * 100_000, "not readable JSON: nested too deeply"),
        (b'{"gold": ' + b"9" * 5000 + b"}", "not readable JSON: Exceeds the limit"),
        ({"response": "x"}, "no field 'gold'; fields seen: response"),
        ({}, "no field 'gold'; fields seen: none"),
        ({"gold": "1"}, "no field 'response'; fields seen: gold"),
        ({"gold": "1", "response": None}, "field 'response' must hold text, not null"),
        ({"gold": "1", "response": ["x"]}, "field 'response' must hold text, not [\"x\"]"),
        ({"gold": True, "response": "x"}, "field 'gold' must hold text, a number, or"),
        ({"gold": {"numbers": [1.5], "target": 2}, "response": "x"}, "field 'gold' must hold text, a number, or"),
        ({"gold": {"numbers": [True], "target": 2}, "response": "x"}, "field 'gold' must hold text, a number, or"),
        ({"gold": "1", "response": "x", "correct": "yes"}, "field 'correct' must hold true or false, not \"yes\""),
        ({"gold": "x + y", "response": "x"}, "problem row 17: the gold answer 'x + y' is not a number"),
    ],
)
def test_a_bad_row_is_an_error_and_never_scored(row: Any, error: str):
    judged = judge(row)
    assert judged.outcome is None
    assert judged.error is not None
    assert judged.error.startswith(error)
    parsed = row if isinstance(row, dict) else {}
    assert json.loads(judged.record) == {**parsed, "line": 17, "error": judged.error}


def test_a_row_that_is_too_deep_to_be_written_is_refused_when_read():
    for depth in (100, 300, 500, 1000, 3000):
        row = b'{"gold": "1", "response": "\\\\boxed{1}", "deep": ' + b"[" * depth + b"]" * depth + b"}"
        judged = judge(row)
        assert judged.outcome is Outcome.CORRECT or judged.error == "not readable JSON: nested too deeply"
        assert b"outcome" in judged.record or b"error" in judged.record


def test_a_lone_surrogate_and_a_nan_survive_as_strict_json():
    judged = judge(b'{"gold": "1", "response": "\\ud800 \\\\boxed{1}", "loss": NaN}')
    record = json.loads(judged.record.decode("utf-8"), parse_constant=pytest.fail)
    assert (record["response"], record["loss"], record["outcome"]) == ("\ud800 \\boxed{1}", None, "correct")


def test_a_mapping_of_numbers_and_a_target_is_a_countdown():
    row = {"gold": {"numbers": [2, 3, 4], "target": 24}, "response": "<answer>2*3*4</answer>"}
    lines = [json.dumps(row).encode()]
    recipe = VerifierRecipe(name="countdown")
    judged = next(judge_lines(lines, recipe, RowFormat(answer_format="tag:answer"), workers=1))
    assert judged.outcome is Outcome.CORRECT


def test_a_bug_of_a_verifier_keeps_its_traceback_and_names_the_line():
    judge_raising = RowJudge(bad_verifiers.Raising(), "raising", BOXED)
    with pytest.raises(UnicodeEncodeError) as caught:
        judge_raising.judge(17, b'{"gold": "1", "response": "\\ud800"}')
    assert caught.value.__notes__ == ["while verifier 'raising' judged line 17"]
    with pytest.raises(TypeError, match="verifier 'forgetful' gave bool and not a Verdict on line 17"):
        RowJudge(bad_verifiers.Forgetful(), "forgetful", BOXED).judge(17, line("1", "1"))


@pytest.mark.parametrize("workers", [1, 2])
def test_rows_come_in_order_blank_lines_apart(workers: int):
    lines = [line(number, number % 7) if number % 5 else b" \n" for number in range(300)]
    judged = list(judge_lines(lines, NUMERIC, BOXED, workers=workers))
    assert [row.line for row in judged] == [number + 1 for number in range(300) if number % 5]
    assert [row.outcome is Outcome.CORRECT for row in judged] == [row.line <= 7 for row in judged]


def test_no_more_is_read_ahead_than_the_workers_need():
    read = 0

    def lines() -> Iterator[bytes]:
        nonlocal read
        for _ in range(100_000):
            read += 1
            yield line("1", "1")

    judged = judge_lines(lines(), NUMERIC, BOXED, workers=2)
    for _ in range(10):
        next(judged)
    judged.close()
    assert read <= 32 * (4 * 2 + 1)


def test_workers_import_the_plug_ins_again(tmp_path: Path):
    judged = list(judge_lines([line("1", "1")] * 40, plugin(tmp_path, "pass"), BOXED, workers=2))
    assert [row.outcome for row in judged] == [Outcome.CORRECT] * 40


def test_a_bug_in_a_worker_passes_through(tmp_path: Path):
    recipe = plugin(tmp_path, 'raise ZeroDivisionError("mine")')
    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        list(judge_lines([b"\n", line("1", "1")], recipe, BOXED, workers=2))
    assert caught.value.__notes__ == ["while verifier 'mine' judged line 2"]


def test_a_worker_that_dies_ends_the_judging_with_the_lines(tmp_path: Path):
    with pytest.raises(JudgingFailedError, match="a worker process died on one of the lines 1 to"):
        list(judge_lines([line("1", "1")] * 40, plugin(tmp_path, "os._exit(1)"), BOXED, workers=2))


def test_giving_up_kills_workers_that_hang(tmp_path: Path):
    def lines() -> Iterator[bytes]:
        yield from [line("1", "1")] * 70
        raise KeyboardInterrupt

    start_s = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(judge_lines(lines(), plugin(tmp_path, "time.sleep(600)"), BOXED, workers=2))
    assert multiprocessing.active_children() == []
    assert time.monotonic() - start_s < 30


def test_an_unknown_verifier_is_told_at_once():
    with pytest.raises(UnknownVerifierError):
        next(judge_lines([line("1", "1")], VerifierRecipe(name="nope"), BOXED, workers=1))
