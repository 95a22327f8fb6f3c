"""What the verifiers of programs have in common: options, the sandbox, and the way from a response to a verdict."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from sandbox.errors import SandboxError
from sandbox.types import Limits, Sandbox
from tasks.types import Problem
from verifiers.code.outcome import Finding, verdict_of
from verifiers.code.programs import extract_program
from verifiers.code.sandboxes import KINDS, sandbox_settings, shared_sandbox
from verifiers.errors import BadReferenceError, VerifierError, VerifierOptionError
from verifiers.types import Outcome, Verdict


class CodeVerifier(ABC):
    """Judges a program by tests that run in a sandbox. CORRECT is one that passes them all.

    Args:
        sandbox: "docker", or "local" for development alone, which does not contain hostile programs; or a Sandbox.
            Verifiers of one process share one sandbox of each kind and size.
        containers: how many programs run at once in the shared sandbox; None leaves it to the sandbox.
        docker: other parameters of DockerSandbox, such as image, packages, docker_hosts, runtime.
        wall_s: time limit, of one test where each has a program of its own and else of all together, for problems
            that do not have one.
        cpu_s: CPU time limit; None means as much as wall time.
        memory_mb: for problems that do not have a limit of their own.
        processes: processes and threads at once.
        output_bytes: of stdout and of stderr.
        disk_mb: files and shared memory.
        partial: make the share of passed tests the score, not 0 for all that is not CORRECT.
        lenient: take the whole response as the program where it has no fenced block.
        stop_at_first_failure: leave out the tests that follow one that failed.

    Raises:
        VerifierOptionError: an option is out of range.
    """

    def __init__(
        self,
        *,
        sandbox: Literal["docker", "local"] | Sandbox = "docker",
        containers: int | None = None,
        docker: Mapping[str, object] | None = None,
        wall_s: float = 5.0,
        cpu_s: float | None = None,
        memory_mb: int = 256,
        processes: int = 64,
        output_bytes: int = 1_048_576,
        disk_mb: int = 64,
        partial: bool = False,
        lenient: bool = False,
        stop_at_first_failure: bool = False,
    ) -> None:
        if isinstance(sandbox, str) and sandbox not in KINDS:
            raise VerifierOptionError(f"task.verifier_options.sandbox: expected one of {KINDS}, got {sandbox!r}")
        sizes = {
            "containers": containers,
            "wall_s": wall_s,
            "cpu_s": cpu_s,
            "memory_mb": memory_mb,
            "processes": processes,
            "output_bytes": output_bytes,
            "disk_mb": disk_mb,
        }
        for name, size in sizes.items():
            if size is not None and not size > 0:
                raise VerifierOptionError(f"task.verifier_options.{name}: must be above 0, got {size}")
        self._sandbox = sandbox
        self._settings = sandbox_settings(containers, docker or {})
        self._cpu_s = cpu_s
        self._limits = Limits(
            wall_s=wall_s, memory_mb=memory_mb, processes=processes, output_bytes=output_bytes, disk_mb=disk_mb
        )
        self._partial = partial
        self._lenient = lenient
        self._stop_at_first_failure = stop_at_first_failure

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on the program in `response`; NO_ANSWER where there is none.

        Raises:
            BadReferenceError: the problem's tests are of the wrong kind, none, or cannot be run.
            VerifierError: the sandbox failed; the cause is chained.
        """
        self._check(problem)
        program = extract_program(response, defines=self._defines(problem.reference), lenient=self._lenient)
        if program is None:
            return Verdict(outcome=Outcome.NO_ANSWER, score=0.0, detail="no fenced block that may hold Python")
        return self.verify_program(problem, program)

    def verify_program(self, problem: Problem, program: str) -> Verdict:
        """Return the verdict on a program that is known to be one, whatever it looks like. Raises as `verify` does."""
        total = self._check(problem)
        # A lone surrogate has no UTF-8; Python refuses the bytes that stand for it here, as it refuses the source.
        source = program.encode("utf-8", "surrogatepass")
        try:
            findings, total = self._findings(problem, source, self._limits_of(problem.reference), total)
        except SandboxError as error:
            raise VerifierError(f"problem {problem.id}: the sandbox could not run the program: {error}") from error
        return verdict_of(findings, total=total, program=program, partial=self._partial)

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox that programs run in, started when it is first needed."""
        return shared_sandbox(self._sandbox, self._settings) if isinstance(self._sandbox, str) else self._sandbox

    @abstractmethod
    def _check(self, problem: Problem) -> int:
        """Return how many tests the problem has, as far as that is known beforehand, at least 1."""

    @abstractmethod
    def _defines(self, reference: Any) -> str | None:
        """Return the name that a program must define."""

    @abstractmethod
    def _findings(self, problem: Problem, source: bytes, limits: Limits, total: int) -> tuple[list[Finding], int]:
        """Return what became of each test that was run, in order, and how many tests there are."""

    def _limits_of(self, reference: Any) -> Limits:
        wall_s = reference.wall_s or self._limits.wall_s
        return Limits(
            wall_s=wall_s,
            cpu_s=self._cpu_s or wall_s,
            memory_mb=reference.memory_mb or self._limits.memory_mb,
            processes=self._limits.processes,
            output_bytes=self._limits.output_bytes,
            disk_mb=self._limits.disk_mb,
        )

    def _until_stopped(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield findings up to the one that makes the rest needless."""
        for finding in findings:
            yield finding
            if finding.word != "pass" and self._stop_at_first_failure:
                return


def reference_of(problem: Problem, kind: type, tests: str) -> Any:
    """Return the problem's reference, which must be a `kind` whose attribute `tests` is not empty.

    Raises:
        BadReferenceError: it is not, and names the problem.
    """
    reference = problem.reference
    if not isinstance(reference, kind):
        raise BadReferenceError(
            f"problem {problem.id}: this verifier needs a {kind.__name__} as the reference,"
            f" not a {type(reference).__name__}"
        )
    if not getattr(reference, tests):
        raise BadReferenceError(f"problem {problem.id}: the reference has no tests ({tests} is empty)")
    return reference
