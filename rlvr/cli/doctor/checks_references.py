"""Whether the verifier can use the problems' references: each must accept its own answer."""

from collections.abc import Iterator, Mapping, Sequence

from rlvr.cli.doctor.findings import Finding, blocker, note, ok, percent, warning
from rlvr.cli.doctor.judging import JudgingTime, Text, judge_safely
from rlvr.rollout.judge import Judged
from tasks.types import MathAnswer, Problem
from verifiers.attacks import place_answer
from verifiers.errors import VerifierError
from verifiers.types import Outcome, Verifier

CONTROLS = ("random", "shuffled")
"""Verifiers whose verdicts say nothing about the answer, on purpose."""
_FEW_RIGHT = 0.2


def check_references(
    problems: Sequence[Problem],
    verifiers: Mapping[str, Verifier],
    *,
    whose: str,
    control: bool,
    max_failed_frac: float,
    workers: int,
    demonstration_time: JudgingTime,
) -> Iterator[Finding]:
    """Judge the problems' own answers, and the demonstrations of training problems.

    Args:
        whose: the problems in words: "training", whose demonstrations are judged too, or "held-out".
        control: the verifier is one of CONTROLS.
        max_failed_frac: share of responses without a verdict at which a run stops.
        workers: threads that call verifiers.
        demonstration_time: to which the time for demonstrations is added.
    """
    texts = [_own_answer(problem) for problem in problems]
    judged = judge_safely(
        problems, [Text(text or "") for text in texts], verifiers, workers=workers, time_spent=JudgingTime()
    )
    failures = [(p, j) for p, j in zip(problems, judged, strict=True) if isinstance(j, VerifierError)]
    if failures:
        problem, error = failures[0]
        told = f"{len(failures)} of {len(problems)} {whose} problems cannot be judged, the first {problem.id}: {error}"
        cure = "mend or leave out these problems: their responses would be dropped"
        yield (blocker if len(failures) > max_failed_frac * len(problems) else warning)(_one_line(told), cure)
    if control:
        yield note("the reward is a control arm: its verdicts say nothing about the answers, on purpose")
        return
    golds = [(p, j) for p, t, j in zip(problems, texts, judged, strict=True) if t is not None]
    yield from _gold_findings(golds, whose)
    if not failures and not golds:
        yield ok(f"the verifier can use the references of {len(problems)} {whose} problems")
    if whose == "training":
        yield from _demonstration_findings(problems, verifiers, workers=workers, time_spent=demonstration_time)


def _own_answer(problem: Problem) -> str | None:
    """Return a response that says the gold answer where it belongs, None where the reference does not give one."""
    if isinstance(problem.reference, MathAnswer):
        return place_answer(problem.reference.value, problem.reference.answer_format)
    return None


def _gold_findings(golds: Sequence[tuple[Problem, Judged]], whose: str) -> Iterator[Finding]:
    verdicts = [(problem, found) for problem, found in golds if not isinstance(found, VerifierError)]
    refused = [(problem, found) for problem, found in verdicts if found.outcome is not Outcome.CORRECT]
    if refused:
        problem, found = refused[0]
        yield (blocker if len(refused) == len(verdicts) else warning)(
            f"the verifier refuses the gold answer of {len(refused)} of {len(verdicts)} {whose} problems, for instance "
            f"{problem.id}: {_one_line(found.detail or found.outcome.value)}",
            "mend the references or the verifier (task.verifier, task.verifier_options)",
        )
    elif verdicts:
        yield ok(f"the verifier accepts the gold answers of {len(verdicts)} {whose} problems")


def _demonstration_findings(
    problems: Sequence[Problem], verifiers: Mapping[str, Verifier], *, workers: int, time_spent: JudgingTime
) -> Iterator[Finding]:
    shown = [problem for problem in problems if problem.demonstration is not None]
    texts = [Text(str(problem.demonstration)) for problem in shown]
    judged = judge_safely(shown, texts, verifiers, workers=workers, time_spent=time_spent)
    verdicts = [
        (problem, found) for problem, found in zip(shown, judged, strict=True) if not isinstance(found, VerifierError)
    ]
    wrong = [(problem, found) for problem, found in verdicts if found.outcome is not Outcome.CORRECT]
    if not verdicts:
        return
    told = f"{percent(1 - len(wrong) / len(verdicts))} of {len(verdicts)} demonstrations are judged right"
    if not wrong:
        yield ok(told)
        return
    problem, found = wrong[0]
    example = f"; not that of {problem.id}: {_one_line(found.detail or found.outcome.value)}"
    if len(wrong) == len(verdicts):
        yield blocker(
            told + example,
            "demonstrations must end in the form that the verifier reads; compare one with the task's answer format",
        )
    elif len(wrong) > (1 - _FEW_RIGHT) * len(verdicts):
        yield warning(told + example, "the warm start will teach these mistakes; mend the demonstrations")
    else:
        yield note(told + example, "fine where the task's demonstrations slip on purpose; else mend them")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]
