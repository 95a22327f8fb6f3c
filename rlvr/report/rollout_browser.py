"""The rollouts of a report: a few of a few steps, with every token's text and numbers."""

import gzip
import json
import math
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from rlvr.report.budget import BASE64, Budget, Packed, evenly
from rlvr.report.choice import Outline, choose, outlines
from rlvr.report.rounding import short, shorts
from rlvr.report.token_texts import TokenTexts
from rlvr.tracking.run_folder import RunFolder

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

_LISTS = {
    "advantage": "advantages", "value": "values", "reward_token": "rewards", "return": "returns",
    "logprob": "old_logprobs", "ref_logprob": "ref_logprobs", "exact_kl": "exact_kls", "entropy": "entropies",
}  # fmt: skip
"""Per-token lists of the page by name, and those of the records they are."""
_PLAIN = ("outcome", "score", "answer", "detail", "reward", "finish")


def rollout_browser(
    folder: RunFolder, texts: TokenTexts | None, budget: Budget, *, problems: int, critic: bool
) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the rollouts to show, None without any, and notes on what was left out.

    Args:
        budget: what is shown is taken from it.
        problems: the most rollouts of one step.
        critic: whether the run has one; without, recorded values are zeros that say nothing.
    """
    recorded = folder.steps_with_rollouts()
    if not recorded:
        return None, []
    if texts is None:
        return None, [f"{folder.name}: no tokenizer is saved yet, so rollouts are not shown."]
    if budget.left_bytes <= 0:
        return None, [f"{folder.name}: the page has no room for rollouts; raise --max-mb."]
    by_step = {step: _outlines(folder, step) for step in _steps(folder, recorded, budget)}
    by_step = {step: found for step, found in by_step.items() if found}
    chosen = _affordable(choose(by_step, problems), by_step, 1.5 * budget.left_bytes)
    kept = _fill({step: _packed(folder, step, by_step[step], rows, texts) for step, rows in chosen.items()}, budget)
    if not any(kept.values()):
        return None, [f"{folder.name}: no rollout fits into the page; raise --max-mb."]
    names, responses = _numbered(kept)
    for response in responses if not critic else ():
        response["value"] = None
    drawn = sum(map(len, by_step.values()))
    notes = [
        f"{folder.name}: the rollout browser shows {len(responses)} of {drawn:,} rollouts of {len(kept)} of "
        f"{len(recorded)} recorded steps; `rlvr inspect` shows any other."
    ]
    shortened = sum("omitted" in response for response in responses)
    if shortened:
        notes.append(
            f"{folder.name}: the middle of {shortened} responses longer than {MAX_TOKENS:,} tokens is left out."
        )
    return {"steps": sorted(kept), "problems": names, "responses": responses}, notes


def _steps(folder: RunFolder, recorded: list[int], budget: Budget) -> list[int]:
    """Return the steps to look at: fewer where a few responses of each would fill the page."""
    first = _records(folder, recorded[0], range(_SAMPLE))
    lengths = [min(len(record.get("token_ids") or ()), MAX_TOKENS) for record in first]
    response_bytes = max(1.0, _TOKEN_BYTES * sum(lengths) / max(1, len(lengths)))
    affordable = int(budget.left_bytes / (_PROBLEMS_WANTED * response_bytes))
    return evenly(recorded, max(FEWEST_STEPS, min(MAX_STEPS, affordable)))


def _outlines(folder: RunFolder, step: int) -> list[Outline]:
    with gzip.open(folder.rollouts_path(step), "rb") as lines:
        return outlines(lines)


def _records(folder: RunFolder, step: int, rows: Container[int]) -> Iterator[dict[str, Any]]:
    """Yield those records of a step, one by one, for a whole step may be too large to hold."""
    with gzip.open(folder.rollouts_path(step), "rb") as lines:
        for row, line in enumerate(lines):
            if row in rows:
                yield json.loads(line)


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
    folder: RunFolder, step: int, own: Sequence[Outline], rows: Mapping[int, list[str]], texts: TokenTexts
) -> list[Packed]:
    """Return a step's rollouts as the page has them, in the order of `rows`."""
    found = dict(zip(sorted(rows), _records(folder, step, rows), strict=True))
    return [Packed(_response(step, own[row], found[row], reasons, texts)) for row, reasons in rows.items()]


def _fill(packed: Mapping[int, Sequence[Packed]], budget: Budget) -> dict[int, list[dict[str, Any]]]:
    """Take from every step in turn, so that a full page has a little of each."""
    kept: dict[int, list[dict[str, Any]]] = {step: [] for step in packed}
    for depth in range(max(map(len, packed.values()), default=0)):
        for step, own in packed.items():
            if depth < len(own) and budget.take(own[depth].size_bytes):
                kept[step].append(own[depth].value())
    return {step: responses for step, responses in kept.items() if responses}


def _numbered(kept: Mapping[int, list[dict[str, Any]]]) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """Return the problems, those at several steps first, and the responses with their problem as its place."""
    responses = [response for step in sorted(kept) for response in kept[step]]
    at = Counter(name for own in kept.values() for name in {response["problem"] for response in own})
    prompts = {response["problem"]: response.pop("problem_prompt") for response in responses}
    order = sorted(prompts, key=lambda name: -at[name])
    places = {name: place for place, name in enumerate(order)}
    for response in responses:
        response["problem"] = places[response["problem"]]
    return [{"id": name, "prompt": prompts[name]} for name in order], responses


def _response(
    step: int, outline: Outline, record: Mapping[str, Any], reasons: list[str], texts: TokenTexts
) -> dict[str, Any]:
    tokens = texts.of_response(record["token_ids"], record["text"])
    lists = {name: record.get(source) for name, source in _LISTS.items()}
    policy, reference, logs = (record.get(name) for name in ("old_logprobs", "ref_logprobs", "update_log_ratios"))
    lists["kl_token"] = [p - q for p, q in zip(policy, reference, strict=True)] if policy and reference else None
    # Logarithms beyond 80 are no ratios any more; exp of 710 would raise.
    lists["ratio"] = [math.exp(min(80.0, value)) for value in logs] if logs else None
    columns = {name: shorts(values) if values else None for name, values in lists.items()}
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
