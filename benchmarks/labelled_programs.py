"""Labelled programs as problems of the product: the files that benchmarks.sandbox_cases judges."""

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.types import AssertTests, Compare, FunctionCase, FunctionTests, Problem, PytestTests, StdinTests

VERIFIERS = {"stdin": "stdin_tests", "function": "function_tests", "assert": "assert_tests", "pytest": "pytest_tests"}
_LIMITS = {"output_bytes": "output_bytes", "pids": "processes", "tmp_mb": "disk_mb"}


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelledProgram:
    """A program, the problem that it answers, and the verdicts that are right."""

    problem: Problem
    program: str
    options: Mapping[str, Any]
    """Of the verifier, for limits that a problem does not have."""
    kind: str
    accept: tuple[str, ...]
    reward: int | None
    partial: float | None
    sequence: str | None
    step: int
    post: tuple[str, ...]


def read_programs(file: Path) -> list[LabelledProgram]:
    """Return the cases of a JSONL file, in its order."""
    return [_read(json.loads(line)) for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]


def _read(row: Mapping[str, Any]) -> LabelledProgram:
    limits = row.get("limits") or {}
    reference = _reference(row["mode"], row["tests"], limits)
    return LabelledProgram(
        problem=Problem(id=row["id"], prompt=row["prompt"], reference=reference, verifier=VERIFIERS[row["mode"]]),
        program=row["program"],
        options={ours: limits[theirs] for theirs, ours in _LIMITS.items() if theirs in limits},
        kind=row["kind"],
        accept=tuple(row["accept"]),
        reward=row["reward"],
        partial=row.get("partial"),
        sequence=row.get("sequence"),
        step=row.get("step") or 0,
        post=tuple(row.get("post") or ()),
    )


def _reference(mode: str, tests: Mapping[str, Any], limits: Mapping[str, Any]) -> Any:
    own = {"wall_s": limits.get("wall_s"), "memory_mb": limits.get("memory_mb")}
    if mode == "stdin":
        cases = tuple((case["input"], case["output"]) for case in tests["cases"])
        return StdinTests(cases=cases, compare=_compare(tests.get("compare")), **own)
    if mode == "function":
        cases = tuple(
            FunctionCase(arguments=tuple(case["args"]), keywords=case.get("kwargs") or {}, expected=_expected(case))
            for case in tests["cases"]
        )
        tolerance = tests.get("float_tol") or 0.0
        return FunctionTests(function=tests["function"], cases=cases, float_tol=tolerance, **own)
    if mode == "assert":
        return AssertTests(asserts=tuple(tests["asserts"]), function=tests.get("function"), **own)
    return PytestTests(source=tests["test_source"], module=tests.get("module") or "solution", **own)


def _expected(case: Mapping[str, Any]) -> Any:
    if "expected_repr" in case:
        return ast.literal_eval(case["expected_repr"])
    if "expected_expr" in case:
        return eval(case["expected_expr"])  # the file's author is trusted as its tests are
    return case["expected"]


def _compare(compare: str | Mapping[str, Any] | None) -> Compare:
    if compare is None:
        return Compare()
    if isinstance(compare, str):
        return Compare(mode=compare)  # pyright: ignore[reportArgumentType]
    if compare["mode"] == "float":
        relative = compare.get("rel") or 0.0
        tolerance = compare["tol"]
        return Compare(mode="float", abs_tol=tolerance, rel_tol=tolerance if relative is True else relative)
    return Compare(mode=compare["mode"], checker=compare.get("source") or "")
