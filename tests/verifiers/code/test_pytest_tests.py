"""Programs that test modules import."""

import pytest
from support.code_problems import code_problem, fenced

from sandbox import Sandbox
from tasks.types import PytestTests
from verifiers import BadReferenceError, Outcome, Verdict
from verifiers.code.outcome import word_of
from verifiers.code.pytest_tests import PytestTestsVerifier

PROGRAM = """
import os
class Refused(ValueError):
    pass
def add(a, b): return a + b
def divide(a, b): return a / b
def refuse(why): raise Refused(why)
def write(path):
    with open(path, "w") as file: file.write("x")
def halves(xs): return [x / 2 for x in xs]
"""


def judged(sandbox: Sandbox, source: str, program: str = PROGRAM, **options: object) -> Verdict:
    verifier = PytestTestsVerifier(sandbox=sandbox, **options)  # pyright: ignore[reportArgumentType]
    return verifier.verify(code_problem(PytestTests(source=source)), fenced(program))


@pytest.mark.parametrize(
    ("source", "tests"),
    [
        ("from solution import add\ndef test_add(): assert add(1, 2) == 3", 1),
        ("import solution\ndef test_add(): assert solution.add(1, 2) == 3\ndef helper(): assert False", 1),
        ("import solution as s\nclass TestAdd:\n    def test_it(self): assert s.add(1, 2) == 3", 1),
        ("from solution import *\ndef test_add(): assert add(1, 2) == 3 and max(1, 2) == 2", 1),
        (
            "import unittest\nfrom solution import *\nclass Adds(unittest.TestCase):\n"
            "    @classmethod\n    def setUpClass(cls): cls.three = 3\n"
            "    def setUp(self): self.one = 1\n"
            "    def test_it(self): self.assertEqual(add(self.one, 2), self.three)\n"
            "    def test_raise(self):\n        with self.assertRaisesRegex(Refused, 'no'): refuse('no')\n"
            "    def test_near(self): self.assertAlmostEqual(divide(1, 3), 0.3333333333)\n"
            "    def test_rows(self):\n        for n in 1, 2:\n            with self.subTest(n=n): add(n, 0)",
            4,
        ),
        (
            "import pytest\nfrom solution import add\n"
            "@pytest.mark.parametrize('a, b, c', [(1, 2, 3), pytest.param(2, 2, 4, id='twos')])\n"
            "@pytest.mark.parametrize('d', [0, 1, 2])\n"
            "def test_add(a, b, c, d): assert add(a, b) == c and add(d, 0) == d",
            6,
        ),
        (
            "import pytest\nfrom solution import *\n"
            "def test_raise():\n"
            "    with pytest.raises(Refused, match='no') as caught: refuse('no way')\n"
            "    assert caught.type is Refused and str(caught.value) == 'no way'\n"
            "    with pytest.raises((KeyError, ZeroDivisionError)): divide(1, 0)\n"
            "    assert pytest.raises(ZeroDivisionError, divide, 1, 0).value.args",
            1,
        ),
        (
            "import pytest\nfrom solution import *\n"
            "def test_near():\n"
            "    assert divide(1, 3) == pytest.approx(0.3333333) and divide(1, 3) != pytest.approx(0.3)\n"
            "    assert halves([1, 2]) == pytest.approx([0.5, 1.0]) and {'a': 1.0} == pytest.approx({'a': 1})\n"
            "    assert divide(1, 3) == pytest.approx(0.3, abs=0.1) and 100 == pytest.approx(101, rel=0.05)",
            1,
        ),
        (
            "import pytest\nfrom solution import add\nmade = []\n"
            "@pytest.fixture(scope='module')\ndef one():\n    made.append(1)\n    return 1\n"
            "@pytest.fixture\ndef two(one):\n    yield one + 1\n    made.append('ended')\n"
            "@pytest.fixture(params=[3, 4])\ndef three(request): return request.param\n"
            "@pytest.fixture(autouse=True)\ndef always(): made.append('always')\n"
            "def test_first(one, two): assert add(one, two) == 3\n"
            "def test_second(two, three): assert add(two, three) in (5, 6)\n"
            "def test_made(): assert made.count(1) == 1 and made.count('ended') == 3 and made.count('always') == 4",
            4,
        ),
        (
            "import os\nfrom solution import write\n"
            "def test_file(tmp_path):\n    write(tmp_path / 'a.txt')\n    assert os.listdir(tmp_path) == ['a.txt']",
            1,
        ),
        (
            "import pytest\nfrom solution import add\n"
            "@pytest.mark.skip(reason='slow')\ndef test_skipped(): assert False\n"
            "@pytest.mark.skipif(True, reason='so')\ndef test_too(): assert False\n"
            "def test_by_itself(): pytest.skip('now')\n"
            "@pytest.mark.xfail\ndef test_known(): assert False\n"
            "@pytest.mark.slow\ndef test_add(): assert add(1, 2) == 3",
            1,
        ),
        (
            "from solution import add\n"
            "class TestSetUp:\n    def setup_method(self, method): self.three = 3\n"
            "    def test_add(self): assert add(1, 2) == self.three\n"
            "def setup_module(): global two\ndef setup_function(function):\n    global two\n    two = 2\n"
            "def test_two(): assert add(1, 1) == two",
            2,
        ),
        ("async def test_later(): assert True", 1),
    ],
)
def test_test_modules_run_as_in_pytest(sandbox: Sandbox, source: str, tests: int):
    verdict = judged(sandbox, source)
    assert verdict.outcome is Outcome.CORRECT, verdict
    assert len(verdict.parts) == tests + 1


