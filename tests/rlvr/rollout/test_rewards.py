import pytest

from rlvr.rollout.rewards import Overlong, RewardRule, Truncation, overlong_penalty, terminal_reward
from rlvr.rollout.types import Finish
from verifiers.types import Outcome, Verdict

RIGHT = Verdict(outcome=Outcome.CORRECT, score=1.0)
HALF = Verdict(outcome=Outcome.INCORRECT, score=0.5)
WRONG = Verdict(outcome=Outcome.INCORRECT, score=0.0)
NOTHING = Verdict(outcome=Outcome.NO_ANSWER, score=0.0)
SLOW = Verdict(outcome=Outcome.TIMED_OUT, score=0.0)


def rule(truncation: Truncation = Truncation.FAIL, no_answer: float | None = None) -> RewardRule:
    return RewardRule(correct=2.0, incorrect=-1.0, no_answer=no_answer, truncation=truncation)


def earned(verdict: Verdict, finish: Finish, rule: RewardRule, tokens: int = 100) -> float:
    return terminal_reward(verdict, finish, rule, tokens=tokens)


@pytest.mark.parametrize(
    ("verdict", "reward"), [(RIGHT, 2.0), (HALF, 0.5), (WRONG, -1.0), (NOTHING, -1.0), (SLOW, -1.0)]
)
def test_a_score_earns_its_share_of_the_way_from_incorrect_to_correct(verdict: Verdict, reward: float):
    assert earned(verdict, Finish.STOP, rule()) == reward


def test_the_default_is_one_for_right_and_zero_for_all_else():
    """checklist 14: rewards of 0 and 1 need no clipping or scaling."""
    assert [earned(v, Finish.STOP, RewardRule()) for v in (RIGHT, WRONG, NOTHING, SLOW)] == [1, 0, 0, 0]


def test_a_missing_answer_can_have_a_reward_of_its_own():
    assert earned(NOTHING, Finish.STOP, rule(no_answer=-3.0)) == -3.0
    assert earned(WRONG, Finish.STOP, rule(no_answer=-3.0)) == -1.0
    assert earned(NOTHING, Finish.STOP, rule(no_answer=0.0)) == 0.0


@pytest.mark.parametrize("verdict", [RIGHT, HALF, WRONG])
def test_fail_gives_a_truncated_response_what_a_wrong_one_earns(verdict: Verdict):
    """checklist 15: only a response that is both stopped and correct is paid for."""
    assert earned(verdict, Finish.LENGTH, rule(Truncation.FAIL)) == -1.0


def test_fail_does_not_spare_a_truncated_response_the_reward_of_no_answer():
    """Running into the limit must not be a way out of it."""
    assert earned(NOTHING, Finish.LENGTH, rule(Truncation.FAIL, no_answer=-3.0)) == -3.0


@pytest.mark.parametrize("verdict", [RIGHT, HALF, WRONG, NOTHING])
def test_bootstrap_gives_a_truncated_response_nothing_yet(verdict: Verdict):
    """checklist 17: r = 0, and the critic's value of the state after the last token stands for the rest."""
    assert earned(verdict, Finish.LENGTH, rule(Truncation.BOOTSTRAP, no_answer=-3.0)) == 0.0


@pytest.mark.parametrize(("verdict", "reward"), [(RIGHT, 2.0), (WRONG, -1.0)])
def test_mask_keeps_the_verdicts_reward_for_the_record(verdict: Verdict, reward: float):
    """checklist 17: the losses leave the response out; its reward is still reported."""
    assert earned(verdict, Finish.LENGTH, rule(Truncation.MASK)) == reward


@pytest.mark.parametrize("truncation", list(Truncation))
def test_truncation_changes_no_response_that_stopped(truncation: Truncation):
    assert earned(RIGHT, Finish.STOP, rule(truncation)) == 2.0
    assert earned(WRONG, Finish.STOP, rule(truncation)) == -1.0


def overlong_rule(truncation: Truncation = Truncation.FAIL, weight: float = 1.0) -> RewardRule:
    overlong = Overlong(max_new_tokens=100, cache=20, weight=weight)
    return RewardRule(correct=2.0, incorrect=-1.0, no_answer=-3.0, truncation=truncation, overlong=overlong)


@pytest.mark.parametrize(
    ("tokens", "penalty"), [(1, 0.0), (80, 0.0), (81, -0.05), (90, -0.5), (100, -1.0), (101, -1.0)]
)
@pytest.mark.parametrize(("verdict", "reward"), [(RIGHT, 2.0), (HALF, 0.5), (WRONG, -1.0), (NOTHING, -3.0)])
def test_coming_near_the_limit_costs_the_same_whatever_the_verdict(
    verdict: Verdict, reward: float, tokens: int, penalty: float
):
    """checklist 15: limit 100, cache 20; DAPO, arXiv 2503.14476, eq. 13."""
    assert overlong_penalty(tokens, overlong_rule()) == pytest.approx(penalty)
    assert earned(verdict, Finish.STOP, overlong_rule(), tokens) == pytest.approx(reward + penalty)
    assert earned(verdict, Finish.STOP, overlong_rule(weight=0.2), tokens) == pytest.approx(reward + 0.2 * penalty)


def test_a_truncated_response_bears_the_whole_penalty():
    assert earned(RIGHT, Finish.LENGTH, overlong_rule(Truncation.FAIL)) == -2.0
    assert earned(NOTHING, Finish.LENGTH, overlong_rule(Truncation.FAIL)) == -4.0
    assert earned(RIGHT, Finish.LENGTH, overlong_rule(Truncation.MASK)) == 1.0


def test_without_a_cache_no_length_costs_anything():
    assert overlong_penalty(10**6, rule()) == 0.0
