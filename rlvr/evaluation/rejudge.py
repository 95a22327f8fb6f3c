"""Judge rows of gold and response from a file of any size: in order, in constant memory, over several processes."""

import json
import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rlvr.errors import JudgingFailedError
from rlvr.tracking.jsonl import to_json, to_line
from tasks.types import CountdownTarget, MathAnswer, Problem
from verifiers.errors import VerifierError
from verifiers.recipe import VerifierRecipe, exit_with_parent, interrupts_held
from verifiers.types import Outcome, Verdict, Verifier

VERDICT_COLUMNS = ("outcome", "score", "answer", "detail", "parts")
"""What a judged row gains; parts only where a verifier combines several."""

_CHUNK_ROWS = 32
_CHUNK_BYTES = 1 << 20
_CHUNKS_PER_WORKER = 4
"""Bounds what is in flight: each worker has a chunk, and the next ones lie ready while the first of all is awaited."""


class BadRowError(ValueError):
    """A row that cannot be judged: it is no JSON object, or a field is missing or of the wrong type."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RowFormat:
    """Which columns of a row are read, and how those of the verdict are called."""

    gold: str = "gold"
    response: str = "response"
    correct: str = "correct"
    """true or false: whether the response is right; rows without it are judged all the same."""
    group: str = "kind"
    answer_format: str = "lenient"
    """Where a response must put its answer; see MathAnswer."""
    prefix: str = ""
    """Put before the names of the verdict's columns; a row's own columns of these names are replaced."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedRow:
    """What became of one row: an outcome, or the error that kept it from having one."""

    line: int
    """Counted from 1."""
    record: bytes
    """The row with its verdict, or with its line and error: one line of JSON."""
    size_bytes: int
    """Of the line as it was read."""
    outcome: Outcome | None = None
    error: str | None = None
    latency_s: float = 0.0
    correct: bool | None = None
    """What the row says about itself; None where it says nothing."""
    group: str | None = None


class RowJudge:
    """Judges lines of JSON with one verifier."""

    def __init__(self, verifier: Verifier, name: str, row_format: RowFormat) -> None:
        self._verifier = verifier
        self._name = name
        self._format = row_format

    def judge(self, line: int, text: bytes) -> JudgedRow:
        """Return the judged row. What a verifier raises but VerifierError passes through, with the line noted."""
        row: Mapping[str, Any] = {}
        try:
            row = _parsed(text)
            problem, response = self._problem(line, row), _text(row, self._format.response)
            correct = _label(row, self._format.correct)
            start_s = time.perf_counter()
            verdict = self._verifier.verify(problem, response)
            latency_s = time.perf_counter() - start_s
        except (BadRowError, VerifierError) as error:
            record = to_line({**row, "line": line, "error": str(error)})
            return JudgedRow(line=line, record=record, size_bytes=len(text), error=str(error))
        except Exception as error:
            error.add_note(f"while verifier {self._name!r} judged line {line}")
            raise
        if not isinstance(verdict, Verdict):
            raise TypeError(f"verifier {self._name!r} gave {type(verdict).__name__} and not a Verdict on line {line}")
        group = row.get(self._format.group)
        return JudgedRow(
            line=line, record=to_line({**row, **self._columns(verdict)}), size_bytes=len(text),
            outcome=verdict.outcome, latency_s=latency_s, correct=correct, group=None if group is None else str(group),
        )  # fmt: skip

    def _problem(self, line: int, row: Mapping[str, Any]) -> Problem:
        name, prompt = row.get("id"), row.get("prompt")
        return Problem(
            id=name if isinstance(name, str) else f"row {line}",
            prompt=prompt if isinstance(prompt, str) else "",
            reference=_reference(row, self._format),
            verifier=self._name,
        )

    def _columns(self, verdict: Verdict) -> dict[str, Any]:
        columns = {"outcome": verdict.outcome.value, "score": verdict.score}
        columns |= {"answer": verdict.answer, "detail": verdict.detail}
        if verdict.parts:
            columns["parts"] = dict(verdict.parts)
        return {f"{self._format.prefix}{name}": value for name, value in columns.items()}


