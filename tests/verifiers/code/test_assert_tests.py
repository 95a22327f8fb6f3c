"""Programs that assert statements use."""

import pytest
from support.code_problems import code_problem, fenced

from sandbox import End, Execution, FakeSandbox, Judge, Limits, Program, Sandbox, SandboxLostError
from tasks.types import AssertTests
from verifiers import BadReferenceError, Outcome, Verdict, VerifierError
from verifiers.code.assert_tests import AssertTestsVerifier
from verifiers.code.outcome import word_of

PROGRAM = """
import collections, datetime, decimal, enum, fractions, json, math
from dataclasses import dataclass

LIMIT = 10

def add(a, b=1): return a + b
def mean(xs): return sum(xs) / len(xs)
def pair(): return (1, [2, {3}], {"k": None})
def evens():
    n = 0
    while True:
        yield n
        n += 2
def echo():
    got = yield
    while True:
        got = yield got
def fail(kind, *args): raise kind(*args)
def sort_in_place(xs): xs.sort()
def flip(grid): grid[0][0] = not grid[0][0]
def mark(d, seen):
    d["new"] = 1
    seen.add(2)
def apply(f, *args): return f(*args)
def collect(it): return [next(it), *it]
def total(xs): return sum(xs)
def parse(text): return json.loads(text)
def refuse(): raise AppError("gone")
def half(x): return fractions.Fraction(x, 2)
def price(): return decimal.Decimal("1.50")
def day(): return datetime.date(2020, 2, 29)
def kind_of(x): return type(x)
def same(x): return x
def make_adder(n): return lambda x: x + n
async def later(x): return x + 1

class AppError(ValueError):
    code = 3
    def __init__(self, reason):
        super().__init__(f"app: {reason}")
        self.reason = reason
class NotThere(AppError, KeyError): pass
def lose(): raise NotThere("gone")

Point = collections.namedtuple("Point", "x y")
class Colour(enum.Enum):
    RED = 1
@dataclass(frozen=True, order=True)
class Vector:
    x: int
    y: int
    def __add__(self, other): return Vector(self.x + other.x, self.y + other.y)
    def __len__(self): return 2
    def __getitem__(self, i): return (self.x, self.y)[i]
    def __contains__(self, v): return v in (self.x, self.y)
    def __neg__(self): return Vector(-self.x, -self.y)
class Box:
    def __init__(self): self.items = []; self.open = False
    def put(self, x): self.items.append(x); return self
    def __enter__(self): self.open = True; return self
    def __exit__(self, kind, error, tb): self.open = False; self.kind = kind and kind.__name__; return kind is KeyError
    def __iter__(self): return iter(self.items)
    @property
    def size(self): return len(self.items)
    @classmethod
    def of(cls, *items):
        box = cls()
        box.items += items
        return box
"""


def judged(sandbox: Sandbox, program: str, *asserts: str, function: str | None = None, **options: object) -> Verdict:
    verifier = AssertTestsVerifier(sandbox=sandbox, **options)  # pyright: ignore[reportArgumentType]
    return verifier.verify(code_problem(AssertTests(asserts=asserts, function=function)), fenced(program))


