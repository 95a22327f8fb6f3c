"""The checks of the conformance suite: each yields one line for everything that a verifier does not keep."""

import math
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from verifiers.conformance_evidence import Call, Evidence, judge, raised
from verifiers.errors import BadReferenceError, VerifierError
from verifiers.types import BatchVerifier, Outcome, Verdict, Verifier


def _accepts(evidence: Evidence) -> Iterator[str]:
    for call in evidence.calls:
        if call.kind == "accepted" and call.outcome is not Outcome.CORRECT:
            yield f"{call}: {call.found}"


def _rejects(evidence: Evidence) -> Iterator[str]:
    return _too_good(evidence, "rejected")


def _junk(evidence: Evidence) -> Iterator[str]:
    return _too_good(evidence, "junk")


def _too_good(evidence: Evidence, kind: str) -> Iterator[str]:
    for case in evidence.cases:
        calls = [call for call in evidence.calls if call.case is case]
        right = [
            call.verdict.score
            for call in calls
            if call.kind == "accepted" and isinstance(call.verdict, Verdict) and call.outcome is Outcome.CORRECT
        ]
        for call in calls:
            if call.kind != kind or not isinstance(call.verdict, Verdict):
                continue
            if call.outcome is Outcome.CORRECT:
                yield f"{call}: {call.found}"
            elif right and call.verdict.score >= min(right):
                yield f"{call}: score {call.verdict.score}, no less than a right response's"


def _verdicts(evidence: Evidence) -> Iterator[str]:
    for call in evidence.calls:
        if call.error is None and call.wall_s < math.inf:
            for flaw in _flaws(call.verdict):
                yield f"{call}: {flaw}"


def _flaws(verdict: object) -> Iterator[str]:
    if not isinstance(verdict, Verdict):
        yield f"gave {verdict!r:.80}, which is no Verdict"
        return
    if not isinstance(verdict.outcome, Outcome):
        yield f"outcome {verdict.outcome!r} is no Outcome"
    elif verdict.outcome is Outcome.CORRECT and verdict.score == 0:
        yield "CORRECT with score 0"
    elif verdict.outcome is not Outcome.CORRECT and verdict.score == 1:
        yield f"{verdict.outcome.name} with score 1"
    elif verdict.outcome is Outcome.NO_ANSWER and verdict.score != 0:
        yield f"NO_ANSWER with score {verdict.score}"
    if not isinstance(verdict.answer, str | None):
        yield f"answer is a {type(verdict.answer).__name__}, neither a string nor None"
    if not isinstance(verdict.detail, str) or len(verdict.detail.splitlines()) > 1:
        yield f"detail is not one line: {verdict.detail!r:.80}"
    if not isinstance(verdict.parts, Mapping) or not all(map(_is_part, verdict.parts.items())):
        yield f"parts are not finite scores by name: {verdict.parts!r:.80}"


def _is_part(part: tuple[object, object]) -> bool:
    name, score = part
    return isinstance(name, str) and isinstance(score, int | float) and math.isfinite(score)


def _raises(evidence: Evidence) -> Iterator[str]:
    for call in evidence.calls:
        if call.error is not None:
            yield f"{call}: {call.found}"


def _time(evidence: Evidence) -> Iterator[str]:
    for call in evidence.calls:
        if call.wall_s == math.inf:
            yield f"{call}: not back after {5 * evidence.wall_s:g} s"
        elif call.wall_s > evidence.wall_s:
            yield f"{call}: took {call.wall_s:.2f} s, the limit is {evidence.wall_s:g} s"


def _deterministic(evidence: Evidence) -> Iterator[str]:
    for _ in range(2):
        yield from _differences(evidence.verifier, evidence.settled(), evidence.wall_s)


def _threads(evidence: Evidence) -> Iterator[str]:
    calls = evidence.settled()
    found: list[str] = []
    barrier = threading.Barrier(evidence.threads)

    def run(turn: int) -> None:
        start = turn * len(calls) // evidence.threads
        barrier.wait()
        # As many calls at once share the time that one of them has.
        limit_s = evidence.wall_s * evidence.threads
        found.extend(_differences(evidence.verifier, [*calls[start:], *calls[:start]], limit_s))

    workers = [threading.Thread(target=run, args=(turn,), daemon=True) for turn in range(evidence.threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    yield from found


def _picklable(evidence: Evidence) -> Iterator[str]:
    try:
        copy = pickle.loads(pickle.dumps(evidence.verifier))
    except Exception as error:  # whatever it is, it is the finding
        yield f"pickle: {raised(error)}"
        return
    yield from _differences(copy, evidence.settled(), evidence.wall_s)


def _differences(verifier: Verifier, calls: Iterable[Call], wall_s: float) -> Iterator[str]:
    """Judge again, and tell what differs from the first time."""
    for call in calls:
        again = judge(verifier, call.kind, call.case, call.response, wall_s)
        if again.verdict != call.verdict:
            yield f"{call}: first {call.found}; then {again.found}"
        if again.wall_s == math.inf:
            return


def _bad_reference(evidence: Evidence) -> Iterator[str]:
    case = evidence.cases[0]
    as_before = next(call.verdict for call in evidence.calls if call.case is case and call.kind == "accepted")
    for reference in (None, _ForeignReference()):
        kind = type(reference).__name__
        foreign = replace(case, problem=replace(case.problem, reference=reference))
        call = judge(evidence.verifier, "accepted", foreign, case.accepted[0], evidence.wall_s)
        if isinstance(call.error, BadReferenceError):
            if case.problem.id not in str(call.error):
                yield f"a {kind} as the reference: {call.found} does not name the problem, {case.problem.id!r}"
        # A verifier that never looks at the reference judges as before.
        elif not isinstance(call.error, VerifierError) and call.verdict != as_before:
            yield f"a {kind} as the reference: {call.found}; raise verifiers.BadReferenceError"


def _batch(evidence: Evidence) -> Iterator[str]:
    verifier, settled = evidence.verifier, evidence.settled()
    assert isinstance(verifier, BatchVerifier)
    for calls in (settled, []):
        try:
            verdicts = verifier.verify_batch([call.case.problem for call in calls], [call.response for call in calls])
        except Exception as error:  # whatever it is, it is the finding
            yield f"verify_batch of {len(calls)} responses: {raised(error)}"
            continue
        if not isinstance(verdicts, list) or len(verdicts) != len(calls):
            yield f"verify_batch of {len(calls)} responses gave no list as long: {verdicts!r:.80}"
            continue
        for call, verdict in zip(calls, verdicts, strict=True):
            if verdict != call.verdict:
                yield f"{call}: verify gave {call.found}; verify_batch {verdict!r:.200}"


class _ForeignReference:
    """A reference that no verifier knows."""


CHECKS: dict[str, Callable[[Evidence], Iterator[str]]] = {
    "accepts": _accepts,
    "rejects": _rejects,
    "junk": _junk,
    "verdicts": _verdicts,
    "raises": _raises,
    "time": _time,
    "deterministic": _deterministic,
    "threads": _threads,
    "picklable": _picklable,
    "bad_reference": _bad_reference,
    "batch": _batch,
}
"""By name; verifiers.conformance says what each asks."""
