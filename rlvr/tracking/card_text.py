"""Texts of others inside Markdown and YAML: names, options and answers that must not become markup."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_MARKUP = re.compile(r"([\\`*\[\]<>|~#]|(?<!\w)_|_(?!\w))")

_BARE = re.compile(r"[A-Za-z][A-Za-z_-]*")
_YAML_WORDS = ("true", "false", "yes", "no", "on", "off", "y", "n", "null")


def plain(text: Any) -> str:
    """Return a text for a Markdown paragraph or table cell, on one line, its markup escaped."""
    line = "".join(character if character.isprintable() else " " for character in str(text))
    return _MARKUP.sub(r"\\\1", " ".join(line.split()))


def code(text: Any) -> str:
    """Return a text as a Markdown code span, on one line; it may stand in a table cell."""
    line = " ".join("".join(character if character.isprintable() else " " for character in str(text)).split())
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    # Even within code a table takes a bar for the end of the cell, unless it is escaped.
    return f"{fence}{space}{line}{space}{fence}".replace("|", "\\|") if line else "(empty)"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table of cells that are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"|{'|'.join(f' {cell} ' if cell != '---' else cell for cell in line)}|" for line in lines)


def yaml_lines(value: Any, indent: str = "") -> list[str]:
    """Return plain data (mappings, lists, texts, numbers, booleans, None) as lines of YAML."""
    if isinstance(value, Mapping) and value:
        lines = []
        for key, item in value.items():
            lines += _yaml_entry(f"{indent}{key}:", item, indent)
        return lines
    if isinstance(value, list | tuple) and value:
        lines = []
        for item in value:
            inner = yaml_lines(item, f"{indent}  ")
            lines += [f"{indent}- {inner[0].removeprefix(f'{indent}  ')}", *inner[1:]]
        return lines
    return [f"{indent}{_yaml_scalar(value)}"]


def _yaml_entry(key: str, value: Any, indent: str) -> list[str]:
    if isinstance(value, Mapping) and value:
        return [key, *yaml_lines(value, f"{indent}  ")]
    if isinstance(value, list | tuple) and value:
        return [key, *yaml_lines(value, indent)]
    return [f"{key} {_yaml_scalar(value)}"]


def _yaml_scalar(value: Any) -> str:
    if isinstance(value, str):
        if _BARE.fullmatch(value) and value.lower() not in _YAML_WORDS:
            return value
        # JSON's strings are YAML's, but for characters that YAML wants escaped and JSON does not.
        quoted = json.dumps(value, ensure_ascii=False)
        return "".join(character if character.isprintable() else f"\\U{ord(character):08x}" for character in quoted)
    if isinstance(value, float) and value not in (float("inf"), float("-inf")) and value == value:
        text = repr(value)
        return text if "." in text else text.replace("e", ".0e")  # YAML 1.1 takes 1e-05 for a text
    return json.dumps(value)
