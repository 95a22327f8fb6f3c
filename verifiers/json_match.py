"""Judge answers that are a JSON value, by value."""

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from tasks.types import Problem
from verifiers.errors import BadReferenceError, VerifierOptionError
from verifiers.extract import read_answer
from verifiers.json_values import MAX_COMPARISONS, Comparison, NotJsonError, TooManyComparisonsError, parse_json
from verifiers.types import Outcome, Verdict
from verifiers.verdicts import correct, incorrect, no_answer, shown

_FENCED = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)```", re.DOTALL | re.IGNORECASE)


class JsonMatch:
    """Compares the response's JSON value with the gold value, which the reference holds as JSON text.

    The order of keys does not count, numbers are compared by value (1 is 1.0, but never true), texts character by
    character. NaN and Infinity, objects that repeat a key and values beyond the bounds of verifiers.json_values are no
    JSON. A response that declares several different values is incorrect. The score is 1 only if all is equal;
    parts["fields"] is the share of fields that are, among those that either object has or, with `subset`, the gold has
    (for other values than objects 0 or 1).

    Args:
        place: where the value stands: "declared" where the problem's answer format says (a fence of backquotes around
            it is no matter), "fenced" in the last block that opens with ```json, "whole" when the response is nothing
            else, reasoning in <think> tags apart.
        subset: whether the response's objects may have further keys, at any depth.
        unordered_lists: whether the order of lists counts for nothing, at any depth.
        abs_tol: how far a number may lie from the gold number.

    Raises:
        VerifierOptionError: the tolerance is negative or not finite.
    """

    def __init__(
        self,
        *,
        place: Literal["declared", "fenced", "whole"] = "declared",
        subset: bool = False,
        unordered_lists: bool = False,
        abs_tol: float = 0.0,
    ) -> None:
        if not (math.isfinite(abs_tol) and abs_tol >= 0):
            raise VerifierOptionError(f"task.verifier_options.abs_tol: must be at least 0 and finite, got {abs_tol}")
        self._place = place
        self._subset = subset
        self._unordered_lists = unordered_lists
        self._abs_tol = Fraction(abs_tol)

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on `response`; TIMED_OUT where lists in any order take too many comparisons.

        Raises:
            BadReferenceError: the gold answer is no JSON value, the answer format cannot hold it, or the reference is
                no MathAnswer.
        """
        reference, extraction = read_answer(problem, response)
        gold = _gold(problem, reference.value)
        place = reference.answer_format if self._place == "declared" else self._place
        if place == "last_number" and not isinstance(gold, Fraction):
            raise BadReferenceError(
                f"problem {problem.id}: the answer format 'last_number' finds numbers alone, and the gold answer is "
                f'{shown(reference.value)}; use another, or task.verifier_options.place = "fenced" or "whole"'
            )
        if self._place == "declared":
            texts = [] if extraction.text is None else [*map(_unfenced, (*extraction.rivals, extraction.text))]
        else:
            said = response.rpartition("</think>")[2].partition("<think>")[0]
            texts = _json_blocks(said) if self._place == "fenced" else [said.strip()]
        if not texts or not texts[-1]:
            return no_answer(place)
        try:
            return self._compared(texts, gold)
        except TooManyComparisonsError:
            detail = f"stopped after {MAX_COMPARISONS} comparisons"
            return Verdict(outcome=Outcome.TIMED_OUT, score=0.0, answer=texts[-1], detail=detail)

    def _compared(self, texts: Sequence[str], gold: Any) -> Verdict:
        *rivals, answer = texts
        try:
            value = parse_json(answer)
        except NotJsonError as error:
            return incorrect(answer, f"not JSON: {error}", {"fields": 0.0})
        alike = self._comparison(subset=False)
        for rival in rivals:
            if rival != answer and not _says(rival, value, alike):
                return incorrect(answer, f"several answers: {shown(rival)} and {shown(answer)}", {"fields": 0.0})
        comparison = self._comparison(subset=self._subset)
        if isinstance(gold, dict) and isinstance(value, dict):
            keys = [*gold] if self._subset else [*{**gold, **value}]
            differing = [k for k in keys if k not in gold or k not in value or not comparison.equal(gold[k], value[k])]
            parts = {"fields": 1.0 - len(differing) / len(keys) if keys else 1.0}
            if differing:
                more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
                return incorrect(answer, f"differs in the field {shown(differing[0])}{more}", parts)
            return correct(answer, "equals the gold value in every field", parts)
        if not comparison.equal(gold, value):
            return incorrect(answer, f"{shown(answer)} is not the gold value", {"fields": 0.0})
        return correct(answer, "equals the gold value", {"fields": 1.0})

    def _comparison(self, *, subset: bool) -> Comparison:
        return Comparison(subset=subset, unordered_lists=self._unordered_lists, abs_tol=self._abs_tol)


def _says(text: str, value: Any, comparison: Comparison) -> bool:
    try:
        return comparison.equal(parse_json(text), value)
    except NotJsonError:
        return False


def _gold(problem: Problem, text: str) -> Any:
    try:
        return _parsed_gold(text)
    except NotJsonError as error:
        raise BadReferenceError(f"problem {problem.id}: the gold answer {shown(text)} is not JSON: {error}") from error


@lru_cache(maxsize=4096)
def _parsed_gold(text: str) -> Any:
    return parse_json(text)


def _unfenced(text: str) -> str:
    match = _FENCED.fullmatch(text)
    return match[1].strip() if match else text


def _json_blocks(text: str) -> list[str]:
    """Return the contents of every closed block that opens with ```json on a line of its own."""
    blocks: list[str] = []
    block: list[str] | None = None
    for line in text.split("\n"):
        fence = line.strip().lower()
        if block is None:
            block = [] if fence == "```json" else None
        elif fence == "```":
            blocks.append("\n".join(block).strip())
            block = None
        else:
            block.append(line)
    return blocks
