"""Find the tests of a module, as pytest would: functions, classes and unittest's classes, once for each parameter."""

import inspect
import itertools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verifiers.code.inside.mini_pytest import Fixture, Mark, Parameters
from verifiers.code.inside.report import NotOfferedError, Skipped


@dataclass
class CollectedTest:
    """A test to run."""

    name: str
    run: Callable[[], object]


@dataclass
class _Context:
    """Where a test's arguments come from: the fixtures in sight, and what the wider scopes have made so far."""

    fixtures: Mapping[str, Fixture]
    shared: dict[tuple[str, Any], Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    made: dict[str, Any] = field(default_factory=dict)
    finalizers: list[Callable[[], object]] = field(default_factory=list)
    instance: Any = None

    def value(self, name: str) -> Any:
        if name not in self.made:
            self.made[name] = self._make(name)
        return self.made[name]

    def _make(self, name: str) -> Any:
        if name in self.parameters and name not in self.fixtures:
            return self.parameters[name]
        if name == "tmp_path":
            import tempfile

            return Path(tempfile.mkdtemp())
        fixture = self.fixtures[name]
        shared = (name, repr(self.parameters.get(name))) if fixture.scope != "function" else None
        if shared in self.shared:
            return self.shared[shared]
        value = self.call(fixture.function, fixture_name=name)
        if inspect.isgenerator(value):
            generator = value
            value = next(generator)
            if shared is None:
                self.finalizers.append(lambda: next(generator, None))
        if shared is not None:
            self.shared[shared] = value
        return value

    def call(self, function: Callable[..., Any], fixture_name: str = "") -> Any:
        arguments = {}
        for wanted in _wanted(function):
            if wanted == "request":
                request = types.SimpleNamespace(
                    param=self.parameters.get(fixture_name),
                    addfinalizer=self.finalizers.append,
                    getfixturevalue=self.value,
                )
                arguments[wanted] = request
            else:
                arguments[wanted] = self.value(wanted)
        if self.instance is not None and _takes_self(function):
            return function(self.instance, **arguments)
        return function(**arguments)


def collect(namespace: Mapping[str, Any]) -> list[CollectedTest]:
    """Return the tests of a module that was run, in the order of definition.

    Raises:
        NotOfferedError: a test asks for a fixture that there is not.
    """
    fixtures = _fixtures(namespace)
    shared: dict[tuple[str, Any], Any] = {}
    marks = _as_list(namespace.get("pytestmark", ()))
    unittest = sys.modules.get("unittest")  # tests that have classes of it have imported it
    _call_if_there(namespace.get("setup_module"))
    tests: list[CollectedTest] = []
    for name, found in list(namespace.items()):
        if isinstance(found, type) and unittest is not None and issubclass(found, unittest.TestCase):
            if found.__module__ == namespace["__name__"]:
                tests += _unittest_tests(unittest, found)
        elif isinstance(found, types.FunctionType) and name.startswith("test"):
            around = (namespace.get("setup_function"), namespace.get("teardown_function"))
            tests += _function_tests(name, found, [*marks, *_marks(found)], fixtures, shared, None, around)
        elif isinstance(found, type) and name.startswith("Test") and "__init__" not in vars(found):
            tests += _class_tests(found, marks, fixtures, shared)
    return tests


def _class_tests(
    kind: type, marks: list[Mark], fixtures: Mapping[str, Fixture], shared: dict[tuple[str, Any], Any]
) -> Iterator[CollectedTest]:
    members = {name: member for base in reversed(kind.__mro__) for name, member in vars(base).items()}
    own = {**fixtures, **_fixtures(members)}
    if "setup_class" in members:
        _call_if_there(kind.setup_class)  # pyright: ignore[reportAttributeAccessIssue]
    for name, member in members.items():
        if name.startswith("test") and isinstance(member, types.FunctionType):
            around = (members.get("setup_method"), members.get("teardown_method"))
            all_marks = [*marks, *_marks(kind), *_marks(member)]
            yield from _function_tests(f"{kind.__name__}.{name}", member, all_marks, own, shared, kind, around)


def _function_tests(
    name: str,
    function: Callable[..., Any],
    marks: list[Mark],
    fixtures: Mapping[str, Fixture],
    shared: dict[tuple[str, Any], Any],
    kind: type | None,
    around: tuple[Any, Any],
) -> Iterator[CollectedTest]:
    wanted = _closure(function, fixtures)
    dimensions = [_rows(mark) for mark in marks if mark.name == "parametrize"]
    for fixture_name in wanted:
        if fixture_name in fixtures and fixtures[fixture_name].params:
            dimensions.append([({fixture_name: value}, ()) for value in fixtures[fixture_name].params])
    rows = [
        ({key: value for values, _ in row for key, value in values.items()}, [mark for _, more in row for mark in more])
        for row in itertools.product(*dimensions)
    ]
    given = {key for values, _ in rows for key in values}
    if missing := [one for one in wanted if one not in {*fixtures, *given, "request", "tmp_path"}]:
        raise NotOfferedError(f"{name} asks for the fixture {missing[0]!r}, which is not offered")
    for number, (values, more) in enumerate(rows):

        def run(values: Mapping[str, Any] = values, own: tuple[Mark, ...] = (*marks, *more)) -> None:
            _heed(own)
            context = _Context(fixtures=fixtures, shared=shared, parameters=values, instance=kind() if kind else None)
            _run(function, context, around, expected_to_fail=any(mark.name == "xfail" for mark in own))

        yield CollectedTest(f"{name}[{number}]" if dimensions else name, run)


def _run(function: Callable[..., Any], context: _Context, around: tuple[Any, Any], *, expected_to_fail: bool) -> None:
    instance = context.instance
    before, after = (types.MethodType(one, instance) if one and instance is not None else one for one in around)
    _call_if_there(before, function)
    try:
        for name, fixture in context.fixtures.items():
            if fixture.autouse:
                context.value(name)
        result = context.call(function)
        if inspect.iscoroutine(result):
            import asyncio

            asyncio.run(result)
    except Exception:
        if expected_to_fail:
            raise Skipped("failed, as its mark expects") from None
        raise
    finally:
        for finalizer in reversed(context.finalizers):
            finalizer()
        _call_if_there(after, function)


def _unittest_tests(unittest: Any, kind: Any) -> Iterator[CollectedTest]:
    ready: list[BaseException | None] = []

    def run(name: str) -> None:
        if not ready:
            ready.append(None)
            try:
                kind.setUpClass()
            except BaseException as error:  # it fails every test of the class
                ready[0] = error
        if ready[0] is not None:
            raise ready[0]
        try:
            kind(name).debug()  # without a result to write to, exceptions come through
        except unittest.SkipTest as skipped:
            if hasattr(skipped, "_rlvr_remote"):
                raise AssertionError("the program raised SkipTest") from None
            raise Skipped(str(skipped)) from None

    for name in unittest.TestLoader().getTestCaseNames(kind):
        yield CollectedTest(f"{kind.__name__}.{name}", lambda name=name: run(name))


def _heed(marks: tuple[Mark, ...]) -> None:
    for mark in marks:
        condition = mark.args[0] if mark.args else mark.kwargs.get("condition", True)
        if mark.name == "skip" or (mark.name == "skipif" and condition and not isinstance(condition, str)):
            raise Skipped(str(mark.kwargs.get("reason", "")))


def _rows(mark: Mark) -> list[tuple[dict[str, Any], tuple[Mark, ...]]]:
    names, values = [*mark.args, *(mark.kwargs[key] for key in ("argnames", "argvalues") if key in mark.kwargs)][:2]
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = []
    for value in values:
        one = value if isinstance(value, Parameters) else Parameters(tuple(value) if len(names) > 1 else (value,))
        rows.append((dict(zip(names, one.values, strict=True)), one.marks))
    return rows


def _fixtures(members: Mapping[str, Any]) -> dict[str, Fixture]:
    return {found.name or name: found for name, found in members.items() if isinstance(found, Fixture)}


def _closure(function: Callable[..., Any], fixtures: Mapping[str, Fixture]) -> list[str]:
    wanted = [*_wanted(function), *(name for name, fixture in fixtures.items() if fixture.autouse)]
    for name in wanted:
        if name in fixtures:
            wanted += [more for more in _wanted(fixtures[name].function) if more not in wanted]
    return wanted


def _wanted(function: Callable[..., Any]) -> list[str]:
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self" and parameter.default is parameter.empty
    ]


def _takes_self(function: Callable[..., Any]) -> bool:
    return next(iter(inspect.signature(function).parameters), "") == "self"


def _marks(found: Any) -> list[Mark]:
    return _as_list(getattr(found, "pytestmark", ()))


def _as_list(marks: Any) -> list[Mark]:
    return [marks] if isinstance(marks, Mark) else list(marks)


def _call_if_there(function: Any, *arguments: Any) -> None:
    if function is not None:
        function(*arguments[: len(inspect.signature(function).parameters)])
