r"""A conformance suite for verifiers, for the tests of whoever writes one.

    def test_my_verifier_keeps_its_promises():
        self_check(MyVerifier(), [Case(problem=PROBLEM, accepted=[r"\boxed{72}"], rejected=[r"\boxed{71}"])])

What each check asks:

    contract       the verifier has the method verifiers.Verifier asks for
    accepts        right responses are CORRECT
    rejects        wrong responses are not and score less than right ones; other problems' right ones are wrong here
    junk           so are blanks, the prompt, injections, huge numbers, very long and deeply nested text
    verdicts       verdicts are well-formed: CORRECT scores above 0, all else below 1, NO_ANSWER 0; one line of detail
    raises         `verify` raises on no response
    time           no call takes longer than the limit
    deterministic  the same response gets the same verdict again,
    threads        from several threads at once,
    picklable      and from a copy made by pickle
    bad_reference  a reference of a foreign kind raises a VerifierError that names the problem
    batch          `verify_batch`, where there is one, finds what `verify` finds
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from verifiers.conformance_checks import CHECKS
from verifiers.conformance_evidence import Case, gather
from verifiers.types import BatchVerifier, Verifier

__all__ = ["Case", "ConformanceError", "Failure", "self_check"]

_LINES_PER_CHECK = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """What a verifier does not keep."""

    check: str
    reason: str
    """One line: the response, the problem, and what was found."""


class ConformanceError(AssertionError):
    """A verifier fails the suite: one line for each failure, in the message and as `failures`."""

    def __init__(self, verifier: object, failures: Sequence[Failure]) -> None:
        self.failures = tuple(failures)
        lines = [f"  {failure.check}: {failure.reason}" for failure in failures]
        super().__init__("\n".join([f"{type(verifier).__name__} does not keep what a verifier promises:", *lines]))


def self_check(
    verifier: Verifier, cases: Sequence[Case], *, skip: Collection[str] = (), wall_s: float = 2.0, threads: int = 8
) -> list[str]:
    """Return the names of the checks that `verifier` passes: all that apply.

    Args:
        cases: the first one also carries the hostile texts. With two or more, whose right responses differ, each
            problem's right response is tried on the others.
        skip: names of checks that do not apply, for instance "junk" for a verifier that judges the length alone.
        wall_s: the most that one call may take. A call that is not back after five times as long is left behind; one
            that never lets go of the interpreter's lock can only be waited for.
        threads: how many call at once in the check of that name.

    Raises:
        ConformanceError: a check fails; tells all that fail.
        ValueError: no case, a case without a right response, or a name in `skip` that is no check.
    """
    if not cases or not all(case.accepted for case in cases):
        raise ValueError("self_check needs at least one case, and each case at least one right response")
    if unknown := sorted({*skip} - {*CHECKS}):
        raise ValueError(f"skip: no check named {', '.join(unknown)}; known: {', '.join(CHECKS)}")
    if not isinstance(verifier, Verifier):
        raise ConformanceError(verifier, [Failure(check="contract", reason="no method verify(problem, response)")])
    checks = {name: check for name, check in CHECKS.items() if name not in skip}
    if not isinstance(verifier, BatchVerifier):
        checks.pop("batch", None)
    evidence = gather(verifier, cases, wall_s=wall_s, threads=threads)
    failures: list[Failure] = []
    for name, check in checks.items():
        reasons = list(check(evidence))
        if len(reasons) > _LINES_PER_CHECK:
            reasons[_LINES_PER_CHECK:] = [f"and {len(reasons) - _LINES_PER_CHECK} more like these"]
        failures += [Failure(check=name, reason=reason) for reason in reasons]
    if failures:
        raise ConformanceError(verifier, failures)
    return ["contract", *checks]
