"""Rows of a data set, from a local file or from the Hugging Face hub, that know where they come from."""

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.errors import TaskDataError

_READABLE = (".jsonl", ".jsonl.gz", ".json", ".parquet")
_FILE_SUFFIXES = (*_READABLE, ".gz", ".csv", ".tsv", ".txt", ".zip", ".arrow")
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One row and its origin."""

    values: Mapping[str, Any]
    source: str
    """The file or hub id."""
    number: int
    """Counted from 1; in JSON lines it is the line."""

    @property
    def place(self) -> str:
        """Where the row stands, for messages: "data/train.jsonl, row 17"."""
        return f"{self.source}, row {self.number}"

    def text(self, column: str, *, option: str | None = None) -> str:
        """Return what stands in `column` as text; a number is written out.

        Args:
            option: the task option that names this column, if there is one; the message then says so.

        Raises:
            TaskDataError: no such column, or it holds neither text nor a number, or nothing but blanks.
        """
        if column not in self.values:
            advice = f"; set task.options.{option}" if option else ""
            raise TaskDataError(
                f"{self.place}: no column {column!r}; columns seen: {list(self.values)}{advice}",
            )
        value = self.values[column]
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise TaskDataError(f"{self.place}: column {column!r} must hold text or a number, not {value!r}")
        text = str(value)
        if not text.strip():
            raise TaskDataError(f"{self.place}: column {column!r} is empty")
        return text


def read_rows(source: str | Path, *, split: str | None = None, hub_config: str | None = None) -> list[Row]:
    """Read every row of a .jsonl, .jsonl.gz, .json (a list) or .parquet file, or of a hub data set ("openai/gsm8k").

    Args:
        split, hub_config: which part of a hub data set; a local file has neither.

    Raises:
        TaskDataError: nothing there, cannot be read, or has no rows; names the file and the line.
    """
    name = str(source)
    path = Path(source).expanduser()
    if path.is_dir():
        raise TaskDataError(f"{name} is a folder; give one of the files in it")
    if path.exists():
        rows = list(_local_rows(path, name))
    elif is_local(source):
        raise TaskDataError(f"{name}: no such file (relative paths start at {Path.cwd()})")
    else:
        rows = _hub_rows(name, split, hub_config)
    if not rows:
        raise TaskDataError(f"{name} has no rows")
    return rows


def is_local(source: str | Path) -> bool:
    """Tell whether `source` means a local file, present or missing, rather than a hub id."""
    if isinstance(source, Path) or Path(source).expanduser().exists():
        return True
    return not _HUB_ID.fullmatch(source) or source.lower().endswith(_FILE_SUFFIXES)


def _local_rows(path: Path, name: str) -> Iterator[Row]:
    lower = path.name.lower()
    if lower.endswith(".parquet"):
        return _parquet_rows(path, name)
    if lower.endswith(".jsonl.gz"):
        return _unpacked_rows(path, name)
    if lower.endswith(".jsonl"):
        return _plain_rows(path, name)
    if lower.endswith(".json"):
        return _list_rows(path, name)
    raise TaskDataError(f"{name}: cannot read this kind of file; give one of {', '.join(_READABLE)}")


def _plain_rows(path: Path, name: str) -> Iterator[Row]:
    with path.open("rb") as file:
        yield from _line_rows(file, name)


def _unpacked_rows(path: Path, name: str) -> Iterator[Row]:
    try:
        with gzip.open(path, "rb") as file:
            yield from _line_rows(file, name)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TaskDataError(f"{name}: not a whole gzip file: {error}") from error


def _line_rows(lines: Iterable[bytes], name: str) -> Iterator[Row]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _row(_parsed(line, f"{name}, line {number}"), name, number)


def _list_rows(path: Path, name: str) -> Iterator[Row]:
    values = _parsed(path.read_bytes(), name)
    if not isinstance(values, list):
        raise TaskDataError(f"{name}: expected a list of objects, found {_kind(values)}; JSON lines belong in .jsonl")
    for number, value in enumerate(values, start=1):
        yield _row(value, name, number)


def _parquet_rows(path: Path, name: str) -> Iterator[Row]:
    # pyarrow comes with datasets, whose own reader would first copy the file into its cache.
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except pyarrow.ArrowInvalid as error:
        raise TaskDataError(f"{name}: not a parquet file: {error}") from error
    for number, value in enumerate(table.to_pylist(), start=1):
        yield _row(value, name, number)


def _hub_rows(name: str, split: str | None, hub_config: str | None) -> list[Row]:
    import datasets
    from datasets.exceptions import DatasetsError

    place = f"{name} ({split})" if split else name
    try:
        table = datasets.load_dataset(name, hub_config, split=split or "train")
    except (OSError, ValueError, DatasetsError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise TaskDataError(
            f"{place}: cannot be read from the hub: {reason}"
            " (no file of this name exists here; without a connection, give a local file)"
        ) from error
    return [_row(value, place, number) for number, value in enumerate(table, start=1)]


def _parsed(data: bytes, place: str) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise TaskDataError(f"{place}: not UTF-8 text (byte {error.start})") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise TaskDataError(f"{place}: not valid JSON: {error.msg} at {where}column {error.colno}") from error


def _row(value: Any, name: str, number: int) -> Row:
    if not isinstance(value, dict):
        raise TaskDataError(f"{name}, row {number}: expected an object with named columns, found {_kind(value)}")
    return Row(values=value, source=name, number=number)


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
