"""Which of a step's recorded responses `rlvr inspect` shows: found by step, problem and number."""

import difflib
from collections.abc import Sequence
from typing import Any

from rlvr.errors import ConfigError, RunFolderError
from rlvr.report.token_texts import run_tokenizer
from rlvr.tracking.run_folder import RunFolder


def require_step(folder: RunFolder, step: int, recorded: Sequence[int], what: str) -> None:
    """Raise RunFolderError unless the step is a recorded one; names those near it.

    Args:
        what: was recorded, up to the word before the step's number.
    """
    if step not in recorded:
        near = sorted(sorted(recorded, key=lambda other: abs(other - step))[:5])
        known = f"near it: {', '.join(map(str, near))}" if near else "there are none at all"
        raise RunFolderError(f"{folder.path} has no {what} step {step}; {known}")


def one_response(
    folder: RunFolder, rows: Sequence[dict[str, Any]], problem: str, sample: int, where: str
) -> tuple[dict[str, Any], int, list[str]]:
    """Return one response with its number, how many responses its problem has among the rows, and its tokens' texts.

    Args:
        rows: of a step.
        problem: its id, or the beginning or the end of it.
        where: the rows are from.

    Raises:
        ConfigError: there is no such response.
    """
    rows = numbered(rows)
    name = resolved(problem, [row["problem"] for row in rows], where)
    own = [row for row in rows if row["problem"] == name]
    if sample >= len(own):
        raise ConfigError(f"--sample: {where} has {len(own)} responses to {name}, 0 to {len(own) - 1}")
    row, tokenizer = own[sample], run_tokenizer(folder)
    if tokenizer is None:
        return row, len(own), [f"<{token}>" for token in row["token_ids"]]
    return row, len(own), tokenizer.of_response(row["token_ids"], row["text"])


def numbered(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with which of its problem's responses each is."""
    seen: dict[str, int] = {}
    numbered = []
    for row in rows:
        seen[row["problem"]] = seen.get(row["problem"], -1) + 1
        numbered.append({"sample": seen[row["problem"]], **row})
    return numbered


def resolved(wanted: str, names: Sequence[str], where: str) -> str:
    """Return the one problem that `wanted` is the id of, or the beginning, or the last part.

    Raises:
        ConfigError: there is none, or more than one; names some.
    """
    known = list(dict.fromkeys(names))
    if wanted in known:
        return wanted
    found = [name for name in known if name.startswith(wanted)] or [
        name for name in known if name.endswith(f"/{wanted}")
    ]
    if len(found) == 1:
        return found[0]
    if found:
        others = f" and {len(found) - 5} more" if len(found) > 5 else ""
        raise ConfigError(f"--problem: {wanted!r} may be {', '.join(found[:5])}{others} of {where}; write more of it")
    near = difflib.get_close_matches(wanted, known, n=5, cutoff=0.5) or known[:3]
    raise ConfigError(f"--problem: {where} has no problem {wanted!r}; near it: {', '.join(near)}")
