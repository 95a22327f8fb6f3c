"""JSON lines that survive being killed: strict JSON, one record a line, a torn last line is as good as absent."""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rlvr.errors import RunFolderError
from rlvr.tracking.atomic import atomic_write


def to_json(record: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Return a record as JSON in which NaN and infinities are null, for JSON has no such numbers."""
    return json.dumps(_finite(record), indent=indent, allow_nan=False, ensure_ascii=False)


def to_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as a line of JSON. A lone surrogate, which cannot be encoded, becomes its escape."""
    return f"{to_json(record)}\n".encode(errors="backslashreplace")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def parse_lines(content: bytes, origin: Path) -> list[dict[str, Any]]:
    """Return the records of a file's content; a last line that is no JSON object was torn by a kill and is left out.

    Raises:
        RunFolderError: any other line is not a JSON object.
    """
    lines = content.split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    records: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        record = _parse(line)
        if record is not None:
            records.append(record)
        elif number < len(lines):
            raise RunFolderError(f"{origin}, line {number} is not a JSON object; delete the line or restore the file")
    return records


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def read_records(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file, none when it does not exist; see `parse_lines` for torn and broken lines."""
    return parse_lines(path.read_bytes(), path) if path.exists() else []


def write_records(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Replace a file by these records, atomically."""
    atomic_write(path, b"".join(map(to_line, records)))


def mend(path: Path) -> None:
    """Remove a torn last line, so that the next record appended does not end up on it."""
    if path.exists() and not path.read_bytes().endswith(b"\n"):
        write_records(path, read_records(path))
