"""A sandbox for suites that judge thousands of texts, few of which are programs."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

from sandbox import End, Execution, Judge, Limits, Program
from sandbox.local_sandbox import LocalSandbox

NO_PYTHON = Execution(end=End.EXITED, exit_code=1, stderr=b"SyntaxError: invalid syntax\n")
NO_PYTHON_TOLD = Execution(
    end=End.EXITED,
    exit_code=0,
    stdout=b'{"tests": 1}\n{"word": "error", "name": "", "detail": "SyntaxError: invalid syntax"}\n{"done": true}\n',
)


class RememberingSandbox:
    """Runs `programs`, which are known to be harmless, once for each input; anything else is taken for no Python."""

    def __init__(self, programs: Sequence[str]) -> None:
        self._programs = {program.encode() for program in programs}
        self._found: dict[str, Any] = {}
        self._lock = Lock()
        self._local = LocalSandbox(warn=False)

    def __reduce__(self) -> tuple[type["RememberingSandbox"], tuple[list[str]]]:
        return RememberingSandbox, ([program.decode() for program in self._programs],)

    def run(self, program: Program, limits: Limits) -> Execution:
        """Return what running it came to the first time."""
        if program.files.get("solution.py", program.files["main.py"]) not in self._programs:
            return NO_PYTHON
        return self._remembered(repr(program), lambda: self._local.run(program, limits))

    def run_judged(self, program: Program, judge: Judge, limits: Limits) -> tuple[Execution, Execution]:
        """Return what running both came to the first time."""
        if program.files["solution.py"] not in self._programs:
            return NO_PYTHON, NO_PYTHON_TOLD
        return self._remembered(repr((program, judge)), lambda: self._local.run_judged(program, judge, limits))

    def close(self) -> None:
        """Close the sandbox that the programs run in."""
        self._local.close()

    def _remembered(self, key: str, find: Callable[[], Any]) -> Any:
        with self._lock:
            if key not in self._found:
                self._found[key] = find()
            return self._found[key]
