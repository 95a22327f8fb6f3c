"""The candidate's side of function tests: call its function with each case's arguments and write what it returns.

Reads {"module", "function", "cases": [[arguments, keywords], ...]} from standard input and writes a line of JSON for
each case to what was standard output: {"case": number} with "value", "error" or "unsendable".
"""

import json
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from verifiers.code.inside.solution import described, load_solution
from verifiers.code.inside.wire import UnsendableError, decode, encode, read_json

__builtins__ = dict(vars(__builtins__)) if not isinstance(__builtins__, dict) else dict(__builtins__)

_dumps, _write, _exit = json.dumps, os.write, os._exit


def main() -> None:
    """Run all cases, and leave without the program's exit handlers."""
    with open(0, "rb", closefd=False) as stdin:
        job = read_json(stdin.read())
    out = os.dup(1)
    # What the program prints is nobody's business here, and there is nothing for it to read.
    for descriptor, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY)):
        null = os.open(os.devnull, flags)
        os.dup2(null, descriptor)
        os.close(null)
    module = load_solution(os.path.abspath("solution.py"), job["module"])
    for number, case in enumerate(job["cases"]):
        _say(out, f'{{"case":{number},{_answer(module, job["function"], case)}}}\n'.encode())
    _exit(0)


def _answer(module: ModuleType, path: str, case: Any) -> str:
    arguments, keywords = decode(case)
    try:
        value = _callable(module, path)(*arguments, **keywords)
    except BaseException as error:  # SystemExit and KeyboardInterrupt are the program's errors like any other
        return f'"error":{_dumps(described(error))}'
    try:
        return f'"value":{encode(value, _plain_array)}'
    except UnsendableError as error:
        return f'"unsendable":{_dumps(str(error))}'


def _callable(module: ModuleType, path: str) -> Callable[..., Any]:
    name, _, method = path.partition(".")
    found = getattr(module, name)
    return getattr(found(), method) if method else found


def _plain_array(value: Any) -> str | None:
    """Return numpy's arrays and numbers as the lists and numbers they hold."""
    if type(value).__module__ == "numpy":
        return encode(value.tolist())
    return None


def _say(out: int, line: bytes) -> None:
    while line:
        line = line[_write(out, line) :]


if __name__ == "__main__":
    main()
