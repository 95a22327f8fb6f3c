"""Column addition with written working: procedural, seeded, as long as wanted, nothing to download.

A problem is "347+85=". A right response adds the columns from the units up, names each carry, and ends with the sum:

    7+5=12 4+8+1=13 3+0+1=4 #432

Demonstrations slip: with probability `slip_rate` a carry is forgotten ("4+8=12" above), and the sum is then wrong. A
model that imitates them learns the format and the habit of forgetting; only the verifier can teach it to carry.
"""

import hashlib
import random
from collections.abc import Sequence

from tasks.errors import TaskOptionError
from tasks.types import MathAnswer, Problem
from tasks.virtual_problems import VirtualProblems

_TEST_SHARE = 10
"""One pair of operands in this many belongs to the test split."""


def in_test_split(a: int, b: int) -> bool:
    """Tell whether the sum of `a` and `b` is a test problem, whatever the seed; b + a goes where a + b goes."""
    low, high = sorted((a, b))
    return hashlib.blake2b(f"{low}+{high}".encode(), digest_size=8).digest()[0] % _TEST_SHARE == 0


def working(a: int, b: int, carried: Sequence[bool]) -> str:
    """Write the column addition of `a` and `b`, then "#" and the sum it leads to.

    Args:
        carried: for each column from the units up, whether a carry into the next column is remembered (if there is
        one).
    """
    steps: list[str] = []
    digits: list[str] = []
    carry = 0
    for column, remembers in enumerate(carried):
        digit_a, digit_b = a // 10**column % 10, b // 10**column % 10
        total = digit_a + digit_b + carry
        steps.append(f"{digit_a}+{digit_b}{'+1' if carry else ''}={total}")
        digits.append(str(total if column == len(carried) - 1 else total % 10))
        carry = int(total >= 10 and remembers)
    return f"{' '.join(steps)} #{int(''.join(reversed(digits)))}"


def _problem(split: str, index: int, a: int, b: int, slip_rate: float, rng: random.Random) -> Problem:
    columns = len(str(max(a, b)))
    remembered = [rng.random() >= slip_rate for _ in range(columns)]
    return Problem(
        id=f"arithmetic/{split}/{index}",
        prompt=f"{a}+{b}=",
        reference=MathAnswer(value=str(a + b), answer_format="marker:#"),
        verifier="numeric",
        demonstration=working(a, b, remembered),
        metadata={"a": a, "b": b},
    )


class Arithmetic:
    """Addition of two numbers of up to `digits` digits.

    Train and test problems are disjoint by construction: a hash of the unordered pair of operands decides the split.

    Args:
        digits: digits of the larger operands, 1 to 9; the difficulty.
        slip_rate: probability that a demonstration forgets a carry.
        train_problems: length of the train split; each is made when it is asked for.
        test_problems: length of the test split, all different; 0 takes 1000, or as many as `digits` allows.
        seed: which problems are drawn, and where demonstrations slip.

    Raises:
        TaskOptionError: an option out of range, or more test problems wanted than exist.
    """

    name = "arithmetic"

    def __init__(
        self,
        *,
        digits: int = 3,
        slip_rate: float = 0.7,
        train_problems: int = 200_000,
        test_problems: int = 0,
        seed: int = 0,
    ) -> None:
        if not 1 <= digits <= 9:
            raise TaskOptionError(f"task.options.digits: must lie in 1 to 9, got {digits}")
        if not 0.0 <= slip_rate <= 1.0:
            raise TaskOptionError(f"task.options.slip_rate: must lie in 0 to 1, got {slip_rate}")
        most = 10 ** (2 * digits) // (4 * _TEST_SHARE)
        if train_problems < 1:
            raise TaskOptionError(f"task.options.train_problems: must be at least 1, got {train_problems}")
        if not 0 <= test_problems <= most:
            raise TaskOptionError(
                f"task.options.test_problems: with digits = {digits} there can be 1 to {most} different ones, "
                f"got {test_problems}"
            )
        self.digits = digits
        self.slip_rate = slip_rate
        self.seed = seed
        self._train_problems = train_problems
        self._test_problems = test_problems or min(1000, most)

    def draw(self, rng: random.Random) -> tuple[int, int]:
        """Draw two operands, uniform below 10 ** digits."""
        return rng.randrange(10**self.digits), rng.randrange(10**self.digits)

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the "train" or "test" problems."""
        if split == "train":
            return VirtualProblems(self._train_problems, self._train_problem)
        if split != "test":
            raise TaskOptionError(f"task 'arithmetic' has the splits 'train' and 'test', not {split!r}")
        rng = random.Random(f"arithmetic/test/{self.seed}")
        pairs: dict[tuple[int, int], tuple[int, int]] = {}
        while len(pairs) < self._test_problems:
            a, b = self.draw(rng)
            if in_test_split(a, b):
                pairs.setdefault((min(a, b), max(a, b)), (a, b))
        return [_problem("test", index, a, b, self.slip_rate, rng) for index, (a, b) in enumerate(pairs.values())]

    def _train_problem(self, index: int) -> Problem:
        rng = random.Random(f"arithmetic/train/{self.seed}/{index}")
        while True:
            a, b = self.draw(rng)
            if not in_test_split(a, b):
                return _problem("train", index, a, b, self.slip_rate, rng)
