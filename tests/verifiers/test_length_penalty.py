import pytest

from tasks import Problem
from verifiers import Outcome, Verifier, VerifierOptionError, load_verifier
from verifiers.length_penalty import LengthPenalty, soft_overlong_penalty

PROBLEM = Problem(id="toy/1", prompt="?", reference=None, verifier="length_penalty")
FIXTURE = [(0, 0.0), (80, 0.0), (81, -0.05), (90, -0.5), (100, -1.0), (101, -1.0), (100_000, -1.0)]


@pytest.mark.parametrize(("length", "penalty"), FIXTURE)
def test_the_penalty_is_that_of_dapo(length: int, penalty: float):
    """checklist 15: limit 100, cache 20."""
    assert soft_overlong_penalty(length, max_length=100, cache=20) == pytest.approx(penalty)


def test_it_keeps_the_verifier_contract_and_needs_no_gold():
    assert isinstance(load_verifier("length_penalty", {"max_length": 100, "cache": 20}), Verifier)


@pytest.mark.parametrize(("length", "penalty"), FIXTURE)
def test_the_score_is_one_plus_the_penalty(length: int, penalty: float):
    verdict = LengthPenalty(max_length=100, cache=20).verify(PROBLEM, "x" * length)
    assert verdict.score == pytest.approx(1 + penalty)
    assert verdict.parts == {"length_penalty": pytest.approx(penalty)}
    assert verdict.outcome is (Outcome.INCORRECT if penalty else Outcome.CORRECT)


def test_words_can_be_counted():
    verifier = LengthPenalty(max_length=4, cache=2, unit="words")
    assert [verifier.verify(PROBLEM, "word \n" * count).score for count in (2, 3, 4, 5)] == [1.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("cache", [0, -1, 101])
def test_a_cache_that_does_not_fit_is_refused(cache: int):
    with pytest.raises(VerifierOptionError, match=r"task\.verifier_options\.cache: .* 100"):
        LengthPenalty(max_length=100, cache=cache)
