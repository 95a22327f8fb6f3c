"""Judge a program by assert statements, which run where the program cannot reach them."""

from sandbox.types import Limits
from tasks.types import AssertTests, Problem
from verifiers.code.judged import judge
from verifiers.code.outcome import Finding
from verifiers.code.verifier import CodeVerifier, reference_of

MODULE = "solution"


class AssertTestsVerifier(CodeVerifier):
    __doc__ = CodeVerifier.__doc__

    def _check(self, problem: Problem) -> int:
        return len(reference_of(problem, AssertTests, "asserts").asserts)

    def _defines(self, reference: AssertTests) -> str | None:
        return reference.function

    def _findings(self, problem: Problem, source: bytes, limits: Limits, total: int) -> tuple[list[Finding], int]:
        reference: AssertTests = problem.reference
        job = {
            "module": MODULE,
            "asserts": reference.asserts,
            "function": reference.function,
            "stop": self._stop_at_first_failure,
        }
        return judge(problem, self.sandbox, limits, source=source, module=MODULE, modules=("assert_judge",), job=job)
