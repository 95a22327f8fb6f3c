"""The judge's report: a line of JSON on its standard output for each thing that the host must know.

{"tests": number}                        how many there are, before the first is run
{"word", "name", "detail"}               what became of one; the word "gone" says that the program was
{"done": true}                           all were run
{"problem": text}                        the tests themselves cannot be run
"""

import ast
import json
import linecache
import os
import signal
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, NoReturn

from verifiers.code.inside.link import StoppedError

_DETAIL_CHARACTERS = 300


class Skipped(BaseException):
    """A test skips itself."""


class NotOfferedError(BaseException):
    """The tests ask for what there is not: their mistake or ours, never the program's."""


class Report:
    """The only way out of the judge."""

    def __init__(self, *, stop_at_first_failure: bool) -> None:
        # The program runs under the same user and may send any signal; what cannot be ignored ends the judge.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGALRM, signal.SIGUSR1):
            signal.signal(number, signal.SIG_IGN)
        self._out = os.dup(1)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)  # what tests print is no report
        os.close(null)
        self._stop = stop_at_first_failure

    def announce(self, tests: int) -> None:
        """Say how many tests there are."""
        self._say({"tests": tests})

    def run(self, name: str, test: Callable[[], object]) -> None:
        """Run one test and say what became of it. Does not come back where that ends the run."""
        self._record(name, *self._outcome(test))

    def set_up(self, step: Callable[[], object]) -> None:
        """Run what is no test. It is heard of only where it fails, as a test that did not pass."""
        word, detail = self._outcome(step)
        if word != "pass":
            self._record("", word, detail)

    def _record(self, name: str, word: str, detail: str) -> None:
        self._say({"word": word, "name": name[:200], "detail": detail[:_DETAIL_CHARACTERS]})
        if self._stop and word not in ("pass", "skip"):
            self.finish()

    def prepare(self, name: str, preparation: Callable[[], object]) -> None:
        """Do what must go well before the first test. Where it does not, that is the only finding, and the end."""
        word, detail = self._outcome(preparation)
        if word != "pass":
            self.announce(1)
            self._say({"word": word, "name": name, "detail": detail[:_DETAIL_CHARACTERS]})
            self.finish()

    def _outcome(self, test: Callable[[], object]) -> tuple[str, str]:
        try:
            test()
        except Skipped:
            return "skip", ""
        except NotOfferedError as error:
            self.give_up(str(error))
        except BaseException as error:  # whatever ends a test is a finding about it
            if isinstance(error, ModuleNotFoundError) and not hasattr(error, "_rlvr_remote"):
                self.give_up(f"the tests need a module that the sandbox does not have: {error}")
            return _finding(error)
        return "pass", ""

    def finish(self) -> NoReturn:
        """Say that all tests were run, and end."""
        self._say({"done": True})
        os._exit(0)

    def give_up(self, problem: str) -> NoReturn:
        """Say why the tests cannot be run, and end."""
        self._say({"problem": problem[:_DETAIL_CHARACTERS]})
        os._exit(0)

    def _say(self, told: dict[str, Any]) -> None:
        line = json.dumps(told).encode() + b"\n"
        while line:
            line = line[os.write(self._out, line) :]


def _finding(error: BaseException) -> tuple[str, str]:
    if isinstance(error, StoppedError):
        return error.word, str(error)
    try:
        text = str(error)
    except BaseException:
        text = "(its text cannot be had)"
    line = _line_of(error)
    if isinstance(error, AssertionError):
        return "fail", f"{line}: {text}" if text else line
    word = "memory" if isinstance(error, MemoryError) else "error"
    return word, f"{type(error).__name__}: {text} at {line}" if line else f"{type(error).__name__}: {text}"


def _line_of(error: BaseException) -> str:
    """Return the line of test code that an exception passed last."""
    line = ""
    traceback = error.__traceback__
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if name.startswith("<test"):
            line = linecache.getline(name, traceback.tb_lineno).strip()
        traceback = traceback.tb_next
    return line


def compiled(report: Report, source: str, name: str) -> tuple[ast.Module, CodeType]:
    """Return test source as a tree and as code, or give up on the tests."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        tree = ast.parse(source, name)
        return tree, compile(tree, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        report.give_up(f"the test code is no Python: {error}")


def read_job() -> dict[str, Any]:
    """Return what the host wants judged."""
    return json.loads(sys.stdin.buffer.read())
