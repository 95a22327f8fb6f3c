"""Programs that define a function."""

import json
from typing import Any

import pytest
from support.code_problems import code_problem, fenced

from sandbox import End, Execution, FakeSandbox, Limits, Program, Sandbox
from tasks.types import FunctionCase, FunctionTests
from verifiers import BadReferenceError, Outcome
from verifiers.code.function_tests import FunctionTestsVerifier
from verifiers.code.outcome import word_of


def cases_of(function: str, *pairs: tuple[tuple[Any, ...], Any], float_tol: float = 0.0) -> FunctionTests:
    cases = tuple(FunctionCase(arguments=arguments, expected=expected) for arguments, expected in pairs)
    return FunctionTests(function=function, cases=cases, float_tol=float_tol)


NEXT = cases_of("following", ((1,), 2), ((-1,), 0), ((10**30,), 10**30 + 1))


@pytest.mark.parametrize(
    ("reference", "program"),
    [
        (NEXT, "def following(n):\n    return n + 1"),
        (NEXT, "following = lambda n: -~n"),
        (NEXT, "from functools import lru_cache\n@lru_cache\ndef following(n): return n + 1"),
        (NEXT, "def following(n):\n    print('debugging' * 10**6)\n    return n + 1"),
        (NEXT, "import sys\nsys.stdout = sys.stderr = None\ndef following(n): return n + 1"),
        (NEXT, "def following(n: List[int]) -> Optional[int]:\n    return n + 1"),
        (NEXT, "from __future__ import annotations\ndef following(n: Unknown):\n    return n + 1"),
        (NEXT, "def following(n): return n + 1\nif __name__ == '__main__':\n    raise SystemExit(input())"),
        (NEXT, "import sys\nsys.setrecursionlimit(10**6)\ndef following(n): return n + 1"),
        (NEXT, "import builtins\nbuiltins.len = builtins.isinstance = None\ndef following(n): return n + 1"),
        (cases_of("Solution.same", ((1,), 1), (([],), [])), "class Solution:\n    def same(self, x): return x"),
        (cases_of("tally", ((["a", "a"],), {"a": 2})), "from collections import Counter\ntally = Counter"),
        (cases_of("keys", (({1: (2, 3)},), [1, [2, 3]])), "def keys(d): return (*d, *d.values())"),
        (cases_of("nothing", ((), None)), "def nothing(): pass"),
        (cases_of("many", ((300_000,), list(range(300_000)))), "def many(n): return list(range(n))"),
        (cases_of("mean", (([1, 2, 4],), 2.3333333), float_tol=1e-6), "def mean(x): return sum(x) / len(x)"),
        (cases_of("types", ((b"a", {1}, 1j, range(3)), ["bytes", "set", "complex", "range"])),
         "def types(*args): return [type(arg).__name__ for arg in args]"),
    ],
)  # fmt: skip
def test_a_right_function_is_correct(sandbox: Sandbox, reference: FunctionTests, program: str):
    verdict = FunctionTestsVerifier(sandbox=sandbox).verify(code_problem(reference), fenced(program))
    assert verdict.outcome is Outcome.CORRECT, verdict


def test_keywords_are_passed(sandbox: Sandbox):
    case = FunctionCase(arguments=(1,), keywords={"step": 5}, expected=6)
    reference = FunctionTests(function="following", cases=(case,))
    program = "def following(n, *, step): return n + step"
    assert FunctionTestsVerifier(sandbox=sandbox).verify(code_problem(reference), fenced(program)).score == 1


@pytest.mark.parametrize(
    ("program", "word", "passed"),
    [
        ("def following(n): return n - 1", "fail", 0),
        ("def following(n): return 2", "fail", 1),
        ("def following(n): print(n + 1)", "fail", 0),
        ("def following(n): return str(n + 1)", "fail", 0),
        ("def following(n): return True", "fail", 0),
        ("def preceding(n): return n + 1", "error", 0),
        ("following = 3", "error", 0),
        ("def following(): return 2", "error", 0),
        ("def following(n): raise KeyError(n)", "error", 0),
        ("def following(n): return 2 if n == 1 else exit(0)", "error", 1),
        ("raise ImportError('at import')", "error", 0),
        ("def following(n): return (x for x in [n + 1])", "rejected", 0),
        ("def following(n): return object()", "rejected", 0),
        ("def following(n): return 'a' * 10**8", "rejected", 0),
        ("def following(n): return 10 ** 300000", "fail", 0),
        ("def following(n): return [0] * 10**10", "memory", 0),
    ],
)
def test_a_wrong_function_is_not(sandbox: Sandbox, program: str, word: str, passed: int):
    verdict = FunctionTestsVerifier(sandbox=sandbox).verify(code_problem(NEXT), fenced(program))
    assert (word_of(verdict), verdict.score) == (word, 0.0), verdict
    assert verdict.parts["tests passed"] == pytest.approx(passed / 3)


