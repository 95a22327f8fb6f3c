"""What a check says: how bad it is, what was found, what to do."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import torch

from rlvr.errors import RlvrError
from sandbox.errors import SandboxError
from tasks.errors import TaskError
from verifiers.errors import VerifierError

USER_ERRORS = (RlvrError, TaskError, VerifierError, SandboxError)
"""Errors whose messages are meant for users; anything else is a bug."""


class Level(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    NOTE = "note"
    """Worth knowing; nothing needs to be done."""
    WARNING = "warning"
    """The run would go, and probably not as hoped."""
    BLOCKER = "BLOCKER"
    """The run would stop, or could learn nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One line of the doctor's."""

    level: Level
    what: str
    advice: str = ""
    """What to do; "" where there is nothing."""

    def __str__(self) -> str:
        return f"  {self.level:<8} {self.what}" + (f"  -  {self.advice}" if self.advice else "")


def ok(what: str) -> Finding:
    return Finding(level=Level.OK, what=what)


def note(what: str, advice: str = "") -> Finding:
    return Finding(level=Level.NOTE, what=what, advice=advice)


def warning(what: str, advice: str) -> Finding:
    return Finding(level=Level.WARNING, what=what, advice=advice)


def blocker(what: str, advice: str) -> Finding:
    return Finding(level=Level.BLOCKER, what=what, advice=advice)


def from_error(error: Exception) -> Finding:
    """Return an error for users as a blocker; its message already says what to do."""
    what, _, advice = "; ".join(line.strip() for line in str(error).splitlines() if line.strip()).partition("; ")
    return blocker(what, advice)


def surviving(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings; an error for users or a full GPU becomes the last of them, and hides no later group of checks."""
    try:
        yield from findings
    except USER_ERRORS as error:
        yield from_error(error)
    except torch.OutOfMemoryError as error:
        told = str(error).partition("\n")[0].partition(". ")[0]
        yield blocker(told, "lower rollout.batch_size and algorithm.micro_batch_size, or take a smaller model")


def percent(share: float) -> str:
    """Return a share as "51.2 %"."""
    return f"{100 * share:.1f} %"


def size(bytes_: float) -> str:
    """Return a size as "12 MB" or "3.4 GB"."""
    return f"{bytes_ / 1e9:.1f} GB" if bytes_ >= 1e9 else f"{max(1, round(bytes_ / 1e6))} MB"


def duration(seconds: float) -> str:
    """Return a duration as "4.2 s", "12 min" or "3 h 20 min"."""
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