@pytest.mark.parametrize(
    "test",
    [
        "assert add(1) == 2 and add(1, b=5) == 6",
        "assert abs(mean([1, 2, 4]) - 2.3333333) < 1e-6",
        "assert pair() == (1, [2, {3}], {'k': None}) and isinstance(pair(), tuple)",
        "assert sorted(pair()[2]) == ['k'] and set(pair()[1][1]) == {3}",
        "import itertools\nassert list(itertools.islice(evens(), 3)) == [0, 2, 4]",
        "g = evens(); next(g)\nassert next(g) == 2\ng.close()",
        "import types\nassert isinstance(evens(), types.GeneratorType)",
        "g = echo(); next(g)\nassert g.send(5) == 5 and g.send('x') == 'x'",
        "try:\n    fail(ValueError, 'no')\n    assert 0\nexcept ValueError as error:\n    assert str(error) == 'no'",
        "try:\n    fail(KeyError, 1)\nexcept LookupError as error:\n    assert error.args == (1,)",
        "try:\n    fail(SystemExit, 3)\nexcept SystemExit as error:\n    assert error.code == 3",
        "import json\ntry:\n    parse('{')\nexcept json.JSONDecodeError as error:\n    assert error.pos == 1",
        "try:\n    refuse()\nexcept AppError as e:\n    assert (e.reason, e.code, str(e)) == ('gone', 3, 'app: gone')",
        "try:\n    lose()\nexcept KeyError:\n    pass",
        "assert issubclass(NotThere, AppError) and issubclass(NotThere, KeyError) and AppError.code == 3",
        "xs = [3, 1, 2]\nsort_in_place(xs)\nassert xs == [1, 2, 3]",
        "grid = [[True, 0], [1]]\nrow = grid[0]\nflip(grid)\nassert grid == [[False, 0], [1]] and row[0] is False",
        "d, s = {}, {1}\nmark(d, seen=s)\nassert d == {'new': 1} and s == {1, 2}",
        "assert apply(lambda a, b: a * b, 6, 7) == 42",
        "assert apply(sorted, [2, 1]) == [1, 2] and apply(int, '7') == 7",
        "assert collect(iter([1, 2, 3])) == [1, 2, 3] and collect(x * x for x in [2, 3]) == [4, 9]",
        "assert total(range(5)) == 10",
        "try:\n    apply(lambda: 1 / 0)\nexcept ZeroDivisionError:\n    pass\nelse:\n    assert False",
        "def twice(x):\n    return add(x) * 2\nassert apply(twice, 1) == 4",
        "class Node:\n    def __init__(self, value): self.value = value\nassert apply(lambda n: n.value, Node(3)) == 3",
        "marker = object()\nassert same(marker) is marker and same([marker])[0] is marker",
        "from fractions import Fraction\nassert half(3) == Fraction(3, 2)",
        "from decimal import Decimal\nassert price() == Decimal('1.5')",
        "import datetime\nassert day() == datetime.date(2020, 2, 29)",
        "assert kind_of(1) is int and kind_of('') == str",
        "assert make_adder(2)(3) == 5 and (make_adder.__name__, add.__doc__) == ('make_adder', None)",
        "import asyncio\nassert asyncio.run(later(1)) == 2",
        "p = Point(1, y=2)\nassert p == (1, 2) and p.x + p.y == 3",
        "assert Colour.RED.value == 1 and Colour(1) is Colour.RED and Colour.RED.name == 'RED'",
        "v = Vector(1, 2)\nassert v + Vector(1, 1) == Vector(2, 3) and v != Vector(0, 0) and v < Vector(1, 3)",
        "v = Vector(1, 2)\nassert len(v) == 2 and v[1] == 2 and 2 in v and list(-v) == [-1, -2] and v is not None",
        "assert isinstance(Vector(1, 2), Vector) and not isinstance(1, Vector)",
        "assert len({Vector(1, 2), Vector(1, 2)}) == 1 and str(Vector(1, 2)) == 'Vector(x=1, y=2)'",
        "assert [Vector(1, 2), 3] == [Vector(1, 2), 3] and sorted([Vector(2, 1), Vector(1, 2)])[0].x == 1",
        "b = Box.of(1, 2).put(3)\nassert list(b) == [1, 2, 3] and b.size == 3\nb.items = []\nassert b.size == 0 and b",
        "b = Box()\nwith b as inside:\n    assert inside is b and b.open\nassert not b.open and b.kind is None",
        "b = Box()\nwith b:\n    raise KeyError(1)\nassert b.kind == 'KeyError'",
        "assert hasattr(Box(), 'put') and not hasattr(Box(), 'get') and callable(Box)",
        "assert LIMIT == 10",
        "assert math.isclose(mean([1, 2]), 1.5)",
        "def check(candidate):\n    assert candidate(1) == 2\ncheck(add)",
    ],
)
def test_tests_see_what_the_program_does(sandbox: Sandbox, test: str):
    verdict = judged(sandbox, PROGRAM, test)
    assert verdict.outcome is Outcome.CORRECT, verdict


@pytest.mark.parametrize(
    ("program", "test", "word"),
    [
        ("def f(x): return x", "assert f(1) == 2", "fail"),
        ("def f(x): return x", "assert f(1) == 2, 'told'", "fail"),
        ("def f(x): raise KeyError", "assert f(1) == 2", "error"),
        ("def g(x): return x", "assert f(1) == 1", "error"),
        ("1/0", "assert f(1) == 1", "error"),
        ("def f(x): return [0] * 10**10", "assert f(1) == 1", "memory"),
        ("def f(x): return 'a' * 10**8", "assert f(1) == 1", "rejected"),
        ("def f(x):\n    while True: pass", "assert f(1) == 1", "timeout"),
        ("def f(x): exit()", "assert f(1) == 1", "error"),
        ("import os\ndef f(x): os._exit(0)", "assert f(1) == 1", "error"),
        ("import os\ndef f(x): os.kill(os.getpid(), 11)", "assert f(1) == 1", "error"),
        ("class T:\n    def __eq__(self, o): return True\ndef f(x): return T()", "assert f(1) == 1", "fail"),
        ("def f(x): return f", "assert f(1) - 1 < 5", "fail"),
    ],
)
def test_a_wrong_program_is_not_correct(sandbox: Sandbox, program: str, test: str, word: str):
    verdict = judged(sandbox, program, test, wall_s=2.0)
    assert (word_of(verdict), verdict.score) == (word, 0.0), verdict


