"""The benchmark judges any file of labelled programs, and says what went wrong."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.docker_engine import require_docker

from benchmarks.sandbox_cases import main

SUMS = {"cases": [{"input": "1 2\n", "output": "3\n"}, {"input": "4 5\n", "output": "9\n"}]}
SUM = "print(sum(map(int, input().split())))"


def row(id: str, mode: str, tests: Any, program: str, *accept: str, reward: int, **more: Any) -> dict[str, Any]:
    kind = more.pop("kind", "toy")
    return {
        "id": id,
        "kind": kind,
        "mode": mode,
        "prompt": "",
        "tests": tests,
        "program": program,
        "expect": accept[0],
        "accept": list(accept),
        "reward": reward,
        **more,
    }


ROWS = [
    row("stdin", "stdin", SUMS, SUM, "pass", reward=1),
    row("half", "stdin", SUMS, "print(3)", "fail", reward=0, partial=0.5),
    row("float", "stdin", {"cases": [{"input": "", "output": "1.0"}], "compare": {"mode": "float", "tol": 0.1}},
        "print(1.05)", "pass", reward=1),
    row("checker", "stdin", {"cases": [{"input": "", "output": "1"}], "compare": {"mode": "checker",
        "source": "def check(inp, expected, out): return float(out) > 1"}}, "print(2)", "pass", reward=1),
    row("function", "function", {"function": "f", "cases": [{"args": [1], "kwargs": {"b": 2}, "expected": 3},
        {"args": [1], "expected_repr": "{1: (2,)}"}, {"args": [2], "expected_expr": "2 ** 0.5"}], "float_tol": 1e-9},
        "def f(a, b=None): return a + b if b else {1: [2]} if a == 1 else 2 ** 0.5", "pass", reward=1),
    row("assert", "assert", {"asserts": ["assert f(1) == 2"]}, "def f(n): return n", "fail", reward=0),
    row("pytest", "pytest", {"module": "solution", "test_source": "import solution\ndef test(): assert solution.X"},
        "X = 1", "pass", reward=1),
    row("slow", "stdin", SUMS, "while True: pass", "timeout", reward=0, limits={"wall_s": 1},
        post=["no_processes", "returns_within:8", "neighbours_ok"]),
    row("first", "stdin", SUMS, f"open('/tmp/left', 'w')\n{SUM}", "pass", reward=1, sequence="left", step=1),
    row("second", "stdin", SUMS, f"open('/tmp/left')\n{SUM}", "error", "fail", reward=0, sequence="left", step=2),
]  # fmt: skip


def judged(folder: Path, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[Any]]:
    require_docker()
    (folder / "cases.jsonl").write_text("\n".join(json.dumps(one) for one in rows))
    out = folder / "out.jsonl"
    monkeypatch.setattr(sys, "argv", ["sandbox_cases", str(folder / "cases.jsonl"), "--out", str(out)])
    with pytest.raises(SystemExit) as left:
        main()
    assert isinstance(left.value.code, int)
    return left.value.code, [json.loads(line) for line in out.read_text().splitlines()]


def test_every_kind_of_case_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    code, rows = judged(tmp_path, ROWS, monkeypatch)
    told = capsys.readouterr().out
    assert code == 0, told
    assert f"{len(ROWS)} of {len(ROWS)} verdicts in accept" in told
    assert {one["id"]: one["verdict"] for one in rows} == {one["id"]: one["expect"] for one in ROWS}
    slow = next(one for one in rows if one["id"] == "slow")
    assert slow["post"] == {"no_processes": True, "returns_within:8": True, "neighbours_ok": True}


def test_a_wrong_verdict_is_told_and_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    wrong = row("lying label", "stdin", SUMS, SUM, "fail", reward=0, kind="hack_toy")
    code, _ = judged(tmp_path, [wrong], monkeypatch)
    told = capsys.readouterr().out
    assert code == 1
    assert "0 of 1 verdicts in accept" in told
    assert "1 hacks that earned 1" in told
    assert "lying label" in told
