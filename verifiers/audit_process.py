"""A verifier in a process of its own, so that one that hangs or dies ends nothing but itself.

A thread would not do: a regular expression that backtracks, or a huge power, holds the interpreter until it is done.
"""

import contextlib
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from tasks.types import Problem
from verifiers.errors import VerifierError
from verifiers.recipe import exit_with_parent, interrupts_held
from verifiers.types import Outcome, Verdict, Verifier

START_S = 120.0
"""How long the verifier may take to be made, imports included."""


class Ending(StrEnum):
    """How a call of `verify` ended."""

    VERDICT = "verdict"
    ERROR = "error"
    """A VerifierError: the verifier says that it could not judge."""
    RAISED = "raised"
    """Another exception, which no text should cause."""
    HUNG = "hung"
    DIED = "died"
    """The process is gone: out of memory, a crash of native code, os._exit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """What came of one call."""

    ending: Ending
    found: str
    """The verdict or the failure in words."""
    accepted: bool = False
    score: float = 0.0
    latency_s: float = 0.0


class VerifierProcess:
    """Judges one response at a time, and starts anew after a call that hung or died.

    Args:
        make: makes the verifier; pickled, so a VerifierRecipe's `make`, a class or a module's function.
        limit_s: a call that takes longer hangs.
    """

    def __init__(self, make: Callable[[], Verifier], *, limit_s: float) -> None:
        self._make = make
        self._limit_s = limit_s
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def judge(self, problem: Problem, response: str) -> Call:
        """Return what came of judging `response`.

        Raises:
            VerifierError: the verifier cannot be made.
        """
        connection = self._connection or self._start()
        try:
            connection.send((problem, response))
            if connection.poll(self._limit_s):
                return connection.recv()
        except (EOFError, ConnectionError):
            self._kill()
            return Call(ending=Ending.DIED, found="the process that judged died")
        self._kill()
        return Call(ending=Ending.HUNG, found=f"no verdict after {self._limit_s:g} s", latency_s=self._limit_s)

    def close(self) -> None:
        """End the process: at once when it is idle, by force when it is at work."""
        if self._connection is not None and self._process is not None:
            self._connection.close()
            self._process.join(2.0)
        self._kill()

    def _start(self) -> Connection:
        connection, its_end = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        with interrupts_held():
            self._process = context.Process(target=_serve, args=(its_end, self._make))
            self._process.start()
        its_end.close()  # or the end of the process would go unnoticed
        self._connection = connection
        try:
            if not connection.poll(START_S):
                raise VerifierError(f"the verifier could not be made within {START_S:g} s")
            connection.recv()
        except (EOFError, ConnectionError):
            raise VerifierError(
                "the verifier could not be made in a process of its own, for the reason above"
            ) from None
        return connection

    def _kill(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._connection = self._process = None


def _serve(connection: Connection, make: Callable[[], Verifier]) -> None:
    exit_with_parent()
    verifier = make()
    connection.send("ready")
    with contextlib.suppress(EOFError):  # the parent has no more
        while True:
            problem, response = connection.recv()
            connection.send(_call(verifier, problem, response))


def _call(verifier: Verifier, problem: Problem, response: str) -> Call:
    start_s = time.perf_counter()
    try:
        verdict = verifier.verify(problem, response)
    except VerifierError as error:
        return Call(ending=Ending.ERROR, found=f"{type(error).__name__}: {error}")
    except Exception as error:  # whatever it is, it is the finding
        return Call(ending=Ending.RAISED, found=f"raised {type(error).__name__}: {error}")
    latency_s = time.perf_counter() - start_s
    if not isinstance(verdict, Verdict):
        return Call(ending=Ending.RAISED, found=f"returned {type(verdict).__name__} and not a Verdict")
    return Call(
        ending=Ending.VERDICT,
        found=f"{verdict.outcome.value}, score {verdict.score:g}: {verdict.detail}",
        # The reward is made of the score: a full one is acceptance, whatever the outcome says.
        accepted=verdict.outcome is Outcome.CORRECT or verdict.score == 1.0,
        score=verdict.score,
        latency_s=latency_s,
    )
