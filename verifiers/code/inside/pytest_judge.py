"""The judge of test modules: run the functions and classes that pytest would find."""

import sys
from types import ModuleType

from verifiers.code.inside.collecting import CollectedTest, collect
from verifiers.code.inside.mini_pytest import fixture
from verifiers.code.inside.program import connect
from verifiers.code.inside.report import Report, compiled, read_job


def main() -> None:
    """Judge the program at the other end."""
    job = read_job()
    report = Report(stop_at_first_failure=job["stop"])
    _, code = compiled(report, job["source"], "<test module>")
    sys.modules["pytest"] = sys.modules[fixture.__module__]
    found: list[CollectedTest] = []

    def collecting() -> None:
        sys.modules[job["module"]] = connect().load(job["module"])
        tests = sys.modules["test_solution"] = ModuleType("test_solution")
        exec(code, tests.__dict__)
        found.extend(collect(tests.__dict__))

    report.prepare("collecting the tests", collecting)
    if not found:
        report.give_up("the test code has no tests")
    report.announce(len(found))
    for test in found:
        report.run(test.name, test.run)
    report.finish()
