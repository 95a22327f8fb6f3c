"""Reads the configuration from a TOML file and the command line, and reports every mistake at once."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rlvr.algorithms.presets import PRESETS
from rlvr.config.checks import Conflict, conflicts
from rlvr.config.document import toml_value
from rlvr.config.keys import Key, keys, nearest_key, sections
from rlvr.config.models import AlgorithmConfig, Config
from rlvr.errors import ConfigError

COMMAND_LINE = "command line"
_DOTTED_KEY = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_TOML_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Setting:
    value: Any
    source: str
    """The file's path or "command line": where a mistake in it is to be mended."""
    from_preset: bool = False


@dataclass(kw_only=True, slots=True)
class _Draft:
    settings: dict[str, _Setting] = field(default_factory=dict)
    """By declared key; a later assignment replaces an earlier one."""
    mistakes: list[str] = field(default_factory=list)
    doubtful: set[str] = field(default_factory=set)
    """Keys whose intended value is unknown, so that rules which involve them say nothing."""


def load_config(
    path: Path | None, overrides: Sequence[str], *, tables: Sequence[tuple[str, Mapping[str, Any]]] = ()
) -> Config:
    """Return the defaults, changed by the preset, then by the TOML file, the tables, the overrides, left to right.

    Args:
        path: a TOML file; None for none.
        tables: more of what such a file holds, each with where it was written, for mistakes in it.
        overrides: "key.path=value" with the value in TOML syntax. What is not TOML is a string (`run.name=demo`),
            and so is anything given to a key that holds a string (`run.name=7`).

    Raises:
        ConfigError: one line for each mistake: where it was made, the key, what was given and what is allowed.
    """
    draft = _Draft()
    if path is not None:
        _read_file(draft, path)
    for source, document in tables:
        for name, value in document.items():
            _assign(draft, (name,), value, source)
    for override in overrides:
        _read_override(draft, override)
    _fill_from_preset(draft)
    config = _validated(draft)
    for conflict in conflicts(config):
        if draft.doubtful.isdisjoint(conflict.keys):
            draft.mistakes.append(f"{_origin(draft, conflict)}: {conflict.keys[0]}: {conflict.message}")
    if draft.mistakes:
        raise ConfigError("\n".join(draft.mistakes))
    return config


def _read_file(draft: _Draft, path: Path) -> None:
    try:
        document = toml_document(path)
    except ConfigError as error:
        draft.mistakes.append(str(error))
        draft.doubtful.update(keys())
        return
    for name, value in document.items():
        _assign(draft, (name,), value, str(path))


