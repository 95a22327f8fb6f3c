from collections.abc import Sequence

import pytest

from rlvr.errors import JudgingFailedError
from rlvr.rollout.judge import to_rollouts
from rlvr.rollout.rewards import Overlong, RewardRule
from rlvr.rollout.types import Finish, Response, Rollout
from tasks.types import Problem
from verifiers.errors import VerifierError
from verifiers.types import Outcome, Verdict

RIGHT = Verdict(outcome=Outcome.CORRECT, score=1.0)
BROKEN = VerifierError("the worker died")


def rollouts_of(judged: Sequence[Verdict | VerifierError], *, max_failed_frac: float) -> list[Rollout]:
    problems = [Problem(id=f"p/{n}", prompt="?", reference=None, verifier="made") for n in range(len(judged))]
    responses = [
        Response(
            prompt_ids=(1,), token_ids=(n,), logprobs=(0.0,), mask=(True,), text=str(n), finish=Finish.STOP
        )
        for n in range(len(judged))
    ]  # fmt: skip
    return to_rollouts(
        problems, responses, judged, RewardRule(), policy_step=7, max_failed_frac=max_failed_frac
    )  # fmt: skip


def test_a_judged_response_becomes_a_rollout_of_its_problem():
    (rollout,) = rollouts_of([RIGHT], max_failed_frac=0.0)
    assert (rollout.problem.id, rollout.response.text, rollout.verdict) == ("p/0", "0", RIGHT)
    assert (rollout.reward, rollout.policy_step) == (1.0, 7)


def test_a_response_without_a_verdict_is_dropped_and_never_rewarded():
    """checklist 34: verifier errors are not zeros."""
    rollouts = rollouts_of([RIGHT, BROKEN, RIGHT, RIGHT], max_failed_frac=0.25)
    assert [(r.problem.id, r.response.text) for r in rollouts] == [("p/0", "0"), ("p/2", "2"), ("p/3", "3")]
    assert {r.reward for r in rollouts} == {1.0}


def test_length_is_counted_in_sampled_tokens_and_not_in_text():
    responses = [
        Response(
            prompt_ids=(1,) * 50, token_ids=(5,) * tokens, logprobs=(0.0,) * tokens, mask=(True,) * tokens,
            text="long " * 1000, finish=Finish.STOP,
        )
        for tokens in (80, 81, 90, 100)
    ]  # fmt: skip
    problem = Problem(id="p/0", prompt="?", reference=None, verifier="made")
    rule = RewardRule(overlong=Overlong(max_new_tokens=100, cache=20))
    rollouts = to_rollouts([problem] * 4, responses, [RIGHT] * 4, rule, policy_step=0, max_failed_frac=0.0)
    assert [rollout.reward for rollout in rollouts] == pytest.approx([1.0, 0.95, 0.5, 0.0])


def test_more_failures_than_the_limit_stop_the_run_with_the_first_reason():
    with pytest.raises(JudgingFailedError) as stopped:
        rollouts_of([RIGHT, BROKEN, RIGHT, BROKEN], max_failed_frac=0.25)
    message = str(stopped.value)
    for part in ("2 of 4", "rollout.max_failed_frac = 0.25", "p/1", "VerifierError: the worker died"):
        assert part in message


def test_a_limit_of_zero_allows_no_failure_and_no_failure_is_fine():
    assert len(rollouts_of([RIGHT] * 3, max_failed_frac=0.0)) == 3
    with pytest.raises(JudgingFailedError):
        rollouts_of([RIGHT] * 9 + [BROKEN], max_failed_frac=0.0)


def test_a_step_without_any_verdict_stops_the_run_whatever_the_limit():
    with pytest.raises(JudgingFailedError, match="2 of 2"):
        rollouts_of([BROKEN, BROKEN], max_failed_frac=1.0)
