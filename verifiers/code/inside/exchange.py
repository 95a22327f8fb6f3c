"""Values that the judge and the program exchange beyond plain ones: what both sides can build from plain data.

    {"x": name}           a built-in type, such as int or ValueError
    {"v": [kind, parts]}  a value of the standard library: Fraction, Decimal, dates, times, paths; an array of numpy
    {"n": [name, fields, values]}  a named tuple

An exception class is the name of a built-in one, {"module", "name"} of one of the standard library, or for a class of
the program {"class", "name", "bases"}.
"""

import builtins
import importlib
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from verifiers.code.inside.wire import built_in_base, encode

__builtins__ = dict(vars(__builtins__)) if not isinstance(__builtins__, dict) else dict(__builtins__)

# By module, so that none is imported for a value that cannot be there.
_PARTS: dict[str, dict[str, Callable[[Any], list[Any]]]] = {
    "fractions": {"Fraction": lambda value: [value.numerator, value.denominator]},
    "decimal": {"Decimal": lambda value: [str(value)]},
    "datetime": {
        "datetime": lambda value: [value.isoformat()],
        "date": lambda value: [value.isoformat()],
        "time": lambda value: [value.isoformat()],
        "timedelta": lambda value: [value.days, value.seconds, value.microseconds],
    },
    "pathlib": {"PosixPath": lambda value: [str(value)]},
    "numpy": {"ndarray": lambda value: [value.tolist(), value.dtype.str]},
}
_BUILT_IN_TYPES = {kind: name for name, kind in vars(builtins).items() if type(kind) is type}


def text_of(value: Any, special: Callable[[object], str | None]) -> str | None:
    """Return the JSON of a value of the list above, None for any other."""
    kind = type(value)
    if kind is type:
        name = next((name for known, name in _BUILT_IN_TYPES.items() if known is value), None)
        return f'{{"x":"{name}"}}' if name else None
    if built_in_base(kind) is tuple and (fields := kind.__dict__.get("_fields")) and type(fields) is tuple:
        return f'{{"n":{encode([kind.__name__, list(fields), list(tuple.__iter__(value))], special)}}}'
    for module, kinds in _PARTS.items():
        if module in sys.modules:
            for name, parts in kinds.items():
                if kind is sys.modules[module].__dict__.get(name):
                    return f'{{"v":{encode([f"{module}.{name}", parts(value)], special)}}}'
            if module == "numpy" and kind.__module__ == "numpy":
                return encode(value.tolist(), special) if hasattr(value, "tolist") else None
    return None


def value_of(tag: str, held: Any, decode: Callable[[Any], Any]) -> Any:
    """Return the value of a tag of the list above.

    Raises:
        ValueError, TypeError, LookupError: there is no such tag, or it holds what it cannot.
    """
    if tag == "x":
        return next(kind for kind, name in _BUILT_IN_TYPES.items() if name == held)
    if tag == "n":
        name, fields, values = decode(held)
        return _named_tuple(name, tuple(fields))._make(values)
    if tag != "v":
        raise ValueError("an unknown tag")
    path, parts = decode(held)
    module, _, name = path.partition(".")
    if name not in _PARTS.get(module, {}):
        raise ValueError("an unknown kind of value")
    kind = getattr(importlib.import_module(module), name)
    if module == "numpy":
        return sys.modules["numpy"].array(parts[0], dtype=parts[1])
    return kind.fromisoformat(*parts) if module == "datetime" and name != "timedelta" else kind(*parts)


@lru_cache(maxsize=256)
def _named_tuple(name: str, fields: tuple[str, ...]) -> Any:
    import collections

    return collections.namedtuple(name, fields)


def standard_error(tag: Any) -> type[BaseException] | None:
    """Return the exception class of the standard library that `tag` names, None where it names none."""
    found: Any = None
    if isinstance(tag, str):
        found = vars(builtins).get(tag)
    elif isinstance(tag, dict) and str(tag.get("module")).partition(".")[0] in sys.stdlib_module_names:
        # A test that asks for the class by name has imported its module.
        found = vars(sys.modules.get(str(tag["module"]), sys)).get(str(tag["name"]))
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
