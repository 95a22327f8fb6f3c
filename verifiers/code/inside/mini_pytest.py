"""What test code imports as pytest: raises, approx, fixtures, marks. Whatever is not here is not offered."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NoReturn

from verifiers.code.inside.report import NotOfferedError, Skipped


class FailedError(AssertionError):
    """A test says that it failed."""


@dataclass
class Mark:
    """A decoration of a test."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and (isinstance(args[0], type) or hasattr(args[0], "__code__")):
            args[0].pytestmark = [*vars(args[0]).get("pytestmark", ()), self]
            return args[0]
        return Mark(self.name, args, kwargs)


class _Marks:
    def __getattr__(self, name: str) -> Mark:
        return Mark(name)


@dataclass
class Parameters:
    """One row of a parametrisation."""

    values: tuple[Any, ...]
    id: str | None = None
    marks: tuple[Mark, ...] = ()


@dataclass
class Fixture:
    """A function that supplies a test's argument."""

    function: Callable[..., Any]
    scope: str = "function"
    params: Sequence[Any] = ()
    autouse: bool = False
    name: str = ""


class ExceptionInfo:
    """What `raises` caught."""

    value: Any = None

    @property
    def type(self) -> Any:
        return type(self.value)

    @property
    def tb(self) -> Any:
        return self.value.__traceback__

    def match(self, pattern: str) -> bool:
        if not re.search(pattern, str(self.value)):
            raise FailedError(f"{pattern!r} does not match {str(self.value)!r}")
        return True


class _Raises:
    def __init__(self, expected: Any, match: str | None) -> None:
        kinds = expected if isinstance(expected, tuple) else (expected,)
        if not kinds or not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
            raise TypeError("raises needs an exception class")
        self.expected, self.match, self.info = kinds, match, ExceptionInfo()

    def __enter__(self) -> ExceptionInfo:
        return self.info

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: Any) -> bool:
        if kind is None:
            raise FailedError(f"did not raise {', '.join(kind.__name__ for kind in self.expected)}")
        if not issubclass(kind, self.expected):
            return False
        self.info.value = error
        if self.match is not None:
            self.info.match(self.match)
        return True


class _Approx:
    def __init__(self, expected: Any, rel: float | None, abs: float | None, nan_ok: bool) -> None:
        self.expected, self.rel, self.abs, self.nan_ok = expected, rel, abs, nan_ok

    def __eq__(self, actual: object) -> bool:
        return self._near(self.expected, actual)

    def __repr__(self) -> str:
        return f"approx({self.expected!r})"

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def _near(self, expected: Any, actual: Any) -> bool:
        if isinstance(expected, Mapping):
            return isinstance(actual, Mapping) and expected.keys() == actual.keys() and all(
                self._near(expected[key], actual[key]) for key in expected
            )  # fmt: skip
        if hasattr(expected, "tolist") and hasattr(actual, "tolist"):
            return self._near(expected.tolist(), actual.tolist())
        if isinstance(expected, list | tuple):
            return isinstance(actual, list | tuple) and len(expected) == len(actual) and all(
                self._near(one, another) for one, another in zip(expected, actual, strict=True)
            )  # fmt: skip
        if expected == actual:
            return True
        if isinstance(expected, bool | str | None) or isinstance(actual, bool | str | None):
            return False
        if expected != expected:
            return self.nan_ok and actual != actual
        if not isfinite(abs(expected)):
            return False
        # The scale is the expected number's alone.
        relative = (1e-6 if self.rel is None and self.abs is None else self.rel or 0.0) * abs(expected)
        return abs(expected - actual) <= max(relative, 1e-12 if self.abs is None else self.abs)


def raises(expected: Any, *args: Any, match: str | None = None, **kwargs: Any) -> Any:
    context = _Raises(expected, match)
    if not args:
        return context
    with context as info:
        args[0](*args[1:], **kwargs)
    return info


def approx(expected: Any, rel: float | None = None, abs: float | None = None, nan_ok: bool = False) -> Any:
    return _Approx(expected, rel, abs, nan_ok)


def fixture(function: Any = None, **options: Any) -> Any:
    known = {key: options[key] for key in ("scope", "params", "autouse", "name") if options.get(key)}
    return Fixture(function, **known) if function is not None else lambda function: Fixture(function, **known)


def param(*values: Any, id: str | None = None, marks: Any = ()) -> Parameters:
    return Parameters(values, id, tuple(marks) if isinstance(marks, Iterable) else (marks,))


def skip(reason: str = "", **_: Any) -> NoReturn:
    raise Skipped(reason)


def fail(reason: str = "", **_: Any) -> NoReturn:
    raise FailedError(reason)


def importorskip(name: str, **_: Any) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise Skipped(f"no module {name}") from None


mark = _Marks()
skip.Exception = Skipped  # pyright: ignore[reportFunctionMemberAccess]
fail.Exception = FailedError  # pyright: ignore[reportFunctionMemberAccess]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise NotOfferedError(f"the tests use pytest.{name}, which is not offered")
