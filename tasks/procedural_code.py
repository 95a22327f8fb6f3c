"""Small functions to write: procedural, seeded, as many as wanted, nothing to download.

A problem says in words what f does, in as many steps as its level:

    f(a): keep numbers over 3, then sum them and add 2

Hidden cases judge a response. The expected values come from functions of ours, not from the demonstrated source; among
the inputs are an empty or negative one, and for each step one that its family's mistake gets wrong, where there is any.

Demonstrations slip: with probability `slip_rate` a step is done with that mistake. A model that imitates them learns
the language and the mistakes; only the verifier can teach it to do without. The mistakes: a bound on the wrong side
(keep, count), counting from one (slice, every), the last number left out (sum_to), the empty list forgotten (largest)
or negative numbers (multiples), zeros before the sign (pad), capitals forgotten (letter), a mark at the end (repeat),
texts marked as cut that are not (shorten), a recursion that ends too early (recurrence). scale, total, join and the
slices at the end of a list have none.
"""

import ast
import hashlib
import random
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tasks.errors import TaskOptionError
from tasks.procedural_steps import FAMILIES, Kind, Step
from tasks.python_source import fenced
from tasks.types import FunctionCase, FunctionTests, Problem
from tasks.virtual_problems import VirtualProblems

MAX_LEVEL = 4

_TEST_SHARE = 10
"""One program in this many belongs to the test split."""
_TRIES = 20_000
"""The search for test problems ends after so many draws without a new one."""
_POOL = 40
"""Inputs among which those of the cases are chosen."""
_DIFFERENT_VALUES = 3
"""The cases of a problem expect at least so many different values."""
_PARAMETERS: dict[Kind, tuple[str, str]] = {
    "ints": ("a", "list[int]"),
    "int": ("n", "int"),
    "index": ("n", "int"),
    "text": ("s", "str"),
}


def in_test_split(steps: Sequence[Step]) -> bool:
    """Tell whether the program of these steps is a test problem, whatever the seed."""
    return hashlib.blake2b(_text(steps).encode(), digest_size=8).digest()[0] % _TEST_SHARE == 0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Program:
    families: tuple[str, ...]
    steps: tuple[Step, ...]
    takes: Kind
    cases: tuple[FunctionCase, ...]


