import json
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks import MathAnswer, Problem
from verifiers import BadReferenceError, Outcome, Verdict, Verifier, VerifierOptionError, load_verifier
from verifiers.json_match import JsonMatch
from verifiers.json_values import MAX_DEPTH, Comparison


def problem(gold: str, answer_format: str = "tag:answer") -> Problem:
    reference = MathAnswer(value=gold, answer_format=answer_format)
    return Problem(id="toy/1", prompt="?", reference=reference, verifier="json_match")


def judge(gold: str, answer: str, verifier: JsonMatch | None = None) -> Verdict:
    return (verifier or JsonMatch()).verify(problem(gold), f"<answer>{answer}</answer>")


def equal(gold: str, answer: str, verifier: JsonMatch | None = None) -> bool:
    verdict = judge(gold, answer, verifier)
    assert verdict.score == float(verdict.outcome is Outcome.CORRECT)
    return verdict.outcome is Outcome.CORRECT


def test_it_keeps_the_verifier_contract():
    assert isinstance(load_verifier("json_match", {"subset": True, "place": "whole"}), Verifier)


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ('{"a": 1, "b": [2, null]}', '{ "b": [2.0, null],\n"a": 1e0 }', True),
        ("1", "1.0", True),
        ("0.1", "0.10", True),
        ("0.3", "0.30000000000000004", False),
        ("1", "true", False),
        ("0", "false", False),
        ("true", "1", False),
        ("null", "0", False),
        ('"1"', "1", False),
        ('"a"', '"\\u0061"', True),
        ('"a"', '"A"', False),
        ("[1, 2]", "[2, 1]", False),
        ("[1, 2]", "[1, 2, 3]", False),
        ("[]", "{}", False),
        ("{}", "{}", True),
        ('{"a": 1}', '{"a": 1, "b": 2}', False),
        ('{"a": 1, "b": 2}', '{"a": 1}', False),
        ('{"a": 1}', '```json\n{"a": 1}\n```', True),
        ('{"a": 1}', 'It is {"a": 1}', False),
    ],
)
def test_values_are_compared_by_meaning(gold: str, answer: str, expected: bool):
    assert equal(gold, answer) is expected


@pytest.mark.parametrize(
    "answer",
    [
        *("NaN", "[Infinity]", "-Infinity", '{"a": 1, "a": 1}', "{'a': 1}", "[1,]", "01", "+1", "1 2", '"a\nb"', "nul"),
        *("1e1001", "-1e99999999999999999999", "9" * 1001, "[" * 101 + "]" * 101, "[" * 10_000, '{"a":' * 10_000),
        *("\ufeff1", "\x00", "\ud800", "[1] // one", "['" * 10_000),
    ],
)
def test_what_is_no_strict_json_within_bounds_is_incorrect(answer: str):
    assert judge("1", answer).detail.startswith("not JSON: ")


def test_brackets_within_a_text_are_no_levels():
    text = json.dumps("[" * 1000 + '\\"{')
    assert equal(text, text)
    levels = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert equal(levels, levels)


def test_further_keys_are_allowed_with_subset_and_missing_ones_are_not():
    verifier = JsonMatch(subset=True)
    assert equal('{"a": {"b": 1}}', '{"a": {"b": 1, "c": 2}, "d": 3}', verifier)
    assert not equal('{"a": 1, "b": 2}', '{"a": 1, "c": 2}', verifier)
    assert not equal("[1]", "[1, 2]", verifier)


def test_lists_can_be_compared_in_any_order_at_any_depth():
    verifier = JsonMatch(unordered_lists=True)
    assert equal("[1, [2, 3], 1]", "[[3, 2], 1, 1]", verifier)
    assert not equal("[1, 1, 2]", "[1, 2, 2]", verifier)
    assert not equal("[1, 2]", "[1]", verifier)


def test_lists_in_any_order_are_paired_with_foresight():
    """Taking the first partner that fits would leave the last element without one."""
    near = JsonMatch(unordered_lists=True, abs_tol=1.0)
    assert equal("[1, 0]", "[0, 2]", near)
    assert equal("[1, 2, 3]", "[2, 1, 4]", near)
    assert not equal("[0, 0]", "[0, 2]", near)
    some = JsonMatch(unordered_lists=True, subset=True)
    assert equal('[{}, {"a": 1}]', '[{"a": 1}, {"b": 2}]', some)


def test_a_tolerance_is_for_numbers_alone():
    verifier = JsonMatch(abs_tol=0.01)
    assert equal('{"a": [3.14]}', '{"a": [3.149]}', verifier)
    assert not equal("3.14", "3.151", verifier)
    assert not equal("1", "true", verifier)


@pytest.mark.parametrize(
    ("answer", "subset", "fields"),
    [
        ('{"a": 1, "b": 2}', False, 1.0),
        ('{"a": 1, "b": 3}', False, 0.5),
        ('{"a": 1}', False, 0.5),
        ('{"a": 1, "b": 2, "c": 3, "d": 4}', False, 0.5),
        ('{"a": 1, "b": 2, "c": 3, "d": 4}', True, 1.0),
        ("[1, 2]", False, 0.0),
        ("{", False, 0.0),
    ],
)
def test_the_share_of_equal_fields_is_a_part_and_the_score_is_all_or_nothing(answer: str, subset: bool, fields: float):
    verdict = judge('{"a": 1, "b": 2}', answer, JsonMatch(subset=subset))
    assert verdict.parts == {"fields": fields}
    assert verdict.score == float(fields == 1.0)


