import json
import time
from pathlib import Path

import pytest
from support.processes import failure_of, rlvr_in
from support.terminals import is_running, press_ctrl_c, start_in_group

ARITHMETIC = ("--task", "arithmetic", "--problems", "3")

PLUGIN = """
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from tasks import Problem, register_task
from verifiers import Outcome, Verdict, register_verifier


@register_verifier("gold_anywhere")
class GoldAnywhere:
    def verify(self, problem, response):
        right = problem.reference.value in response
        return Verdict(outcome=Outcome.CORRECT if right else Outcome.INCORRECT, score=float(right))


@register_verifier("raising")
class Raising:
    def verify(self, problem, response):
        raise RuntimeError("no good")


@register_verifier("waiting")
class Waiting:
    def verify(self, problem, response):
        Path("waiting").write_text(str(os.getpid()))
        time.sleep(9)


@dataclass(frozen=True)
class Word:
    word: str


@register_task("words")
class Words:
    name = "words"

    def __init__(self, *, demonstrated: bool = False):
        self.demonstrated = demonstrated

    def problems(self, split):
        return [
            Problem(
                id=f"words/{split}/{word}", prompt="Say it.", reference=Word(word), verifier="says",
                demonstration=f"I say {word}" if self.demonstrated else None,
            )
            for word in ("tulip", "rose")
        ]


@register_verifier("says")
class Says:
    def verify(self, problem, response):
        right = re.search(rf"I say {problem.reference.word}$", response) is not None
        return Verdict(outcome=Outcome.CORRECT if right else Outcome.INCORRECT, score=float(right))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(PLUGIN)
    return tmp_path


def test_a_sound_verifier_passes(folder: Path):
    command = rlvr_in(folder, "audit", "numeric", *ARITHMETIC, "digits=2", "--out", "new/report.json")
    assert command.end() == 0, command.stderr
    assert "false-positive rate   0.0 % [0.0, " in command.stdout
    assert "false-negative rate   0.0 % [0.0, " in command.stdout
    assert "p99" in command.stdout
    report = json.loads((folder / "new" / "report.json").read_text())
    assert report["findings"] == report["errors"] == []
    assert report["false_positive_rate"]["n"] > 200
    assert report["attacks"]["near-miss"]["expected"] == "rejected"


def test_a_bad_plug_in_fails_with_its_failing_inputs(folder: Path):
    arguments = ("audit", "gold_anywhere", *ARITHMETIC, "--plugin", "mine.py", "--out", "report.json")
    command = rlvr_in(folder, *arguments, "--show", "2")
    assert command.end() == 1
    assert command.stderr.splitlines()[-1].startswith("failed: false-positive rate ")
    assert "is above --max-false-positive-rate 0" in command.stderr
    findings = json.loads((folder / "report.json").read_text())["findings"]
    shown = [line for line in command.stdout.splitlines() if "to be rejected" in line]
    assert len(shown) == 2 < len(findings)
    assert "correct, score 1" in shown[0]


def test_limits_decide_what_fails(folder: Path):
    allowed = ("--max-false-positive-rate", "1", "--max-false-negative-rate", "1")
    arguments = ("audit", "gold_anywhere", *ARITHMETIC, "--plugin", "mine.py", *allowed)
    assert rlvr_in(folder, *arguments).end() == 0
    command = rlvr_in(folder, *arguments, "--max-p99-ms", "0")
    assert command.end() == 1
    assert "is above --max-p99-ms 0" in command.stderr


def test_the_same_seed_prints_the_same(folder: Path):
    def findings(seed: str) -> list[str]:
        command = rlvr_in(folder, "audit", "gold_anywhere", *ARITHMETIC, "--plugin", "mine.py", "--seed", seed)
        return [line for line in command.stdout.splitlines() if "latency" not in line]

    assert findings("5") == findings("5") != findings("6")


def test_a_verifier_that_raises_fails_whatever_the_limits(folder: Path):
    allowed = ("--max-false-positive-rate", "1", "--max-false-negative-rate", "1", "--max-error-rate", "1")
    command = rlvr_in(folder, "audit", "raising", *ARITHMETIC, "--plugin", "mine.py", *allowed)
    assert command.end() == 1
    assert "calls raised; no attack got a verdict" in command.stderr
    assert "raised RuntimeError: no good" in command.stdout


def test_verifier_errors_are_shown_once_for_each_problem(folder: Path):
    command = rlvr_in(folder, "audit", "numeric", "--task", "words", "--plugin", "mine.py")
    assert command.end() == 1
    assert "VerifierErrors are above --max-error-rate 0" in command.stderr
    assert "on 2 problems; the first of each problem:" in command.stdout
    assert command.stdout.count("this verifier needs a MathAnswer") == 2


def test_without_right_responses_the_false_negative_rate_is_not_measurable(folder: Path):
    command = rlvr_in(folder, "audit", "says", "--task", "words", "--plugin", "mine.py")
    assert command.end() == 0, command.stderr
    assert "false-negative rate   not measurable" in command.stdout
    command = rlvr_in(folder, "audit", "says", "--task", "words", "demonstrated=true", "--plugin", "mine.py")
    assert "false-negative rate   0.0 % [0.0, 65.8]   0 of 2 attacks" in command.stdout


def test_ctrl_c_exits_130_without_a_word(folder: Path):
    process = start_in_group("audit", "waiting", *ARITHMETIC, "--plugin", "mine.py", folder=folder)
    deadline = time.monotonic() + 60
    while not (folder / "waiting").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert press_ctrl_c(process) == ""
    assert process.returncode == 130
    assert not is_running(int((folder / "waiting").read_text()))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("nope", *ARITHMETIC), "error: no verifier named 'nope'"),
        (("numeric", "--task", "nope"), "error: no task named 'nope'"),
        (("numeric", *ARITHMETIC, "digits=0"), "error: task.options.digits: must lie in 1 to 9"),
        (("numeric", *ARITHMETIC, "--options", "abs_tol=true"), "error: task.verifier_options.abs_tol: expected"),
        (("numeric", *ARITHMETIC, "--split", "dev"), "error: task 'arithmetic' has the splits"),
    ],
)
def test_mistakes_exit_2(arguments: tuple[str, ...], error: str, folder: Path):
    assert failure_of(folder, "audit", *arguments).startswith(error)
