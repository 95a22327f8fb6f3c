"""Every gold answer of two public data sets accepts itself and rejects other gold answers."""

import json
import random
import re
from collections.abc import Iterator
from functools import cache

import pytest
from support.shared_data import shared_file

from tasks import MathAnswer, Problem
from verifiers import Outcome
from verifiers.maths.deciding import decide_all, read_gold
from verifiers.maths.full_numerics import FullNumerics
from verifiers.maths.policy import Policy
from verifiers.numerals import parse_number
from verifiers.symbolic import MathVerifier

OTHERS = 20
FULL, POLICY = FullNumerics(), Policy()
GSM8K = ("data/gsm8k_train.jsonl", "data/gsm8k_test.jsonl")


@cache
def rows(name: str) -> list[dict[str, str]]:
    with open(shared_file(name), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def math_golds() -> list[str]:
    return [row["answer"] for row in rows("data/math500.jsonl")]


def accepts(gold: str, answer: str) -> bool:
    return decide_all(read_gold(gold), answer, (), POLICY, FULL)[0]


def outcome(verifier: MathVerifier, gold: str, answer_format: str, response: str) -> Outcome:
    reference = MathAnswer(value=gold, answer_format=answer_format)
    return verifier.verify(Problem(id=gold, prompt="?", reference=reference, verifier="math"), response).outcome


def may_mean_the_same(left: str, right: str) -> bool:
    """Tell whether two golds agree without what an answer may leave out: a name, a unit, a base, brackets."""
    if bare(left) == bare(right):
        return True
    numbers = parse_number(left), parse_number(right)
    return None not in numbers and numbers[0] == numbers[1]


def bare(gold: str) -> str:
    gold = re.sub(
        r"\\(?:left|right|text|mbox|!|,|;| |\$|\^?circ)|\^\{?\\circ\}?|_\{?\d+\}?$|^\s*\w\s*=|[\s$]", "", gold
    )
    return gold.strip("(){}[]").replace("dfrac", "frac").replace(",", "")


def other_golds(golds: list[str], seed: int) -> Iterator[tuple[str, str]]:
    generator = random.Random(seed)
    for gold in golds:
        others = [other for other in generator.sample(golds, 2 * OTHERS) if not may_mean_the_same(gold, other)]
        yield from ((gold, other) for other in others[:OTHERS])


def test_every_gold_of_math_500_accepts_itself_in_a_box():
    verifier = MathVerifier()
    for gold in math_golds():
        assert outcome(verifier, gold, "boxed", f"So the answer is $\\boxed{{{gold}}}$.") is Outcome.CORRECT, gold
        assert outcome(verifier, gold, "boxed", gold) is Outcome.NO_ANSWER, gold


@pytest.mark.parametrize(
    "style",
    [
        lambda gold: f"$ {gold} $",
        lambda gold: gold.replace("\\frac", "\\dfrac").replace("\\left", "\\big").replace("\\right", "\\big"),
        lambda gold: gold.replace("\\left", "").replace("\\right", "").replace("-", "\u2212"),
        lambda gold: gold.replace("+", " + ").replace(",", ", ") + "." if "," not in gold else f"\\({gold}\\)",
    ],
    ids=["delimited", "other sizes", "no sizes", "blanks"],
)
def test_every_gold_of_math_500_accepts_itself_in_another_style(style):
    assert [gold for gold in math_golds() if not accepts(gold, style(gold))] == []


def test_every_gold_of_math_500_rejects_twenty_others():
    pairs = list(other_golds(math_golds(), seed=0))
    assert len(pairs) > 0.99 * OTHERS * len(math_golds())
    assert [pair for pair in pairs if accepts(*pair)] == []


def test_every_gold_of_gsm8k_accepts_its_own_solution_and_rejects_twenty_others():
    solutions = [row["answer"] for name in GSM8K for row in rows(name)]
    golds = [solution.rpartition("####")[2].strip() for solution in solutions]
    numbers = [int(gold.replace(",", "")) for gold in golds]
    generator, verifier, places = random.Random(0), MathVerifier(), range(len(golds))
    for gold, number, solution in zip(golds, numbers, solutions, strict=True):
        assert outcome(verifier, gold, "marker:####", solution) is Outcome.CORRECT, solution
        for place in generator.choices(places, k=OTHERS):
            assert accepts(gold, golds[place]) == (number == numbers[place]), (gold, golds[place])
