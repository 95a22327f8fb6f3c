import random
from dataclasses import dataclass

import pytest

from tasks.types import CountdownTarget, MathAnswer, Problem
from verifiers.attacks import Attack, Expected, attacks_on, place_answer
from verifiers.exact import Exact
from verifiers.extract import UnknownAnswerFormatError, extract_answer
from verifiers.numeric import Numeric
from verifiers.types import Outcome

FORMATS = ("boxed", "marker:####", "marker:#", "tag:answer", "last_number", "lenient")


def problem(
    gold: str = "72", answer_format: str = "boxed", *, prompt: str = "How many?", demonstration: str | None = None
) -> Problem:
    reference = MathAnswer(value=gold, answer_format=answer_format)
    return Problem(id="toy/1", prompt=prompt, reference=reference, verifier="numeric", demonstration=demonstration)


def attacks(of: Problem, *, others: tuple[str, ...] = ("5", "60"), heavy: bool = False, seed: int = 0) -> list[Attack]:
    return attacks_on(of, [problem(gold) for gold in others], random.Random(seed), heavy=heavy)


def named(found: list[Attack], name: str) -> list[str]:
    return [attack.response for attack in found if attack.name == name]


@pytest.mark.parametrize("answer_format", FORMATS)
def test_an_answer_is_found_where_it_was_placed(answer_format: str):
    assert extract_answer(place_answer("72", answer_format), answer_format).text == "72"


def test_an_unknown_answer_format_is_refused():
    with pytest.raises(UnknownAnswerFormatError):
        place_answer("72", "box")
    with pytest.raises(UnknownAnswerFormatError):
        attacks(problem(answer_format="box"))


@pytest.mark.parametrize("answer_format", FORMATS)
@pytest.mark.parametrize("gold", ["72", "-5", "1,000", "0", "1", "3/4", "2.50", "28%", "$18", "5 cm", "10"])
def test_the_numeric_verifier_withstands_every_attack(gold: str, answer_format: str):
    subject = problem(gold, answer_format)
    found = attacks(subject, heavy=gold == "72")
    verifier = Numeric()
    wrong = [
        (attack.name, attack.response[:80])
        for attack in found
        if (verifier.verify(subject, attack.response).outcome is Outcome.CORRECT)
        is not (attack.expected is Expected.ACCEPTED)
    ]
    assert wrong == []
    assert {attack.expected for attack in found} == set(Expected)


@pytest.mark.parametrize("gold", ["East", "\\text{even}", "B", "\\frac{\\sqrt{3}}{2}", "x + 1", "(1, 2)"])
def test_golds_that_are_no_numbers_are_attacked_too(gold: str):
    subject = problem(gold)
    found = attacks(subject, others=("West", "5"))
    wrong = [
        (attack.name, attack.response[:80])
        for attack in found
        if (Exact().verify(subject, attack.response).outcome is Outcome.CORRECT)
        is not (attack.expected is Expected.ACCEPTED)
    ]
    assert wrong == []
    assert named(found, "two answers")
    assert named(found, "gold in its place") == [f"\\boxed{{{gold}}}"]


@pytest.mark.parametrize("gold", ["9" * 900, "1e-900", "-1e900", "0.5e-3"])
def test_numbers_of_any_size_can_be_attacked(gold: str):
    assert named(attacks(problem(gold)), "two answers")


def test_the_same_seed_makes_the_same_attacks():
    assert attacks(problem("1234"), seed=1) == attacks(problem("1234"), seed=1)
    assert attacks(problem("1234"), seed=1) != attacks(problem("1234"), seed=2)


def test_no_response_is_tried_twice():
    responses = [attack.response for attack in attacks(problem(), heavy=True)]
    assert len(responses) == len(set(responses))


def test_a_demonstration_is_right_only_if_it_says_the_gold_answer():
    assert named(attacks(problem(demonstration="36 + 36, \\boxed{72.0}")), "demonstration")
    assert not named(attacks(problem(demonstration="36 + 36, \\boxed{62}")), "demonstration")


def test_a_prompt_that_holds_the_gold_answer_in_its_place_is_not_echoed():
    name = "echo of the prompt"
    assert named(attacks(problem(prompt="72 apples. Put the answer into \\boxed{}.")), name)
    assert not named(attacks(problem(prompt="As in \\boxed{72}.")), name)
    assert not named(attacks(problem(prompt="I have 72 apples.", answer_format="last_number")), name)


def test_long_texts_are_for_the_heavy_ones_alone():
    assert max(len(attack.response) for attack in attacks(problem())) < 20_000
    assert max(len(attack.response) for attack in attacks(problem(), heavy=True)) >= 100_000


def test_golds_of_other_problems_are_wrong_unless_they_may_be_right():
    found = named(attacks(problem("72"), others=("72.0", "5", "x + 1")), "gold of another problem")
    assert found == ["\\boxed{5}"]


def test_of_a_countdown_the_target_alone_is_wrong_and_the_demonstration_right():
    reference = CountdownTarget(numbers=(2, 3, 4), target=24)
    subject = Problem(
        id="toy/1", prompt="?", reference=reference, verifier="countdown", demonstration="<answer>2*3*4</answer>"
    )
    found = attacks(subject)
    assert named(found, "target itself") == ["<answer>24</answer>", "<answer>24*1</answer>"]
    assert [attack.name for attack in found if attack.expected is Expected.ACCEPTED] == ["demonstration"]
    trivial = Problem(id="toy/2", prompt="?", reference=CountdownTarget(numbers=(5,), target=5), verifier="countdown")
    assert not named(attacks(trivial), "target itself")


@dataclass(frozen=True)
class Word:
    word: str


def test_of_a_foreign_reference_what_needs_no_gold_answer_is_tried():
    subject = Problem(id="toy/1", prompt="Say hello.", reference=Word(word="hello"), verifier="mine")
    found = attacks(subject)
    assert {attack.expected for attack in found} == {Expected.REJECTED}
    assert {"empty", "tag spam", "injection", "echo of the prompt"} <= {attack.name for attack in found}
