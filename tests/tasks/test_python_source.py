import pytest

from tasks.python_source import called_names, fenced, imports_of, unix_lines


def test_fenced_source_is_one_block_without_blank_lines_at_its_edges():
    assert fenced("\n\ndef f():\n    pass\n\n") == "```python\ndef f():\n    pass\n```"


def test_lines_end_alike():
    assert unix_lines("a\r\nb\rc\n") == "a\nb\nc\n"


def test_outer_calls_come_before_those_in_their_arguments():
    assert called_names(["assert f(Pair(1, g(2))) == 3", "assert set(f(h()))"]) == ["f", "Pair", "g", "set", "h"]


@pytest.mark.parametrize(
    ("tests", "solution", "imports"),
    [
        (["assert f() == sys.maxsize"], "import sys\ndef f(): ...", ["import sys"]),
        (["import sys", "assert f() == sys.maxsize"], "import sys\ndef f(): ...", []),
        (["sys = f()", "assert sys.x"], "import sys\ndef f(): ...", []),
        (["assert f() == 3"], "import sys\ndef f(): ...", []),
        (["assert f() == sys.maxsize"], "def f(): ...", []),
        (["assert f() == numpy.pi"], "import numpy\ndef f(): ...", []),
    ],
    ids=["lean", "import", "bind", "need none", "unknown", "not of the standard library"],
)
def test_tests_get_the_modules_that_they_lean_on_the_solution_for(tests: list[str], solution: str, imports: list[str]):
    assert imports_of(tests, solution=solution) == imports
