"""The reinforcement learning loop."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch

from rlvr.algorithms.kl import adaptive_kl_coef
from rlvr.algorithms.schedules import learning_rate_factor
from rlvr.errors import CheckpointError, RlvrError
from rlvr.models.actor_critic import ActorCritic
from rlvr.models.causal_lm import CausalLM
from rlvr.models.reference import weights_digest
from rlvr.rollout.judge import judge, to_rollouts
from rlvr.rollout.prompts import PromptEncoder
from rlvr.rollout.rewards import RewardRule, Truncation
from rlvr.rollout.sandbox_use import sandbox_metrics
from rlvr.rollout.summary import rollout_metrics
from rlvr.rollout.types import Experience, Finish, Response, Rollout, RolloutEngine, Sampling
from rlvr.seeding import derive_seed
from rlvr.tracking.metrics import Last, Metric, combine
from rlvr.tracking.sinks import Tracker
from rlvr.tracking.stopwatch import Stopwatch
from rlvr.training.algorithm import Algorithm
from rlvr.training.collate import collate
from rlvr.training.invariants import check_first_ratio, check_masks, check_reference_kl
from rlvr.training.update import update
from tasks.sampling import ProblemSampler
from tasks.types import Problem
from verifiers.code.sandboxes import sandbox_totals
from verifiers.types import Verifier


@dataclass(frozen=True, kw_only=True, slots=True)
class Judging:
    """How responses get their verdicts."""

    verifiers: Mapping[str, Verifier]
    workers: int = 4
    retries: int = 2
    max_failed_frac: float = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """How coefficients move over the run's steps."""

    total_steps: int
    critic_warmup_steps: int = 0
    """First steps in which the critic alone learns."""
    lr_warmup_steps: int = 0
    lr_decay: str = "none"
    final_lr_frac: float = 1.0
    kl_control: str = "fixed"
    kl_target: float = 6.0
    kl_horizon: float = 10_000.0


RolloutRecorder = Callable[[int, Sequence[Rollout], Experience], None]
"""Given the step's number, its rollouts, and their experience in the same order."""


