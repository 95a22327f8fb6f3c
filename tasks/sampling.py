"""An endless shuffled stream of problems that can stop and go on anywhere."""

import random
from collections.abc import Mapping, Sequence

from tasks.errors import TaskDataError, TaskError
from tasks.types import Problem

_ROUNDS = 6
_MASK = (1 << 64) - 1


class ProblemSampler:
    """Draws problems in shuffled epochs: each problem once, then all again in another order.

    The order of an epoch follows from (seed, epoch) alone and is computed place by place, so that the state is two
    numbers and a virtual sequence of any length costs no memory.

    Raises:
        TaskDataError: there are no problems.
    """

    def __init__(self, problems: Sequence[Problem], seed: int) -> None:
        if len(problems) == 0:
            raise TaskDataError("there are no problems to draw from; check the task's data and its split")
        self._problems = problems
        self._seed = seed
        self._epoch = 0
        self._position = 0

    def next(self, count: int) -> list[Problem]:
        """Return the next `count` problems; they may span epochs."""
        drawn = []
        keys = _round_keys(self._seed, self._epoch)
        for _ in range(count):
            drawn.append(self._problems[_shuffled(self._position, len(self._problems), keys)])
            self._position += 1
            if self._position == len(self._problems):
                self._epoch, self._position = self._epoch + 1, 0
                keys = _round_keys(self._seed, self._epoch)
        return drawn

    def state_dict(self) -> dict[str, int]:
        """Return where the stream stands, as plain numbers."""
        return {
            "seed": self._seed,
            "epoch": self._epoch,
            "position": self._position,
            "length": len(self._problems),
        }

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Go on where `state` was taken.

        Raises:
            TaskError: the state belongs to another number of problems, or is no sampler state.
        """
        missing = {"seed", "epoch", "position", "length"} - state.keys()
        if missing:
            raise TaskError(f"this is not the state of a problem sampler: it has no {', '.join(sorted(missing))}")
        if state["length"] != len(self._problems):
            raise TaskError(
                f"the saved sampler state belongs to {state['length']} problems, but the task now has "
                f"{len(self._problems)}; resume with the data and task.options of the saved run"
            )
        self._seed, self._epoch, self._position = state["seed"], state["epoch"], state["position"]


def _round_keys(seed: int, epoch: int) -> list[int]:
    rng = random.Random(f"problem sampler/{seed}/{epoch}")
    return [rng.getrandbits(64) for _ in range(_ROUNDS)]


def _shuffled(position: int, length: int, keys: Sequence[int]) -> int:
    """Return where `position` goes in a permutation of range(length) that `keys` select.

    A balanced Feistel network permutes the next power of four; what lands outside the range walks on until it is
    inside (Black and Rogaway 2002, Ciphers with Arbitrary Finite Domains), which leaves a permutation of the range.
    """
    half_bits = max(2, ((length - 1).bit_length() + 1) // 2)
    half_mask = (1 << half_bits) - 1
    place = position
    while True:
        left, right = place >> half_bits, place & half_mask
        for key in keys:
            left, right = right, left ^ (_mixed(right ^ key) & half_mask)
        place = left << half_bits | right
        if place < length:
            return place


def _mixed(x: int) -> int:
    """Spread every bit of `x` over 64 bits (the finalizer of splitmix64)."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
    return x ^ x >> 31
