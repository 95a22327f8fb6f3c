"""Whether two policies can be compared at all, and what would make the comparison unfair."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlvr.errors import ConfigError
from rlvr.evaluation.measured import Measured

_CONSEQUENCES = {
    "task_options": "the same ids may stand for other problems",
    "verifier": "the difference may be the judges' and not the policies'",
    "verifier_options": "the difference may be the judges' and not the policies'",
    "max_new_tokens": "the one with the lower limit has more responses cut off",
    "top_p": "sampled responses were drawn in different ways",
    "top_k": "sampled responses were drawn in different ways",
    "chat_template": "the policies were asked in different ways",
    "system_prompt": "the policies were asked in different ways",
}


def check_comparable(a: Measured, b: Measured) -> None:
    """Raise ConfigError unless both were measured on the same split of the same task, as far as is known."""
    for what in ("task", "split"):
        one, other = getattr(a, what), getattr(b, what)
        if one is not None and other is not None and one != other:
            raise ConfigError(
                f"{a.name} was measured on {what} {one} and {b.name} on {what} {other}; only policies measured on the "
                "same problems can be compared"
            )


def warnings_about(a: Measured, b: Measured, modes: Sequence[str]) -> Iterator[str]:
    """Yield what differs between the measurements besides the policies, in a line each."""
    if a.origin.resolve() == b.origin.resolve() and (a.phase, a.step) == (b.phase, b.step):
        yield f"{a.name} and {b.name} are the same measurement"
    for own in (a, b):
        if not own.finished:
            yield f"the evaluation {own.name} was cut short; repeat its command to finish it"
        if own.phase in ("base", "sft") and own.moment is None:
            yield (
                f"{own.name} is compared as it was before PPO, its last evaluation on all problems; "
                f"{own.origin}@<step> names a later one"
            )
        failed = sum(int(own.records[mode].get("failed") or 0) for mode in modes)
        if failed:
            yield f"{failed} responses of {own.name} could not be judged and are left out"
    for name in {**a.settings, **b.settings}:
        if name in a.settings and name in b.settings and a.settings[name] != b.settings[name]:
            values = f"A {_shown(a.settings[name])}, B {_shown(b.settings[name])}"
            yield f"{name} differs ({values}): {_CONSEQUENCES.get(name, 'the comparison may not be fair')}"
    for mode in modes:
        one, other = (own.records[mode].get("temperature") for own in (a, b))
        if one is not None and other is not None and one != other:
            yield f"the temperature of {mode} responses differs (A {one:g}, B {other:g})"


def differing_prompts(a_rows: Sequence[Mapping[str, Any]], b_rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line when problems of the same id were asked in other words."""
    asked = {row["problem"]: row.get("prompt") for row in a_rows}
    pairs = {row["problem"]: (asked[row["problem"]], row.get("prompt")) for row in b_rows if row["problem"] in asked}
    other = [problem for problem, (one, two) in pairs.items() if one is not None and two is not None and one != two]
    if other:
        yield (
            f"{len(other)} of {len(pairs)} problems have another prompt in B than in A, {other[0]} the first; "
            "if these are other problems, the comparison says nothing"
        )


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
