import importlib.util
from pathlib import Path

import pytest

from tasks import MathAnswer, Problem
from verifiers import BadReferenceError, Outcome, Verdict, VerifierError, load_verifier
from verifiers.adapters import verl
from verifiers.adapters.verl import compute_score, from_compute_score, make_compute_score
from verifiers.conformance import Case, self_check

# The shape of a row of verl's own GSM8K preparation.
EXTRA = {"split": "train", "index": 17, "answer": "It is 72.\n#### 72", "question": "How many?"}
PROBLEM = Problem(id="toy/1", prompt="How many?", reference=MathAnswer(value="72"), verifier="theirs")


@pytest.mark.parametrize(
    ("response", "score"),
    [("So #### 72", 1.0), ("#### 1,072", 0.0), ("#### 72.00", 1.0), ("72", 0.0), ("#### 71\n#### 72", 0.0), ("", 0.0)],
)
def test_gsm8k_answers_stand_after_the_marker(response: str, score: float):
    found = compute_score("openai/gsm8k", response, "72", EXTRA)
    assert type(found) is float
    assert found == score


def test_arguments_can_be_given_by_name_as_verl_does():
    given = {"data_source": "openai/gsm8k", "solution_str": "#### 72", "ground_truth": "72", "extra_info": EXTRA}
    assert compute_score(**given) == 1.0
    assert make_compute_score(load_verifier("numeric"), answer_format="boxed")(**given) == 0.0


@pytest.mark.parametrize(
    ("data_source", "response", "score"),
    [
        ("lighteval/MATH", r"so \boxed{\frac{2}{4}}", 1.0),
        ("lighteval/MATH", "so 1/2", 0.0),
        ("math_dapo", "Done.\nAnswer: 1/2", 1.0),
        ("math_dapo", r"Answer: $\frac{1}{3}$", 0.0),
        ("aime_2024", r"so \boxed{0.5}", 1.0),
        ("anything else", "The answer is 1/2.", 1.0),
        ("anything else", "The answer is 1/3.", 0.0),
    ],
)
def test_mathematics_is_read_where_the_data_set_asks_for_it_and_leniently_elsewhere(
    data_source: str, response: str, score: float
):
    assert compute_score(data_source, response, r"\frac{1}{2}") == score


@pytest.mark.parametrize(
    ("gold", "message"),
    [("no number", "'no number' is not a number"), (None, "must be a string or an integer, not a NoneType")],
)
def test_a_gold_answer_that_cannot_be_read_is_an_error_that_names_the_row(gold: object, message: str):
    with pytest.raises(BadReferenceError, match=f"problem openai/gsm8k/train/17: .*{message}"):
        compute_score("openai/gsm8k", "#### 72", gold, EXTRA)


class Shaky:
    """Fails a number of times before it judges."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def verify(self, problem: Problem, response: str) -> Verdict:
        assert (problem.id, problem.prompt) == ("here/train/17", "How many?")
        self.failures -= 1
        if self.failures >= 0:
            raise VerifierError("a worker died")
        return Verdict(outcome=Outcome.INCORRECT, score=0.25)


def test_other_failures_are_tried_again_before_they_stop_the_run():
    assert make_compute_score(Shaky(2), answer_format="boxed")("here", "72", "72", EXTRA) == 0.25
    with pytest.raises(VerifierError, match="a worker died"):
        make_compute_score(Shaky(3), answer_format="boxed")("here", "72", "72", EXTRA)


def test_verl_can_load_the_file_by_its_path():
    spec = importlib.util.spec_from_file_location("custom_module", Path(verl.__file__))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.compute_score("openai/gsm8k", "#### 72", "72", None) == 1.0


def their_score(data_source: str, solution_str: str, ground_truth: str, extra_info: object = None) -> dict[str, object]:
    """As verl's own for math_dapo: between -1 and 1, within a dict."""
    assert data_source == "math_dapo"
    right = solution_str == ground_truth
    return {"score": 1.0 if right else -1.0, "acc": right, "pred": solution_str}


def test_a_compute_score_is_a_verifier_that_passes_the_suite():
    verifier = from_compute_score(their_score, data_source="math_dapo", low=-1.0)
    self_check(verifier, [Case(problem=PROBLEM, accepted=["72"], rejected=["71"])])
    assert verifier.verify(PROBLEM, "71").score == 0.0


def test_a_score_outside_the_scale_is_an_error():
    verifier = from_compute_score(their_score, data_source="math_dapo")
    with pytest.raises(ValueError, match=r"their_score gave the reward -1.0, outside of \[0.0, 1.0\]"):
        verifier.verify(PROBLEM, "71")