@pytest.mark.parametrize(
    ("place", "response", "expected"),
    [
        ("declared", '<answer>{"a": 1}</answer>', Outcome.CORRECT),
        ("declared", '{"a": 1}', Outcome.NO_ANSWER),
        ("declared", '<answer>{"a": 2}</answer><answer>{"a": 1}</answer>', Outcome.INCORRECT),
        ("declared", '<answer>{"a":1}</answer><answer>{"a": 1.0}</answer>', Outcome.CORRECT),
        ("fenced", 'So:\n```json\n{"a": 1}\n```\nDone.', Outcome.CORRECT),
        ("fenced", '<think>\n```json\n{"a": 1}\n```\n</think> hm', Outcome.NO_ANSWER),
        ("fenced", '```json\n{"a": 2}\n```\n```json\n{"a": 1}\n```', Outcome.INCORRECT),
        ("fenced", '```python\n{"a": 2}\n```\n```json\n{"a": 1}\n```', Outcome.CORRECT),
        ("fenced", '```json\n{"a": 1}', Outcome.NO_ANSWER),
        ("fenced", '```\n{"a": 1}\n```', Outcome.NO_ANSWER),
        ("fenced", "```json\n\n```", Outcome.NO_ANSWER),
        ("whole", '<think>{}</think>\n{"a": 1}\n', Outcome.CORRECT),
        ("whole", 'It is {"a": 1}', Outcome.INCORRECT),
        ("whole", " \n", Outcome.NO_ANSWER),
    ],
)
def test_the_value_is_read_from_its_place(place: str, response: str, expected: Outcome):
    verifier = load_verifier("json_match", {"place": place})
    assert verifier.verify(problem('{"a": 1}'), response).outcome is expected


@pytest.mark.parametrize("gold", ["", "{", "NaN", '{"a": 1, "a": 2}'])
def test_a_gold_that_is_no_json_names_the_problem(gold: str):
    with pytest.raises(BadReferenceError, match="problem toy/1: the gold answer"):
        judge(gold, "1")


def test_an_answer_format_that_cannot_hold_the_gold_names_the_problem():
    assert JsonMatch().verify(problem("5", "last_number"), "It is 5.").outcome is Outcome.CORRECT
    with pytest.raises(BadReferenceError, match="problem toy/1: the answer format 'last_number'"):
        JsonMatch().verify(problem("{}", "last_number"), "5")


@pytest.mark.parametrize("abs_tol", [-1.0, float("nan"), float("inf")])
def test_a_tolerance_out_of_range_is_refused(abs_tol: float):
    with pytest.raises(VerifierOptionError, match=r"task\.verifier_options\.abs_tol"):
        JsonMatch(abs_tol=abs_tol)


def test_long_lists_in_any_order_end_by_themselves():
    count = 5000
    gold, answer = json.dumps([*range(count)]), json.dumps([*reversed(range(count))])
    assert judge(gold, answer, JsonMatch(unordered_lists=True)).outcome is Outcome.TIMED_OUT


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1000, 1000)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


def shuffled(value: object, chance: random.Random) -> object:
    if isinstance(value, dict):
        pairs = [(key, shuffled(content, chance)) for key, content in value.items()]
        chance.shuffle(pairs)
        return dict(pairs)
    if isinstance(value, list):
        elements = [shuffled(element, chance) for element in value]
        chance.shuffle(elements)
        return elements
    return value


@given(values, st.randoms(use_true_random=False))
def test_a_value_equals_itself_in_any_order(value: object, chance: random.Random):
    gold, answer = json.dumps(value), json.dumps(shuffled(value, chance), ensure_ascii=False, indent=1)
    verifier = JsonMatch(unordered_lists=True, place="whole")
    assert verifier.verify(problem(gold), answer).score == 1.0


@given(values, values)
def test_different_values_are_told_apart(first: object, second: object):
    assert equal(json.dumps(first), json.dumps(second).replace("</", "<\\/")) is (typed(first) == typed(second))


def typed(value: object) -> object:
    """Return the value in a form in which Python tells true from 1."""
    if isinstance(value, dict):
        return {key: typed(content) for key, content in value.items()}
    if isinstance(value, list):
        return [typed(element) for element in value]
    return (isinstance(value, bool), value)


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=4))
def test_pairing_agrees_with_trying_all_permutations(partners: list[list[int]]):
    comparison = Comparison(subset=False, unordered_lists=True, abs_tol=Fraction(0))

    def possible(row: int, taken: frozenset[int]) -> bool:
        return row == len(partners) or any(
            possible(row + 1, taken | {partner}) for partner in partners[row] if partner not in taken
        )

    assert comparison._all_can_be_paired(partners) is possible(0, frozenset())