def test_every_assert_has_its_own_score_and_what_only_sets_up_has_none(sandbox: Sandbox):
    asserts = ("import math\nLIMIT = 3\ndef half(x):\n    return x / 2", "assert f(1) == 1", "assert f(2) == LIMIT")
    verdict = judged(sandbox, "def f(x): return x", *asserts, partial=True)
    assert verdict.parts == {"tests passed": 0.5, "test 1": 1.0, "test 2": 0.0}
    assert verdict.score == 0.5
    assert "assert f(2) == LIMIT" in verdict.detail


def test_set_up_that_fails_is_a_test_that_did_not_pass(sandbox: Sandbox):
    verdict = judged(sandbox, "def f(x): raise KeyError", "x = f(1)", "assert True", partial=True)
    assert (word_of(verdict), verdict.score) == ("error", 0.5)


def test_the_first_failure_can_end_the_run(sandbox: Sandbox):
    asserts = ("assert f(1) == 0", "assert f(1) == 1")
    assert "test 2" in judged(sandbox, "def f(x): return x", *asserts).parts
    assert "test 2" not in judged(sandbox, "def f(x): return x", *asserts, stop_at_first_failure=True).parts


def test_python_names_are_not_the_programs_to_define(sandbox: Sandbox):
    program = """
def abs(x): return 0
def sorted(x): return [1, 2]
def isinstance(x, y): return True
class math:
    def isclose(a, b): return True
AssertionError = KeyError
def f(x): return 5
def sum(x, y): return 7
"""
    for test in ("abs(f(1) - 1) < 1e-6", "sorted(f(1)) == [1, 2]", "isinstance(f(1), str)", "math.isclose(f(1), 2)"):
        assert judged(sandbox, program, f"assert {test}").outcome is not Outcome.CORRECT
    assert judged(sandbox, program, "assert sum(1, 2) == 7", function="sum").outcome is Outcome.CORRECT
    assert judged(sandbox, program, "assert sum([1, 2]) == 3", function="f").outcome is Outcome.CORRECT


@pytest.mark.parametrize(
    "asserts",
    [(), ("assert f(",), ("x = 1", "def check(f): assert f(1)"), ("import nonexistent_module\nassert f(1)",)],
)
def test_tests_that_cannot_be_run_are_the_problems_mistake(sandbox: Sandbox, asserts: tuple[str, ...]):
    with pytest.raises(BadReferenceError, match="toy/1"):
        judged(sandbox, "def f(x): return x", *asserts)


def test_a_program_cannot_pass_its_own_mistake_off_as_the_problems(sandbox: Sandbox):
    for program in ("import nonexistent_module", "def f(x): import nonexistent_module"):
        assert word_of(judged(sandbox, program, "assert f(1) == 1")) == "error"


def told(stdout: bytes, *, judge: Execution | None = None, program: Execution | None = None) -> FakeSandbox:
    exited = Execution(end=End.EXITED, exit_code=0, stdout=stdout)

    def answer(asked: Program, judging: Judge, limits: Limits) -> tuple[Execution, Execution]:
        return program or Execution(end=End.KILLED), judge or exited

    return FakeSandbox(judged=answer)


def test_tests_go_to_the_judge_alone():
    fake = told(b'{"tests": 1}\n{"word": "pass", "name": "", "detail": ""}\n{"done": true}\n')
    assert judged(fake, "def f(x): return x", "assert f(1) == 'SECRET'").outcome is Outcome.CORRECT
    ((program, judge, _),) = fake.judged_calls
    assert "SECRET" not in repr(program)
    assert b"SECRET" in judge.stdin


@pytest.mark.parametrize(
    ("judge", "program", "word"),
    [
        (Execution(end=End.TIMED_OUT), None, "timeout"),
        (Execution(end=End.KILLED), Execution(end=End.TIMED_OUT), "timeout"),
        (Execution(end=End.KILLED), Execution(end=End.OUT_OF_MEMORY), "memory"),
        (Execution(end=End.OUT_OF_MEMORY), None, "memory"),
        (Execution(end=End.EXITED, exit_code=-9), Execution(end=End.KILLED), "error"),
        (Execution(end=End.EXITED, exit_code=0), Execution(end=End.EXITED, exit_code=0), "error"),
    ],
)
def test_a_judge_that_did_not_come_to_its_end_passes_nothing(judge: Execution, program: Execution | None, word: str):
    verdict = judged(told(b"", judge=judge, program=program), "def f(x): return x", "assert f(1)")
    assert (word_of(verdict), verdict.score) == (word, 0.0)


def test_a_failure_of_ours_is_no_verdict():
    crashed = Execution(end=End.EXITED, exit_code=1, stderr=b"Traceback\nKeyError: 'oops'\n")
    with pytest.raises(VerifierError, match=r"toy/1.*oops"):
        judged(told(b"", judge=crashed), "def f(x): return x", "assert f(1)")
    with pytest.raises(VerifierError, match="toy/1") as raised:
        judged(FakeSandbox(fail_on=[1]), "def f(x): return x", "assert f(1)")
    assert isinstance(raised.value.__cause__, SandboxLostError)
