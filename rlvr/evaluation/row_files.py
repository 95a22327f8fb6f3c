"""Files of one row a line, read and written as streams: plain, gzipped (by their name) or standard input ("-")."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rlvr.errors import RlvrError
from rlvr.tracking.atomic import fsync_path

STANDARD_INPUT = Path("-")


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file.

    Raises:
        RlvrError: the file, or the compressed stream in it, cannot be read to its end.
    """
    if path == STANDARD_INPUT:
        yield from sys.stdin.buffer
        return
    try:
        with _open(path, path, "rb") as file:
            yield from file
    except (OSError, EOFError, zlib.error) as error:
        raise RlvrError(f"{path}: cannot be read to its end: {error}") from error


def partial_path(path: Path) -> Path:
    """Return where `writing_lines` writes until it is done."""
    return path.with_name(f"{path.name}.partial")


@contextmanager
def writing_lines(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that grows as PATH.partial and takes its name when the block ends; after an exception it stays so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _open(partial_path(path), path, "wb") as file:
        yield file
    fsync_path(partial_path(path))
    partial_path(path).replace(path)
    fsync_path(path.parent)


def _open(path: Path, name: Path, mode: str) -> IO[bytes]:
    return gzip.open(path, mode) if name.suffix == ".gz" else path.open(mode)  # type: ignore[return-value]
