import json
import logging
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import verifiers
from tasks import MathAnswer, Problem
from verifiers import BadReferenceError, BatchVerifier, Outcome, Verdict, VerifierError, load_verifier
from verifiers.adapters.trl import as_trl_reward, from_trl_reward
from verifiers.conformance import Case, self_check

REPOSITORY = Path(verifiers.__file__).parent.parent
PROMPTS = ["one?", "two?", "three?"]
PROBLEM = Problem(id="toy/1", prompt="How many?", reference=MathAnswer(value="72"), verifier="theirs")


def test_a_reward_for_each_response_from_the_columns_of_the_data_set():
    reward = as_trl_reward(load_verifier("numeric"))
    completions = [r"\boxed{72}", r"\boxed{71}", "72"]
    assert reward(prompts=PROMPTS, completions=completions, solution=["72", "72", "72"]) == [1.0, 0.0, 0.0]


def test_column_place_and_pay_can_be_chosen():
    reward = as_trl_reward(
        load_verifier("numeric"), reference_column="gold", answer_format="marker:####", correct=2.0, incorrect=-0.5
    )
    completions = ["#### 72", "#### 71", r"\boxed{72}"]
    paid = reward(prompts=PROMPTS, completions=completions, completion_ids=[[1]] * 3, gold=[72, 72, 72])
    assert paid == [2.0, -0.5, -0.5]


@pytest.mark.parametrize(
    "completion",
    [
        [{"role": "assistant", "content": r"\boxed{72}"}],
        [{"content": r"\boxed{72}"}],
        [{"role": "assistant", "content": "wait"}, {"role": "tool"}, {"role": "assistant", "content": r"\boxed{72}"}],
        [{"role": "assistant", "content": [{"type": "text", "text": r"\boxed{72}"}]}],
    ],
)
def test_a_response_in_messages_is_the_last_one(completion: list[dict[str, Any]]):
    reward = as_trl_reward(load_verifier("numeric"))
    prompt = [{"role": "user", "content": "How many?"}]
    assert reward(prompts=[prompt], completions=[completion], solution=["72"]) == [1.0]


@pytest.mark.parametrize("completion", [[], [{"role": "assistant", "content": None}]])
def test_a_response_without_text_is_empty(completion: list[dict[str, Any]]):
    reward = as_trl_reward(load_verifier("numeric"))
    assert reward(prompts=["?"], completions=[completion], solution=["72"]) == [0.0]


@pytest.mark.parametrize("bad", ["no number", None, 7.5, ["72"]])
def test_what_cannot_be_judged_gets_none_and_is_counted(bad: object, caplog: pytest.LogCaptureFixture):
    reward = as_trl_reward(load_verifier("numeric"))
    completions = [r"\boxed{72}"] * 3
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert reward(prompts=PROMPTS, completions=completions, solution=["72", bad, "71"]) == [1.0, None, 0.0]
    assert reward.failed == 2
    assert len(caplog.records) == 1
    assert f"problem with the gold answer {bad!r}" in caplog.text


def test_the_trainer_is_told_what_was_found():
    metrics: dict[str, float] = {}
    columns: dict[str, list[str]] = {}
    reward = as_trl_reward(load_verifier("numeric"), name="ours")
    reward(
        prompts=PROMPTS[:2],
        completions=[r"\boxed{72}"] * 2,
        solution=["72", "no number"],
        trainer_state=object(),
        log_metric=metrics.__setitem__,
        log_extra=columns.__setitem__,
    )
    assert reward.__name__ == "ours"
    assert metrics == {"ours/failed_frac": 0.5}
    assert columns["ours/verdict"][0] == "correct: equals '72'"
    assert columns["ours/verdict"][1].startswith("problem with the gold answer 'no number'")


def test_a_missing_column_is_a_mistake_and_no_failure():
    reward = as_trl_reward(load_verifier("numeric"))
    with pytest.raises(ValueError, match="reference_column: no column 'solution' in the data set; it has prompt, gold"):
        reward(prompts=["?"], completions=["72"], gold=["72"])


def test_a_bug_in_a_verifier_passes_through():
    class Buggy:
        def verify(self, problem: Problem, response: str) -> Verdict:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        as_trl_reward(Buggy())(prompts=["?"], completions=["72"], solution=["72"])


def whole_row(row: Mapping[str, Any]) -> Problem:
    reference = MathAnswer(value=row["answers"][row["right"]], answer_format="tag:answer")
    return Problem(id=row["id"], prompt=row["prompt"], reference=reference, verifier="exact")


def test_problems_can_be_made_from_whole_rows():
    reward = as_trl_reward(load_verifier("exact"), problem=whole_row)
    columns: dict[str, Any] = {"id": ["a", "b"], "answers": [["East", "West"]] * 2, "right": [1, 0]}
    completions = ["<answer>West</answer>"] * 2
    assert reward(prompts=PROMPTS[:2], completions=completions, **columns) == [1.0, 0.0]


