"""Read the tests of a program or function from a row, in the forms that APPS and LiveCodeBench have given them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tasks.errors import TaskDataError
from tasks.rows import Row
from tasks.types import Compare, FunctionCase, FunctionTests, StdinTests

Wrapped = Literal["auto", "always", "never"]

_CLASS = re.compile(r"^class\s+Solution\b", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class RowTests:
    """Inputs and the outputs that belong to them, as the row gives them."""

    pairs: tuple[tuple[Any, Any], ...]
    function: str | None
    """The name of the function that they call; None where they are for a program."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunLimits:
    """Limits of a run; None leaves them to the verifier."""

    wall_s: float | None = None
    memory_mb: int | None = None


def read_tests(row: Row, column: str) -> RowTests:
    """Return the tests in `column`, or in the columns "inputs" and "outputs" where the row has no such column.

    Raises:
        TaskDataError: there are none, or they have another form; names the row.
    """
    tests: Any = row.values if column not in row.values and "inputs" in row.values else _tests_value(row, column)
    if isinstance(tests, list):
        if not all(isinstance(test, dict) and "input" in test and "output" in test for test in tests):
            raise TaskDataError(f'{row.place}: column {column!r} must list objects with "input" and "output"')
        inputs, outputs = [test["input"] for test in tests], [test["output"] for test in tests]
    elif isinstance(tests, Mapping):
        inputs, outputs = (_list(row, tests, name) for name in ("inputs", "outputs"))
        if len(inputs) != len(outputs):
            raise TaskDataError(f"{row.place}: has {len(inputs)} inputs but {len(outputs)} outputs")
    else:
        raise TaskDataError(f'{row.place}: column {column!r} must hold {{"inputs": [...], "outputs": [...]}}')
    if not inputs:
        raise TaskDataError(f"{row.place}: has no tests")
    name = row.values.get("fn_name") or (tests.get("fn_name") if isinstance(tests, Mapping) else None) or None
    if name is not None and not (isinstance(name, str) and all(part.isidentifier() for part in name.split("."))):
        raise TaskDataError(f'{row.place}: "fn_name" must name a function, got {name!r}')
    return RowTests(pairs=tuple(zip(inputs, outputs, strict=True)), function=name)


def read_limits(row: Row, default: RunLimits) -> RunLimits:
    """Return the limits in the columns "wall_s" and "memory_mb", or the default where the row has none.

    Raises:
        TaskDataError: a limit is no number above 0; names the row.
    """
    values = {name: row.values.get(name) for name in ("wall_s", "memory_mb")}
    for name, value in values.items():
        if value is not None and not (isinstance(value, int | float) and not isinstance(value, bool) and value > 0):
            raise TaskDataError(f"{row.place}: column {name!r} must hold a number above 0, not {value!r}")
    wall_s, memory_mb = values["wall_s"], values["memory_mb"]
    return RunLimits(
        wall_s=default.wall_s if wall_s is None else float(wall_s),
        memory_mb=default.memory_mb if memory_mb is None else round(memory_mb),
    )


def read_compare(row: Row, default: Compare) -> Compare:
    """Return the comparison in the column "compare", a mode or an object, or the default where the row has none.

    Raises:
        TaskDataError: it is no comparison; names the row.
    """
    value = row.values.get("compare")
    if value is None:
        return default
    fields = {"mode": value} if isinstance(value, str) else value
    mistake = _compare_mistake(fields)
    if mistake:
        raise TaskDataError(f"{row.place}: column 'compare' {mistake}, got {value!r}")
    return Compare(**{"abs_tol": default.abs_tol, "rel_tol": default.rel_tol, **fields})


def stdin_tests(row: Row, tests: RowTests, *, compare: Compare, limits: RunLimits) -> StdinTests:
    """Return the tests as those of a program; lists of lines are joined.

    Raises:
        TaskDataError: an input or output is neither text nor a list of lines; names the row and the test.
    """
    cases = []
    for number, pair in enumerate(tests.pairs, start=1):
        texts = [_joined(value) for value in pair]
        if texts[0] is None or texts[1] is None:
            raise TaskDataError(
                f'{row.place}, test {number}: input and output must be text or lists of lines; "fn_name" is missing'
                f" if they are a function's, got {pair!r:.200}"
            )
        cases.append((texts[0], texts[1]))
    return StdinTests(cases=tuple(cases), compare=compare, wall_s=limits.wall_s, memory_mb=limits.memory_mb)


