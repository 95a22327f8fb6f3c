"""Run test code in a judge's process beside the program, and read its report."""

import json
from collections.abc import Sequence
from typing import Any, cast

from sandbox.types import End, Execution, Limits, Program, Sandbox
from tasks.types import Problem
from verifiers.code.bundle import judge_of, program_files
from verifiers.code.outcome import Finding, Word, finding_of, one_line
from verifiers.errors import BadReferenceError, VerifierError

_SERVER = ("wire", "exchange", "solution", "server")
_JUDGE = ("wire", "exchange", "link", "proxies", "program", "report")


def judge(
    problem: Problem, sandbox: Sandbox, limits: Limits, *, source: bytes, module: str, modules: Sequence[str], job: Any
) -> tuple[list[Finding], int]:
    """Return the finding on each test that was run, and how many tests there are.

    Args:
        source: the candidate's program.
        module: the name that tests know it by.
        modules: of verifiers.code.inside, those of the judge beyond the common ones; the last has its main().
        job: what that reads.

    Raises:
        BadReferenceError: the tests are no Python, none, or ask for what is not offered.
        VerifierError: the judge itself failed.
        SandboxError: as Sandbox.run_judged does.
    """
    execution, judging = sandbox.run_judged(
        Program(
            argv=("python3", "main.py", module),
            files={**program_files(*_SERVER), "solution.py": source},
        ),
        judge_of(*_JUDGE, *modules, job=json.dumps(job).encode()),
        limits,
    )
    lines = judging.stdout.split(b"\n")[:-1]
    told = [json.loads(line) for line in lines]
    problems = [line["problem"] for line in told if "problem" in line]
    if problems:
        raise BadReferenceError(f"problem {problem.id}: {one_line(problems[0], 300)}")
    total = next((line["tests"] for line in told if "tests" in line), None)
    findings = [_finding(line, execution) for line in told if "word" in line and line["word"] != "skip"]
    skipped = sum(line.get("word") == "skip" for line in told)
    if not any("done" in line for line in told):
        findings.append(_unfinished(problem, execution, judging))
        return findings, max((total or 1) - skipped, len(findings))
    assert total is not None
    if total == skipped:
        raise BadReferenceError(f"problem {problem.id}: all tests were skipped")
    # Set-up that failed is a finding beyond the number of tests.
    return findings, max(total - skipped, len(findings))


def _finding(line: dict[str, str], execution: Execution) -> Finding:
    if line["word"] != "gone":
        return Finding(word=cast(Word, line["word"]), detail=line["detail"], name=line["name"])
    # How the program ended says why; KILLED is how it ends when its judge has.
    ended = finding_of(execution) if execution.end is not End.KILLED else None
    word, detail = (ended.word, ended.detail) if ended else ("error", line["detail"])
    return Finding(word=word, detail=detail, name=line["name"])


def _unfinished(problem: Problem, execution: Execution, judging: Execution) -> Finding:
    """Return what a judge means that did not come to its end."""
    if judging.end is End.EXITED and judging.exit_code is not None and judging.exit_code > 0:
        # An exception in our own code. Signals are another matter: the program may kill what runs beside it.
        last = judging.stderr[-2000:].decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise VerifierError(f"problem {problem.id}: the judge of the tests failed: {one_line(last)}")
    limits = [ended for ended in (judging, execution) if ended.end not in (End.EXITED, End.KILLED)]
    if limits and (finding := finding_of(limits[0])) is not None:
        return finding
    return Finding(word="error", detail="the judge of the tests was killed")
