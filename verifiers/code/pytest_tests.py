"""Judge a program as a module that test functions and unittest classes import."""

from sandbox.types import Limits
from tasks.types import Problem, PytestTests
from verifiers.code.judged import judge
from verifiers.code.outcome import Finding
from verifiers.code.verifier import CodeVerifier, reference_of
from verifiers.errors import BadReferenceError


class PytestTestsVerifier(CodeVerifier):
    __doc__ = CodeVerifier.__doc__

    def _check(self, problem: Problem) -> int:
        reference = reference_of(problem, PytestTests, "source")
        if not reference.module.isidentifier():
            raise BadReferenceError(f"problem {problem.id}: {reference.module!r} is no name of a module")
        return 1

    def _defines(self, reference: PytestTests) -> str | None:
        return None

    def _findings(self, problem: Problem, source: bytes, limits: Limits, total: int) -> tuple[list[Finding], int]:
        reference: PytestTests = problem.reference
        job = {"module": reference.module, "source": reference.source, "stop": self._stop_at_first_failure}
        return judge(
            problem,
            self.sandbox,
            limits,
            source=source,
            module=reference.module,
            modules=("mini_pytest", "collecting", "pytest_judge"),
            job=job,
        )
