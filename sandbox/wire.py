"""The frames between the host and the supervisor in a container, and the requests and replies in them.

A frame is the length of its header (4 bytes, big-endian), the header (a JSON object in UTF-8) and then the blobs whose
lengths header["blobs"] gives. The host sends {"op": "run" | "ping" | "proof"}, the supervisor answers "ready" once and
then "done" (or "error": the request could not be carried out), "pong" and "proof". sandbox/supervisor.py stands alone
in the container and has the same rules written down once more.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from sandbox.errors import SandboxLostError
from sandbox.types import End, Execution, Judge, Limits, Program

VERSION = 1
HEADER_BYTES_MAX = 1 << 20

_LIMITS = tuple(limit.name for limit in fields(Limits))  # asdict() copies deeply, in ten times the time

Start = Literal["fork", "exec"]
Frame = tuple[dict[str, Any], list[bytes]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """What the supervisor says of a run."""

    program: Execution
    judge: Execution | None
    cpu_s: float
    """Of everything that ran."""
    oom_kills: int
    """Processes that the kernel killed for memory; above 0 the container had better be replaced."""
    left: int
    """Processes that were still there and were killed, besides the program and its judge."""
    clean_ms: float
    clean: bool
    """Whether nothing of the run is left in the container; if not, it must not run another program."""


def encode(header: dict[str, Any], blobs: Sequence[bytes] = ()) -> list[bytes]:
    """Return the parts of a frame, to be sent one after the other."""
    text = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    if len(text) > HEADER_BYTES_MAX:
        raise ValueError(
            f"the command and the file names of a program take {len(text)} bytes, above {HEADER_BYTES_MAX}"
        )
    return [len(text).to_bytes(4, "big") + text, *blobs]


class FrameReader:
    """Puts frames together from the pieces that a stream comes in.

    Args:
        frame_bytes_max: of the blobs of a frame together; a container that announces more is given up.
    """

    def __init__(self, frame_bytes_max: int) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._buffer = bytearray()
        self._header: dict[str, Any] | None = None
        self._sizes: list[int] = []
        self._wanted = 4
        self._knows_length = False

    def feed(self, data: bytes) -> list[Frame]:
        """Take in the next piece and return the frames that it completes.

        Raises:
            SandboxLostError: what came is not a frame.
        """
        self._buffer += data
        frames: list[Frame] = []
        while len(self._buffer) >= self._wanted:
            piece = bytes(self._buffer[: self._wanted])
            del self._buffer[: self._wanted]
            if self._header is not None:
                frames.append((self._header, _split(piece, self._sizes)))
                self._header, self._wanted = None, 4
            elif not self._knows_length:
                self._knows_length, self._wanted = True, int.from_bytes(piece, "big")
                if self._wanted > HEADER_BYTES_MAX:
                    raise SandboxLostError(f"the container announced a header of {self._wanted} bytes")
            else:
                self._knows_length = False
                self._header, self._sizes = self._read_header(piece)
                self._wanted = sum(self._sizes)
        return frames

    def _read_header(self, piece: bytes) -> tuple[dict[str, Any], list[int]]:
        try:
            header = json.loads(piece)
        except (ValueError, RecursionError) as error:
            raise SandboxLostError(f"the container sent a header that is not JSON: {piece[:80]!r}") from error
        sizes = header.get("blobs") if isinstance(header, dict) else None
        if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in sizes):
            raise SandboxLostError(f"the container sent a header without the lengths of its blobs: {piece[:80]!r}")
        if sum(sizes) > self._frame_bytes_max:
            raise SandboxLostError(
                f"the container announced a frame of {sum(sizes)} bytes, above {self._frame_bytes_max}"
            )
        return header, sizes


def run_request(
    number: int, program: Program, limits: Limits, *, start: Start, judge: Judge | None = None
) -> tuple[dict[str, Any], list[bytes]]:
    """Return the header and the blobs that ask for a run; the reply has the same `number`.

    "fork" runs ("python3", FILE, ...) in a fork of the supervisor's interpreter, and any other command as "exec" does.
    """
    header = {
        "op": "run",
        "id": number,
        "argv": list(program.argv),
        "start": start,
        "files": list(program.files),
        "judge": judge is not None,
        "limits": {name: getattr(limits, name) for name in _LIMITS},
    }
    judge_blobs = [] if judge is None else [judge.source, judge.stdin]
    return header, [program.stdin, *program.files.values(), *judge_blobs]


def read_done(header: dict[str, Any], blobs: Sequence[bytes]) -> Done:
    """Read the reply to a run.

    Raises:
        SandboxLostError: it is not one.
    """
    try:
        judge = header["judge"]
        return Done(
            program=_execution(header, blobs[0], blobs[1]),
            judge=None if judge is None else _execution(judge, blobs[2], blobs[3]),
            cpu_s=float(header["cpu_s"]),
            oom_kills=int(header["oom_kills"]),
            left=int(header["left"]),
            clean_ms=float(header["clean_ms"]),
            clean=header["clean"] is True,
        )
    except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
        raise SandboxLostError(f"the container sent a reply that cannot be read ({error!r}): {header}") from error


def _execution(told: dict[str, Any], stdout: bytes, stderr: bytes) -> Execution:
    code = told["exit_code"]
    return Execution(
        end=End(told["end"]),
        exit_code=None if code is None else int(code),
        stdout=stdout,
        stderr=stderr,
        wall_s=float(told["wall_s"]),
    )


def _split(data: bytes, sizes: Sequence[int]) -> list[bytes]:
    blobs, begin = [], 0
    for size in sizes:
        blobs.append(data[begin : begin + size])
        begin += size
    return blobs