class InBatches:
    """Counts its batches, and cannot judge one whose gold answer is no number."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def verify(self, problem: Problem, response: str) -> Verdict:
        return self.verify_batch([problem], [response])[0]

    def verify_batch(self, problems: list[Problem], responses: list[str]) -> list[Verdict]:
        self.sizes.append(len(problems))
        return [load_verifier("numeric").verify(*pair) for pair in zip(problems, responses, strict=True)]


def test_a_batch_verifier_gets_all_responses_at_once_and_one_bad_reference_costs_no_other():
    verifier = InBatches()
    reward = as_trl_reward(verifier)
    completions = [r"\boxed{72}"] * 3
    assert reward(prompts=PROMPTS, completions=completions, solution=["72", "71", "72"]) == [1.0, 0.0, 1.0]
    assert verifier.sizes == [3]
    assert reward(prompts=PROMPTS, completions=completions, solution=["72", "none", "71"]) == [1.0, None, 0.0]


def test_the_reward_function_can_be_pickled():
    reward = pickle.loads(pickle.dumps(as_trl_reward(load_verifier("numeric"))))
    assert reward(prompts=["?"], completions=[r"\boxed{72}"], solution=["72"]) == [1.0]


def gold_in_it(completions: list[list[dict[str, str]]], solution: list[str], **kwargs: object) -> list[float | None]:
    """A reward function as those of TRL: 1 for a response that is the answer, None for an empty answer."""
    return [
        float(response[0]["content"] == gold) if gold else None
        for response, gold in zip(completions, solution, strict=True)
    ]


def test_a_trl_reward_function_is_a_verifier_that_passes_the_suite():
    case = Case(problem=PROBLEM, accepted=["72"], rejected=["71"])
    assert "batch" in self_check(from_trl_reward(gold_in_it), [case])


def test_none_from_a_reward_function_is_no_verdict():
    empty = Problem(id="toy/2", prompt="?", reference=MathAnswer(value=""), verifier="theirs")
    verifier = from_trl_reward(gold_in_it)
    assert isinstance(verifier, BatchVerifier)
    with pytest.raises(VerifierError, match="problem toy/2: gold_in_it gave no reward"):
        verifier.verify_batch([PROBLEM, empty], ["72", "72"])


def test_rewards_are_scaled_to_scores():
    def length(prompts: list[str], completions: list[str], **kwargs: object) -> list[float]:
        assert prompts == ["How many?"]
        return [len(completion) - 5.0 for completion in completions]

    verifier = from_trl_reward(length, conversational=False, low=-5.0, high=5.0, threshold=3.0)
    assert verifier.verify(PROBLEM, "").score == 0.0
    right, wrong = verifier.verify(PROBLEM, "8" * 8), verifier.verify(PROBLEM, "7" * 7)
    assert (right.outcome, right.score) == (Outcome.CORRECT, 0.8)
    assert (wrong.outcome, wrong.score) == (Outcome.INCORRECT, 0.7)
    assert right.detail == "reward 3 from length"
    with pytest.raises(ValueError, match=r"length gave the reward 6.0, outside of \[-5.0, 5.0\]: set low and high"):
        verifier.verify(PROBLEM, "8" * 11)


def test_references_of_other_kinds_need_their_own_columns():
    problem = Problem(id="toy/3", prompt="?", reference=("72", "seventy-two"), verifier="theirs")
    with pytest.raises(BadReferenceError, match="problem toy/3: the reference must be a MathAnswer, not a tuple"):
        from_trl_reward(gold_in_it).verify(problem, "72")
    verifier = from_trl_reward(gold_in_it, columns=lambda problem: {"solution": problem.reference[1]})
    assert verifier.verify(problem, "seventy-two").outcome is Outcome.CORRECT


def test_what_a_reward_function_raises_passes_through():
    def broken(**kwargs: object) -> list[float | None]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        from_trl_reward(broken).verify(PROBLEM, "72")


def test_rewards_too_few_are_an_error():
    with pytest.raises(ValueError, match="gave 0 rewards for 1 responses"):
        from_trl_reward(lambda **kwargs: []).verify(PROBLEM, "72")


def test_asynchronous_functions_and_upside_down_scales_are_refused():
    async def later(**kwargs: object) -> list[float]:
        return []

    with pytest.raises(TypeError, match="asynchronous"):
        from_trl_reward(later)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="low < threshold <= high"):
        from_trl_reward(gold_in_it, low=1.0, high=0.0)


def test_importing_verifiers_imports_no_adapter_and_an_adapter_no_trainer():
    script = """
import sys, verifiers
assert not [name for name in sys.modules if name.startswith("verifiers.adapters")]
import verifiers.adapters.trl, verifiers.adapters.verl
assert not {"torch", "trl", "verl", "transformers", "sympy"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=REPOSITORY)


def test_the_real_trl_trains_with_our_verifier_and_judges_for_us(tmp_path: Path):
    python = os.environ.get("RLVR_TEST_TRL_PYTHON")
    if not python:
        pytest.skip("RLVR_TEST_TRL_PYTHON names no Python that has trl")
    done = subprocess.run(
        [python, "-P", str(REPOSITORY / "tests/support/trl_training.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    came_out = json.loads(done.stdout.splitlines()[-1])
    for shape in ("text", "messages"):
        step = came_out[shape]
        assert step["failed"] == 2
        assert step["ours/failed_frac"] == 2 / 16
        # The mean of 14 rewards that are 1 or -1: what could not be judged is no 0 in it.
        total = step["rewards/ours/mean"] * 14
        assert total == pytest.approx(round(total), abs=1e-4)
        assert -14 < total < 14
    assert came_out["judged"] == ["correct", "incorrect", "problem toy/1: accuracy_reward gave no reward"]
