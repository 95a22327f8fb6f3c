"""The judge of assert tests: run them in one namespace that holds what the program defines."""

import ast
import builtins
import importlib
import re
import sys
from types import CodeType, ModuleType
from typing import Any

from verifiers.code.inside.program import connect
from verifiers.code.inside.report import Report, compiled, read_job

_SET_UP = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


def main() -> None:
    """Judge the program at the other end."""
    job = read_job()
    report = Report(stop_at_first_failure=job["stop"])
    steps = [compiled(report, source, f"<test {number}>") for number, source in enumerate(job["asserts"], 1)]
    tests = sum(not _only_sets_up(tree) for tree, _ in steps)
    if not tests:
        report.give_up("the asserts test nothing: there are only imports, definitions and assignments")
    report.announce(tests)
    program = connect()
    namespace: dict[str, Any] = {}
    failed: BaseException | None = None
    try:
        namespace = Namespace(program.load(job["module"]), job["function"], "\n".join(job["asserts"]))
    except BaseException as error:  # whatever the program raised when it was loaded fails every test
        failed = error
    for tree, code in steps:

        def run(code: CodeType = code) -> None:
            if failed is not None:
                raise failed
            exec(code, namespace)

        if not _only_sets_up(tree):
            report.run("", run)
        elif failed is None:
            report.set_up(run)
    report.finish()


def _only_sets_up(tree: ast.Module) -> bool:
    """Return whether the source is no test but something before one: the tests of HumanEval define check() first."""
    return all(
        isinstance(node, _SET_UP) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in tree.body
    )


class Namespace(dict[str, Any]):
    """The tests' own names, then the function that is asked for, then Python's, then those of the program.

    Python's come before the program's: one that defines `abs`, `sorted` or `math` anew would decide its own tests.
    A module that it imports is the judge's own of that name here.
    """

    def __init__(self, solution: ModuleType, function: str | None, tests: str) -> None:
        super().__init__(__name__="tests")
        self._solution = solution
        self._function = function
        self._tests = tests

    def __missing__(self, name: str) -> Any:
        if name != self._function:
            if hasattr(builtins, name):
                raise KeyError(name)
            if name in sys.stdlib_module_names and not re.search(rf"(?<![\w.]){name}\s*\(", self._tests):
                return importlib.import_module(name)
        try:
            return getattr(self._solution, name)
        except AttributeError:
            raise KeyError(name) from None