class Trainer:
    """Draws rollouts, judges them and learns from them, one `step` at a time.

    Args:
        optimizer: with parameter groups named "policy" and "critic", whose "lr" at this point is the peak.
        kl_coef: weight of the KL penalty; the start value where it adapts.
        seed: of the run; every random choice derives from it and the step's number, so there is no generator to save.
        record: is given every step's rollouts.
    """

    def __init__(
        self,
        *,
        sampler: ProblemSampler,
        prompts_per_step: int,
        encoder: PromptEncoder,
        engine: RolloutEngine,
        sampling: Sampling,
        judging: Judging,
        reward: RewardRule,
        actor_critic: ActorCritic,
        reference: CausalLM,
        optimizer: torch.optim.Optimizer,
        algorithm: Algorithm,
        schedule: Schedule,
        kl_coef: float,
        seed: int,
        tracker: Tracker,
        record: RolloutRecorder,
    ) -> None:
        self.sampler = sampler
        self.prompts_per_step = prompts_per_step
        self.encoder = encoder
        self.engine = engine
        self.sampling = sampling
        self.judging = judging
        self.reward = reward
        self.actor_critic = actor_critic
        self.reference = reference
        self.optimizer = optimizer
        self.algorithm = algorithm
        self.schedule = schedule
        self.kl_coef = kl_coef
        self.seed = seed
        self.tracker = tracker
        self.record = record
        self.step_number = 0
        self.rollouts_drawn = 0
        self.tokens_drawn = 0
        self._peak_lrs = [group["lr"] for group in optimizer.param_groups]
        self._checked_policy = False

    @cached_property
    def _reference_digest(self) -> str:
        return weights_digest(self.reference)

    def step(self) -> dict[str, float | None]:
        """Draw, judge, learn; return the step's numbers by metric name."""
        watch = Stopwatch()
        with watch.measure("step"), self._taking_back_problems():
            with watch.measure("rollout"):
                drawn = self.sampler.next(self.prompts_per_step)
                seed = derive_seed(self.seed, "rollout", self.step_number)
                responses = self.engine.generate(self.encoder.encode(drawn), self.sampling, seed=seed)
            problems = [problem for problem in drawn for _ in range(self.sampling.samples_per_prompt)]
            sandboxes = sandbox_totals()
            with watch.measure("judge"):
                rollouts = self._judge(problems, responses, max_failed_frac=self.judging.max_failed_frac)
            with watch.measure("experience"):
                experience, metrics = self._collate(rollouts)
            with watch.measure("update"):
                metrics += self._update(experience)
                self.engine.update_weights(self.actor_critic.policy)
        self.record(self.step_number + 1, rollouts, experience)
        self._adapt_kl_coef(metrics, len(rollouts))
        self.step_number += 1
        self.rollouts_drawn += len(responses)
        self.tokens_drawn += sum(len(response.token_ids) for response in responses)
        metrics += rollout_metrics(rollouts, self.reward, failed=len(responses) - len(rollouts), watch=watch)
        metrics += sandbox_metrics(sandboxes, sandbox_totals())
        return self.tracker.log(self.step_number, metrics)

    def probe(self, problems: Sequence[Problem]) -> tuple[list[Rollout], Experience]:
        """Answer and score problems as a step does, the same random numbers each time, without learning from them.

        Advantages are not whitened: what is normal among a few problems says little.

        Raises:
            JudgingFailedError: not one response could be judged.
        """
        samples = self.sampling.samples_per_prompt
        responses = self.engine.generate(
            self.encoder.encode(problems), self.sampling, seed=derive_seed(self.seed, "probe")
        )
        repeated = [problem for problem in problems for _ in range(samples)]
        rollouts = self._judge(repeated, responses, max_failed_frac=1.0)
        experience, _ = collate(
            rollouts, self.actor_critic, self.reference, replace(self.algorithm, whiten_advantages=False),
            kl_coef=self.kl_coef, truncation=self.reward.truncation,
        )  # fmt: skip
        return rollouts, experience

    @contextmanager
    def _taking_back_problems(self) -> Iterator[None]:
        # A step that fails did not happen: saved now, the run draws the same problems when it goes on.
        place = self.sampler.state_dict()
        try:
            yield
        except RlvrError:
            self.sampler.load_state_dict(place)
            raise

    def _judge(
        self, problems: Sequence[Problem], responses: Sequence[Response], *, max_failed_frac: float
    ) -> list[Rollout]:
        judging = self.judging
        judged = judge(problems, responses, judging.verifiers, workers=judging.workers, retries=judging.retries)
        return to_rollouts(
            problems, responses, judged, self.reward,
            policy_step=self.step_number, max_failed_frac=max_failed_frac,
        )  # fmt: skip

    def _collate(self, rollouts: Sequence[Rollout]) -> tuple[Experience, list[Metric]]:
        experience, metrics = collate(
            rollouts, self.actor_critic, self.reference, self.algorithm,
            kl_coef=self.kl_coef, truncation=self.reward.truncation,
        )  # fmt: skip
        if not self._checked_policy:
            masks = self.reward.truncation is Truncation.MASK
            masked_rows = sum(masks and r.response.finish is Finish.LENGTH for r in rollouts)
            check_masks(experience, rollouts, masked_rows=masked_rows)
            if self.step_number == 0:
                check_reference_kl(combine(metrics)["kl/exact"], self.actor_critic.policy.compute_dtype)
        return experience, metrics

    def _update(self, experience: Experience) -> list[Metric]:
        factor = learning_rate_factor(
            self.step_number,
            warmup_steps=self.schedule.lr_warmup_steps,
            total_steps=self.schedule.total_steps,
            decay=self.schedule.lr_decay,
            final_frac=self.schedule.final_lr_frac,
        )
        for group, peak in zip(self.optimizer.param_groups, self._peak_lrs, strict=True):
            group["lr"] = peak * factor
        trains_policy = not (
            self.actor_critic.critic is not None and self.step_number < self.schedule.critic_warmup_steps
        )
        metrics = update(
            self.actor_critic, self.optimizer, experience, self.algorithm,
            reference=self.reference, kl_coef=self.kl_coef,
            seed=derive_seed(self.seed, "update", self.step_number), train_policy=trains_policy,
            check_ratio=None if self._checked_policy else self._check_ratio,
        )  # fmt: skip
        return [*metrics, *(Metric(f"{group['name']}/lr", Last(group["lr"])) for group in self.optimizer.param_groups)]

    def _check_ratio(self, log_ratios: torch.Tensor) -> None:
        check_first_ratio(log_ratios, self.actor_critic.policy.compute_dtype)
        self._checked_policy = True

    def _adapt_kl_coef(self, metrics: Sequence[Metric], rollouts: int) -> None:
        per_response = combine(metrics)["kl/per_response"]
        if self.schedule.kl_control == "adaptive" and per_response is not None:
            self.kl_coef = adaptive_kl_coef(
                self.kl_coef, kl_per_sequence=per_response, target=self.schedule.kl_target,
                rollouts=rollouts, horizon=self.schedule.kl_horizon,
            )  # fmt: skip

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the weights that the next step depends on."""
        return {
            "step_number": self.step_number,
            "rollouts_drawn": self.rollouts_drawn,
            "tokens_drawn": self.tokens_drawn,
            "kl_coef": self.kl_coef,
            "sampler": self.sampler.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "reference": self._reference_digest,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; the weights are loaded into the models by the caller, before.

        Raises:
            CheckpointError: the state was trained against another reference.
        """
        if state["reference"] != self._reference_digest:
            raise CheckpointError(
                "the run's reference is not the one that its checkpoint was trained against; put the original folder "
                "back, or start a new run"
            )
        self.step_number = state["step_number"]
        self.rollouts_drawn = state["rollouts_drawn"]
        self.tokens_drawn = state["tokens_drawn"]
        self.kl_coef = state["kl_coef"]
        self.sampler.load_state_dict(state["sampler"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.engine.update_weights(self.actor_critic.policy)
