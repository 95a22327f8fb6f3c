from collections.abc import Sequence

import pytest

from rlvr.rollout.rewards import Overlong, RewardRule
from rlvr.rollout.summary import rollout_metrics
from rlvr.rollout.types import Finish, Response, Rollout
from rlvr.tracking.metrics import combine
from rlvr.tracking.stopwatch import Stopwatch
from tasks.types import Problem
from verifiers.types import Outcome, Verdict


def rollout(problem: str, outcome: Outcome, reward: float, *, length: int = 2, cut: bool = False) -> Rollout:
    return Rollout(
        problem=Problem(id=problem, prompt="?", reference=None, verifier="made"),
        response=Response(
            prompt_ids=(1, 2, 3), token_ids=(5,) * length, logprobs=(0.0,) * length, mask=(True,) * length, text="",
            finish=Finish.LENGTH if cut else Finish.STOP,
        ),
        verdict=Verdict(outcome=outcome, score=float(outcome is Outcome.CORRECT)),
        reward=reward,
        policy_step=0,
    )  # fmt: skip


def numbers(
    rollouts: Sequence[Rollout], *, failed: int = 0, overlong: Overlong | None = None
) -> dict[str, float | None]:
    watch = Stopwatch()
    watch.totals_s.update({"rollout": 2.0, "step": 4.0})
    return combine(rollout_metrics(rollouts, RewardRule(overlong=overlong), failed=failed, watch=watch))


STEP = [
    rollout("a", Outcome.CORRECT, 1.0, length=3),
    rollout("a", Outcome.INCORRECT, 0.0, length=4, cut=True),
    rollout("b", Outcome.NO_ANSWER, 0.0, length=1),
    rollout("b", Outcome.TIMED_OUT, 0.0, length=2),
]


def test_a_step_in_numbers():
    found = numbers(STEP)
    expected = {
        "reward/mean": 0.25, "reward/std": 0.4330127, "reward/overlong_penalty": 0.0,
        "verify/pass_rate": 0.25, "verify/no_answer_frac": 0.25,
        "verify/timed_out_frac": 0.25, "verify/crashed_frac": 0.0, "verify/failed_frac": 0.0,
        "rollout/truncated_frac": 0.25, "rollout/response_tokens": 2.5, "rollout/prompt_tokens": 3.0,
        "rollout/tokens_per_s": 5.0, "rollout/rollouts_per_s": 1.0, "time/rollout_s": 2.0, "time/step_s": 4.0,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_problems_whose_responses_all_earn_the_same_teach_a_group_nothing():
    assert numbers(STEP)["rollout/zero_variance_groups_frac"] == 0.5


def test_the_penalty_on_length_is_told_apart_from_the_reward():
    """Lengths 3, 4, 1 and 2 under limit 4 and cache 2 cost 1/2, 1, 0 and 0."""
    found = numbers(STEP, overlong=Overlong(max_new_tokens=4, cache=2, weight=0.5))
    assert found["reward/overlong_penalty"] == pytest.approx(-0.5 * 1.5 / 4)


def test_responses_without_a_verdict_are_counted_among_all_and_in_nothing_else():
    """checklist 34: count verifier errors; a pass rate over them would read them as wrong."""
    found = numbers(STEP, failed=4)
    assert found["verify/failed_frac"] == 0.5
    assert found["verify/pass_rate"] == 0.25
