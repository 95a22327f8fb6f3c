"""Responses to held-out problems with their verdicts: the rows that every figure about a policy is made of."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlvr.evaluation.sources import ResponseSource, Written
from rlvr.rollout.judge import Judged, judge
from rlvr.rollout.types import Sampling
from rlvr.seeding import derive_seed
from tasks.types import Problem
from verifiers.errors import VerifierError
from verifiers.types import Verifier


def evaluate(
    source: ResponseSource,
    problems: Sequence[Problem],
    verifiers: Mapping[str, Verifier],
    sampling: Sampling,
    *,
    seed: int,
    audits: Mapping[str, Mapping[str, Verifier]] | None = None,
    workers: int = 4,
    retries: int = 2,
    done: Sequence[Mapping[str, Any]] = (),
    save: Callable[[Sequence[Mapping[str, Any]]], None] = lambda _: None,
    advance: Callable[[int], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Return one row for each response: problem, text, lengths, verdict, and the verdicts of audit verifiers.

    Args:
        audits: by a name each, verifiers that judge every response besides; their verdicts are kept apart.
        workers: threads that call verifiers.
        retries: further tries after a VerifierError; what still fails has outcome None and an error.
        done: rows of an earlier call that was cut short; whole batches of them are kept and not drawn again.
        save: is given the rows of each batch once they are judged.
        advance: is told how many problems were done, as they are, those in `done` included.
    """
    samples, at_once = sampling.samples_per_prompt, source.problems_at_once
    rows: list[dict[str, Any]] = []
    for start in range(0, len(problems), at_once):
        part = problems[start : start + at_once]
        kept = [dict(row) for row in done[len(rows) : len(rows) + len(part) * samples]]
        if len(kept) == len(part) * samples:
            rows += kept
        else:
            written = source.respond(part, sampling, seed=derive_seed(seed, "evaluate", start))
            asked = [problem for problem in part for _ in range(samples)]
            judged = judge(asked, written, verifiers, workers=workers, retries=retries)
            audited = {
                name: judge(asked, written, own, workers=workers, retries=retries)
                for name, own in (audits or {}).items()
            }
            new = [
                _row(asked[i], i % samples, written[i], judged[i], {name: found[i] for name, found in audited.items()})
                for i in range(len(asked))
            ]
            save(new)
            rows += new
        advance(len(part))
    return rows


def _row(
    problem: Problem, sample: int, written: Written, found: Judged, audited: Mapping[str, Judged]
) -> dict[str, Any]:
    row = {
        "problem": problem.id,
        "sample": sample,
        "prompt": problem.prompt,
        "text": written.text,
        "finish": written.finish.value,
        "tokens": written.tokens,
        "prompt_tokens": written.prompt_tokens,
        **verdict_columns(found),
    }
    if written.seed is not None:
        row["seed"] = written.seed
    if audited:
        row["audit"] = {name: verdict_columns(verdict) for name, verdict in audited.items()}
    return row


def verdict_columns(found: Judged) -> dict[str, Any]:
    """Return a verdict as the columns of a row; one that could not be had is outcome None with the error."""
    if isinstance(found, VerifierError):
        return {"outcome": None, "error": str(found)}
    return {"outcome": found.outcome.value, "score": found.score, "answer": found.answer, "detail": found.detail}
