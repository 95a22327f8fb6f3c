"""The problems that stored responses answer, found again in their task."""

from collections.abc import Iterable, Sequence

from rlvr.evaluation.pass_rate import Row
from tasks.types import Problem

_SCANNED = 1_000_000
"""Problems of a virtual sequence that are made in search of an id whose index is not its place."""


class ProblemsById:
    """Finds problems by their ids, which end in the problem's index as a rule ("gsm8k/train/17").

    Args:
        splits: the task's problems; each may be virtual.
    """

    def __init__(self, splits: Sequence[Sequence[Problem]]) -> None:
        self._splits = splits
        self._found: dict[str, Problem] = {}
        self._absent: set[str] = set()

    def look_up(self, ids: Iterable[str]) -> None:
        """Find these problems: at their index first; those that are not there in one pass over all problems."""
        missing = set()
        for name in set(ids) - self._found.keys() - self._absent:
            problem = self._at_its_index(name)
            if problem is None:
                missing.add(name)
            else:
                self._found[name] = problem
        for problems in self._splits:
            last = len(problems) if isinstance(problems, list | tuple) else min(len(problems), _SCANNED)
            for index in range(last if missing else 0):
                problem = problems[index]
                if problem.id in missing:
                    self._found[problem.id] = problem
                    missing.discard(problem.id)
                    if not missing:
                        break
        self._absent |= missing

    def get(self, row: Row) -> Problem | None:
        """Return the problem of a row, looked up before; None where the task has none of that id and prompt."""
        problem = self._found.get(row["problem"])
        # Of the same name and another prompt, it is another problem: its reference would judge at random.
        return None if problem is None or problem.prompt != row["prompt"] else problem

    def _at_its_index(self, name: str) -> Problem | None:
        last = name.rpartition("/")[2]
        if not last.isascii() or not last.isdecimal() or len(last) > 18:
            return None
        for problems in self._splits:
            if int(last) < len(problems) and problems[int(last)].id == name:
                return problems[int(last)]
        return None
