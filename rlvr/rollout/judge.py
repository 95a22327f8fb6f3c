"""Verdicts on responses: the only concurrency in rlvr."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from rlvr.errors import JudgingFailedError
from rlvr.rollout.rewards import RewardRule, terminal_reward
from rlvr.rollout.types import Response, Rollout
from tasks.types import Problem
from verifiers.errors import VerifierError
from verifiers.types import BatchVerifier, Verdict, Verifier

Judged = Verdict | VerifierError
"""A verdict, or why our own machinery could not give one."""


class HasText(Protocol):
    """All of a response that a verifier sees."""

    @property
    def text(self) -> str: ...


def judge(
    problems: Sequence[Problem],
    responses: Sequence[HasText],
    verifiers: Mapping[str, Verifier],
    *,
    workers: int = 4,
    retries: int = 2,
) -> list[Judged]:
    """Return what each problem's verifier finds on each response, in order.

    A VerifierError is our failure, not the response's: the call is tried again, and what still fails is returned as the
    error. Any other exception is a bug in a verifier and passes through with its traceback.

    Args:
        verifiers: by the name that problems carry.
        workers: threads that call `verify`; BatchVerifiers get one call with all their responses instead.
        retries: further tries after a VerifierError.
    """
    judged: list[Judged | None] = [None] * len(problems)
    single: list[int] = []
    batches: dict[str, list[int]] = defaultdict(list)
    for index, problem in enumerate(problems):
        if isinstance(verifiers[problem.verifier], BatchVerifier):
            batches[problem.verifier].append(index)
        else:
            single.append(index)

    def judge_one(index: int) -> Judged:
        return _with_retries(verifiers[problems[index].verifier], problems[index], responses[index].text, retries)

    for name, indices in batches.items():
        verifier = verifiers[name]
        assert isinstance(verifier, BatchVerifier)
        try:
            verdicts = verifier.verify_batch([problems[i] for i in indices], [responses[i].text for i in indices])
        except VerifierError:
            single += indices  # one bad reference must not cost the others their verdict
            continue
        if len(verdicts) != len(indices):
            raise TypeError(
                f"verifier {name!r}: verify_batch gave {len(verdicts)} verdicts for {len(indices)} responses"
            )
        for index, verdict in zip(indices, verdicts, strict=True):
            judged[index] = _checked(verdict, problems[index])
    if workers == 1 or len(single) < 2:
        found = map(judge_one, single)
    else:
        with ThreadPoolExecutor(max_workers=workers) as pool:
            found = list(pool.map(judge_one, single, chunksize=1))
    for index, verdict in zip(single, found, strict=True):
        judged[index] = verdict
    return [verdict for verdict in judged if verdict is not None]


def _with_retries(verifier: Verifier, problem: Problem, response: str, retries: int) -> Judged:
    for attempt in range(retries + 1):
        try:
            return _checked(verifier.verify(problem, response), problem)
        except VerifierError as error:
            if attempt == retries:
                return error
    raise AssertionError("unreachable: the last try returns")


def _checked(verdict: object, problem: Problem) -> Verdict:
    # Verifiers are plug-ins: one that forgets to return must not pass for one that failed.
    if not isinstance(verdict, Verdict):
        raise TypeError(
            f"verifier {problem.verifier!r} gave {type(verdict).__name__} and not a Verdict on problem {problem.id}"
        )
    return verdict


def to_rollouts(
    problems: Sequence[Problem],
    responses: Sequence[Response],
    judged: Sequence[Judged],
    rule: RewardRule,
    *,
    policy_step: int,
    max_failed_frac: float,
) -> list[Rollout]:
    """Return the judged responses as rollouts; those without a verdict are dropped, never rewarded.

    Raises:
        JudgingFailedError: more than `max_failed_frac` of them have no verdict, or all of them.
    """
    failures = [
        (problem, found) for problem, found in zip(problems, judged, strict=True) if isinstance(found, VerifierError)
    ]
    if failures and (len(failures) > max_failed_frac * len(judged) or len(failures) == len(judged)):
        problem, error = failures[0]
        raise JudgingFailedError(
            f"{len(failures)} of {len(judged)} responses could not be judged (limit rollout.max_failed_frac = "
            f"{max_failed_frac:g}); the first, on problem {problem.id}: {type(error).__name__}: {error}"
        )
    return [
        Rollout(
            problem=problem,
            response=response,
            verdict=found,
            reward=terminal_reward(found, response.finish, rule, tokens=len(response.token_ids)),
            policy_step=policy_step,
        )
        for problem, response, found in zip(problems, responses, judged, strict=True)
        if not isinstance(found, VerifierError)
    ]
