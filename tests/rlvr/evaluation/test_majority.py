import time
from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlvr.evaluation.majority import majority_at_k
from rlvr.evaluation.pass_at_k import pass_at_k

RIGHT = object()


def by_enumeration(answers, correct, k):
    """Every draw in turn: who has most votes, and what share of those tied at the top the right answer has."""
    draws = list(combinations(range(len(answers)), k))
    won = Fraction(0)
    for draw in draws:
        votes = Counter(
            RIGHT if correct[index] else answers[index]
            for index in draw
            if correct[index] or answers[index] is not None
        )
        top = [answer for answer, count in votes.items() if count == max(votes.values())]
        won += Fraction(RIGHT in top, max(1, len(top)))
    return float(won / len(draws))


responses = st.lists(
    st.one_of(st.just(("right", True)), st.tuples(st.sampled_from(["1", "2", "3", None]), st.just(False))),
    min_size=1, max_size=9,
)  # fmt: skip


@given(responses, st.data())
@settings(max_examples=150, deadline=None)
def test_it_equals_enumeration_of_all_draws(drawn, data):
    answers, correct = [answer for answer, _ in drawn], [right for _, right in drawn]
    k = data.draw(st.integers(1, len(drawn)))
    assert majority_at_k(answers, correct, k) == pytest.approx(by_enumeration(answers, correct, k), abs=1e-12)


@given(responses)
def test_one_vote_is_the_pass_rate(drawn):
    answers, correct = [answer for answer, _ in drawn], [right for _, right in drawn]
    assert majority_at_k(answers, correct, 1) == pytest.approx(sum(correct) / len(correct))


def test_right_answers_written_in_two_ways_vote_together():
    assert majority_at_k(["1/2", "0.5", "2", "2"], [True, True, False, False], 4) == 0.5
    assert majority_at_k(["1/2", "0.5", "2", "3"], [True, True, False, False], 4) == 1.0


def test_a_response_without_an_answer_does_not_vote():
    assert majority_at_k([None, None, None, "7"], [False, False, False, True], 4) == 1.0
    assert majority_at_k([None, None, None, "7"], [False, False, False, True], 2) == pass_at_k(4, 1, 2)
    assert majority_at_k([None, None], [False, False], 2) == 0.0


def test_ties_share():
    assert majority_at_k(["7", "8", "9"], [True, False, False], 3) == pytest.approx(1 / 3)


def test_more_votes_help_where_the_right_answer_is_the_commonest_and_hurt_where_it_is_not():
    ahead = [majority_at_k(["r"] * 8 + ["w"] * 8 + list("abcdefgh"), [True] * 8 + [False] * 16, k) for k in (1, 4, 24)]
    behind = [majority_at_k(["r"] * 6 + ["w"] * 10, [True] * 6 + [False] * 10, k) for k in (1, 4, 16)]
    assert ahead == sorted(ahead)
    assert behind == sorted(behind, reverse=True)


def test_256_responses_of_many_different_answers_take_no_time():
    start_s = time.perf_counter()
    answers = ["r"] * 64 + [str(index % 90) for index in range(192)]
    assert majority_at_k(answers, [True] * 64 + [False] * 192, 64) > 0.99
    assert time.perf_counter() - start_s < 10


@pytest.mark.parametrize("k", [0, 4])
def test_more_votes_than_responses_are_an_error(k):
    with pytest.raises(ValueError, match="got 3"):
        majority_at_k(["1", "2", "3"], [True, False, False], k)


def test_marks_and_answers_must_pair_up():
    with pytest.raises(ValueError, match="got 1 marks"):
        majority_at_k(["1", "2"], [True], 1)
