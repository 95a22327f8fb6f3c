"""Pass rate of a policy on held-out problems, with its interval and everything that could mislead about it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlvr.evaluation.intervals import Interval, cluster_bootstrap, wilson
from rlvr.evaluation.pass_at_k import mean_pass_at_k
from rlvr.rollout.judge import Judged, judge
from rlvr.rollout.prompts import PromptEncoder
from rlvr.rollout.types import Finish, Response, RolloutEngine, Sampling
from rlvr.seeding import derive_seed
from tasks.types import Problem
from verifiers.errors import VerifierError
from verifiers.types import Outcome, Verifier

PROBLEMS_AT_ONCE = 128
"""Problems between two reports of progress; each such batch has a seed of its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PassRate:
    """How often responses to a set of problems were right."""

    pass_rate: float | None
    """Share of judged responses that are correct; None when none could be judged."""
    interval: Interval | None
    """95 %: Wilson with one response per problem, cluster bootstrap over problems otherwise."""
    problems: int
    n: int
    """Responses judged."""
    correct: int
    failed: int
    """Responses that could not be judged: our failure, in neither n nor correct."""
    truncated_frac: float
    no_answer_frac: float
    response_tokens: float
    """Mean."""
    temperature: float
    samples_per_problem: int
    pass_at_k: Mapping[int, float]
    """Unbiased estimates by k, for k = 1, 2, 4, ... up to the responses per problem; empty with one response."""

    def as_record(self) -> dict[str, Any]:
        """Return it as a JSON-like dict with `low` and `high` for the interval."""
        return {
            "pass_rate": self.pass_rate,
            "low": self.interval.low if self.interval else None,
            "high": self.interval.high if self.interval else None,
            **{
                name: getattr(self, name)
                for name in (
                    "n", "correct", "failed", "problems", "truncated_frac", "no_answer_frac", "response_tokens",
                    "temperature", "samples_per_problem",
                )
            },
            "pass_at_k": {str(k): value for k, value in self.pass_at_k.items()},
        }  # fmt: skip


def evaluate(
    engine: RolloutEngine,
    encoder: PromptEncoder,
    problems: Sequence[Problem],
    verifiers: Mapping[str, Verifier],
    sampling: Sampling,
    *,
    seed: int,
    workers: int = 4,
    retries: int = 2,
    advance: Callable[[int], None] = lambda _: None,
) -> tuple[PassRate, list[dict[str, Any]]]:
    """Return the pass rate on `problems`, and one record for each response (problem, text, verdict).

    Args:
        advance: is told how many problems were done, as they are.
    """
    responses: list[Response] = []
    judged: list[Judged] = []
    repeated = [problem for problem in problems for _ in range(sampling.samples_per_prompt)]
    for start in range(0, len(problems), PROBLEMS_AT_ONCE):
        part = problems[start : start + PROBLEMS_AT_ONCE]
        drawn = engine.generate(encoder.encode(part), sampling, seed=derive_seed(seed, "evaluate", start))
        asked = repeated[len(responses) : len(responses) + len(drawn)]
        judged += judge(asked, drawn, verifiers, workers=workers, retries=retries)
        responses += drawn
        advance(len(part))
    rate = _pass_rate(responses, judged, sampling)
    return rate, [_record(*row) for row in zip(repeated, responses, judged, strict=True)]


def _pass_rate(responses: Sequence[Response], judged: Sequence[Judged], sampling: Sampling) -> PassRate:
    samples = sampling.samples_per_prompt
    verdicts = [found for found in judged if not isinstance(found, VerifierError)]
    correct = sum(verdict.outcome is Outcome.CORRECT for verdict in verdicts)
    interval, at_k = None, {}
    if verdicts and samples == 1:
        interval = wilson(correct, len(verdicts))
    elif verdicts:
        counts = _counts(judged, samples)
        interval = cluster_bootstrap([right / n for n, right in counts])
        # A problem with a response that could not be judged has too few for the largest k.
        fewest = min(n for n, _ in counts)
        at_k = {
            k: mean_pass_at_k(counts, k) for k in (2**power for power in range(samples.bit_length())) if k <= fewest
        }
    return PassRate(
        pass_rate=correct / len(verdicts) if verdicts else None,
        interval=interval,
        problems=len(responses) // samples,
        n=len(verdicts),
        correct=correct,
        failed=len(judged) - len(verdicts),
        truncated_frac=sum(r.finish is Finish.LENGTH for r in responses) / len(responses),
        no_answer_frac=sum(v.outcome is Outcome.NO_ANSWER for v in verdicts) / max(1, len(verdicts)),
        response_tokens=sum(len(r.token_ids) for r in responses) / len(responses),
        temperature=sampling.temperature,
        samples_per_problem=samples,
        pass_at_k=at_k,
    )


def _counts(judged: Sequence[Judged], samples: int) -> list[tuple[int, int]]:
    """Return (responses judged, of these correct) for each problem with at least one."""
    counts: list[tuple[int, int]] = []
    for start in range(0, len(judged), samples):
        own = [found for found in judged[start : start + samples] if not isinstance(found, VerifierError)]
        if own:
            counts.append((len(own), sum(verdict.outcome is Outcome.CORRECT for verdict in own)))
    return counts


def _record(problem: Problem, response: Response, found: Judged) -> dict[str, Any]:
    common = {"problem": problem.id, "prompt": problem.prompt, "text": response.text, "finish": response.finish.value}
    if isinstance(found, VerifierError):
        return {**common, "outcome": None, "error": str(found)}
    return {
        **common,
        "outcome": found.outcome.value,
        "score": found.score,
        "answer": found.answer,
        "detail": found.detail,
    }
