"""Where a task's train and test problems come from: two files, a hub data set, or one file divided by a seed."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tasks.errors import TaskDataError, TaskOptionError
from tasks.rows import Row, is_local, read_rows

SPLITS = ("train", "test")


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where the two splits lie."""

    path: str | None = None
    """A hub data set, which has splits of its own, or one file that is divided; None with the two below."""
    train_path: str | None = None
    test_path: str | None = None
    hub_config: str | None = None
    test_size: int = 0
    """At least so many rows of a divided file are test rows."""
    split_seed: int = 0

    def __post_init__(self) -> None:
        if self.test_size < 0:
            raise TaskOptionError(f"task.options.test_size: must be at least 0, got {self.test_size}")
        if self.path and (self.train_path or self.test_path):
            raise TaskOptionError("task.options.path: give either this or train_path and test_path, not both")


def check_split(split: str, *, task: str) -> None:
    """Raise TaskOptionError unless `split` is "train" or "test"."""
    if split not in SPLITS:
        raise TaskOptionError(f"task {task!r} has no split {split!r}; its splits: {', '.join(SPLITS)}")


def read_split(split: str, source: Source, *, task: str, group: Callable[[Row], str]) -> list[tuple[int, Row]]:
    """Return the rows of a split, each with its index (from 0) in the file or hub split that holds it.

    Args:
        group: rows of the same group fall on the same side when one file is divided.

    Raises:
        TaskError: there is no such split, or its data cannot be read.
    """
    check_split(split, task=task)
    if source.path is None:
        path = source.train_path if split == "train" else source.test_path
        if path is None:
            raise TaskDataError(f"task {task!r} was given no {split} data; set task.options.{split}_path")
        return list(enumerate(read_rows(path, split=split, hub_config=source.hub_config)))
    rows = read_rows(source.path, split=split, hub_config=source.hub_config)
    if not is_local(source.path):
        return list(enumerate(rows))
    in_test = divide([group(row) for row in rows], test_size=source.test_size, seed=source.split_seed, name=source.path)
    return [(index, row) for index, row in enumerate(rows) if in_test[index] == (split == "test")]


def divide(groups: Sequence[str], *, test_size: int, seed: int, name: str) -> list[bool]:
    """Choose test rows: for each row, given by the group it belongs to, tell whether it is one.

    Whole groups are taken, in an order that `seed` and the group's own text decide, until there are at least
    `test_size` rows.

    Raises:
        TaskDataError: no rows are left for one of the splits; `name` is what was to be divided.
    """
    sizes: dict[str, int] = {}
    for group in groups:
        sizes[group] = sizes.get(group, 0) + 1
    chosen: set[str] = set()
    taken = 0
    for group in sorted(
        sizes, key=lambda group: hashlib.blake2b(f"{seed}/{group}".encode("utf-8", "replace")).digest()
    ):
        if taken >= test_size:
            break
        chosen.add(group)
        taken += sizes[group]
    if not 0 < taken < len(groups):
        raise TaskDataError(
            f"{name}: cannot divide {len(groups)} rows so that the test split has at least {test_size}"
            " and both splits have some; set task.options.test_size"
        )
    return [group in chosen for group in groups]