@pytest.mark.parametrize(
    ("program", "source", "word"),
    [
        ("def f(): return 1", "from solution import f\ndef test_f(): assert f() == 2", "fail"),
        ("def f(): return 1", "import pytest\nfrom solution import f\ndef test_f(): pytest.fail('no')", "fail"),
        ("def g(): return 1", "from solution import f\ndef test_f(): assert f() == 1", "error"),
        ("1/0", "from solution import f\ndef test_f(): assert f() == 1", "error"),
        ("def f(): 1/0", "from solution import f\ndef test_f(): assert f() == 1", "error"),
        ("def f(): exit(0)", "from solution import f\ndef test_f(): assert f() == 1", "error"),
        (
            "def f(): pass",
            "import pytest, solution\ndef test_f(): pytest.raises(KeyError, solution.f)",
            "fail",
        ),
        (
            "def f(): return 1",
            "import unittest, solution\nclass T(unittest.TestCase):\n    def test(s): s.assertEqual(solution.f(), 2)",
            "fail",
        ),
        (
            "import unittest\ndef f(): raise unittest.SkipTest",
            "import unittest, solution\nclass T(unittest.TestCase):\n"
            "    def test_f(self): assert solution.f() == 1\n    def test_g(self): pass",
            "fail",
        ),
        (
            "def f(): raise StopIteration",
            "import solution\ndef test_f(): assert all(map(lambda n: solution.f() == n, [1, 2]))",
            "error",
        ),
    ],
)
def test_a_wrong_program_is_not_correct(sandbox: Sandbox, program: str, source: str, word: str):
    verdict = judged(sandbox, source, program)
    assert (word_of(verdict), verdict.score) == (word, 0.0), verdict


def test_a_star_import_brings_nothing_that_tests_are_made_of(sandbox: Sandbox):
    program = "def f(): return 1\ndef abs(x): return 0\nclass pytest: approx = lambda *a: f\nValueError = Exception"
    source = "import pytest\nfrom solution import *\ndef test_f(): assert abs(f() - 5) < 1 or f() == pytest.approx(3)"
    assert word_of(judged(sandbox, source, program)) == "fail"


def test_names_and_scores_of_tests_are_told(sandbox: Sandbox):
    source = "from solution import add\ndef test_one(): assert add(1, 2) == 3\ndef test_two(): assert add(1, 2) == 4"
    verdict = judged(sandbox, source, partial=True)
    assert verdict.score == 0.5
    assert "test_two" in verdict.detail


@pytest.mark.parametrize(
    "source",
    [
        "",
        "x = 1",
        "def test_f(:",
        "def helper(): pass",
        "import pytest\n@pytest.mark.skip\ndef test_f(): pass",
        "def test_f(capsys): pass",
        "import pytest\ndef test_f():\n    with pytest.warns(UserWarning): pass",
        "import nonexistent_module\ndef test_f(): pass",
    ],
)
def test_tests_that_cannot_be_run_are_the_problems_mistake(sandbox: Sandbox, source: str):
    with pytest.raises(BadReferenceError, match="toy/1"):
        judged(sandbox, source)


def test_the_module_has_the_name_that_the_problem_gives_it(sandbox: Sandbox):
    reference = PytestTests(source="import shapes\ndef test_f(): assert shapes.f() == 'shapes'", module="shapes")
    verdict = PytestTestsVerifier(sandbox=sandbox).verify(code_problem(reference), fenced("def f(): return __name__"))
    assert verdict.outcome is Outcome.CORRECT
