"""Countdown: combine given numbers with + - * / into a target. Procedural, seeded, nothing to download.

A problem is built backwards from an expression, so that it has a solution: two of the numbers are joined by an
operation that leaves a positive whole number, then two of what is left, until one number is left, the target. The
expression becomes the demonstration:

    7-3=4
    4*25=100
    <answer>(7-3)*25</answer>
"""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.errors import TaskOptionError
from tasks.types import CountdownTarget, Problem
from tasks.virtual_problems import VirtualProblems

OPERATIONS = "+-*/"
INSTRUCTION = "Work step by step. Then write the expression alone within answer tags, such as <answer>(1+2)*3</answer>."

_TEST_SHARE = 10
"""One set of numbers and target in this many belongs to the test split."""
_TRIES = 20_000
"""Options under which fewer than _FOUND of so many draws give a problem are refused: drawing would take too long."""
_FOUND = 20


def in_test_split(numbers: Sequence[int], target: int) -> bool:
    """Tell whether making `target` of `numbers` is a test problem, whatever the seed and the order of the numbers."""
    key = f"{'+'.join(str(number) for number in sorted(numbers))}={target}"
    return hashlib.blake2b(key.encode(), digest_size=8).digest()[0] % _TEST_SHARE == 0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Term:
    """An expression with its value."""

    value: int
    text: str
    rank: int
    """How tightly it holds together: 0 a sum or difference, 1 a product or quotient, 2 a number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Puzzle:
    """Numbers, their target and a way to it."""

    numbers: tuple[int, ...]
    target: int
    steps: tuple[str, ...]
    expression: str


class Countdown:
    """Problems with a few numbers and a target that they make.

    Train and test problems are disjoint by construction: a hash of the numbers, in any order, and the target decides.

    Args:
        numbers: how many numbers a problem has, 2 to 6, or several counts to choose from; the difficulty.
        max_number: numbers lie between 1 and this.
        max_target: targets lie between 1 and this; none equals one of the numbers.
        operations: what targets are made with. A response may use + - * / all the same.
        use_all: whether a response must use every number; if not, it may leave some out.
        train_problems: length of the train split; each is made when it is asked for.
        test_problems: length of the test split, all different.
        seed: which problems are drawn.
        instruction: follows the problem on a line of its own; "" for none.

    Raises:
        TaskOptionError: an option out of range, or options that hardly any or too few problems satisfy.
    """

    name = "countdown"

    def __init__(
        self,
        *,
        numbers: int | list[int] = 3,
        max_number: int = 99,
        max_target: int = 100,
        operations: str = OPERATIONS,
        use_all: bool = True,
        train_problems: int = 200_000,
        test_problems: int = 500,
        seed: int = 0,
        instruction: str = INSTRUCTION,
    ) -> None:
        self._counts = [numbers] if isinstance(numbers, int) else list(numbers)
        if not self._counts or not all(2 <= count <= 6 for count in self._counts):
            raise TaskOptionError(f"task.options.numbers: a problem has 2 to 6 numbers, got {numbers}")
        if not operations or not set(operations) <= set(OPERATIONS):
            raise TaskOptionError(f'task.options.operations: some of "{OPERATIONS}", got "{operations}"')
        for name, value, least in (
            ("max_number", max_number, 2),
            ("max_target", max_target, 2),
            ("train_problems", train_problems, 1),
            ("test_problems", test_problems, 1),
        ):
            if value < least:
                raise TaskOptionError(f"task.options.{name}: must be at least {least}, got {value}")
        self._max_number = max_number
        self._max_target = max_target
        self._operations = [sign for sign in OPERATIONS if sign in operations]
        self._use_all = use_all
        self._train_problems = train_problems
        self._test_problems = test_problems
        self._seed = seed
        self._instruction = instruction
        self._check_plenty()

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the "train" or "test" problems.

        Raises:
            TaskOptionError: no such split, or there are too few different test problems.
        """
        if split == "train":
            return VirtualProblems(self._train_problems, self._train_problem)
        if split != "test":
            raise TaskOptionError(f"task 'countdown' has the splits 'train' and 'test', not {split!r}")
        return [self._problem(f"test/{index}", puzzle) for index, puzzle in enumerate(self._test_puzzles())]

    def _train_problem(self, index: int) -> Problem:
        rng = random.Random(f"countdown/train/{self._seed}/{index}")
        while True:
            puzzle = self._draw(rng)
            if puzzle and not in_test_split(puzzle.numbers, puzzle.target):
                return self._problem(f"train/{index}", puzzle)

    def _test_puzzles(self) -> list[_Puzzle]:
        rng = random.Random(f"countdown/test/{self._seed}")
        puzzles: dict[tuple[tuple[int, ...], int], _Puzzle] = {}
        tries_in_vain = 0
        while len(puzzles) < self._test_problems:
            before = len(puzzles)
            puzzle = self._draw(rng)
            if puzzle and in_test_split(puzzle.numbers, puzzle.target):
                puzzles.setdefault((tuple(sorted(puzzle.numbers)), puzzle.target), puzzle)
            tries_in_vain = 0 if len(puzzles) > before else tries_in_vain + 1
            if tries_in_vain == _TRIES:
                raise TaskOptionError(
                    f"task.options.test_problems: found {len(puzzles)} different ones, not {self._test_problems};"
                    " ask for fewer, or raise numbers, max_number or max_target"
                )
        return list(puzzles.values())

    def _check_plenty(self) -> None:
        """Make sure that _train_problem ends soon for every index."""
        rng = random.Random("countdown/plenty")
        found = 0
        for _ in range(_TRIES):
            puzzle = self._draw(rng)
            found += puzzle is not None and not in_test_split(puzzle.numbers, puzzle.target)
            if found == _FOUND:
                return
        raise TaskOptionError(
            f"task.options: hardly any {self._counts} numbers up to {self._max_number} make a target up to"
            f' {self._max_target} with "{"".join(self._operations)}"; raise max_target, or ask for other numbers'
        )

    def _draw(self, rng: random.Random) -> _Puzzle | None:
        """Return what a random expression makes; None where it leads nowhere or to no target that is wanted."""
        numbers = tuple(rng.randint(1, self._max_number) for _ in range(rng.choice(self._counts)))
        terms = [_Term(value=number, text=str(number), rank=2) for number in numbers]
        steps: list[str] = []
        while len(terms) > 1:
            left, right = (terms.pop(rng.randrange(len(terms))) for _ in range(2))
            choices = [
                (sign, value)
                for sign in self._operations
                if (value := _positive_whole(sign, left.value, right.value)) is not None
            ]
            if not choices:
                return None
            sign, value = rng.choice(choices)
            steps.append(f"{left.value}{sign}{right.value}={value}")
            terms.append(_joined(sign, left, right, value))
        target = terms[0].value
        if target > self._max_target or target in numbers:
            return None
        return _Puzzle(numbers=numbers, target=target, steps=tuple(steps), expression=terms[0].text)

    def _problem(self, place: str, puzzle: _Puzzle) -> Problem:
        *others, last = (str(number) for number in puzzle.numbers)
        rule = "Use every number exactly once" if self._use_all else "Use each number at most once"
        question = (
            f"Make {puzzle.target} from the numbers {', '.join(others)} and {last}."
            f" {rule}, with + - * / and parentheses."
        )
        return Problem(
            id=f"{self.name}/{place}",
            prompt="\n".join(part for part in (question, self._instruction) if part),
            reference=CountdownTarget(numbers=puzzle.numbers, target=puzzle.target, use_all=self._use_all),
            verifier="countdown",
            demonstration="\n".join([*puzzle.steps, f"<answer>{puzzle.expression}</answer>"]),
            metadata={"numbers": puzzle.numbers, "target": puzzle.target},
        )


def _positive_whole(sign: str, left: int, right: int) -> int | None:
    """Return what the operation makes of two positive numbers, None where that is no positive whole number."""
    if sign == "+":
        return left + right
    if sign == "*":
        return left * right
    if sign == "-":
        return left - right if left > right else None
    return left // right if left % right == 0 else None


def _joined(sign: str, left: _Term, right: _Term, value: int) -> _Term:
    """Write the operation with no more parentheses than it needs."""
    rank = 1 if sign in "*/" else 0
    left_text = f"({left.text})" if left.rank < rank else left.text
    right_text = f"({right.text})" if right.rank < rank or (right.rank == rank and sign in "-/") else right.text
    return _Term(value=value, text=f"{left_text}{sign}{right_text}", rank=rank)