class ProceduralCode:
    """Functions of one step or several on a list of integers, an integer or a text.

    Train and test problems are disjoint by construction: a hash of the steps with their parameters decides.

    Args:
        level: steps of a program, 1 to 4; no family comes twice.
        families: what steps are drawn from, all of tasks.procedural_steps.FAMILIES unless given. A recurrence is a
            program of its own, at level 1 alone.
        slip_rate: probability that a step of a demonstration has its family's mistake.
        bare: prompts and responses for tiny models: no instruction, no word after the fence, no spare blanks.
        tests_per_problem: hidden cases, at least two more than the level.
        train_problems: length of the train split; each is made when it is asked for.
        test_problems: length of the test split, all different.
        seed: which problems are drawn, and where demonstrations slip.

    Raises:
        TaskOptionError: an option out of range, or families that no program of that level can be made of.
    """

    name = "procedural_code"

    def __init__(
        self,
        *,
        level: int = 1,
        families: list[str] | None = None,
        slip_rate: float = 0.0,
        bare: bool = False,
        tests_per_problem: int = 6,
        train_problems: int = 200_000,
        test_problems: int = 100,
        seed: int = 0,
    ) -> None:
        if not 1 <= level <= MAX_LEVEL:
            raise TaskOptionError(f"task.options.level: must lie in 1 to {MAX_LEVEL}, got {level}")
        if not 0.0 <= slip_rate <= 1.0:
            raise TaskOptionError(f"task.options.slip_rate: must lie in 0 to 1, got {slip_rate}")
        for option, value, least in (
            ("tests_per_problem", tests_per_problem, level + 2),
            ("train_problems", train_problems, 1),
            ("test_problems", test_problems, 1),
        ):
            if value < least:
                raise TaskOptionError(f"task.options.{option}: must be at least {least}, got {value}")
        self._chains = _chains(list(FAMILIES) if families is None else families, level)
        self._slip_rate = slip_rate
        self._bare = bare
        self._tests_per_problem = tests_per_problem
        self._train_problems = train_problems
        self._test_problems = test_problems
        self._seed = seed

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the "train" or "test" problems.

        Raises:
            TaskOptionError: no such split, or there are too few different test problems.
        """
        if split == "train":
            return VirtualProblems(self._train_problems, self._train_problem)
        if split != "test":
            raise TaskOptionError(f"task 'procedural_code' has the splits 'train' and 'test', not {split!r}")
        rng = random.Random(f"procedural_code/test/{self._seed}")
        return [self._problem(f"test/{index}", program, rng) for index, program in enumerate(self._test_programs(rng))]

    def _train_problem(self, index: int) -> Problem:
        rng = random.Random(f"procedural_code/train/{self._seed}/{index}")
        while True:
            families, steps = self._draw(rng)
            program = None if in_test_split(steps) else _program(families, steps, self._tests_per_problem, rng)
            if program:
                return self._problem(f"train/{index}", program, rng)

    def _test_programs(self, rng: random.Random) -> list[_Program]:
        programs: dict[str, _Program] = {}
        tries_in_vain = 0
        while len(programs) < self._test_problems:
            families, steps = self._draw(rng)
            tries_in_vain += 1
            if in_test_split(steps) and _text(steps) not in programs:
                program = _program(families, steps, self._tests_per_problem, rng)
                if program:
                    programs[_text(steps)] = program
                    tries_in_vain = 0
            if tries_in_vain == _TRIES:
                raise TaskOptionError(
                    f"task.options.test_problems: found {len(programs)} different ones, not {self._test_problems};"
                    " ask for fewer, or for a higher level or more families"
                )
        return list(programs.values())

    def _draw(self, rng: random.Random) -> tuple[tuple[str, ...], tuple[Step, ...]]:
        families = rng.choice(self._chains)
        return families, tuple(FAMILIES[family].draw(rng) for family in families)

    def _problem(self, place: str, program: _Program, rng: random.Random) -> Problem:
        slips = [step.slip is not None and rng.random() < self._slip_rate for step in program.steps]
        source = _source(program, slips)
        parameter, hint = _PARAMETERS[program.takes]
        text = _text(program.steps)
        if self._bare:
            prompt = f"f({parameter}): {text}\n"
            demonstration = f"```\n{source}\n```"
        else:
            signature = f"f({parameter}: {hint})"
            prompt = f"Write the Python function {signature}: {text}. Answer with one ```python block."
            demonstration = fenced(ast.unparse(ast.parse(source.replace(f"f({parameter})", signature, 1))))
        return Problem(
            id=f"{self.name}/{place}",
            prompt=prompt,
            reference=FunctionTests(function="f", cases=program.cases),
            verifier="function_tests",
            demonstration=demonstration,
            metadata={"families": program.families, "slipped": tuple(slips)},
        )


def _chains(families: Sequence[str], level: int) -> list[tuple[str, ...]]:
    """Return every row of `level` different families in which each can take what the one before it gives."""
    for name in families:
        if name not in FAMILIES:
            raise TaskOptionError(f"task.options.families: no family {name!r}; there are {', '.join(FAMILIES)}")
    chains = [(name,) for name in dict.fromkeys(families)]
    for _ in range(level - 1):
        chains = [
            (*chain, name)
            for chain in chains
            for name in dict.fromkeys(families)
            if name not in chain and FAMILIES[name].takes == FAMILIES[chain[-1]].gives
        ]
    if not chains:
        raise TaskOptionError(
            f"task.options.families: {', '.join(families) or 'none'} cannot be put together to {level} different steps"
        )
    return chains


def _text(steps: Sequence[Step]) -> str:
    return ", then ".join(step.text for step in steps)


def _source(program: _Program, slips: Sequence[bool]) -> str:
    parameter, _ = _PARAMETERS[program.takes]
    *first, last = (
        (step.slip_source if slipped and step.slip_source else step.source).format(v=parameter)
        for step, slipped in zip(program.steps, slips, strict=True)
    )
    if not first:
        return f"def f({parameter}):return {last}"
    return "\n".join([f"def f({parameter}):", *(f" {parameter}={source}" for source in first), f" return {last}"])


def _program(families: tuple[str, ...], steps: tuple[Step, ...], cases: int, rng: random.Random) -> _Program | None:
    """Return the program with its cases; None where hardly any input changes the value: a constant might pass.

    Cases are the edges, for each step an input that its slip gets wrong, then inputs with new values first.
    """
    takes = FAMILIES[families[0]].takes
    chosen, pool = _inputs(takes, steps, rng)
    for number, step in enumerate(steps):
        if step.slip:
            slipped = next((value for value in pool if _run(steps, value, slip=number) != _run(steps, value)), None)
            chosen += [] if slipped is None or slipped in chosen else [slipped]
    seen = [_run(steps, value) for value in chosen]
    for new_values_only in (True, False):
        for value in pool:
            if len(chosen) < cases and value not in chosen and not (new_values_only and _run(steps, value) in seen):
                chosen.append(value)
                seen.append(_run(steps, value))
    if sum(value not in seen[:index] for index, value in enumerate(seen)) < _DIFFERENT_VALUES:
        return None
    return _Program(
        families=families,
        steps=steps,
        takes=takes,
        cases=tuple(
            FunctionCase(arguments=(value,), expected=expected) for value, expected in zip(chosen, seen, strict=True)
        ),
    )


def _run(steps: Sequence[Step], value: Any, *, slip: int | None = None) -> Any:
    """Return what the steps make of `value`, with a slip in the step of that number; None where that raises."""
    for number, step in enumerate(steps):
        if number == slip and step.slip:
            value = step.slip(value)
            if value is None:
                return None
        else:
            value = step.apply(value)
    return value


def _inputs(takes: Kind, steps: Sequence[Step], rng: random.Random) -> tuple[list[Any], list[Any]]:
    """Return the inputs that every problem has, and others to choose from."""
    notable = [value for step in steps for value in step.notable]
    numbers = [value + offset for value in notable if isinstance(value, int) for offset in (-1, 0, 1)]
    letters = [value for value in notable if isinstance(value, str)]
    if takes == "index":
        return [0], rng.sample(range(1, 9), 8)
    if takes == "int":
        return [-rng.randint(1, 30)], [0, *numbers, *(rng.randint(-30, 90) for _ in range(_POOL))]
    lengths = [rng.randint(1, 14) for _ in range(_POOL)]
    if takes == "text":
        return [""], ["".join(_near(letters, string.ascii_letters, rng) for _ in range(length)) for length in lengths]
    return [[]], [[_near(numbers, range(-20, 71), rng) for _ in range(length)] for length in lengths]


def _near(notable: Sequence[Any], others: Sequence[Any], rng: random.Random) -> Any:
    return rng.choice(notable if notable and rng.random() < 0.4 else others)
