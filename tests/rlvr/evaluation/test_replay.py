import pytest
from support.stored_runs import held_out_rows, rollout

from rlvr.errors import RunFolderError
from rlvr.evaluation.problems_by_id import ProblemsById
from rlvr.evaluation.replay import (
    Changes,
    Rejudged,
    Rejudging,
    evaluation_change,
    step_change,
    stored_responses,
)
from rlvr.rollout.rewards import RewardRule, Truncation
from tasks.arithmetic import Arithmetic
from tasks.types import Problem
from verifiers.errors import VerifierError
from verifiers.exact import Exact
from verifiers.numeric import Numeric
from verifiers.types import Outcome, Verdict

PROBLEMS = Arithmetic(digits=2).problems("train")[:4]


class Counting:
    """Numeric, and how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def verify(self, problem: Problem, response: str) -> Verdict:
        self.calls += 1
        return Numeric().verify(problem, response)


class Broken:
    def verify(self, problem: Problem, response: str) -> Verdict:
        raise VerifierError(f"no judge for {problem.id}\nmore about it")


class Half:
    def verify(self, problem: Problem, response: str) -> Verdict:
        return Verdict(outcome=Outcome.INCORRECT, score=0.5)


def rejudged(verifier, rows, problems=PROBLEMS) -> list[Rejudged]:
    rejudging = Rejudging(ProblemsById([problems]), {"numeric": verifier}, workers=1, retries=0)
    return list(rejudging.rejudge(stored_responses(rows, "step 1")))


def rows(*texts: str) -> list[dict]:
    return [rollout(problem, text, 1) for problem, text in zip(PROBLEMS, texts, strict=False)]


def padded() -> list[dict]:
    return rows(*(f"#0{problem.reference.value}" for problem in PROBLEMS))


def test_the_same_verifier_gives_the_same_verdicts():
    found = rejudged(Numeric(), [*padded(), *rows("#1", "nothing")])
    assert [one.flipped for one in found] == [False] * 6
    assert all(one.new["outcome"] == one.stored.row["outcome"] for one in found)


def test_a_stricter_verifier_flips_what_it_rejects_and_the_step_would_have_earned_less():
    found = rejudged(Exact(), padded())
    assert all(one.flipped for one in found)
    change = step_change(7, found, RewardRule(correct=1.0, incorrect=-1.0))
    assert change is not None
    assert (change.step, change.n, change.flipped) == (7, 4, 4)
    assert (change.old_pass_rate, change.new_pass_rate) == (1.0, 0.0)
    assert (change.old_reward, change.new_reward) == (1.0, -1.0)


def test_equal_responses_to_a_problem_are_judged_once_over_all_calls():
    verifier = Counting()
    rejudging = Rejudging(ProblemsById([PROBLEMS]), {"numeric": verifier}, workers=1)
    for _ in range(3):
        assert len(list(rejudging.rejudge(stored_responses([*padded(), *padded()], "step 1")))) == 8
    assert verifier.calls == rejudging.judged == 4


def test_what_cannot_be_judged_is_counted_apart_by_reason_and_enters_no_figure():
    found = rejudged(Broken(), padded()[:2])
    changes = Changes()
    for one in found:
        changes.add(one)
    assert changes.failed == {f"no judge for {problem.id}": 1 for problem in PROBLEMS[:2]}
    assert (changes.n, changes.flipped) == (0, 0)
    assert step_change(1, found, RewardRule()) is None
    assert evaluation_change("ppo", 1, "greedy", found) is None


def test_a_response_without_a_verdict_before_has_nothing_to_be_compared_with():
    row = {**padded()[0], "outcome": None, "error": "the sandbox was gone"}
    (one,) = rejudged(Numeric(), [row])
    changes = Changes()
    changes.add(one)
    assert (changes.n, changes.unjudged_before, one.flipped) == (0, 1, False)


def test_another_score_with_the_same_outcome_is_no_flip_but_is_counted():
    changes = Changes()
    for one in rejudged(Half(), rows("#1", "#1")):
        changes.add(one)
    assert (changes.flipped, changes.scores_alone) == (0, 2)


def test_the_reward_of_a_new_verdict_follows_the_rule_for_truncated_responses():
    row = {**padded()[0], "finish": "length"}
    change = step_change(1, rejudged(Numeric(), [row]), RewardRule(truncation=Truncation.FAIL, incorrect=-0.5))
    assert change is not None
    assert change.new_reward == -0.5


def test_a_held_out_rate_is_compared_over_the_responses_that_both_judged():
    held_out = held_out_rows(PROBLEMS, ("right", "padded", "wrong", "padded"))
    found = rejudged(Exact(), held_out)
    change = evaluation_change("sft", 0, "greedy", found)
    assert change is not None
    assert (change.old.pass_rate, change.new.pass_rate, change.flipped) == (0.75, 0.25, 2)
    assert change.old.interval is not None
    held_out[0] = {**held_out[0], "outcome": None, "error": "gone"}
    change = evaluation_change("sft", 0, "greedy", rejudged(Exact(), held_out))
    assert change is not None
    assert (change.old.n, change.new.n) == (3, 3)


def test_unknown_problems_and_changed_prompts_are_counted_and_never_judged():
    verifier = Counting()
    stored = [{**padded()[0], "problem": "arithmetic/train/x"}, {**padded()[1], "prompt": "another"}, padded()[2]]
    rejudging = Rejudging(ProblemsById([PROBLEMS]), {"numeric": verifier}, workers=1)
    found = list(rejudging.rejudge(stored_responses(stored, "step 1")))
    assert [one.stored.row["problem"] for one in found] == [PROBLEMS[2].id]
    assert rejudging.unknown == {"arithmetic/train/x": 1, PROBLEMS[1].id: 1}
    assert verifier.calls == 1


def test_responses_to_one_problem_are_numbered():
    stored = stored_responses([*padded()[:1], *padded()[:2]], "step 1")
    assert [one.sample for one in stored] == [0, 1, 0]


def test_a_row_that_lacks_what_judging_needs_is_named():
    with pytest.raises(RunFolderError, match="step 3: a stored response has no 'text'"):
        stored_responses([{name: value for name, value in padded()[0].items() if name != "text"}], "step 3")