def toml_document(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds.

    Raises:
        ConfigError: it cannot be read, or is not TOML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8, the encoding of TOML") from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = _TOML_POSITION.sub("", str(error))
        raise ConfigError(f"{path}, line {_line_of(error, text)}: not TOML: {reason}") from error


def _line_of(error: tomllib.TOMLDecodeError, text: str) -> int:
    position = _TOML_POSITION.search(str(error))
    return int(position[1]) if position and position[1] else len(text.splitlines())


def _read_override(draft: _Draft, override: str) -> None:
    name, equals, text = override.partition("=")
    name, text = name.strip(), text.strip()
    if not equals:
        second = "a second configuration file" if override.endswith(".toml") else "neither a .toml file nor key=value"
        draft.mistakes.append(f'{COMMAND_LINE}: "{override}" is {second}')
    elif not _DOTTED_KEY.fullmatch(name):
        draft.mistakes.append(f'{COMMAND_LINE}: "{name}" is not a dotted key such as run.seed')
    else:
        path = tuple(name.split("."))
        try:
            value = _override_value(keys().get(name), text)
        except tomllib.TOMLDecodeError as error:
            draft.mistakes.append(f"{COMMAND_LINE}: {name}: got {text}, which is not TOML: {error}")
            draft.doubtful.add(".".join(path[:2]))
        else:
            _assign(draft, path, value, COMMAND_LINE)


def _override_value(key: Key | None, text: str) -> Any:
    try:
        document = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        if text.startswith(("[", "{", '"', "'")):
            raise
        return text
    if len(document) > 1:  # The text held a line break and went on with keys of its own.
        return text
    value = document["value"]
    if key is not None and key.holds_text and not isinstance(value, (str, list, dict)):
        return text
    return value


def _assign(draft: _Draft, path: tuple[str, ...], value: Any, source: str) -> None:
    name = ".".join(path)
    is_section = len(path) == 1 and path[0] in sections()
    key = keys().get(".".join(path[:2])) if len(path) > 1 else None
    if isinstance(value, dict) and value and (is_section or key is None):
        for inner_name, inner_value in value.items():
            _assign(draft, (*path, inner_name), inner_value, source)
    elif is_section:
        if not isinstance(value, dict):
            members = ", ".join(known for known in keys() if known.startswith(f"{name}."))
            draft.mistakes.append(f"{source}: {name}: got {_shown(value)}, but it is a table; set one of {members}")
    elif key is None:
        nearest = nearest_key(name)
        advice = f"did you mean {nearest}?" if nearest else "`rlvr config` prints every key"
        draft.mistakes.append(f"{source}: {name}: unknown key; {advice}")
        if nearest:
            draft.doubtful.add(nearest)
    elif len(path) == 2:
        draft.settings[key.name] = _Setting(value=value, source=source)
    elif not key.holds_table:
        draft.mistakes.append(f"{source}: {name}: unknown key; {key.name} holds {key.allowed}, no keys of its own")
    else:
        before = draft.settings.get(key.name)
        table = before.value if before is not None and isinstance(before.value, dict) else {}
        draft.settings[key.name] = _Setting(value=_with_entry(table, path[2:], value), source=source)


def _with_entry(table: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    name, *rest = path
    if rest:
        inner = table.get(name)
        value = _with_entry(inner if isinstance(inner, dict) else {}, tuple(rest), value)
    return {**table, name: value}


def _fill_from_preset(draft: _Draft) -> None:
    default = _Setting(value=AlgorithmConfig().preset, source="defaults")
    setting = draft.settings.get("algorithm.preset", default)
    preset = setting.value
    if not isinstance(preset, str) or preset not in PRESETS:
        # The preset will be refused; what it would have filled in stays unknown.
        draft.doubtful.update(name for name in keys() if name.startswith("algorithm.") and name not in draft.settings)
        return
    for field_name, value in PRESETS[preset].items():
        source = f'{setting.source}, preset "{preset}"'
        draft.settings.setdefault(f"algorithm.{field_name}", _Setting(value=value, source=source, from_preset=True))


def _validated(draft: _Draft) -> Config:
    """Return the configuration; settings of a wrong type or out of range are reported, and their defaults taken."""
    try:
        return Config.model_validate(_document(draft))
    except ValidationError as error:
        refused = {".".join(str(part) for part in detail["loc"][:2]) for detail in error.errors()}
    for name in [name for name in draft.settings if name in refused]:
        setting = draft.settings.pop(name)
        draft.mistakes.append(f"{setting.source}: {name}: got {_shown(setting.value)}; must be {keys()[name].allowed}")
        draft.doubtful.add(name)
    return Config.model_validate(_document(draft))


def _document(draft: _Draft) -> dict[str, dict[str, Any]]:
    document: dict[str, dict[str, Any]] = {}
    for name, setting in draft.settings.items():
        section, _, field_name = name.partition(".")
        document.setdefault(section, {})[field_name] = setting.value
    return document


def _origin(draft: _Draft, conflict: Conflict) -> str:
    """Return where one of the keys was set: the first in the conflict's order, presets and defaults last."""
    present = [draft.settings[name] for name in conflict.keys if name in draft.settings]
    by_hand = [setting for setting in present if not setting.from_preset]
    return next((setting.source for setting in [*by_hand, *present]), "defaults")


def _shown(value: Any) -> str:
    text = toml_value(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
