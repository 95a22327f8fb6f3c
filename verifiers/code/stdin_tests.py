"""Judge a program that reads standard input and prints, by what it prints on each case."""

import json
from collections.abc import Iterator, Sequence

from sandbox.types import Limits, Program
from tasks.types import Problem, StdinTests
from verifiers.code.bundle import program_files
from verifiers.code.outcome import Finding, finding_of, one_line
from verifiers.code.stdout_compare import decoded, difference
from verifiers.code.verifier import CodeVerifier, reference_of
from verifiers.errors import BadReferenceError


class StdinTestsVerifier(CodeVerifier):
    __doc__ = CodeVerifier.__doc__

    def _check(self, problem: Problem) -> int:
        reference = reference_of(problem, StdinTests, "cases")
        if reference.compare.mode == "checker" and not reference.compare.checker.strip():
            raise BadReferenceError(f"problem {problem.id}: the compare mode is checker, and there is no checker")
        return len(reference.cases)

    def _defines(self, reference: StdinTests) -> str | None:
        return None

    def _findings(self, problem: Problem, source: bytes, limits: Limits, total: int) -> tuple[list[Finding], int]:
        reference: StdinTests = problem.reference
        printed: list[str] = []
        findings = list(self._until_stopped(self._run(reference, source, limits, printed)))
        if reference.compare.mode == "checker":
            findings = self._checked(problem, findings, printed, limits)
        return findings, total

    def _run(self, reference: StdinTests, source: bytes, limits: Limits, printed: list[str]) -> Iterator[Finding]:
        """Run the program on each case; what is for a checker to judge goes to `printed` and passes for now."""
        for given, expected in reference.cases:
            program = Program(
                argv=("python3", "main.py"),
                files={"main.py": source},
                stdin=given.encode("utf-8", "surrogatepass"),
            )
            execution = self.sandbox.run(program, limits)
            text = decoded(execution.stdout)
            printed.append(text or "")
            finding = finding_of(execution)
            if finding is None and text is None:
                finding = Finding(word="fail", detail="what it printed is not UTF-8")
            if finding is None and reference.compare.mode != "checker":
                wrong = difference(reference.compare, expected, printed[-1])
                finding = Finding(word="fail", detail=wrong) if wrong else None
            yield finding or Finding(word="pass")
            if finding is not None and finding.word == "timeout" and not self._partial:
                return  # as many cases again would each take as long

    def _checked(
        self, problem: Problem, findings: Sequence[Finding], printed: Sequence[str], limits: Limits
    ) -> list[Finding]:
        """Return the findings with those that pass so far left to the checker, which runs in the sandbox too."""
        reference: StdinTests = problem.reference
        open_ones = [number for number, finding in enumerate(findings) if finding.word == "pass"]
        cases = [(*reference.cases[number], printed[number]) for number in open_ones]
        if not cases:
            return list(findings)
        program = Program(
            argv=("python3", "main.py"),
            files=program_files("checker_driver"),
            stdin=json.dumps({"checker": reference.compare.checker, "cases": cases}).encode(),
        )
        execution = self.sandbox.run(program, limits)
        answers = [json.loads(line) for line in execution.stdout.splitlines()]
        if any("problem" in answer for answer in answers):
            raise BadReferenceError(f"problem {problem.id}: the checker: {one_line(answers[-1]['problem'])}")
        checked = list(findings)
        unfinished = Finding(word="fail", detail=f"the checker did not come to an end on it ({execution.end})")
        for position, number in enumerate(open_ones):
            checked[number] = unfinished
            if position < len(answers):
                accepted, reason = answers[position]["accepted"], answers[position]["reason"]
                checked[number] = Finding(word="pass") if accepted else Finding(word="fail", detail=reason)
        return checked
