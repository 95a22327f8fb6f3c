"""A sandbox that runs nothing, for tests of code that uses one."""

import threading
from collections.abc import Callable, Collection, Sequence

from sandbox.errors import SandboxClosedError, SandboxError, SandboxLostError
from sandbox.types import Execution, Limits, Program

Answers = Callable[[Program, Limits], Execution] | Sequence[tuple[Program, Execution]]


class FakeSandbox:
    """A Sandbox that answers from a function or from a table of programs, and keeps what it was asked.

    Args:
        answers: called for each run, or pairs of a program and its execution.
        fail_on: numbers of the calls to run(), counted from 1, that raise `error` in place of an answer.
        error: what those calls raise.
    """

    def __init__(self, answers: Answers, *, fail_on: Collection[int] = (), error: SandboxError | None = None) -> None:
        self._answers = answers
        self._fail_on = frozenset(fail_on)
        self._error = error or SandboxLostError("the fake sandbox was told to fail on this call")
        self._lock = threading.Lock()
        self._calls: list[tuple[Program, Limits]] = []
        self._closed = False

    @property
    def calls(self) -> list[tuple[Program, Limits]]:
        """Every program and limits that run() was given, failed calls included, in the order of arrival."""
        with self._lock:
            return list(self._calls)

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
        with self._lock:
            if self._closed:
                raise SandboxClosedError("the sandbox is closed; make a new one")
            self._calls.append((program, limits))
            number = len(self._calls)
        if number in self._fail_on:
            raise self._error
        if callable(self._answers):
            return self._answers(program, limits)
        for known, execution in self._answers:
            if known == program:
                return execution
        raise LookupError(f"the fake sandbox has no answer for the program {list(program.argv)}")

    def close(self) -> None:
        """Refuse further runs."""
        self._closed = True
