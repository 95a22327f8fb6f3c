"""Verdicts with their times, from verifiers that may be broken."""

import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rlvr.cli.doctor.findings import USER_ERRORS
from rlvr.rollout.judge import HasText, Judged, judge
from tasks.types import Problem
from verifiers.errors import VerifierError
from verifiers.types import BatchVerifier, Verdict, Verifier


class BrokenVerifierError(VerifierError):
    """A verifier raised what no verifier may raise."""


class Text:
    """A response as verifiers see it."""

    def __init__(self, text: str) -> None:
        self.text = text


@dataclass(kw_only=True, slots=True)
class JudgingTime:
    """How long verdicts took."""

    latencies_s: list[float] = field(default_factory=list)
    """Of each call of a verifier."""
    wall_s: float = 0.0
    """Of all together, in several threads."""
    responses: int = 0

    @property
    def each_s(self) -> float:
        """Wall time for a response."""
        return self.wall_s / max(1, self.responses)


class TimedVerifier:
    """A verifier that notes how long each verdict takes."""

    def __init__(self, verifier: Verifier, latencies_s: list[float]) -> None:
        self._verifier = verifier
        self._latencies_s = latencies_s

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verifier's verdict; raises as it does."""
        started = time.perf_counter()
        try:
            return self._verifier.verify(problem, response)
        finally:
            self._latencies_s.append(time.perf_counter() - started)


class TimedBatchVerifier(TimedVerifier):
    """The same for one that judges many responses at once; a batch's time is shared out evenly."""

    def __init__(self, verifier: BatchVerifier, latencies_s: list[float]) -> None:
        super().__init__(verifier, latencies_s)
        self._batch_verifier = verifier

    def verify_batch(self, problems: Sequence[Problem], responses: Sequence[str]) -> list[Verdict]:
        """Return the verifier's verdicts; raises as it does."""
        started = time.perf_counter()
        try:
            return self._batch_verifier.verify_batch(problems, responses)
        finally:
            took_s = time.perf_counter() - started
            self._latencies_s += [took_s / len(problems)] * len(problems)


def _timed(verifiers: Mapping[str, Verifier], names: Sequence[str], latencies_s: list[float]) -> dict[str, Verifier]:
    """Return the named verifiers such that each verdict's time is appended to `latencies_s`."""
    found: dict[str, Verifier] = {}
    for name in dict.fromkeys(names):
        verifier = verifiers[name]
        if isinstance(verifier, BatchVerifier):
            found[name] = TimedBatchVerifier(verifier, latencies_s)
        else:
            found[name] = TimedVerifier(verifier, latencies_s)
    return found


def judge_safely(
    problems: Sequence[Problem],
    responses: Sequence[HasText],
    verifiers: Mapping[str, Verifier],
    *,
    workers: int,
    time_spent: JudgingTime,
) -> list[Judged]:
    """Judge as `judge` does, without retries, and add to the time spent.

    Raises:
        BrokenVerifierError: a verifier raised something else than a VerifierError, which would end the run.
    """
    started = time.perf_counter()
    timed = _timed(verifiers, [problem.verifier for problem in problems], time_spent.latencies_s)
    try:
        return judge(problems, responses, timed, workers=workers, retries=0)
    except USER_ERRORS:
        raise
    except Exception as error:  # plug-ins may raise anything, and the checks that follow do not depend on them
        frame = traceback.extract_tb(error.__traceback__)[-1]
        raise BrokenVerifierError(
            f"a verifier raised {type(error).__name__}: {error} ({frame.filename}, line {frame.lineno}); mend it: a "
            "verifier must give a verdict on any text, and raise nothing but VerifierError"
        ) from error
    finally:
        time_spent.wall_s += time.perf_counter() - started
        time_spent.responses += len(problems)
