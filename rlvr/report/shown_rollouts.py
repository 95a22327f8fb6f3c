"""Recorded rollouts as a page has them: of a few steps those that were chosen, within a budget of bytes."""

import gzip
import json
import zlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr.errors import RunFolderError
from rlvr.report.budget import BASE64, Budget, Packed, evenly
from rlvr.report.choice import Outline, outlines
from rlvr.report.rounding import short, shorts
from rlvr.report.token_numbers import TOKEN_NUMBERS, token_numbers
from rlvr.report.token_texts import TokenTexts

MAX_STEPS = 12
FEWEST_STEPS = 4
MAX_TOKENS = 4000
"""Of a response in the page; of a longer one the middle is left out."""
_TOKEN_BYTES = 30 * BASE64
"""A token with its numbers in the page, about."""
_PROBLEMS_WANTED = 6
"""Per step, before steps are given up for more of them."""
_SAMPLE = 32
"""Rollouts of which the usual length is taken."""

_LISTS = {name: name for name in TOKEN_NUMBERS} | {"k1": "kl_token", "reward": "reward_token"}
"""Per-token numbers, and what the page calls them: its "reward" is that of the whole response."""
_PLAIN = ("outcome", "score", "answer", "detail", "reward", "finish")

Choose = Callable[[Mapping[int, Sequence[Outline]], int], dict[int, dict[int, list[str]]]]
"""`choose` or `choose_probes`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownRollouts:
    """What a page shows of the rollouts, or of the probes, of a run."""

    responses: dict[int, list[dict[str, Any]]]
    """Of each step that has any in the page. Their problem is its id, and "problem_prompt" its prompt."""
    drawn: int
    """Responses that the steps looked at have in all."""

    @property
    def count(self) -> int:
        return sum(map(len, self.responses.values()))


def shown_rollouts(
    paths: Mapping[int, Path], choose: Choose, texts: TokenTexts, budget: Budget, *, problems: int
) -> ShownRollouts:
    """Return what the page shows of the files of these steps.

    Args:
        paths: by step, in order.
        budget: what is shown is taken from it.
        problems: the most rollouts of one step.

    Raises:
        RunFolderError: a file is damaged.
    """
    by_step = {step: outlines(_lines(paths[step])) for step in _steps(paths, budget)}
    by_step = {step: found for step, found in by_step.items() if found}
    chosen = _affordable(choose(by_step, problems), by_step, 1.5 * budget.left_bytes)
    packed = {step: _packed(paths[step], step, by_step[step], rows, texts) for step, rows in chosen.items()}
    return ShownRollouts(responses=_fill(packed, budget), drawn=sum(map(len, by_step.values())))


def _steps(paths: Mapping[int, Path], budget: Budget) -> list[int]:
    """Return the steps to look at: fewer where a few responses of each would fill the page."""
    recorded = list(paths)
    if not recorded:
        return []
    first = _records(paths[recorded[0]], range(_SAMPLE))
    lengths = [min(len(record.get("token_ids") or ()), MAX_TOKENS) for record in first]
    response_bytes = max(1.0, _TOKEN_BYTES * sum(lengths) / max(1, len(lengths)))
    affordable = int(budget.left_bytes / (_PROBLEMS_WANTED * response_bytes))
    return evenly(recorded, max(FEWEST_STEPS, min(MAX_STEPS, affordable)))


def _records(path: Path, rows: Container[int]) -> Iterator[dict[str, Any]]:
    """Yield those records of a step, one by one, for a whole step may be too large to hold."""
    for row, line in enumerate(_lines(path)):
        if row in rows:
            yield json.loads(line)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path, "rb") as lines:
            yield from lines
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise RunFolderError(f"{path}: cannot be read to its end: {error}; restore the file") from error


def _affordable(
    chosen: Mapping[int, dict[int, list[str]]], by_step: Mapping[int, Sequence[Outline]], size_bytes: float
) -> dict[int, dict[int, list[str]]]:
    """Leave out what comes after about so many bytes, so that it is not even read."""
    kept: dict[int, dict[int, list[str]]] = {step: {} for step in chosen}
    for depth in range(max((len(rows) for rows in chosen.values()), default=0)):
        for step, rows in chosen.items():
            if depth < len(rows) and size_bytes > 0:
                row, reasons = list(rows.items())[depth]
                kept[step][row] = reasons
                size_bytes -= _TOKEN_BYTES * min(MAX_TOKENS, by_step[step][row].tokens)
    return kept


def _packed(
    path: Path, step: int, own: Sequence[Outline], rows: Mapping[int, list[str]], texts: TokenTexts
) -> list[Packed]:
    """Return a step's rollouts as the page has them, in the order of `rows`."""
    found = dict(zip(sorted(rows), _records(path, rows), strict=True))
    return [Packed(_response(step, own[row], found[row], reasons, texts)) for row, reasons in rows.items()]


def _fill(packed: Mapping[int, Sequence[Packed]], budget: Budget) -> dict[int, list[dict[str, Any]]]:
    """Take from every step in turn, so that a full page has a little of each."""
    kept: dict[int, list[dict[str, Any]]] = {step: [] for step in packed}
    for depth in range(max(map(len, packed.values()), default=0)):
        for step, own in packed.items():
            if depth < len(own) and budget.take(own[depth].size_bytes):
                kept[step].append(own[depth].value())
    return {step: responses for step, responses in kept.items() if responses}


def _response(
    step: int, outline: Outline, record: Mapping[str, Any], reasons: list[str], texts: TokenTexts
) -> dict[str, Any]:
    tokens = texts.of_response(record["token_ids"], record["text"])
    numbers = token_numbers(record)
    columns = {own: shorts(numbers[name]) if numbers.get(name) else None for name, own in _LISTS.items()}
    response: dict[str, Any] = {
        "step": step,
        "problem": outline.problem,
        "problem_prompt": record.get("prompt", ""),
        "sample": outline.sample,
        "why": reasons,
        **{name: record.get(name) for name in _PLAIN},
        "kl": short(record.get("kl")),
    }
    prompt = texts.of_prompt(record.get("prompt_ids") or [])
    if prompt and prompt != record.get("prompt"):
        response["prompt"] = prompt
    mask = record.get("mask")
    if mask and not all(mask):
        columns["mask"] = mask
    omitted = len(tokens) - MAX_TOKENS
    if omitted > 0:
        response["omitted"] = omitted
        tokens = _shortened(tokens, f" [... {omitted:,} tokens left out ...] ")
        columns = {name: values and _shortened(values, None) for name, values in columns.items()}
    return response | {"tokens": tokens} | columns


def _shortened(values: list[Any], marker: Any) -> list[Any]:
    half = MAX_TOKENS // 2
    return [*values[:half], marker, *values[-half:]]