def judge_lines(
    lines: Iterable[bytes], recipe: VerifierRecipe, row_format: RowFormat, *, workers: int
) -> Generator[JudgedRow]:
    """Yield what becomes of each line that is not blank, in order, reading no further ahead than the workers need.

    When the iteration is given up, by an exception or by Ctrl-C, the worker processes are killed.

    Args:
        workers: processes, each with a verifier of its own; with 1 it is this process.

    Raises:
        JudgingFailedError: a worker process died; names the lines.
    """
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    if workers == 1:
        judge = RowJudge(recipe.make(), recipe.name, row_format)
        yield from (judge.judge(number, line) for number, line in numbered)
        return
    pending: deque[tuple[int, Future[list[JudgedRow]]]] = deque()
    with _worker_processes(recipe, row_format, workers) as pool:
        for chunk in _chunks(numbered):
            if len(pending) == _CHUNKS_PER_WORKER * workers:
                yield from _judged(pending)
            with interrupts_held():  # the pool starts its processes when it is given work
                pending.append((chunk[0][0], pool.submit(_judge_chunk, chunk)))
        while pending:
            yield from _judged(pending)


def _chunks(numbered: Iterable[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    chunk: list[tuple[int, bytes]] = []
    size = 0
    for number, line in numbered:
        chunk.append((number, line))
        size += len(line)
        if len(chunk) == _CHUNK_ROWS or size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _judged(pending: deque[tuple[int, Future[list[JudgedRow]]]]) -> list[JudgedRow]:
    first, future = pending.popleft()
    try:
        return future.result()
    except BrokenProcessPool as error:
        last = max([first, *(number for number, _ in pending)]) + _CHUNK_ROWS - 1
        raise JudgingFailedError(
            f"a worker process died on one of the lines {first} to {last} (out of memory, or a crash of the verifier); "
            "take fewer --workers, or 1 to see where"
        ) from error


@contextmanager
def _worker_processes(recipe: VerifierRecipe, row_format: RowFormat, workers: int) -> Iterator[ProcessPoolExecutor]:
    others = set(multiprocessing.active_children())
    # Spawned, for a fork of a process with threads may deadlock, and a verifier may have started some.
    pool = ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_start_worker, initargs=(recipe, row_format)
    )
    try:
        yield pool
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


_judge_in_worker: Callable[[int, bytes], JudgedRow]
"""A worker process's own; the executor has no other place for it."""


def _start_worker(recipe: VerifierRecipe, row_format: RowFormat) -> None:
    global _judge_in_worker
    exit_with_parent()
    _judge_in_worker = RowJudge(recipe.make(), recipe.name, row_format).judge


def _judge_chunk(chunk: list[tuple[int, bytes]]) -> list[JudgedRow]:
    return [_judge_in_worker(number, line) for number, line in chunk]


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        row = json.loads(text.decode("utf-8-sig"))
        if text.count(b"[") + text.count(b"{") > 100:
            to_json(row)  # what can be read may still be nested too deeply to be written
    except UnicodeDecodeError as error:
        raise BadRowError(f"not UTF-8 text (byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise BadRowError(f"not valid JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise BadRowError("not readable JSON: nested too deeply") from error
    except ValueError as error:  # a number of more digits than Python converts
        raise BadRowError(f"not readable JSON: {error}") from error
    if not isinstance(row, dict):
        raise BadRowError(f"expected an object with named fields, found {_shown(row)}")
    return row


def _value(row: Mapping[str, Any], name: str) -> Any:
    if name not in row:
        raise BadRowError(f"no field {name!r}; fields seen: {', '.join(row) or 'none'}")
    return row[name]


def _text(row: Mapping[str, Any], name: str) -> str:
    value = _value(row, name)
    if not isinstance(value, str):
        raise BadRowError(f"field {name!r} must hold text, not {_shown(value)}")
    return value


def _label(row: Mapping[str, Any], name: str) -> bool | None:
    value = row.get(name)
    if value is not None and not isinstance(value, bool):
        raise BadRowError(f"field {name!r} must hold true or false, not {_shown(value)}")
    return value


def _reference(row: Mapping[str, Any], row_format: RowFormat) -> MathAnswer | CountdownTarget:
    gold = _value(row, row_format.gold)
    if isinstance(gold, str | int | float) and not isinstance(gold, bool):
        return MathAnswer(value=str(gold), answer_format=row_format.answer_format)
    match gold:
        case {"numbers": [*numbers], "target": int(target), **rest} if all(type(n) is int for n in [*numbers, target]):
            return CountdownTarget(
                numbers=tuple(numbers),
                target=target,
                answer_format=row_format.answer_format,
                use_all=rest.get("use_all") is not False,
            )
    raise BadRowError(
        f'field {row_format.gold!r} must hold text, a number, or {{"numbers": [...], "target": ...}} of integers, '
        f"not {_shown(gold)}"
    )


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
