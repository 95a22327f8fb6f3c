"""Judge a program that defines a function, by what the function returns on each case."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sandbox.types import Execution, Limits, Program
from tasks.types import FunctionTests, Problem
from verifiers.code.bundle import program_files
from verifiers.code.inside.wire import MalformedError, UnsendableError, encode, read_json
from verifiers.code.outcome import Finding, finding_of
from verifiers.code.values import matches, tagged
from verifiers.code.verifier import CodeVerifier, reference_of
from verifiers.errors import BadReferenceError

MODULE = "solution"
RESULT_BYTES = 8 * 2**20
"""What a program may return, all cases together. Stdout carries it; what the program prints goes nowhere."""


class FunctionTestsVerifier(CodeVerifier):
    __doc__ = CodeVerifier.__doc__

    def _check(self, problem: Problem) -> int:
        reference = reference_of(problem, FunctionTests, "cases")
        if not all(part.isidentifier() for part in reference.function.split(".")) or reference.function.count(".") > 1:
            raise BadReferenceError(f"problem {problem.id}: {reference.function!r} names no function or Class.method")
        return len(reference.cases)

    def _defines(self, reference: FunctionTests) -> str | None:
        return reference.function.partition(".")[0]

    def _findings(self, problem: Problem, source: bytes, limits: Limits, total: int) -> tuple[list[Finding], int]:
        reference: FunctionTests = problem.reference
        try:
            cases = encode([[list(case.arguments), dict(case.keywords)] for case in reference.cases])
            expected = [tagged(case.expected) for case in reference.cases]
        except UnsendableError as error:
            raise BadReferenceError(f"problem {problem.id}: the cases hold {error}; give plain values") from error
        # Arguments alone: the expected values stay here.
        job = f'{{"module":{json.dumps(MODULE)},"function":{json.dumps(reference.function)},"cases":{cases}}}'
        program = Program(
            argv=("python3", "main.py"),
            files={**program_files("wire", "solution", "function_driver"), f"{MODULE}.py": source},
            stdin=job.encode(),
        )
        execution = self.sandbox.run(program, replace(limits, output_bytes=max(limits.output_bytes, RESULT_BYTES)))
        return list(self._until_stopped(_judged(execution, expected, reference.float_tol))), total


def _judged(execution: Execution, expected: list[Any], float_tol: float) -> Iterator[Finding]:
    """Yield the finding on each case. The answers come from the program's process, whoever wrote them there."""
    lines = execution.stdout.split(b"\n")[: len(expected) + 1]
    whole = finding_of(execution)
    for number, wanted in enumerate(expected):
        if number >= len(lines) - 1:  # the last line has no end: it is empty, or was cut
            yield whole or Finding(word="error", detail="ended before it returned")
            return
        last = number == len(expected) - 1
        finding = _answer(lines[number], number, wanted, float_tol)
        # An answer does not count if the program came to a bad end while giving the last one.
        yield whole if whole is not None and last and finding.word == "pass" else finding


def _answer(line: bytes, number: int, expected: Any, float_tol: float) -> Finding:
    try:
        answer = read_json(line)
    except MalformedError:
        answer = None
    if not isinstance(answer, dict) or answer.get("case") != number or len(answer) != 2:
        return Finding(word="error", detail="something else was written in the place of its answer")
    if "error" in answer:
        error = str(answer["error"])[:300]
        return Finding(word="memory" if error.startswith("MemoryError") else "error", detail=f"raised {error}")
    if "unsendable" in answer:
        return Finding(word="rejected", detail=f"returned what cannot be compared: {answer['unsendable']}")
    if "value" in answer and matches(expected, answer["value"], float_tol=float_tol):
        return Finding(word="pass")
    returned = line.decode("ascii", "replace").partition('"value":')[2].removesuffix("}")
    return Finding(word="fail", detail=f"returned {_cut(returned)}, expected {_cut(json.dumps(expected))}")


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
