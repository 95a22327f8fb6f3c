"""Whatever a value is written like, it is the same value; another value never is. No shortcut changes a verdict."""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.latex_forms import number_forms
from support.latex_writer import KINDS, small_rationals

from tasks import MathAnswer, Problem
from verifiers.maths.deciding import BadGoldError, CheapNumerics, NeedsNumericsError, decide_all, read_gold
from verifiers.maths.full_numerics import FullNumerics
from verifiers.maths.policy import Numerics, Policy
from verifiers.numerals import read_numeral
from verifiers.numeric import Numeric

FULL, CHEAP, POLICY = FullNumerics(), CheapNumerics(), Policy()
unhurried = [HealthCheck.too_slow, HealthCheck.filter_too_much]
EXAMPLES = {"equations": 30, "rationals": 200}
any_writing = st.sampled_from(list(KINDS)).flatmap(KINDS.__getitem__)
plain = st.text("0123456789.,-+/% $\u2212\u2009", min_size=1, max_size=8)


def accepts(gold: str, answer: str, *, numerics: Numerics = FULL, policy: Policy = POLICY) -> bool:
    return decide_all(read_gold(gold), answer, (), policy, numerics)[0]


def cheaply_accepts(gold: str, answer: str) -> bool | None:
    """Return the verdict that needs no worker, None where there is none."""
    try:
        return accepts(gold, answer, numerics=CHEAP)
    except NeedsNumericsError:
        return None


@pytest.mark.parametrize("kind", KINDS)
def test_one_value_is_accepted_however_it_is_written_and_another_never_is(kind: str):
    @settings(max_examples=EXAMPLES.get(kind, 100), suppress_health_check=unhurried, report_multiple_bugs=False)
    @given(KINDS[kind])
    def holds(texts):
        assert accepts(texts.gold, texts.same)
        assert accepts(texts.same, texts.gold)
        assert not accepts(texts.gold, texts.other)
        assert not accepts(texts.other, texts.gold)

    holds()


@settings(max_examples=150, suppress_health_check=unhurried, report_multiple_bugs=False)
@given(any_writing, any_writing, st.sampled_from(("same", "other", "gold")))
def test_gold_and_answer_may_change_places(left, right, which: str):
    assert accepts(left.gold, right.same) == accepts(right.same, left.gold)
    assert accepts(left.gold, getattr(left, which)) == accepts(getattr(left, which), left.gold)


@settings(max_examples=150, suppress_health_check=unhurried, report_multiple_bugs=False)
@given(any_writing, any_writing)
def test_what_is_decided_without_a_worker_is_what_a_worker_decides(left, right):
    for answer in (left.same, left.other, right.gold):
        cheap = cheaply_accepts(left.gold, answer)
        assert cheap is None or cheap == accepts(left.gold, answer)


@settings(max_examples=300)
@given(small_rationals(), small_rationals(), st.data())
def test_rationals_never_need_a_worker(left: Fraction, right: Fraction, data: st.DataObject):
    gold, answer = (data.draw(st.sampled_from(number_forms(value))) for value in (left, right))
    assert cheaply_accepts(gold, answer) == (left == right)


@settings(max_examples=400, suppress_health_check=unhurried, report_multiple_bugs=False)
@given(plain | small_rationals().flatmap(lambda value: st.sampled_from(number_forms(value))), plain)
def test_plain_numbers_are_judged_as_the_numeric_verifier_judges_them(gold: str, answer: str):
    numerals = read_numeral(gold), read_numeral(answer)
    assume(None not in numerals)
    problem = Problem(id="toy", prompt="?", reference=MathAnswer(value=gold, answer_format="boxed"), verifier="numeric")
    for text in (answer, gold):
        try:
            accepted = accepts(gold, text, policy=Policy(decimal_digits=0))
        except BadGoldError:
            assume(False)
            raise
        if read_numeral(text) is not None:
            assert accepted == bool(Numeric().verify(problem, f"\\boxed{{{text}}}").score), (gold, text)
