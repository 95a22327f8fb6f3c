"""Problems that are made when they are asked for."""

from collections.abc import Callable, Sequence
from typing import overload

from tasks.types import Problem


class VirtualProblems(Sequence[Problem]):
    """As many problems as wanted, none of them kept.

    Args:
        count: how many there are.
        make: makes the problem of an index from 0 to `count` - 1, the same one at every call.
    """

    def __init__(self, count: int, make: Callable[[int], Problem]) -> None:
        self._count = count
        self._make = make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Problem: ...
    @overload
    def __getitem__(self, index: slice) -> list[Problem]: ...
    def __getitem__(self, index: int | slice) -> Problem | list[Problem]:
        if isinstance(index, slice):
            return [self._make(i) for i in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(f"problem {index} of {self._count}")
        return self._make(index % self._count)
