"""Compare what a program returned, which stays the parsed text of its wire form, with what it should have returned.

No object is built from what a program says: sets and mappings of hostile numbers would take the host's time.
"""

import math
from typing import Any

from verifiers.code.inside.wire import MAX_DEPTH, MalformedError, encode, number_of, read_json

_SEQUENCES = ("t", "list")
_SETS = ("s", "z")


def tagged(value: object) -> Any:
    """Return `value` as the parsed text that a program's value arrives as.

    Raises:
        UnsendableError: it holds something that is no plain value.
    """
    return read_json(encode(value))


def matches(expected: Any, returned: Any, *, float_tol: float = 0.0) -> bool:
    """Return whether two values, both as `tagged` gives them, are equal by Python's rules but for these:

    a bool is no number; a tuple equals a list; NaN equals NaN; numbers within float_tol * max(1, |expected|) are equal,
    where both are finite, though not as elements of sets or keys of mappings. Malformed text equals nothing.
    """
    try:
        return _matches(expected, returned, float_tol)
    except MalformedError:
        return False


def _matches(expected: Any, returned: Any, float_tol: float) -> bool:
    kind, wanted = _opened(expected)
    other, got = _opened(returned)
    if kind == "number":
        return other == "number" and _close(wanted, got, float_tol)
    if kind in _SEQUENCES:
        return other in _SEQUENCES and len(wanted) == len(got) and all(
            _matches(one, another, float_tol) for one, another in zip(wanted, got, strict=True)
        )  # fmt: skip
    if kind in _SETS:
        return other in _SETS and len(wanted) == len(got) and _keys(wanted) == _keys(got)
    if kind == "d":
        if other != "d" or len(wanted) != len(got):
            return False
        found = {_key(key, MAX_DEPTH): value for key, value in got}
        return len(found) == len(got) and all(
            (key := _key(name, MAX_DEPTH)) in found and _matches(value, found[key], float_tol) for name, value in wanted
        )
    return kind == other and wanted == got


def _close(expected: Any, got: Any, float_tol: float) -> bool:
    if expected == got or (expected != expected and got != got):
        return True
    try:
        difference, size = abs(expected - got), abs(expected)
        # The scale is the expected number's alone: a huge or infinite answer must not widen its own tolerance.
        return math.isfinite(size) and difference <= float_tol * max(1, size)
    except OverflowError:
        return False


def _keys(elements: list[Any]) -> list[str]:
    return sorted(_key(element, MAX_DEPTH) for element in elements)


def _key(value: Any, depth: int) -> str:
    """Return text that two hashable values share if and only if they are equal by the rules of `matches`."""
    if depth == 0:
        raise MalformedError("nested too deep")
    kind, held = _opened(value)
    if kind == "number":
        if isinstance(held, complex) and held.imag == 0:
            held = held.real
        if isinstance(held, float) and held.is_integer():
            held = int(held)
        return f"n{held:x}" if isinstance(held, int) else f"n{held!r}"
    if kind == "t":
        return f"({','.join(_key(element, depth - 1) for element in held)})"
    if kind in _SETS:
        return f"{{{','.join(sorted(_key(element, depth - 1) for element in held))}}}"
    if kind in ("list", "d"):
        raise MalformedError("an unhashable key")
    return f"{kind}:{held!a}"


def _opened(value: Any) -> tuple[str, Any]:
    """Return the kind of a tagged value and what it holds, made safe to compare."""
    if isinstance(value, bool | str) or value is None:
        return type(value).__name__, value
    if isinstance(value, int | float):
        return "number", value
    if isinstance(value, list):
        return "list", value
    if len(value) != 1:
        raise MalformedError("a tag is one key")
    ((tag, held),) = value.items()
    if tag in ("i", "f", "c"):
        try:
            return "number", number_of(tag, held)
        except (TypeError, ValueError, AttributeError, LookupError):
            raise MalformedError(f"no number in the tag {tag!r}") from None
    if tag in ("t", "s", "z", "r") and isinstance(held, list):
        return tag, held
    if tag == "d" and isinstance(held, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in held):
        return tag, held
    if tag in ("b", "a") and isinstance(held, str):
        return tag, held
    raise MalformedError("an unknown tag")
