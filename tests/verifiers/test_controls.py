import random
from collections import Counter

import pytest

from tasks import MathAnswer, Problem
from verifiers import BadReferenceError, BatchVerifier, Outcome, Verifier, VerifierOptionError, load_verifier
from verifiers.controls import RandomControl, ShuffledControl
from verifiers.numeric import Numeric


def problem(number: int = 1) -> Problem:
    reference = MathAnswer(value=str(number), answer_format="boxed")
    return Problem(id=f"toy/{number}", prompt="?", reference=reference, verifier="numeric")


def batch(seed: int, count: int = 200, pass_rate: float = 0.3) -> tuple[list[Problem], list[str]]:
    chance = random.Random(seed)
    numbers = [chance.randrange(10**6) for _ in range(count)]
    offsets = [0 if chance.random() < pass_rate else chance.randrange(1, 100) for _ in numbers]
    answers = [
        rf"\boxed{{{n + d}}}" if chance.random() < 0.9 else str(n) for n, d in zip(numbers, offsets, strict=True)
    ]
    return [problem(number) for number in numbers], answers


def correlation(first: list[float], second: list[float]) -> float:
    mean_first, mean_second = sum(first) / len(first), sum(second) / len(second)
    products = [(a - mean_first) * (b - mean_second) for a, b in zip(first, second, strict=True)]
    squares = sum((a - mean_first) ** 2 for a in first) * sum((b - mean_second) ** 2 for b in second)
    return sum(products) / squares**0.5


def test_they_keep_the_verifier_contract():
    assert isinstance(load_verifier("random", {"probability": 1}), Verifier)
    assert isinstance(load_verifier("shuffled", {"verifier": "numeric", "options": {"abs_tol": 1}}), BatchVerifier)


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.5, 1.0])
def test_random_gives_its_probability_and_knows_nothing_of_the_truth(probability: float):
    control = RandomControl(probability=probability)
    problems, responses = batch(seed=1, count=4000)
    scores = [control.verify(p, r).score for p, r in zip(problems, responses, strict=True)]
    assert sum(scores) / len(scores) == pytest.approx(probability, abs=4 * 0.5 / 4000**0.5)
    if 0 < probability < 1:
        truth = [Numeric().verify(p, r).score for p, r in zip(problems, responses, strict=True)]
        assert abs(correlation(scores, truth)) < 4 / 4000**0.5


def test_random_is_the_same_for_the_same_and_depends_on_all_three():
    verdict = RandomControl().verify(problem(), "text")
    assert RandomControl().verify(problem(), "text") == verdict
    assert verdict.detail == "control arm: drawn at random"

    def scores(vary: str) -> set[float]:
        return {
            RandomControl(seed=n if vary == "seed" else 0)
            .verify(problem(n if vary == "problem" else 0), str(n if vary == "response" else 0))
            .score
            for n in range(40)
        }

    assert scores("seed") == scores("problem") == scores("response") == {0.0, 1.0}
    assert len(scores("nothing")) == 1


def test_random_draws_what_it_drew_when_this_was_written():
    """Old runs must replay."""
    drawn = [int(RandomControl(seed=7).verify(problem(3), f"r{n}").score) for n in range(16)]
    assert drawn == [0, 1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1]


def test_shuffled_keeps_the_batchs_outcomes_and_scores_and_each_responses_answer():
    problems, responses = batch(seed=2)
    truth = [Numeric().verify(p, r) for p, r in zip(problems, responses, strict=True)]
    control = ShuffledControl(verifier="numeric").verify_batch(problems, responses)
    assert Counter((v.outcome, v.score) for v in control) == Counter((v.outcome, v.score) for v in truth)
    assert len({v.outcome for v in control}) == 3
    assert [v.answer for v in control] == [v.answer for v in truth]
    assert all(v.detail.startswith("control arm: ") for v in control)


def test_shuffled_verdicts_do_not_correlate_with_the_truth():
    control = ShuffledControl(verifier="numeric")
    found = []
    for seed in range(60):
        problems, responses = batch(seed, count=20)
        truth = [Numeric().verify(p, r).score for p, r in zip(problems, responses, strict=True)]
        scores = [verdict.score for verdict in control.verify_batch(problems, responses)]
        if 0 < sum(truth) < len(truth):
            found.append(correlation(scores, truth))
    # Each has standard deviation 1 / sqrt(19) about 0; a derangement's mean would lie at -1/19.
    assert len(found) > 50
    assert abs(sum(found) / len(found)) < 4 / (19 * len(found)) ** 0.5


def test_every_place_is_as_likely_for_every_verdict():
    """Two responses change places in half of the batches."""
    kept = 0
    for seed in range(400):
        control = ShuffledControl(verifier="numeric", seed=seed)
        first, _ = control.verify_batch([problem(1), problem(2)], [r"\boxed{1}", r"\boxed{9}"])
        kept += first.outcome is Outcome.CORRECT
    assert 160 < kept < 240


def test_shuffled_is_the_same_for_the_same_batch_and_seed():
    problems, responses = batch(seed=3)
    control = ShuffledControl(verifier="numeric", seed=5)
    first = control.verify_batch(problems, responses)
    assert ShuffledControl(verifier="numeric", seed=5).verify_batch(problems, responses) == first
    assert ShuffledControl(verifier="numeric", seed=6).verify_batch(problems, responses) != first


def test_a_response_judged_alone_gets_a_random_verdict_and_not_the_truth():
    control = ShuffledControl(verifier="numeric", probability=0.25)
    right = [rf"\boxed{{1}} {n}" for n in range(400)]
    alone = [control.verify(problem(), response) for response in right]
    assert 60 < sum(v.score for v in alone) < 140
    assert [control.verify_batch([problem()], [response])[0] for response in right] == alone
    assert control.verify_batch([], []) == []


def test_a_reference_that_cannot_be_used_is_no_verdict():
    bad = Problem(id="toy/x", prompt="?", reference=None, verifier="numeric")
    with pytest.raises(BadReferenceError, match="toy/x"):
        ShuffledControl(verifier="numeric").verify_batch([problem(), bad], ["1", "1"])


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("random", {"probability": 1.5}, "probability: must be between 0 and 1, got 1.5"),
        ("shuffled", {"verifier": "numeric", "probability": -1}, "probability: must be between 0 and 1"),
        ("shuffled", {"verifier": "numerik"}, "verifier: no verifier named 'numerik'"),
        ("shuffled", {"verifier": "numeric", "options": {"abs_tol": -1}}, r"options\.abs_tol: must be at least 0"),
        ("shuffled", {"verifier": "numeric", "options": 3}, "options: expected a table, got 3"),
    ],
)
def test_options_that_cannot_be_are_named_with_their_place(name: str, options: dict[str, object], complaint: str):
    with pytest.raises(VerifierOptionError, match=rf"task\.verifier_options\.{complaint}"):
        load_verifier(name, options)
