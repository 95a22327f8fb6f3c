"""Run-time checks of the jaxtyping annotations that the product carries as text."""

import types
import typing
from collections.abc import Callable

import jaxtyping
from beartype import beartype


def shape_checked(function: Callable) -> Callable:
    """Return a copy of the function that raises TypeCheckError when arguments or results break its annotations."""
    assert isinstance(function, types.FunctionType)
    names = {name: getattr(jaxtyping, name) for name in ("Bool", "Float", "Int")}
    checked = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    checked.__kwdefaults__ = function.__kwdefaults__
    checked.__annotations__ = typing.get_type_hints(function, globalns={**function.__globals__, **names})
    return jaxtyping.jaxtyped(checked, typechecker=beartype)
