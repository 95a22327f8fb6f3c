"""Check options, as a TOML file gives them, against the keyword parameters of the factory that takes them."""

import difflib
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_KINDS: dict[object, str] = {int: "an integer", float: "a number", str: "a string", bool: "true or false"}
_KEYWORDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def option_mistakes(
    factory: Callable[..., object], options: Mapping[str, object], *, owner: str, key: str
) -> list[str]:
    """Return one line for each option that `factory` does not have, lacks or cannot take.

    Checked are int, float, str, bool, None, Literal, list[...] and unions of them; a parameter annotated otherwise
    takes anything.

    Args:
        owner: what the options belong to, for instance "task 'gsm8k'".
        key: dotted name of the table that holds the options, for instance "task.options".
    """
    parameters = inspect.signature(factory).parameters
    known = [name for name, parameter in parameters.items() if parameter.kind in _KEYWORDS]
    open_ended = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    hints = _type_hints(factory)
    mistakes = []
    for name, value in options.items():
        if name not in known:
            if not open_ended:
                mistakes.append(f"{key}.{name}: {owner} has no such option{did_you_mean(name, known)}; {_takes(known)}")
        elif not _accepts(hints.get(name, Any), value):
            mistakes.append(f"{key}.{name}: expected {_expected(hints[name])}, got {value!r}{_kind_of(value)}")
    for name in known:
        if parameters[name].default is inspect.Parameter.empty and name not in options:
            wanted = f" ({_expected(hints[name])})" if name in hints else ""
            mistakes.append(f"{key}.{name}: {owner} needs this option{wanted}")
    return mistakes


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return " (did you mean 'x'?)" for the known name nearest to `name`, or "" if none is near."""
    nearest = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {nearest[0]!r}?)" if nearest else ""


def _takes(known: Sequence[str]) -> str:
    return f"it takes: {', '.join(known)}" if known else "it takes no options"


def _type_hints(factory: Callable[..., object]) -> dict[str, Any]:
    function = factory.__init__ if inspect.isclass(factory) else factory
    if not inspect.isroutine(function):
        function = type(function).__call__
    try:
        return get_type_hints(function)
    except NameError:
        # Names imported under TYPE_CHECKING alone: legitimate, but out of reach here. The values go unchecked.
        return {}


def _accepts(hint: Any, value: object) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_accepts(argument, value) for argument in arguments)
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in arguments)
    if origin in (list, Sequence):
        return isinstance(value, list | tuple) and all(_accepts(arguments[0], element) for element in value)
    if hint in (int, float):
        wanted = int if hint is int else (int, float)
        return isinstance(value, wanted) and not isinstance(value, bool)  # True is an int to Python, not to TOML
    if hint in (str, bool, type(None)):
        return isinstance(value, hint)
    return True


def _expected(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        # TOML cannot write None, so it is no advice to a user.
        return " or ".join(_expected(argument) for argument in arguments if argument is not type(None))
    if origin is Literal:
        return "one of " + ", ".join(repr(choice) for choice in arguments)
    if origin in (list, Sequence):
        return f"a list, each element {_expected(arguments[0])}"
    return _KINDS.get(hint, getattr(hint, "__name__", str(hint)))


def _kind_of(value: object) -> str:
    kind = _KINDS.get(type(value))
    return f" ({kind})" if kind and not isinstance(value, bool) else ""