def test_what_came_before_the_time_was_up_is_known(sandbox: Sandbox):
    program = "def following(n):\n    while n != 1: pass\n    return 2"
    verifier = FunctionTestsVerifier(sandbox=sandbox, wall_s=1.0, partial=True)
    verdict = verifier.verify(code_problem(NEXT), fenced(program))
    assert (verdict.outcome, verdict.score) == (Outcome.TIMED_OUT, pytest.approx(1 / 3))


def test_expected_values_never_enter_the_sandbox():
    fake = FakeSandbox(lambda program, limits: Execution(end=End.EXITED, exit_code=0))
    reference = cases_of("f", (("ARGUMENT",), "SECRET"))
    FunctionTestsVerifier(sandbox=fake).verify(code_problem(reference), fenced("def f(x): return x"))
    ((program, _),) = fake.calls
    assert b"ARGUMENT" in program.stdin
    assert "SECRET" not in repr(program)


@pytest.mark.parametrize(
    ("stdout", "word"),
    [
        (b"", "error"),
        (b'{"case":0,"value":2}', "error"),
        (b'{"case":0,"value":2}\n', "error"),
        (b'PASSED\n{"case":0,"value":2}\n{"case":1,"value":0}\n', "error"),
        (b'{"case":1,"value":0}\n{"case":0,"value":2}\n', "error"),
        (b'{"case":0,"value":2}\n{"case":0,"value":2}\n', "error"),
        (b'{"case":0,"value":2,"error":"x"}\n{"case":1,"value":0}\n', "error"),
        (b'{"case":0,"values":2}\n{"case":1,"value":0}\n', "fail"),
        (b'{"case":0,"error":{"a":[1]}}\n{"case":1,"value":0}\n', "error"),
        (b'{"case":0,"value":NaN}\n{"case":1,"value":0}\n', "error"),
        (b'{"case":0,"value":' + b"[" * 100_000 + b"\n", "error"),
        (b'{"case":0,"value":' + b"9" * 100_000 + b"}\n", "error"),
        (b"\xff\xfe\n\n", "error"),
    ],
)
def test_whatever_is_written_in_the_place_of_answers_is_no_pass(stdout: bytes, word: str):
    fake = FakeSandbox(lambda program, limits: Execution(end=End.EXITED, exit_code=0, stdout=stdout))
    reference = cases_of("f", ((1,), 2), ((-1,), 0))
    verdict = FunctionTestsVerifier(sandbox=fake).verify(code_problem(reference), fenced("def f(x): return x"))
    assert word_of(verdict) == word


@pytest.mark.parametrize(
    "execution",
    [
        Execution(end=End.EXITED, exit_code=1),
        Execution(end=End.EXITED, exit_code=-9),
        Execution(end=End.TIMED_OUT),
        Execution(end=End.OUT_OF_MEMORY),
    ],
)
def test_right_answers_before_a_bad_end_are_no_pass(execution: Execution):
    def answer(program: Program, limits: Limits) -> Execution:
        stdout = b'{"case":0,"value":2}\n'
        return Execution(end=execution.end, exit_code=execution.exit_code, stdout=stdout)

    verdict = FunctionTestsVerifier(sandbox=FakeSandbox(answer)).verify(
        code_problem(cases_of("f", ((1,), 2))), fenced("def f(x): return x")
    )
    assert verdict.score == 0


@pytest.mark.parametrize(
    "reference",
    [
        FunctionTests(function="f", cases=()),
        cases_of("f g", ((1,), 2)),
        cases_of("a.b.c", ((1,), 2)),
        cases_of("f", ((object(),), 2)),
        cases_of("f", ((1,), json)),
    ],
)
def test_a_reference_that_cannot_be_used_is_the_problems_mistake(reference: FunctionTests):
    with pytest.raises(BadReferenceError, match="toy/1"):
        FunctionTestsVerifier(sandbox=FakeSandbox()).verify(code_problem(reference), fenced("def f(x): return x"))
