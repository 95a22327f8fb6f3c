r"""MATH: competition problems in LaTeX (Hendrycks et al. 2021, arXiv:2103.03874); MATH-500: 500 of its test problems.

The gold answer is the column "answer" where the data has one, else the last \boxed{} of the solution.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.errors import TaskDataError, TaskOptionError
from tasks.rows import Row, read_rows
from tasks.splits import Source, check_split, divide, read_split
from tasks.types import MathAnswer, Problem

HUB_ID = "EleutherAI/hendrycks_math"
MATH500_HUB_ID = "HuggingFaceH4/MATH-500"
INSTRUCTION = "Reason step by step, and put the final answer within \\boxed{}."
SUBJECTS = (
    "algebra",
    "counting_and_probability",
    "geometry",
    "intermediate_algebra",
    "number_theory",
    "prealgebra",
    "precalculus",
)

_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)  # \{ and \} are no braces to TeX; neither is anything behind "\\"
_END_OF_BRACELESS = re.compile(r"\$|\\[\])]|\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wanted:
    """Which problems to keep; None keeps all."""

    levels: tuple[int, ...] | None
    subjects: tuple[str, ...] | None


class HendrycksMath:
    r"""The MATH data set: 7,500 train and 5,000 test problems whose answer stands in \boxed{}.

    MATH-500 is a part of the test split, so train on the train split alone if MATH-500 measures the outcome.

    Args:
        path: the hub data set, or one file that is divided by `split_seed`; without any path the hub's
            EleutherAI/hendrycks_math.
        train_path, test_path: a file for each split, in place of `path`.
        test_size: at least so many test problems when `path` is one file.
        split_seed: which rows of that file become test problems.
        instruction: follows the problem on a line of its own; "" for none.
        levels: keep these levels of difficulty alone, 1 (easiest) to 5.
        subjects: keep these subjects alone, for instance ["algebra", "number_theory"].
    """

    name = "hendrycks_math"

    def __init__(
        self,
        *,
        path: str | None = None,
        train_path: str | None = None,
        test_path: str | None = None,
        test_size: int = 500,
        split_seed: int = 0,
        instruction: str = INSTRUCTION,
        levels: list[int] | None = None,
        subjects: list[str] | None = None,
    ) -> None:
        self._wanted = _wanted(levels, subjects)
        if path is None and train_path is None and test_path is None:
            path = HUB_ID
        # The hub's copy holds each subject as a data set of its own.
        configs = (self._wanted.subjects or SUBJECTS) if path == HUB_ID else (None,)
        self._sources = {
            config: Source(
                path=path,
                train_path=train_path,
                test_path=test_path,
                hub_config=config,
                test_size=test_size,
                split_seed=split_seed,
            )
            for config in configs
        }
        self._instruction = instruction
        self._problems: dict[str, list[Problem]] = {}

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the "train" or "test" problems, in the order of the data."""
        if split not in self._problems:
            named_rows = [
                (f"{self.name}/{split}/{f'{config}/' if config else ''}{index}", row)
                for config, source in self._sources.items()
                for index, row in read_split(split, source, task=self.name, group=_group)
            ]
            self._problems[split] = _chosen_problems(named_rows, self._wanted, self._instruction)
        return self._problems[split]


