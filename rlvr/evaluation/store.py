"""The folder of an evaluation: its rows appended batch by batch, so that a kill at any moment costs one batch at most.

evaluation.json   what was measured, how, and what it came to
greedy.jsonl      every greedy response with its verdict, in the order of the problems
sampled.jsonl     the same of the sampled ones
problems.jsonl    one line per problem, written at the end
"""

import dataclasses
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from rlvr.errors import RunFolderError
from rlvr.tracking.atomic import atomic_write, fsync_path
from rlvr.tracking.jsonl import parse_lines, read_records, to_json, to_line, write_records
from tasks.types import Problem


def evaluation_key(identity: Mapping[str, Any]) -> str:
    """Return the SHA-256 of everything that decides what an evaluation finds, by name."""
    text = json.dumps(identity, sort_keys=True, default=str)
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()


def problems_digest(problems: Sequence[Problem]) -> str:
    """Return the SHA-256 of problems: ids, prompts, verifiers and references, in order."""
    digest = hashlib.sha256()
    for problem in problems:
        line = json.dumps([problem.id, problem.prompt, problem.verifier, _reference_text(problem.reference)])
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()


def _reference_text(reference: Any) -> str:
    if dataclasses.is_dataclass(reference) and not isinstance(reference, type):
        fields = [f"{field.name}={_reference_text(getattr(reference, field.name))}" for field in _compared(reference)]
        return f"{type(reference).__name__}({', '.join(fields)})"
    if isinstance(reference, set | frozenset):  # whose order is another one in each process
        return f"{type(reference).__name__}({', '.join(sorted(map(_reference_text, reference)))})"
    if isinstance(reference, list | tuple):
        return f"{type(reference).__name__}({', '.join(map(_reference_text, reference))})"
    if isinstance(reference, Mapping):
        pairs = (f"{key!r}: {_reference_text(value)}" for key, value in reference.items())
        return f"{type(reference).__name__}({', '.join(pairs)})"
    # What object itself writes holds an address, which no other process would write again.
    return type(reference).__name__ if type(reference).__repr__ is object.__repr__ else repr(reference)


def _compared(reference: Any) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(reference) if field.compare]


def folder_name(model: str, task: str, split: str, key: str) -> str:
    """Return the name of an evaluation's folder, safe on every file system: MODEL-TASK-SPLIT-<8 digits of the key>."""
    words = [re.sub(r"[^A-Za-z0-9._-]+", "-", word).strip("-.") or "model" for word in (model, task, split)]
    return "-".join([*(word[:60] for word in words), key[:8]])


class EvaluationFolder:
    """A folder for one evaluation; `find` it or make it by writing to it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def find(cls, directory: Path, name: str, key: str) -> Self:
        """Return the folder in `directory` of the evaluation with this key, whatever it is called, or else a new one.

        Raises:
            RunFolderError: a folder of that name holds something else, or cannot be read.
        """
        wanted = directory / name
        others = sorted(directory.glob(f"*-{key[:8]}")) if directory.is_dir() else []
        for path in [wanted, *(other for other in others if other != wanted)]:
            record = cls(path).read_record()
            if record is not None and record.get("key") == key:
                return cls(path)
        if (wanted / "evaluation.json").exists() or (wanted.exists() and not wanted.is_dir()):
            raise RunFolderError(f"{wanted} holds something else already; move it away, or take another --dir")
        return cls(wanted)

    @property
    def record_path(self) -> Path:
        return self.path / "evaluation.json"

    @property
    def problems_path(self) -> Path:
        return self.path / "problems.jsonl"

    def rows_path(self, mode: str) -> Path:
        """The rows of "greedy" or "sampled"."""
        return self.path / f"{mode}.jsonl"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make the folder and keep other processes from writing to it.

        Raises:
            RunFolderError: one is at it, or the folder cannot be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunFolderError(f"--dir: {self.path} cannot be made: {error.strerror}; take another --dir") from error
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise RunFolderError(
                    f"{self.path}: the same evaluation is being made by another process; wait for it to end"
                ) from error
            yield
        finally:
            os.close(descriptor)

    def read_record(self) -> dict[str, Any] | None:
        """Return evaluation.json; None before it is first written.

        Raises:
            RunFolderError: it is damaged.
        """
        if not self.record_path.is_file():
            return None
        try:
            record = json.loads(self.record_path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise RunFolderError(
                f"{self.record_path} cannot be read: {error}; restore it or remove the folder"
            ) from error
        if not isinstance(record, dict):
            raise RunFolderError(f"{self.record_path} does not hold an object; restore it or remove the folder")
        return record

    def write_record(self, record: Mapping[str, Any]) -> None:
        """Write evaluation.json in place of an earlier one."""
        atomic_write(self.record_path, to_json(record, indent=2) + "\n")

    def resume_rows(self, mode: str, expected: Sequence[tuple[str, int]], *, at_once: int) -> list[dict[str, Any]]:
        """Return the rows of a mode that an interrupted evaluation left, and cut everything after them off the file.

        Kept are whole batches, as far as they are the expected ones: a batch is drawn from one seed, so a part of it
        is drawn again.

        Args:
            expected: problem id and sample number of every row that the whole evaluation will have.
            at_once: rows of a batch.
        """
        path = self.rows_path(mode)
        content = path.read_bytes() if path.exists() else b""
        # Without its last newline a line may look whole, and still the next one would end up on it.
        content = content[: content.rfind(b"\n") + 1]
        rows = parse_lines(content, path)[: len(expected)]
        good = 0
        while good < len(rows) and (rows[good].get("problem"), rows[good].get("sample")) == expected[good]:
            good += 1
        if good < len(expected):
            good -= good % at_once
        if path.exists():
            kept_lines = content.split(b"\n")[:good]
            with path.open("r+b") as file:
                file.truncate(sum(len(line) + 1 for line in kept_lines))
                file.flush()
                os.fsync(file.fileno())
        return rows[:good]

    def append(self, mode: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add the rows of a batch, on disk when this returns."""
        path = self.rows_path(mode)
        is_new = not path.exists()
        with path.open("ab") as file:
            file.write(b"".join(map(to_line, rows)))
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            fsync_path(self.path)

    def read_rows(self, mode: str) -> list[dict[str, Any]]:
        """Return the rows of a mode, none where it was not measured."""
        return read_records(self.rows_path(mode))

    def write_problems(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Write problems.jsonl in place of an earlier one."""
        write_records(self.problems_path, records)

    def clear(self) -> None:
        """Forget what was measured; the folder stays."""
        # The record goes first: without it, nothing that is left counts as an evaluation.
        for path in (self.record_path, self.problems_path, self.rows_path("greedy"), self.rows_path("sampled")):
            path.unlink(missing_ok=True)

    def discard_if_blank(self) -> None:
        """Remove the folder when no response has come to be."""
        if not any(self.rows_path(mode).exists() for mode in ("greedy", "sampled")):
            self.record_path.unlink(missing_ok=True)
            with suppress(OSError):  # something of somebody else's lies in it
                self.path.rmdir()
