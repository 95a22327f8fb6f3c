"""What a curve can show and run over, and where an evaluation records it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlvr.errors import ConfigError
from rlvr.evaluation.run_curve import Axis

X_NAMES: dict[Axis, str] = {"step": "step", "rollouts": "rollouts", "tokens": "tokens", "wall_s": "minutes"}
"""The unit that places are given in."""

_FIELDS = {"pass@": "pass_at_k", "pass^": "pass_hat_k", "maj@": "maj_at_k"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantity:
    """A held-out rate: "greedy", "sampled", "pass@8", "pass^8", "maj@8"."""

    name: str
    kind: str | None
    """"pass@", "pass^" or "maj@"; None for the plain rates."""
    k: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """A recorded rate with its 95 % interval."""

    value: float
    low: float | None
    high: float | None
    n: int | None
    """Responses judged."""


def parse_quantity(text: str) -> Quantity:
    """Return what `text` names.

    Raises:
        ConfigError: it names nothing that is measured.
    """
    if text in ("greedy", "sampled"):
        return Quantity(name=text, kind=None, k=1)
    if found := re.fullmatch(r"(pass@|pass\^|maj@)([1-9]\d*)", text):
        return Quantity(name=text, kind=found[1], k=int(found[2]))
    raise ConfigError(f'--y: got "{text}"; give greedy, sampled, or pass@k, pass^k or maj@k with a number, as pass@8')


def measurement(record: Mapping[str, Any], quantity: Quantity) -> Measurement | None:
    """Return what an evaluation found; None where it did not measure that, or could judge no response."""
    rates = record.get("greedy" if quantity.name == "greedy" else "sampled") or {}
    found = rates if quantity.kind is None else _of_k(rates, _FIELDS[quantity.kind], quantity.k)
    value = found.get("pass_rate", found.get("value"))
    if value is None:
        return None
    return Measurement(value=value, low=found.get("low"), high=found.get("high"), n=rates.get("n"))


def audit_measurement(record: Mapping[str, Any], verifier: str) -> Measurement | None:
    """Return how often an audit verifier calls an evaluation's sampled responses right, as `measurement`."""
    found = ((record.get("sampled") or {}).get("audit") or {}).get(verifier) or {}
    if found.get("pass_rate") is None:
        return None
    return Measurement(value=found["pass_rate"], low=found.get("low"), high=found.get("high"), n=found.get("n"))


def recorded_quantities(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names that `--y` can take for these evaluations."""
    names = ["greedy", "sampled"]
    for kind, field in _FIELDS.items():
        ks = {int(k) for record in records for k in (record.get("sampled") or {}).get(field) or {}}
        names += [f"{kind}{k}" for k in sorted(ks | {1})]
    return [name for name in names if any(measurement(record, parse_quantity(name)) for record in records)]


def place(record: Mapping[str, Any], x: Axis) -> float | None:
    """Return where an evaluation lies on an axis, in the unit of X_NAMES; None where that was not recorded."""
    value = record.get(x)
    return value / 60 if x == "wall_s" and value is not None else value


def _of_k(rates: Mapping[str, Any], field: str, k: int) -> Mapping[str, Any]:
    found = (rates.get(field) or {}).get(str(k))
    if found is None and k == 1 and not rates.get(field):
        # With one response per problem nothing is recorded by k, and the three are the plain rate.
        return rates if rates.get("samples_per_problem") == 1 else {}
    return found if isinstance(found, Mapping) else {"value": found}
