"""The nouns of a task: what is asked, and what a right answer is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable


@dataclass(frozen=True, kw_only=True, slots=True)
class MathAnswer:
    """The reference of a problem whose answer is a value."""

    value: str
    """The gold answer as the data set gives it, for instance "72" or "1,000"."""
    answer_format: str = "last_number"
    r"""Where a response must put its answer: "boxed" (the last \boxed{...}), "marker:####" (what follows the last
    "####" on its line), "tag:answer" (inside the last <answer>...</answer>), "last_number" (wherever it stands) or
    "lenient" (wherever a response announces it: for outputs of models that were not told where to put it)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CountdownTarget:
    """The reference of a countdown problem: numbers to combine with + - * / into the target."""

    numbers: tuple[int, ...]
    """The numbers given; each may be used as often as it stands here."""
    target: int
    answer_format: str = "tag:answer"
    """Where a response must put its expression; see MathAnswer."""
    use_all: bool = True
    """Whether every number must be used; False lets some be left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compare:
    """How what a program printed is compared with what it should have printed."""

    mode: Literal["whitespace", "tokens", "float", "unordered_lines", "checker"] = "whitespace"
    """whitespace: line by line, blanks at line ends and blank lines at the end apart; tokens: word by word; float: word
    by word, numbers within the tolerance; unordered_lines: lines in any order; checker: a trusted function decides."""
    abs_tol: float = 1e-6
    """For "float": allowed is the larger of abs_tol and rel_tol times the expected number."""
    rel_tol: float = 0.0
    checker: str = ""
    """Python source that defines check(inp: str, expected: str, out: str) -> bool; it runs in the sandbox."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StdinTests:
    """The reference of a problem whose answer is a program that reads standard input and prints."""

    cases: tuple[tuple[str, str], ...]
    """Pairs of input and expected output."""
    compare: Compare = field(default_factory=Compare)
    wall_s: float | None = None
    """Time limit of one case; None means the verifier's."""
    memory_mb: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionCase:
    """One call and what it must return; plain values of Python's built-in types only."""

    arguments: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    expected: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionTests:
    """The reference of a problem whose answer is a function, or a class with a method."""

    function: str
    """Its name; "Class.method" makes an instance without arguments first."""
    cases: tuple[FunctionCase, ...]
    float_tol: float = 0.0
    """Numbers within float_tol * max(1, |expected|) are equal."""
    wall_s: float | None = None
    """Time limit of all cases together; None means the verifier's."""
    memory_mb: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class AssertTests:
    """The reference of a problem whose answer is code that assert statements use, as in HumanEval and MBPP."""

    asserts: tuple[str, ...]
    """Python source, run in order in one namespace that holds what the program defines."""
    function: str | None = None
    """The function that the problem asks for, where it names one."""
    wall_s: float | None = None
    memory_mb: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PytestTests:
    """The reference of a problem whose answer is a module that test functions import."""

    source: str
    """Python source with test_* functions or unittest classes."""
    module: str = "solution"
    """The name under which the source imports the program."""
    wall_s: float | None = None
    memory_mb: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One question with its reference answer."""

    id: str
    """Unique and stable, for instance "gsm8k/train/17"."""
    prompt: str
    """What the policy is asked, before any chat template."""
    reference: Any
    """MathAnswer, or a plug-in's own record; read by the verifier alone, never shown to the policy."""
    verifier: str
    """Name of the verifier that judges responses to this problem."""
    demonstration: str | None = None
    """A response to imitate in the SFT warm start; None where the task has none."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Anything worth keeping with the problem (difficulty, source row); never read by the pipeline."""


@runtime_checkable
class Task(Protocol):
    """A named source of problems."""

    @property
    def name(self) -> str:
        """The name the task is known by, the first part of its problems' ids."""
        ...

    def problems(self, split: str) -> Sequence[Problem]:
        """Return the problems of `split` ("train" or "test"), the same ones in the same order at every call.

        The sequence may be virtual: problems made when indexed, as many as `len` says.

        Raises:
            TaskError: the split does not exist, or its data cannot be read.
        """
        ...
