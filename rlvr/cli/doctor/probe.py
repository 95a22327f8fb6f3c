"""A look at the policy that the run would start from: some problems asked, answered, judged, with real times."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rlvr.cli.doctor.judging import JudgingTime, judge_safely
from rlvr.rollout.prompts import PromptEncoder
from rlvr.rollout.rewards import RewardRule, terminal_reward
from rlvr.rollout.types import Response, Rollout, RolloutEngine, Sampling
from rlvr.seeding import derive_seed
from tasks.sampling import ProblemSampler
from tasks.types import Problem
from verifiers.errors import VerifierError
from verifiers.types import Verifier

_FIRST_PROBLEMS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """Judged responses of the policy as it is."""

    responses: Sequence[Response]
    rollouts: Sequence[Rollout]
    """Those that got a verdict."""
    failures: Sequence[tuple[Problem, VerifierError]]
    asked: int
    """Problems."""
    wanted: int
    """Problems that would have been asked with more time."""
    judging: JudgingTime
    sampling_s: float
    step_sampling_s: float
    """Time to draw all rollouts of one step."""
    step_was_drawn: bool
    """Whether that was measured on a whole step; else it is reckoned from smaller batches."""

    @property
    def tokens(self) -> int:
        return sum(len(response.token_ids) for response in self.responses)

    @property
    def lengths(self) -> list[int]:
        return sorted(len(response.token_ids) for response in self.responses)


def draw_probe(
    problems: Sequence[Problem],
    verifiers: Mapping[str, Verifier],
    encoder: PromptEncoder,
    engine: RolloutEngine,
    sampling: Sampling,
    *,
    rule: RewardRule,
    wanted: int,
    prompts_per_step: int,
    workers: int,
    seed: int,
    limit_s: float,
) -> Probe:
    """Ask the first problems that the run would draw, in growing batches, and fewer where time runs out.

    Args:
        wanted: problems to ask.
        seed: the run's.
        limit_s: time for sampling; what has begun is finished.
    """
    sampler = ProblemSampler(problems, derive_seed(seed, "problems"))
    asked: list[Problem] = []
    responses: list[Response] = []
    engine.generate(encoder.encode(problems[:1]), replace(sampling, max_new_tokens=2), seed=0)  # the first call is slow
    times: list[tuple[int, float]] = []
    batch = min(_FIRST_PROBLEMS, wanted)
    while batch:
        drawn = sampler.next(batch)
        started = time.perf_counter()
        responses += engine.generate(encoder.encode(drawn), sampling, seed=derive_seed(seed, "doctor", len(asked)))
        times.append((batch, time.perf_counter() - started))
        asked += drawn
        fixed_s, each_s = sampling_cost(times)
        affordable = int((limit_s - sum(took_s for _, took_s in times) - fixed_s) / each_s)
        batch = max(0, min(wanted - len(asked), 15 * batch, affordable))
    fixed_s, each_s = sampling_cost(times)
    step_sampling_s = fixed_s + each_s * prompts_per_step
    step_was_drawn = step_sampling_s <= limit_s
    if step_was_drawn:
        prompts = encoder.encode(ProblemSampler(problems, derive_seed(seed, "problems")).next(prompts_per_step))
        started = time.perf_counter()
        engine.generate(prompts, sampling, seed=derive_seed(seed, "rollout", 0))
        step_sampling_s = time.perf_counter() - started
    judging = JudgingTime()
    of_responses = [problem for problem in asked for _ in range(sampling.samples_per_prompt)]
    judged = judge_safely(of_responses, responses, verifiers, workers=workers, time_spent=judging)
    return Probe(
        responses=responses,
        rollouts=[
            Rollout(
                problem=problem,
                response=response,
                verdict=found,
                reward=terminal_reward(found, response.finish, rule, tokens=len(response.token_ids)),
                policy_step=0,
            )
            for problem, response, found in zip(of_responses, responses, judged, strict=True)
            if not isinstance(found, VerifierError)
        ],
        failures=[
            (problem, found)
            for problem, found in zip(of_responses, judged, strict=True)
            if isinstance(found, VerifierError)
        ],
        asked=len(asked),
        wanted=wanted,
        judging=judging,
        sampling_s=sum(took_s for _, took_s in times),
        step_sampling_s=step_sampling_s,
        step_was_drawn=step_was_drawn,
    )


def sampling_cost(times: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Return what a batch costs and what each problem in it costs besides, in seconds.

    The steps of a decode come one after the other, so that a larger batch takes less than its share more.

    Args:
        times: (problems, seconds) of the batches so far.
    """
    problems, took_s = times[-1]
    each_s = 0.5 * took_s / problems
    if len(times) > 1 and times[-2][0] < problems:
        before, took_before_s = times[-2]
        each_s = max((took_s - took_before_s) / (problems - before), 0.1 * took_s / problems)
    return max(0.0, took_s - each_s * problems), each_s
