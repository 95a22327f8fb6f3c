"""From a verdict to a terminal reward: getting the evaluation and deciding what it is worth are separate steps."""

from dataclasses import dataclass
from enum import StrEnum

from rlvr.rollout.types import Finish
from verifiers.length_penalty import soft_overlong_penalty
from verifiers.types import Outcome, Verdict


class Truncation(StrEnum):
    """What becomes of a response that the length limit cut."""

    FAIL = "fail"
    """It earns what a wrong one earns, whatever it says so far; without an answer, what that earns."""
    BOOTSTRAP = "bootstrap"
    """It earns nothing yet; the critic's value of the state after its last token stands for what would have come."""
    MASK = "mask"
    """It is left out of the losses."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Overlong:
    """DAPO's soft punishment of responses that come near the length limit, in tokens."""

    max_new_tokens: int
    cache: int
    """The penalty begins this far below the limit and grows evenly up to it."""
    weight: float = 1.0
    """What the whole penalty costs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RewardRule:
    """What a verdict earns: incorrect + score * (correct - incorrect), less the penalty on its response's length."""

    correct: float = 1.0
    incorrect: float = 0.0
    no_answer: float | None = None
    """Reward of NO_ANSWER; None means the same as incorrect."""
    truncation: Truncation = Truncation.FAIL
    overlong: Overlong | None = None
    """None for no penalty. It does not go with BOOTSTRAP: see `overlong_penalty`."""


def terminal_reward(verdict: Verdict, finish: Finish, rule: RewardRule, *, tokens: int) -> float:
    """Return the reward given at the last token of a response of `tokens` tokens."""
    if finish is Finish.LENGTH and rule.truncation is Truncation.BOOTSTRAP:
        return 0.0
    return _earned(verdict, finish, rule) + overlong_penalty(tokens, rule)


def overlong_penalty(tokens: int, rule: RewardRule) -> float:
    """Return what its length costs a response of `tokens` sampled tokens: 0 or less, whatever its verdict.

    A truncated response has reached the limit and bears all of it: under FAIL as part of its reward; under MASK on the
    record alone, since the losses leave it out, so that only responses which stopped learn from the penalty. Under
    BOOTSTRAP a truncated response earns nothing yet, and the rule contradicts itself: running into the limit would cost
    nothing, and stopping just before it nearly all.
    """
    if rule.overlong is None:
        return 0.0
    overlong = rule.overlong
    return overlong.weight * soft_overlong_penalty(tokens, max_length=overlong.max_new_tokens, cache=overlong.cache)


def _earned(verdict: Verdict, finish: Finish, rule: RewardRule) -> float:
    if verdict.outcome is Outcome.NO_ANSWER and rule.no_answer is not None:
        return rule.no_answer
    if finish is Finish.LENGTH and rule.truncation is Truncation.FAIL:
        return rule.incorrect
    return rule.incorrect + verdict.score * (rule.correct - rule.incorrect)