class Math500:
    """MATH-500 (Lightman et al. 2023, arXiv:2305.20050): 500 problems of the MATH test split, to measure with.

    Args:
        path: a file or hub data set with all of them.
        test_size: divide the problems: at least so many stay test problems, the others become train problems.
            Without it there are test problems only, and all 500 are.
        split_seed: which ones `test_size` takes.
        instruction: follows the problem on a line of its own; "" for none.
        levels: keep these levels of difficulty alone, 1 (easiest) to 5.
        subjects: keep these subjects alone, for instance ["algebra", "number_theory"]. Neither this nor `levels`
            changes the side that a problem is on.
    """

    name = "math500"

    def __init__(
        self,
        *,
        path: str = MATH500_HUB_ID,
        test_size: int | None = None,
        split_seed: int = 0,
        instruction: str = INSTRUCTION,
        levels: list[int] | None = None,
        subjects: list[str] | None = None,
    ) -> None:
        if test_size is not None and test_size < 1:
            raise TaskOptionError(f"task.options.test_size: must be at least 1, got {test_size}")
        self._wanted = _wanted(levels, subjects)
        self._path = path
        self._test_size = test_size
        self._split_seed = split_seed
        self._instruction = instruction
        self._problems: dict[str, list[Problem]] = {}

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the "test" problems, or the "train" problems that `test_size` leaves, in the order of the data."""
        if split not in self._problems:
            named_rows = [(f"{self.name}/{split}/{index}", row) for index, row in self._rows(split)]
            self._problems[split] = _chosen_problems(named_rows, self._wanted, self._instruction)
        return self._problems[split]

    def _rows(self, split: str) -> list[tuple[int, Row]]:
        check_split(split, task=self.name)
        if split == "train" and self._test_size is None:
            raise TaskOptionError(
                "task 'math500' is a test set and has no 'train' split; train on the task 'hendrycks_math', or set"
                " task.options.test_size to hold out so many and train on the rest"
            )
        rows = read_rows(self._path, split="test")
        if self._test_size is None:
            return list(enumerate(rows))
        in_test = divide(
            [_group(row) for row in rows], test_size=self._test_size, seed=self._split_seed, name=self._path
        )
        return [(index, row) for index, row in enumerate(rows) if in_test[index] == (split == "test")]


def boxed_answer(solution: str) -> str | None:
    r"""Return what the last \boxed{...} or \fbox{...} of a data set's solution holds; None where it has none.

    \boxed 5, without braces, holds what stands before the end of the formula or line. This is for trusted solutions;
    verifiers.extract reads responses.
    """
    openings = list(_BOX.finditer(solution))
    if not openings:
        return None
    start = openings[-1].end()
    if not solution.startswith("{", start):
        return _END_OF_BRACELESS.split(solution[start:], maxsplit=1)[0].strip().rstrip(".,") or None
    depth = 0
    for brace in _BRACE.finditer(solution, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return solution[start + 1 : brace.start()].strip() or None
    return None


def _wanted(levels: list[int] | None, subjects: list[str] | None) -> _Wanted:
    for name, chosen in (("levels", levels), ("subjects", subjects)):
        if chosen is not None and not chosen:
            raise TaskOptionError(f"task.options.{name}: an empty list keeps nothing; leave it out to keep all")
    for level in levels or ():
        if not 1 <= level <= 5:
            raise TaskOptionError(f"task.options.levels: levels are 1 to 5, got {level}")
    for subject in subjects or ():
        if _slug(subject) not in SUBJECTS:
            raise TaskOptionError(f"task.options.subjects: no subject {subject!r}; there are {', '.join(SUBJECTS)}")
    return _Wanted(
        levels=None if levels is None else tuple(levels),
        subjects=None if subjects is None else tuple(dict.fromkeys(_slug(subject) for subject in subjects)),
    )


def _chosen_problems(named_rows: Sequence[tuple[str, Row]], wanted: _Wanted, instruction: str) -> list[Problem]:
    chosen = [
        _problem(row, problem_id, instruction)
        for problem_id, row in named_rows
        if (wanted.levels is None or _level(row, needed=True) in wanted.levels)
        and (wanted.subjects is None or _subject(row, needed=True) in wanted.subjects)
    ]
    if not chosen:
        raise TaskOptionError(
            f"task.options: none of the {len(named_rows)} problems of {named_rows[0][1].source} has the wanted"
            f" levels ({_listed(wanted.levels)}) and subjects ({_listed(wanted.subjects)})"
        )
    return chosen


def _problem(row: Row, problem_id: str, instruction: str) -> Problem:
    solution = row.text("solution") if "solution" in row.values or "answer" not in row.values else None
    value = row.text("answer").strip() if "answer" in row.values else boxed_answer(solution or "")
    if value is None:
        raise TaskDataError(f'{row.place}: column "solution" has no \\boxed{{...}} with the answer')
    return Problem(
        id=problem_id,
        prompt="\n".join(part for part in (row.text("problem").strip(), instruction) if part),
        reference=MathAnswer(value=value, answer_format="boxed"),
        verifier="math",
        # A few solutions write \boxed 5 or \fbox{5}: right, but not the form that a response is asked for.
        demonstration=solution.strip() if solution and "\\boxed{" in solution else None,
        metadata={"level": _level(row), "subject": _subject(row)},
    )


def _level(row: Row, *, needed: bool = False) -> int | None:
    """Return the level; None for the few rows with "Level ?", and unless `needed` where there is no such column."""
    if "level" not in row.values and not needed:
        return None
    level = row.text("level").strip().removeprefix("Level ")
    return int(level) if re.fullmatch("[1-5]", level) else None


def _subject(row: Row, *, needed: bool = False) -> str | None:
    column = "type" if "type" in row.values else "subject"
    return _slug(row.text(column)) if column in row.values or needed else None


def _slug(subject: str) -> str:
    """Write "Counting & Probability" as the hub names it, "counting_and_probability"."""
    return "_".join(subject.casefold().replace("&", " and ").split())


def _group(row: Row) -> str:
    return " ".join(row.text("problem").split())


def _listed(values: Sequence[object] | None) -> str:
    return "all" if values is None else ", ".join(str(value) for value in values)
