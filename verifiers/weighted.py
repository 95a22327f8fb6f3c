"""Combine verifiers into one: by weight, all of them, or any of them.

    [task]
    verifier = "weighted"
    [task.verifier_options]
    parts = [{name = "math", options = {lenient = true}}, {name = "answer_format", weight = 0.1}]

Every part judges every response, one after another, and its score stands in the verdict's parts under its name ("math";
a second one "math#2"; the parts of a part "all/math"). A VerifierError of a part is that of the whole. A part that is a
BatchVerifier judges one response at a time here.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.options import did_you_mean
from tasks.types import Problem
from verifiers.errors import VerifierOptionError
from verifiers.nested import load_nested
from verifiers.types import Outcome, Verdict, Verifier

_KEY = "task.verifier_options.parts"
_DETAIL_LENGTH = 100
"""Characters that each part may say."""


class Weighted:
    """Scores the weighted mean of its parts' scores; the first part says whether the answer is right.

    The outcome and the answer are the first part's, so that verify/pass_rate counts right answers whatever the other
    parts (form, length) pay for.

    Args:
        parts: tables with `name`, and where wanted `options` and `weight` (at least 0, else 1).

    Raises:
        VerifierOptionError: parts that cannot be loaded, one line for each mistake; or all weights are 0.
    """

    def __init__(self, *, parts: Sequence[Mapping[str, Any]]) -> None:
        self._parts = _load(parts, keys=("name", "weight", "options"))
        self._total = math.fsum(part.weight for part in self._parts)
        if self._total == 0:
            raise VerifierOptionError(f"{_KEY}: at least one weight must be above 0")

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on `response`; raises as the parts do."""
        verdicts = [part.verifier.verify(problem, response) for part in self._parts]
        total = math.fsum(part.weight * verdict.score for part, verdict in zip(self._parts, verdicts, strict=True))
        return _combined(self._parts, verdicts, decisive=verdicts[0], score=min(1.0, total / self._total))


class AllOf:
    """CORRECT if every part is, else the outcome of the first that is not; scores the lowest of its parts' scores.

    Args:
        parts: tables with `name`, and where wanted `options`.

    Raises:
        VerifierOptionError: parts that cannot be loaded, one line for each mistake.
    """

    def __init__(self, *, parts: Sequence[Mapping[str, Any]]) -> None:
        self._parts = _load(parts, keys=("name", "options"))

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on `response`; raises as the parts do."""
        verdicts = [part.verifier.verify(problem, response) for part in self._parts]
        decisive = next((verdict for verdict in verdicts if verdict.outcome is not Outcome.CORRECT), verdicts[0])
        return _combined(self._parts, verdicts, decisive=decisive, score=min(verdict.score for verdict in verdicts))


class AnyOf:
    """CORRECT if any part is, else the first part's outcome; scores the highest of its parts' scores.

    Args:
        parts: tables with `name`, and where wanted `options`.

    Raises:
        VerifierOptionError: parts that cannot be loaded, one line for each mistake.
    """

    def __init__(self, *, parts: Sequence[Mapping[str, Any]]) -> None:
        self._parts = _load(parts, keys=("name", "options"))

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on `response`; raises as the parts do."""
        verdicts = [part.verifier.verify(problem, response) for part in self._parts]
        decisive = next((verdict for verdict in verdicts if verdict.outcome is Outcome.CORRECT), verdicts[0])
        return _combined(self._parts, verdicts, decisive=decisive, score=max(verdict.score for verdict in verdicts))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    name: str
    """Unique among the parts: the verifier's name, with "#2" and so on behind it where it repeats."""
    verifier: Verifier
    weight: float


def _load(parts: Sequence[Mapping[str, Any]], *, keys: Sequence[str]) -> list[_Part]:
    """Make the verifiers that `parts` describes by tables with these keys."""
    if not parts:
        raise VerifierOptionError(f'{_KEY}: needs at least one, such as {{name = "numeric"}}')
    loaded: list[_Part] = []
    mistakes: list[str] = []
    seen: Counter[str] = Counter()
    for index, table in enumerate(parts):
        key = f"{_KEY}[{index}]"
        found = _mistakes(table, key, keys)
        if not found:
            name = table["name"]
            seen[name] += 1
            unique = name if seen[name] == 1 else f"{name}#{seen[name]}"
            try:
                verifier = load_nested(
                    name, table.get("options", {}), name_key=f"{key}.name", options_key=f"{key}.options"
                )
                loaded.append(_Part(name=unique, verifier=verifier, weight=table.get("weight", 1.0)))
            except VerifierOptionError as error:
                found = [str(error)]
        mistakes += found
    if mistakes:
        raise VerifierOptionError("\n".join(mistakes))
    return loaded


def _mistakes(table: object, key: str, keys: Sequence[str]) -> list[str]:
    """Return one line for each way in which `table` does not describe a part."""
    if not isinstance(table, Mapping):
        return [f'{key}: expected a table such as {{name = "numeric"}}, got {table!r}']
    found = [
        f"{key}.{given}: a part has no such key{did_you_mean(str(given), keys)}; it takes: {', '.join(keys)}"
        for given in table
        if given not in keys
    ]
    name, weight, options = table.get("name"), table.get("weight", 1.0), table.get("options", {})
    if not isinstance(name, str):
        found.append(
            f"{key}.name: expected the name of a verifier, got {name!r}"
            if "name" in table
            else f"{key}.name: a part needs one"
        )
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not (math.isfinite(weight) and weight >= 0):
        found.append(f"{key}.weight: must be a finite number of at least 0, got {weight!r}")
    if not isinstance(options, Mapping):
        found.append(f"{key}.options: expected a table, got {options!r}")
    return found


def _combined(parts: Sequence[_Part], verdicts: Sequence[Verdict], *, decisive: Verdict, score: float) -> Verdict:
    scores: dict[str, float] = {}
    for part, verdict in zip(parts, verdicts, strict=True):
        scores[part.name] = verdict.score
        scores |= {f"{part.name}/{inner}": value for inner, value in verdict.parts.items()}
    details = (f"{part.name}: {verdict.detail[:_DETAIL_LENGTH]}" for part, verdict in zip(parts, verdicts, strict=True))
    return Verdict(
        outcome=decisive.outcome, score=score, answer=decisive.answer, detail="; ".join(details), parts=scores
    )
