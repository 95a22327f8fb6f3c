"""The configuration written out as TOML that explains itself and reads back exactly."""

import json
import re
import textwrap
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

from rlvr.config.keys import keys, sections
from rlvr.config.models import Config

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_COMMENT_WIDTH = 110


def annotated_toml(config: Config) -> str:
    """Return the whole configuration as TOML, each key under a comment with its meaning and its allowed values.

    Read back, it gives an equal configuration, floats to the last bit. A key without a value (None) is a comment.
    """
    return "\n".join(_table(config, section, meaning) for section, meaning in sections().items())


def toml_value(value: Any) -> str:
    """Return one value in TOML syntax, on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _string(value)
        case datetime() | date() | time():
            return value.isoformat()
        case list() | tuple():
            return f"[{', '.join(toml_value(item) for item in value)}]"
        case Mapping():
            pairs = [f"{_key(key)} = {toml_value(item)}" for key, item in value.items()]
            return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
        case _:
            raise TypeError(f"TOML has no {type(value).__name__}: {value!r}")


def _table(config: Config, section: str, meaning: str) -> str:
    lines = [*_comment(meaning), f"[{section}]"]
    for name, key in keys().items():
        table, _, field = name.partition(".")
        if table != section:
            continue
        value = getattr(getattr(config, section), field)
        lines += _comment(f"{key.description} ({key.allowed})")
        lines.append(f"# {field} =" if value is None else f"{field} = {toml_value(value)}")
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, _COMMENT_WIDTH, break_on_hyphens=False)]


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    # JSON's escapes are TOML's too, but JSON leaves DEL as it is, which TOML forbids.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
