"""A conformance suite for sandboxes, for `rlvr sandbox check` and for the tests of whoever writes one.

    for check in self_check(MySandbox()):
        print(check)

The checks of kind CONTRACT ask whether programs are run as Program, Limits and Judge say; every sandbox must pass them.
Those of kind CONTAINMENT run hostile programs and ask what they could reach. A sandbox that does not claim to contain
them, as LocalSandbox, fails those, and its programs really do reach it: they try and look, but destroy nothing.
"""

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from sandbox.containment_checks import CONTAINMENT_CHECKS
from sandbox.contract_checks import CONTRACT_CHECKS
from sandbox.types import Sandbox

__all__ = ["Check", "CheckKind", "self_check"]


class CheckKind(StrEnum):
    """What a check is about."""

    CONTRACT = "contract"
    CONTAINMENT = "containment"


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """What one check found."""

    name: str
    kind: CheckKind
    passed: bool
    detail: str
    """One line: what was asked, or what was found wrong."""
    wall_s: float

    def __str__(self) -> str:
        failed = "not contained" if self.kind is CheckKind.CONTAINMENT else "FAILED"
        return f"{'ok' if self.passed else failed:13}  {self.name:20} {self.wall_s:5.1f} s  {self.detail}"


def self_check(
    sandbox: Sandbox, *, only: Collection[str] = (), report: Callable[[Check], None] | None = None
) -> list[Check]:
    """Return what each check found, in the order they ran; half a minute or so in all.

    Args:
        only: names of checks; all by default.
        report: called with each check as soon as it is done.

    Raises:
        SandboxError: the sandbox cannot run programs at all, or lost one.
        ValueError: a name in `only` is no check.
    """
    suites = {CheckKind.CONTRACT: CONTRACT_CHECKS, CheckKind.CONTAINMENT: CONTAINMENT_CHECKS}
    names = [name for checks in suites.values() for name in checks]
    if unknown := sorted({*only} - {*names}):
        raise ValueError(f"no check named {', '.join(unknown)}; known: {', '.join(names)}")
    found: list[Check] = []
    for kind, checks in suites.items():
        for name, check in checks.items():
            if only and name not in only:
                continue
            started = time.monotonic()
            asked = (check.__doc__ or name).strip().partition("\n")[0].rstrip(".")
            wrong = _in_one_line(check(sandbox))
            found.append(
                Check(
                    name=name,
                    kind=kind,
                    passed=not wrong,
                    detail=wrong or asked,
                    wall_s=time.monotonic() - started,
                )
            )
            if report is not None:
                report(found[-1])
    return found


def _in_one_line(reasons: Iterable[str]) -> str:
    return "; ".join(" ".join(reason.split())[:300] for reason in reasons)
