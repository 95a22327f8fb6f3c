"""The judge's line to the program: requests out on descriptor 4, answers in on descriptor 3."""

import os
from typing import Any, NoReturn

from verifiers.code.inside.wire import MalformedError, read_json

MAX_LINE_BYTES = 32 * 2**20


class StoppedError(BaseException):
    """Ends a test that cannot pass; no `except Exception` of the test catches it."""

    word = "error"


class ProgramGoneError(StoppedError):
    """The program ended, or wrote something that is no answer: this test and all that follow get nothing from it."""

    word = "gone"


class RefusedError(StoppedError):
    """The test would have let an object of the program decide about a value that the program must not see."""

    word = "fail"


class UnsendableResultError(StoppedError):
    """The program's result is too large or too deep to be sent."""

    word = "rejected"


class Link:
    """Messages to and from the program, until it breaks off."""

    def __init__(self, read: int, write: int) -> None:
        self._read = read
        self._write = write
        self._received = bytearray()
        self.broken = ""
        """Why nothing goes to and fro any more."""

    def send(self, line: str) -> None:
        """Send a line.

        Raises:
            ProgramGoneError: the program does not read it.
        """
        if self.broken:
            raise ProgramGoneError(self.broken)
        left = memoryview(line.encode() + b"\n")
        try:
            while left:
                left = left[os.write(self._write, left) :]
        except OSError:
            self.break_off("the program ended")

    def receive(self) -> dict[str, Any]:
        """Return the next message.

        Raises:
            ProgramGoneError: there is none, or it is no message.
        """
        if self.broken:
            raise ProgramGoneError(self.broken)
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            chunk = os.read(self._read, 1 << 18)
            if not chunk:
                self.break_off("the program ended")
            if searched > MAX_LINE_BYTES:
                self.break_off("the program sent too much")
            self._received += chunk
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        try:
            message = read_json(line)
        except MalformedError:
            message = None
        if not isinstance(message, dict):
            self.break_off("the program wrote something else in the place of an answer")
        return message

    def break_off(self, reason: str) -> NoReturn:
        """Make every later message fail.

        Raises:
            ProgramGoneError: always.
        """
        self.broken = reason
        raise ProgramGoneError(reason)
