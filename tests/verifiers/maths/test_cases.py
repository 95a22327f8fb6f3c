"""The labelled public cases, kind by kind of how answers go wrong elsewhere."""

import json
from functools import cache
from pathlib import Path

import pytest
from support.shared_data import shared_file

from verifiers import Outcome
from verifiers.symbolic import MathVerifier

Row = dict[str, str | bool]


@cache
def judged() -> list[tuple[Row, Outcome]]:
    """Return the cases with their outcomes."""
    verifier = MathVerifier()
    with open(shared_file("cases/math_public.jsonl"), encoding="utf-8") as lines:
        rows: list[Row] = [json.loads(line) for line in lines]
    return [(row, verifier.judge(str(row["gold"]), str(row["response"])).outcome) for row in rows]


def agreeing(cases: list[tuple[Row, Outcome]]) -> float:
    return sum((outcome is Outcome.CORRECT) == row["correct"] for row, outcome in cases) / len(cases)


def is_hostile(row: Row) -> bool:
    return str(row["kind"]).startswith("adv_")


def test_nearly_all_cases_are_judged_as_labelled():
    cases = [case for case in judged() if not case[0].get("debatable")]
    assert agreeing(cases) >= 0.98
    assert agreeing([case for case in cases if not is_hostile(case[0])]) >= 0.98


def test_debatable_cases_follow_the_documented_policy():
    assert agreeing([case for case in judged() if case[0].get("debatable")]) >= 0.95


def test_no_hostile_response_is_accepted():
    accepted = [row["id"] for row, outcome in judged() if is_hostile(row) and outcome is Outcome.CORRECT]
    rightly = {row["id"] for row, _ in judged() if row["correct"]}
    assert set(accepted) <= rightly


def test_no_right_answer_runs_into_a_limit():
    limits = (Outcome.TIMED_OUT, Outcome.CRASHED)
    assert [row["id"] for row, outcome in judged() if outcome in limits and row["correct"]] == []


def test_no_case_executes_the_text_it_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with open(shared_file("cases/math_public.jsonl"), encoding="utf-8") as lines:
        rows = [row for line in lines if "CANARY_FILE" in str(row := json.loads(line))]
    assert rows
    monkeypatch.chdir(tmp_path)
    verifier = MathVerifier()  # its workers start in tmp_path
    for row in rows:
        verifier.judge(row["gold"], row["response"])
    verifier.judge(r"\sqrt{2}", r"\boxed{2^{1/2}}")
    assert list(tmp_path.rglob("*")) == []
