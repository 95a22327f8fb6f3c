"""From a verdict to a terminal reward: getting the evaluation and deciding what it is worth are separate steps."""

from dataclasses import dataclass
from enum import StrEnum

from rlvr.rollout.types import Finish
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
class RewardRule:
    """What a verdict earns: incorrect + score * (correct - incorrect)."""

    correct: float = 1.0
    incorrect: float = 0.0
    no_answer: float | None = None
    """Reward of NO_ANSWER; None means the same as incorrect."""
    truncation: Truncation = Truncation.FAIL


def terminal_reward(verdict: Verdict, finish: Finish, rule: RewardRule) -> float:
    """Return the reward given at a response's last token."""
    if finish is Finish.LENGTH and rule.truncation is Truncation.BOOTSTRAP:
        return 0.0
    if verdict.outcome is Outcome.NO_ANSWER and rule.no_answer is not None:
        return rule.no_answer
    if finish is Finish.LENGTH and rule.truncation is Truncation.FAIL:
        return rule.incorrect
    return rule.incorrect + verdict.score * (rule.correct - rule.incorrect)
