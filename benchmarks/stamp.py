"""Where a figure comes from: commit, time, machine, versions and command."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rlvr.cli.summary import code_commit, machine, software


def stamp(module: str, arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the stamp of `python -m MODULE ARGUMENTS` (those of this process unless given)."""
    return {
        "commit": code_commit(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": software(),
        "command": shown_command(module, sys.argv[1:] if arguments is None else arguments),
    }


def shown_command(module: str, arguments: Sequence[str]) -> str:
    """Return the command for the record; of absolute paths, which mean nothing elsewhere, only the last part stays."""
    words: list[str] = []
    for argument in arguments:
        option, equals, value = argument.rpartition("=")
        words.append(f"{option}{equals}{Path(value).name if Path(value).is_absolute() else value}")
    return " ".join([f"python -m {module}", *words])
