"""What the code tasks need to know about Python source that a data set gives them."""

import ast
import builtins
import sys
import warnings
from collections.abc import Iterable, Sequence


def fenced(source: str) -> str:
    """Return the source as a response shows it: one ```python block."""
    return f"```python\n{source.strip(chr(10))}\n```"


def unix_lines(source: str) -> str:
    r"""Return the source with "\n" at the ends of its lines."""
    return source.replace("\r\n", "\n").replace("\r", "\n")


def parsed(source: str) -> ast.Module:
    """Return the syntax tree, without Python's warnings about what the data set's author wrote.

    Raises:
        SyntaxError: it is no Python.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def called_names(sources: Iterable[str]) -> list[str]:
    """Return the plain names that are called, outer calls before those in their arguments, each once.

    Raises:
        SyntaxError: one of the sources is no Python.
    """
    calls = (node.func for source in sources for node in ast.walk(parsed(source)) if isinstance(node, ast.Call))
    return list(dict.fromkeys(function.id for function in calls if isinstance(function, ast.Name)))


def imports_of(tests: Sequence[str], *, solution: str) -> list[str]:
    """Return an import statement for each module that the tests use but only the solution imports.

    Tests that lean on the imports of the data set's own solution would fail another right one.

    Raises:
        SyntaxError: one of the sources is no Python.
    """
    body = [node for source in tests for node in ast.walk(parsed(source))]
    named = {node.id for node in body if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    bound = {node.id for node in body if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {alias.asname or alias.name for node in body if isinstance(node, ast.Import) for alias in node.names}
    unbound = named - bound - set(dir(builtins))
    return [
        f"import {alias.name}"
        for node in parsed(solution).body
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name in unbound and alias.asname is None and alias.name in sys.stdlib_module_names
    ]
