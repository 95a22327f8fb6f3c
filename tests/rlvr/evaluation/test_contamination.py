import random

import pytest
from support.shared_data import shared_file

from rlvr.evaluation import contamination as module
from rlvr.evaluation.contamination import contamination
from tasks.gsm8k import Gsm8k
from tasks.types import AssertTests, MathAnswer, Problem
from tasks.virtual_problems import VirtualProblems

INSTRUCTION = "Answer with the number alone, please."


def words(seed: int, count: int = 30) -> str:
    rng = random.Random(seed)
    return " ".join(f"w{rng.randrange(10_000)}" for _ in range(count))


def problem(name: str, prompt: str, **others) -> Problem:
    others = {"reference": MathAnswer(value="1"), **others}
    return Problem(id=name, prompt=prompt, verifier="numeric", **others)


def problems(split: str, prompts: list[str]) -> list[Problem]:
    return [problem(f"t/{split}/{index}", prompt) for index, prompt in enumerate(prompts)]


TRAIN = problems("train", [words(seed) for seed in range(100)])


def test_texts_that_have_nothing_in_common_share_nothing():
    found = contamination(TRAIN, problems("test", [words(1000 + seed) for seed in range(20)]))
    assert (found.held_out, found.verbatim, found.overlapping, found.too_short) == (20, 0, 0, 0)
    assert found.examples == ()


def test_a_copy_is_found_whatever_its_letter_case_and_spacing():
    found = contamination(TRAIN, problems("test", [words(1000), f"  {words(7).upper()}\n"]))
    assert (found.verbatim, found.overlapping) == (1, 0)
    assert (found.examples[0].held_out, found.examples[0].train, found.examples[0].share) == (
        "t/test/1",
        "t/train/7",
        1,
    )


def test_thirteen_words_in_a_row_are_found_and_twelve_are_not():
    def with_words_of(count: int) -> str:
        return " ".join([words(1, 20), *words(5).split()[3 : 3 + count], words(2, 20)])

    others = problems("train", [words(seed) for seed in range(4, 60)])
    found = contamination(others, problems("test", [with_words_of(12), with_words_of(13)]))
    assert (found.verbatim, found.overlapping, found.half) == (0, 1, 0)
    assert found.examples[0].held_out == "t/test/1"
    assert found.examples[0].words == " ".join(words(5).split()[3:16])


def test_an_n_gram_is_found_whatever_the_punctuation():
    found = contamination(TRAIN, problems("test", [words(7).replace(" ", ", ")]))
    assert (found.verbatim, found.overlapping, found.half) == (0, 1, 1)


def test_short_texts_are_looked_up_as_a_whole():
    train = problems("train", [f"{a}+{a + 1}=" for a in range(50)])
    found = contamination(train, problems("test", ["3+4=", "3-4=", "4+3="]))
    assert (found.verbatim, found.overlapping, found.too_short) == (1, 0, 3)


@pytest.mark.parametrize("template", ["{} " + INSTRUCTION, INSTRUCTION + " {}", words(77, 40) + " {} " + words(78, 40)])
def test_the_words_around_each_problem_flag_nothing(template):
    train = problems("train", [template.format(words(seed)) for seed in range(100)])
    fresh = [template.format(words(1000 + seed)) for seed in range(20)]
    found = contamination(train, problems("test", [*fresh, template.format(words(7) + " again")]))
    assert (found.verbatim, found.overlapping, found.half) == (0, 1, 1)
    assert found.examples[0].train == "t/train/7"


def test_a_short_instruction_after_a_common_ending_flags_nothing():
    ending = "how many apples does she have left in all"
    train = problems("train", [f"{words(seed)} {ending} {INSTRUCTION}" for seed in range(4)])
    train += problems("train", [f"{words(seed)} {INSTRUCTION}" for seed in range(4, 100)])
    found = contamination(train, problems("test", [f"{words(1000)} {ending} {INSTRUCTION}"]))
    assert found.overlapping == 0


def test_the_tests_of_a_problem_and_the_demonstrations_count_as_text():
    asserts = tuple(f"assert f({seed}) == {words(seed, 4)!r}" for seed in range(8))
    test = problem("t/test/0", words(1000), reference=AssertTests(asserts=asserts))
    taught = [*TRAIN, problem("t/train/x", words(2000), demonstration="\n".join(asserts))]
    assert contamination(TRAIN, [test]).overlapping == 0
    found = contamination(taught, [test])
    assert (found.overlapping, found.examples[0].train) == (1, "t/train/x")


def test_a_virtual_sequence_is_looked_at_evenly_and_the_sentence_says_so(monkeypatch):
    monkeypatch.setattr(module, "AT_MOST", 10)
    made = []

    def make(index: int) -> Problem:
        made.append(index)
        return problem(f"t/train/{index}", words(index))

    found = contamination(VirtualProblems(10**12, make), problems("test", [words(-1)]))
    assert made == [i * 10**11 for i in range(10)]
    assert (found.train, found.train_total) == (10, 10**12)
    assert "10 training problems (drawn evenly from 1,000,000,000,000)" in found.sentence()


def test_gsm8k_has_hardly_any_overlap_and_a_leak_of_it_is_seen():
    task = Gsm8k(train_path=shared_file("data/gsm8k_train.jsonl"), test_path=shared_file("data/gsm8k_test.jsonl"))
    train, test = task.problems("train"), task.problems("test")
    found = contamination([*train, *test[:50]], test)
    assert found.verbatim == 50
    assert 0 < found.overlapping < 10