def function_tests(
    row: Row,
    tests: RowTests,
    *,
    starter: str,
    wrapped: Wrapped,
    float_tol: float,
    limits: RunLimits,
) -> FunctionTests:
    """Return the tests as those of the function that they name, a method where the starter code has a class Solution.

    Args:
        wrapped: whether outputs stand in lists of one element; the row's column "wrapped_outputs" goes before it.

    Raises:
        TaskDataError: the arguments of a call are no list, or text that is no JSON; names the row and the test.
    """
    function = tests.function or ""
    if "." not in function and _CLASS.search(starter):
        function = f"Solution.{function}"
    as_text = all(isinstance(value, str) for pair in tests.pairs for value in pair)
    unwrap = not as_text and _is_wrapped(row, tests, starter, wrapped)
    cases = []
    for number, (arguments, expected) in enumerate(tests.pairs, start=1):
        place = f"{row.place}, test {number}"
        if as_text:
            arguments = [_parsed(line, place) for line in arguments.splitlines() if line.strip()]
            expected = _parsed(expected, place)
        if not isinstance(arguments, list):
            raise TaskDataError(
                f"{place}: the input of a function must be the list of its arguments: {arguments!r:.200}"
            )
        if unwrap:
            if not (isinstance(expected, list) and len(expected) == 1):
                raise TaskDataError(f"{place}: the output must stand in a list of one element, got {expected!r:.200}")
            expected = expected[0]
        cases.append(FunctionCase(arguments=tuple(arguments), expected=expected))
    return FunctionTests(
        function=function,
        cases=tuple(cases),
        float_tol=float_tol,
        wall_s=limits.wall_s,
        memory_mb=limits.memory_mb,
    )


def _is_wrapped(row: Row, tests: RowTests, starter: str, wrapped: Wrapped) -> bool:
    own = row.values.get("wrapped_outputs")
    if own is not None and not isinstance(own, bool):
        raise TaskDataError(f"{row.place}: column 'wrapped_outputs' must hold true or false, not {own!r}")
    if own is not None or wrapped != "auto":
        return own if own is not None else wrapped == "always"
    name = re.escape((tests.function or "").rpartition(".")[2])
    returns_list = re.search(rf"def\s+{name}\b[^\n]*->\s*[\"']?(?:typing\.)?[Ll]ist\b", starter)
    return not returns_list and all(isinstance(output, list) and len(output) == 1 for _, output in tests.pairs)


def _tests_value(row: Row, column: str) -> Any:
    if column not in row.values:
        raise TaskDataError(
            f"{row.place}: no column {column!r}, nor 'inputs' and 'outputs'; columns seen: {list(row.values)};"
            " set task.options.tests_field"
        )
    value = row.values[column]
    return _parsed(value, f"{row.place}: column {column!r}") if isinstance(value, str) else value


def _list(row: Row, tests: Mapping[str, Any], name: str) -> list[Any]:
    value = tests.get(name)
    if isinstance(value, str):
        value = _parsed(value, f"{row.place}: {name!r}")
    if not isinstance(value, list):
        raise TaskDataError(f"{row.place}: {name!r} must be a list with one element for each test, not {value!r:.200}")
    return value


def _joined(value: Any) -> str | None:
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    return value if isinstance(value, str) else None


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise TaskDataError(f"{place}: not valid JSON: {error}: {text!r:.200}") from error


def _compare_mistake(fields: Any) -> str | None:
    modes = ("whitespace", "tokens", "float", "unordered_lines", "checker")
    if not isinstance(fields, dict) or not fields.keys() <= {"mode", "abs_tol", "rel_tol", "checker"}:
        return 'must be a mode or an object with "mode", "abs_tol", "rel_tol" and "checker"'
    if fields.get("mode", "whitespace") not in modes:
        return f"must have one of the modes {', '.join(modes)}"
    for name in ("abs_tol", "rel_tol"):
        value = fields.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            return f'must have a number of at least 0 in "{name}"'
    if not isinstance(fields.get("checker", ""), str) or (fields.get("mode") == "checker") != bool(
        fields.get("checker")
    ):
        return 'must have the source of a checker in "checker" with the mode "checker", and with no other'
    return None
