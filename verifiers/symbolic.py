"""Judge mathematical answers by what they mean: numbers, formulas, sets, equations, units, words."""

from dataclasses import asdict
from typing import Literal

from tasks.types import MathAnswer, Problem
from verifiers.errors import BadReferenceError, VerifierOptionError
from verifiers.extract import Extraction, read_answer
from verifiers.maths.deciding import (
    NOT_UNDERSTOOD,
    BadGoldError,
    CheapNumerics,
    Gold,
    NeedsNumericsError,
    decide_all,
    read_gold,
)
from verifiers.maths.policy import Policy
from verifiers.types import Outcome, Verdict
from verifiers.verdicts import correct, incorrect, no_answer, shown
from verifiers.worker_pool import LimitReachedError, WorkerJobError, WorkerPool

_CHEAP = CheapNumerics()


class MathVerifier:
    """Accepts an answer that says what the gold answer says, however it is written.

    Whatever exact fractions decide is decided at once; values with roots, functions or unknowns are compared in worker
    processes under a wall and a memory limit, and what runs into a limit is TIMED_OUT. An answer must be understood as
    a whole: no part of one is ever picked out. Several answers that differ in value are incorrect, unless they are the
    parts of a gold answer that has several. docs/verifiers.md lists what counts as the same.

    Args:
        lenient: look for the answer wherever a response may announce it, for judging responses to other prompts,
            instead of only in the place that the problem declares.
        percent: whether 28% answers 0.28 and 28 ("either"), 0.28 alone ("value"), or only 28% ("strict").
        units: whether a unit in the gold answer may be left out ("optional") or not ("required").
        names: whether "x = 5" and "5" answer each other ("optional") or not ("required").
        ordered_lists: whether a bare list must keep the gold answer's order.
        decimal_digits: significant digits from which a decimal answers the exact value that it rounds; 0 = never.
        second_opinion: ask math-verify about an answer that is not understood here. It accepts more, and more wrongly.
        wall_s: seconds that one comparison may take in a worker process.
        memory_mb: memory that it may take there.
        workers: worker processes; they are started when the first comparison needs one.

    Raises:
        VerifierOptionError: an option is out of range.
    """

    def __init__(
        self,
        *,
        lenient: bool = False,
        percent: Literal["either", "value", "strict"] = "either",
        units: Literal["optional", "required"] = "optional",
        names: Literal["optional", "required"] = "optional",
        ordered_lists: bool = False,
        decimal_digits: int = 6,
        second_opinion: bool = False,
        wall_s: float = 1.5,
        memory_mb: int = 1024,
        workers: int = 2,
    ) -> None:
        for name, value in (("wall_s", wall_s), ("memory_mb", memory_mb), ("workers", workers)):
            if value <= 0:
                raise VerifierOptionError(f"task.verifier_options.{name}: must be above 0, got {value}")
        if decimal_digits < 0:
            raise VerifierOptionError(f"task.verifier_options.decimal_digits: must be at least 0, got {decimal_digits}")
        self._lenient = lenient
        self._second_opinion = second_opinion
        self._policy = Policy(
            percent=percent, units=units, names=names, ordered_lists=ordered_lists, decimal_digits=decimal_digits
        )
        self._pool = WorkerPool(
            "verifiers.symbolic_worker:decide_job", workers=workers, wall_s=wall_s, memory_mb=memory_mb
        )

    def judge(self, gold: str, response: str) -> Verdict:
        """Return the verdict on a response to no particular problem; its answer is looked for everywhere.

        Raises:
            BadReferenceError: the gold answer cannot be read.
            WorkerLostError: no worker process can be started.
        """
        reference = MathAnswer(value=gold, answer_format="lenient")
        return self.verify(Problem(id="(no problem)", prompt="", reference=reference, verifier="math"), response)

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on `response`.

        Raises:
            BadReferenceError: the gold answer is empty or cannot be read, or the reference is no MathAnswer.
            WorkerLostError: no worker process can be started.
        """
        reference, extraction = read_answer(problem, response, lenient=self._lenient)
        try:
            gold = read_gold(reference.value)
        except BadGoldError as error:
            raise BadReferenceError(
                f"problem {problem.id}: the gold answer {shown(reference.value)} cannot be read: {error}"
            ) from error
        if extraction.text is None:
            return no_answer(reference.answer_format)
        try:
            equal, reason = self._decide(gold, extraction.text, extraction)
        except LimitReachedError as error:
            return _stopped(extraction.text, Outcome.CRASHED if error.limit == "crash" else Outcome.TIMED_OUT, error)
        except WorkerJobError as error:  # what a response's text brought about is a verdict, though the bug is ours
            return _stopped(extraction.text, Outcome.CRASHED, error)
        if equal:
            return correct(extraction.text, f"equals {shown(gold.text)} ({reason})")
        return incorrect(extraction.text, f"{shown(extraction.text)} is not {shown(gold.text)} ({reason})")

    def _decide(self, gold: Gold, answer: str, extraction: Extraction) -> tuple[bool, str]:
        job: dict[str, object] = {"gold": gold.text, "answer": answer, "rivals": list(extraction.rivals)}
        try:
            equal, reason = decide_all(gold, answer, extraction.rivals, self._policy, _CHEAP)
            if not (self._second_opinion and reason.startswith(NOT_UNDERSTOOD)):
                return equal, reason
        except NeedsNumericsError:
            job["policy"] = asdict(self._policy)
        decided = self._pool.call(job)
        return decided["correct"], decided["detail"]


def _stopped(answer: str, outcome: Outcome, error: Exception) -> Verdict:
    reason = str(error).partition("\n")[0]
    return Verdict(outcome=outcome, score=0.0, answer=answer, detail=f"{shown(answer)} could not be compared: {reason}")
