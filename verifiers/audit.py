"""Attack a verifier before anyone trains on it, and count what it gets wrong."""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tasks.types import Problem
from verifiers.attacks import Attack, Expected, attacks_on
from verifiers.audit_process import Call, Ending, VerifierProcess
from verifiers.types import Verifier

HEAVY_PROBLEMS = 10
"""The long texts and astronomic numbers are the same for every problem, and slow: only the first ones get them."""

MAX_LOST = 5
"""An audit ends after so many calls that hung or died."""


@dataclass(kw_only=True, slots=True)
class Tally:
    """How one kind of attack went."""

    expected: Expected
    n: int = 0
    """Attacks that got a verdict."""
    wrong: int = 0
    """Verdicts that are not the expected one."""
    failed: int = 0
    """Attacks that got none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """An attack that succeeded, or broke the verifier."""

    problem_id: str
    attack: Attack
    call: Call


@dataclass(kw_only=True, slots=True)
class AuditReport:
    """What an audit found."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    """By name of the attack."""
    findings: list[Finding] = field(default_factory=list)
    """Wrong verdicts, exceptions, hangs and deaths, in order."""
    errors: list[Finding] = field(default_factory=list)
    """VerifierErrors: attacks that the verifier says it could not judge."""
    latencies_s: list[float] = field(default_factory=list)
    """Of every verdict."""
    partial_credit: int = 0
    """Wrong responses that were not accepted and yet earn a score."""
    top_partial_score: float = 0.0
    stopped_early: bool = False
    """Too many calls hung or died."""
    out_of_time: bool = False
    """The time was over before every problem had been attacked."""

    def counts(self, expected: Expected) -> tuple[int, int]:
        """Return how many verdicts were wrong where `expected` was right, and of how many."""
        tallies = [tally for tally in self.tallies.values() if tally.expected is expected]
        return sum(tally.wrong for tally in tallies), sum(tally.n for tally in tallies)

    @property
    def calls(self) -> int:
        return sum(tally.n + tally.failed for tally in self.tallies.values())

    @property
    def broken(self) -> int:
        """How many calls raised what is no VerifierError, hung or died."""
        return sum(finding.call.ending is not Ending.VERDICT for finding in self.findings)

    def latency_s(self, share: float) -> float:
        """Return the time that `share` of the calls did not exceed, NaN where there was no verdict."""
        ordered = sorted(self.latencies_s)
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan

    def add(self, problem: Problem, attack: Attack, call: Call) -> None:
        """Count one attack."""
        tally = self.tallies.setdefault(attack.name, Tally(expected=attack.expected))
        finding = Finding(problem_id=problem.id, attack=attack, call=call)
        if call.ending is not Ending.VERDICT:
            tally.failed += 1
            (self.errors if call.ending is Ending.ERROR else self.findings).append(finding)
            return
        tally.n += 1
        self.latencies_s.append(call.latency_s)
        if call.accepted is not (attack.expected is Expected.ACCEPTED):
            tally.wrong += 1
            self.findings.append(finding)
        elif not call.accepted and call.score > 0:
            self.partial_credit += 1
            self.top_partial_score = max(self.top_partial_score, call.score)


def audit(
    make: Callable[[], Verifier],
    problems: Sequence[Problem],
    *,
    seed: int = 0,
    limit_s: float = 10.0,
    within_s: float = math.inf,
    advance: Callable[[], None] = lambda: None,
) -> AuditReport:
    """Attack a verifier with what is right and what is wrong on `problems`; the same seed makes the same attacks.

    Args:
        make: makes the verifier, in a process of its own; see VerifierProcess.
        limit_s: a call that takes longer counts as a hang and is killed.
        within_s: no further attack is begun after so long, the time in which the verifier is made not counted.
        advance: called after each problem.

    Raises:
        VerifierError: the verifier cannot be made.
        UnknownAnswerFormatError: a problem asks for its answer in a place that does not exist.
    """
    report = AuditReport()
    lost = 0
    process = VerifierProcess(make, limit_s=limit_s)
    try:
        process.judge(problems[0], "")  # what is imported at the first call is no latency of the verifier
        deadline_s = time.monotonic() + within_s
        for index, problem in enumerate(problems):
            rng = random.Random(f"{seed}/{problem.id}")
            others = rng.sample(problems, min(10, len(problems)))
            for attack in attacks_on(problem, others, rng, heavy=index < HEAVY_PROBLEMS):
                if time.monotonic() > deadline_s:
                    report.out_of_time = True
                    return report
                call = process.judge(problem, attack.response)
                report.add(problem, attack, call)
                lost += call.ending in (Ending.HUNG, Ending.DIED)
                if lost == MAX_LOST:
                    report.stopped_early = True
                    return report
            advance()
    finally:
        process.close()
    return report
