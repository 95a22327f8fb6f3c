"""Files that are there whole or not at all, even when the machine loses power half-way."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def fsync_path(path: Path) -> None:
    """Make a file's bytes, or a directory's entries, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_tree(directory: Path) -> None:
    """Make a directory with everything below it survive a power cut; its own entry in its parent is the caller's."""
    for parent, _, names in os.walk(directory):
        for name in names:
            fsync_path(Path(parent, name))
        fsync_path(Path(parent))


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path` that takes its place when the block ends, and is removed when it raises."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    # The rename itself lives in the directory.
    fsync_path(path.parent)


def atomic_write(path: Path, content: bytes | str) -> None:
    """Write a file so that readers, and a restart after a crash, see either the old content or all of the new."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
