"""A sandbox that runs nothing, for tests of code that uses one."""

import threading
from collections.abc import Callable, Collection, Sequence

from sandbox.errors import SandboxClosedError, SandboxError, SandboxLostError
from sandbox.types import Execution, Judge, Limits, Program

Answers = Callable[[Program, Limits], Execution] | Sequence[tuple[Program, Execution]]
JudgedAnswers = Callable[[Program, Judge, Limits], tuple[Execution, Execution]]


class FakeSandbox:
    """A Sandbox that answers from a function or from a table of programs, and keeps what it was asked.

    Args:
        answers: called for each run, or pairs of a program and its execution.
        judged: called for each judged run; returns the program's execution and the judge's.
        fail_on: numbers of the calls to run() and run_judged(), counted together from 1, that raise `error` in place
            of an answer.
        error: what those calls raise.
    """

    def __init__(
        self,
        answers: Answers = (),
        *,
        judged: JudgedAnswers | None = None,
        fail_on: Collection[int] = (),
        error: SandboxError | None = None,
    ) -> None:
        self._answers = answers
        self._judged = judged
        self._fail_on = frozenset(fail_on)
        self._error = error or SandboxLostError("the fake sandbox was told to fail on this call")
        self._lock = threading.Lock()
        self._calls: list[tuple[Program, Judge | None, Limits]] = []
        self._closed = False

    @property
    def calls(self) -> list[tuple[Program, Limits]]:
        """Every program and limits that run() was given, failed calls included, in the order of arrival."""
        with self._lock:
            return [(program, limits) for program, judge, limits in self._calls if judge is None]

    @property
    def judged_calls(self) -> list[tuple[Program, Judge, Limits]]:
        """What run_judged() was given, failed calls included, in the order of arrival."""
        with self._lock:
            return [(program, judge, limits) for program, judge, limits in self._calls if judge is not None]

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._closed

    def run(self, program: Program, limits: Limits) -> Execution:
        """Return the answer to `program`.

        Raises:
            SandboxError: this call is one of `fail_on`, or the sandbox is closed.
            LookupError: the table has no such program, a mistake of the test.
        """
        self._note(program, None, limits)
        if callable(self._answers):
            return self._answers(program, limits)
        for known, execution in self._answers:
            if known == program:
                return execution
        raise LookupError(f"the fake sandbox has no answer for the program {list(program.argv)}")

    def run_judged(self, program: Program, judge: Judge, limits: Limits) -> tuple[Execution, Execution]:
        """Return what `judged` answers.

        Raises:
            SandboxError: this call is one of `fail_on`, or the sandbox is closed.
            LookupError: the fake was made without `judged`, a mistake of the test.
        """
        self._note(program, judge, limits)
        if self._judged is None:
            raise LookupError(f"the fake sandbox was made without judged=, and asked to judge {list(program.argv)}")
        return self._judged(program, judge, limits)

    def close(self) -> None:
        """Refuse further runs."""
        self._closed = True

    def _note(self, program: Program, judge: Judge | None, limits: Limits) -> None:
        with self._lock:
            if self._closed:
                raise SandboxClosedError("the sandbox is closed; make a new one")
            self._calls.append((program, judge, limits))
            number = len(self._calls)
        if number in self._fail_on:
            raise self._error
