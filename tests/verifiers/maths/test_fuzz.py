"""No text whatever escapes: every step raises its declared errors alone and comes to an end."""

import contextlib
import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verifiers import BadReferenceError, Outcome
from verifiers.lenient import find_answer
from verifiers.maths.cleaning import UnreadableError
from verifiers.maths.deciding import BadGoldError, CheapNumerics, NeedsNumericsError, decide_all, read_gold
from verifiers.maths.policy import Policy
from verifiers.maths.reading import read
from verifiers.symbolic import MathVerifier

FRAGMENTS = [
    *r"""
    0 1 2 7 10 1,000 3.5 1e3 . , ; : + - * / ^ _ = < > ! ? ' % \% $ \$ | & ( ) [ ] { } \{ \} \left( \right) \left[
    \right] \le \ge \ne \in \approx \equiv \frac \dfrac12 \sqrt \sqrt[3] \pi e i \infty \sin \ln \log_2 \binom
    \sum_{k=1}^3 \prod \int_0^1 dx \lim_{x\to0} x y ab f(x) x_1 \alpha \pm \mp \cdot \times \cup \cap \setminus
    \emptyset \mathbb R \text{ \text{and} \text{or} and or is of not yes A (B) cm ^2 ^{ _{10} ^\circ \pmod 5:30 p.m.
    May \begin{pmatrix} \end{pmatrix} \begin{cases} \end{cases} \\ \quad \, \! \over \overline{3} \dot \lfloor
    \rfloor \boxed{ \boxed{7} #### <answer> </answer> <think> </think> answer percent million dozen base mod per to
    degrees
    """.split(),
    *(
        " ",
        "\n",
        "\x00",
        "\ud800",
        "\u00bd",
        "\u221a",
        "\u00b2",
        "\u2212",
        "\u0663",
        "\u2009",
        "\u202e",
        "The answer is ",
    ),
]
mathematical = st.lists(st.sampled_from(FRAGMENTS), max_size=14).flatmap(
    lambda pieces: st.sampled_from(("", " ")).map(lambda joint: joint.join(pieces))
)
anything = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=60)
texts = mathematical | anything
golds = st.sampled_from(
    [
        *r"""
        7 1/2 0.5 x^2+1 y=2x \sqrt{2} (1,2) \{1,2\} [1,2) x<3 1,2 28\% 90^\circ 101_2 2:3 3\pmod{7} B ABD yes
        \text{east} 1+2i \pm3 \mathbb{R} f(x)=x^2 \infty \begin{pmatrix}1\\2\end{pmatrix}
        \begin{cases}1&x>0\\2&x\le0\end{cases}
        """.split(),
        *("12 cm", "5:30 pm", "May 5", "no solution"),
    ]
)
bounded = settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
CHEAP, POLICY = CheapNumerics(), Policy()


@bounded
@given(texts, st.booleans())
def test_a_text_is_read_or_refused(text: str, words_only: bool):
    with contextlib.suppress(UnreadableError):
        read(text, words_only=words_only)


@bounded
@given(texts, texts)
def test_any_text_may_be_a_gold_answer(gold: str, answer: str):
    with contextlib.suppress(BadGoldError, NeedsNumericsError):
        equal, reason = decide_all(read_gold(gold), answer, (), POLICY, CHEAP)
        assert isinstance(equal, bool)
        assert reason


@bounded
@given(golds, texts, st.lists(texts, max_size=2))
def test_any_text_may_answer_any_gold(gold: str, answer: str, rivals: list[str]):
    with contextlib.suppress(NeedsNumericsError):
        decide_all(read_gold(gold), answer, rivals, POLICY, CHEAP)


@bounded
@given(texts)
def test_an_answer_is_found_anywhere_or_nowhere(response: str):
    found = find_answer(response)
    assert found.text is None or found.text == found.text.strip() != ""
    assert found.text is not None or not found.rivals


@pytest.fixture(scope="module")
def verifier() -> MathVerifier:
    return MathVerifier(wall_s=0.5)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(golds | texts, mathematical)
def test_any_pair_gets_a_verdict(verifier: MathVerifier, gold: str, response: str):
    with contextlib.suppress(BadReferenceError):
        verdict = verifier.judge(gold, response)
        assert verdict.score == (verdict.outcome is Outcome.CORRECT)
        assert (verdict.answer is None) == (verdict.outcome is Outcome.NO_ANSWER)
        assert verdict.detail.isprintable()
        assert verdict.outcome is not Outcome.CRASHED


@pytest.mark.parametrize(
    ("limit", "length", "step"),
    [
        (2.0, 100_000, find_answer),
        (2.0, 30_000, lambda text: decide_all(read_gold("x^2"), text, (), POLICY, CHEAP)),
        (2.0, 30_000, lambda text: decide_all(read_gold(r"\text{east}"), text, (), POLICY, CHEAP)),
        (2.0, 30_000, read_gold),
    ],
    ids=["finding", "mathematics", "words", "gold"],
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_no_repetition_takes_long(limit: float, length: int, step: Callable[[str], object], data: st.DataObject):
    fragment = st.sampled_from(FRAGMENTS)
    body = data.draw(st.lists(fragment, min_size=1, max_size=3).map("".join).filter(bool))
    start, end = data.draw(fragment | st.just("")), data.draw(fragment | st.just(""))
    text = start + (body * length)[: length - len(start + end)] + end
    began = time.process_time()
    with contextlib.suppress(BadGoldError, NeedsNumericsError):
        step(text)
    assert time.process_time() - began < limit
