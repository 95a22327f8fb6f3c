import re
from pathlib import Path
from typing import Any

import pytest

from rlvr.config.loading import load_config
from rlvr.models.tiny import tiny_tokenizer
from tasks import Problem, TaskOptionError, load_task
from tasks.procedural_code import ProceduralCode
from tasks.procedural_steps import FAMILIES

LEVELS = pytest.mark.parametrize("level", [1, 2, 3, 4])
SLIPPING = set(FAMILIES) - {"scale", "total", "join"}


def problems_of(task: ProceduralCode, count: int = 150) -> list[Problem]:
    return [*task.problems("train")[:count], *task.problems("test")]


def passes(problem: Problem) -> bool:
    """Run the demonstration, which is trusted, on the cases."""
    match = re.fullmatch(r"```(?:python)?\n(.*)\n```", problem.demonstration or "", re.DOTALL)
    assert match
    namespace: dict[str, Any] = {}
    exec(match[1], namespace)
    function = namespace[problem.reference.function]
    try:
        values = [(function(*case.arguments), case.expected) for case in problem.reference.cases]
    except (ValueError, TypeError):
        return False
    return all(type(value) is type(expected) and value == expected for value, expected in values)


def words(problem: Problem) -> str:
    return re.sub(r"^f\(.\): |\n$", "", problem.prompt)


@LEVELS
@pytest.mark.parametrize("bare", [True, False])
def test_demonstrations_without_slips_pass(level: int, bare: bool):
    for problem in problems_of(ProceduralCode(level=level, bare=bare)):
        assert passes(problem), problem


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_makes_programs_that_pass_and_fails_wherever_it_slips(family: str):
    for slip_rate in (0.0, 1.0):
        task = ProceduralCode(families=[family], slip_rate=slip_rate, test_problems=1)
        for problem in problems_of(task):
            assert passes(problem) != problem.metadata["slipped"][0], problem
            assert problem.metadata["slipped"][0] <= (slip_rate == 1.0 and family in SLIPPING)


def test_a_slip_in_one_of_several_steps_fails_unless_it_changes_nothing():
    outcomes = [
        passes(problem)
        for problem in problems_of(ProceduralCode(level=3, slip_rate=0.5), 400)
        if any(problem.metadata["slipped"])
    ]
    assert outcomes.count(False) / len(outcomes) > 0.7


def test_slips_happen_at_their_rate_and_change_no_question():
    clean, slipping = (ProceduralCode(slip_rate=rate).problems("train")[:1500] for rate in (0.0, 0.6))
    can_slip = [p for p in slipping if set(p.metadata["families"]) <= SLIPPING - {"slice"}]
    assert 0.55 < sum(p.metadata["slipped"][0] for p in can_slip) / len(can_slip) < 0.65
    assert [(p.prompt, p.reference) for p in clean] == [(p.prompt, p.reference) for p in slipping]


@LEVELS
@pytest.mark.parametrize("seed", [0, 1])
def test_train_and_test_share_no_program_whatever_the_seed(level: int, seed: int):
    train = {words(p) for p in ProceduralCode(level=level, bare=True, seed=seed).problems("train")[:800]}
    test = {words(p) for p in ProceduralCode(level=level, bare=True, seed=1 - seed).problems("test")}
    assert len(test) == 100
    assert not train & test


def test_the_same_seed_gives_the_same_problems_and_another_seed_others():
    first, again, other = (ProceduralCode(seed=seed, slip_rate=0.5) for seed in (3, 3, 4))
    for split in ("train", "test"):
        assert list(first.problems(split)[:50]) == list(again.problems(split)[:50])
        assert list(first.problems(split)[:50]) != list(other.problems(split)[:50])


def test_train_problems_are_made_when_indexed():
    train = ProceduralCode(train_problems=10**9).problems("train")
    assert len(train) == 10**9
    assert train[-1] == train[10**9 - 1]
    assert train[3].id == "procedural_code/train/3"


