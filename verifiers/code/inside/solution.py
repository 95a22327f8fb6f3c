"""Load the candidate's program as a module, in the candidate's own process."""

import re
import sys
import types

__builtins__ = dict(vars(__builtins__)) if not isinstance(__builtins__, dict) else dict(__builtins__)

_TYPING_NAMES = re.compile(
    rb"\b(?:Any|Callable|Dict|FrozenSet|Iterable|Iterator|List|Optional|Sequence|Set|Tuple|Union)\b"
)


def load_solution(path: str, name: str) -> types.ModuleType:
    """Return the program in the file `path`, run as the module `name`. Whatever it raises passes through.

    Annotations such as List[int] work without `from typing import List`, as the prompts of several data sets import it.
    """
    with open(path, "rb") as file:
        source = file.read()
    module = types.ModuleType(name)
    module.__file__ = path
    if b"typing" not in source and _TYPING_NAMES.search(source):
        import typing

        module.__dict__.update((public, getattr(typing, public)) for public in typing.__all__)
    sys.modules[name] = module
    # Bytes, not text: Python itself reads the byte order mark and the coding line.
    exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    return module


def described(error: BaseException) -> str:
    """Return an exception in one short line."""
    name = type.__dict__["__name__"].__get__(type(error))
    try:
        text = str(error)
    except BaseException as another:
        text = f"(its text raised {type(another).__name__})"
    return f"{name}: {text}"[:300] if text else name[:300]
