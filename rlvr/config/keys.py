"""What is known about every configuration key, read off the models: names, meanings, allowed values."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rlvr.config.models import Config

_NOUNS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "a table",
}
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """One configuration key."""

    name: str
    """Dotted: section, then field, such as "algorithm.kl_coef"."""
    description: str
    allowed: str
    """What it may hold, in words, such as "a number, at least 0"."""
    holds_text: bool
    holds_table: bool
    """True where the user's own keys follow, as in task.options."""


@cache
def sections() -> Mapping[str, str]:
    """Return the tables of the configuration and their meanings, in document order."""
    definitions = _schema()["$defs"]
    return {section: definitions[model]["description"] for section, model in _models_of_sections().items()}


@cache
def keys() -> Mapping[str, Key]:
    """Return every key by its dotted name, in document order."""
    definitions = _schema()["$defs"]
    return {
        f"{section}.{field}": _key(f"{section}.{field}", schema)
        for section, model in _models_of_sections().items()
        for field, schema in definitions[model]["properties"].items()
    }


def nearest_key(name: str) -> str | None:
    """Return the key that a mistyped or misplaced `name` most likely means, or None where nothing is close."""
    section, _, field = name.rpartition(".")

    def likeness(candidate: str) -> tuple[float, float]:
        known_section, _, known_field = candidate.rpartition(".")
        return _similarity(field, known_field), _similarity(section, known_section)

    best = max(keys(), key=likeness)
    return best if likeness(best)[0] >= 0.7 else None


def _similarity(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b).ratio()


@cache
def _schema() -> dict[str, Any]:
    return Config.model_json_schema()


def _models_of_sections() -> dict[str, str]:
    return {section: reference["$ref"].rpartition("/")[2] for section, reference in _schema()["properties"].items()}


def _key(name: str, schema: dict[str, Any]) -> Key:
    kinds = {alternative.get("type") for alternative in schema.get("anyOf", [schema])}
    return Key(
        name=name,
        description=schema["description"],
        allowed=_allowed(schema),
        holds_text="string" in kinds,
        holds_table="object" in kinds,
    )


def _allowed(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        (present,) = [alternative for alternative in schema["anyOf"] if alternative.get("type") != "null"]
        return f"{_allowed(present)}; may be absent"
    if "enum" in schema:
        *others, last = [f'"{value}"' for value in schema["enum"]]
        return f"{', '.join(others)} or {last}"
    if schema["type"] == "array":
        return f"a list of {_allowed(schema['items'])}"
    bounds = [f"{words} {_number(schema[bound])}" for bound, words in _BOUNDS.items() if bound in schema]
    noun = _NOUNS[schema["type"]]
    return f"{noun}, {' and '.join(bounds)}" if bounds else noun


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)