@LEVELS
def test_cases_are_as_many_as_asked_for_all_different_and_no_constant_passes(level: int):
    for problem in problems_of(ProceduralCode(level=level, tests_per_problem=level + 3)):
        arguments = [case.arguments for case in problem.reference.cases]
        assert len(arguments) == level + 3
        assert all(arguments.count(one) == 1 for one in arguments)
        assert len({repr(case.expected) for case in problem.reference.cases}) >= 3


def test_the_edges_are_among_the_cases():
    for problem in problems_of(ProceduralCode()):
        first = problem.reference.cases[0].arguments[0]
        assert first in ([], "", 0) or first < 0


@LEVELS
def test_programs_have_as_many_steps_as_their_level_of_different_families(level: int):
    for problem in problems_of(ProceduralCode(level=level)):
        assert len(set(problem.metadata["families"])) == level
        assert problem.prompt.count(", then ") == level - 1


@pytest.mark.parametrize("bare", [True, False])
def test_prompts_and_answers_of_level_one_are_short(bare: bool):
    for problem in problems_of(ProceduralCode(bare=bare), 1500):
        assert len(problem.prompt) < 120
        assert len(problem.demonstration or "") < 120


@LEVELS
def test_bare_problems_hold_only_what_the_tiny_tokenizer_knows(level: int):
    tokenizer = tiny_tokenizer()
    for problem in problems_of(ProceduralCode(level=level, bare=True)):
        text = problem.prompt + (problem.demonstration or "")
        ids = tokenizer(text)["input_ids"]
        assert len(ids) == len(text) < 512
        assert tokenizer.unk_token_id not in ids


def test_the_length_limit_of_the_example_holds_every_demonstration_and_the_stop_token():
    config = load_config(Path(__file__).parents[2] / "examples" / "code_ppo.toml", [])
    task = load_task(config.task.name, config.task.options)
    longest = max(len(problem.demonstration or "") for problem in task.problems("train")[:3000])
    assert longest + 1 <= config.rollout.max_new_tokens


def test_a_bare_problem_and_one_in_words_ask_for_the_same():
    bare, worded = (ProceduralCode(bare=bare, families=["total"]).problems("train")[0] for bare in (True, False))
    added = re.search(r"\d+", bare.prompt)
    assert added
    assert bare.prompt == f"f(a): sum them and add {added[0]}\n"
    assert bare.demonstration == f"```\ndef f(a):return sum(a)+{added[0]}\n```"
    assert worded.prompt == (
        f"Write the Python function f(a: list[int]): sum them and add {added[0]}. Answer with one ```python block."
    )
    assert worded.demonstration == f"```python\ndef f(a: list[int]):\n    return sum(a) + {added[0]}\n```"
    assert bare.reference == worded.reference


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0}, r"task\.options\.level: must lie in 1 to 4, got 0"),
        ({"slip_rate": 1.1}, r"task\.options\.slip_rate: must lie in 0 to 1"),
        ({"tests_per_problem": 2}, r"task\.options\.tests_per_problem: must be at least 3, got 2"),
        ({"level": 3, "tests_per_problem": 4}, r"task\.options\.tests_per_problem: must be at least 5"),
        ({"train_problems": 0}, r"task\.options\.train_problems"),
        ({"test_problems": 0}, r"task\.options\.test_problems"),
        ({"families": ["keep", "sort"]}, r"task\.options\.families: no family 'sort'; there are keep, slice"),
        ({"families": []}, r"task\.options\.families: none cannot be put together"),
        ({"families": ["recurrence"], "level": 2}, r"recurrence cannot be put together to 2 different steps"),
    ],
)
def test_an_option_that_cannot_be_is_named(options: dict[str, Any], message: str):
    with pytest.raises(TaskOptionError, match=message):
        load_task("procedural_code", options)


def test_more_test_problems_than_there_are_is_refused():
    with pytest.raises(TaskOptionError, match=r"task\.options\.test_problems: found \d+ different ones, not 40"):
        ProceduralCode(families=["pad"], test_problems=40).problems("test")


def test_an_unknown_split_is_refused_with_those_there_are():
    with pytest.raises(TaskOptionError, match=r"'train' and 'test', not 'valid'"):
        ProceduralCode().problems("valid")
