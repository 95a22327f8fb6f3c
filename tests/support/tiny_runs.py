"""Whole trainers and runs that are small enough for tests, on the real tiny model and the real arithmetic task."""

from collections.abc import Callable, Mapping, Sequence

from rlvr.cli import wiring
from rlvr.config.loading import load_config
from rlvr.config.models import Config
from rlvr.models.causal_lm import CausalLM
from rlvr.models.loading import LoadedModel
from rlvr.models.reference import frozen_copy
from rlvr.rollout.types import Experience, Rollout
from rlvr.tracking.sinks import Tracker
from rlvr.training.trainer import Trainer
from tasks.types import Problem
from verifiers.types import Outcome, Verdict, Verifier

TINY = (
    "run.threads=1", "run.seed=3", "run.steps=6", "run.device=cpu",
    "model.tiny_hidden=32", "model.tiny_layers=1", "model.tiny_heads=2",
    "task.options.digits=2", "sft.steps=50", "sft.batch_size=32", "sft.lr=1e-2",
    "rollout.prompts_per_step=16", "rollout.max_new_tokens=16", "critic.warmup_steps=1", "optimizer.lr=1e-3",
    "optimizer.warmup_steps=0", "evaluation.problems=20", "evaluation.curve_problems=10", "evaluation.every=2",
    "checkpoint.every=2", "tracking.audit_problems=0",
)  # fmt: skip
"""Overrides that make a run take a second or two."""


def tiny_config(*overrides: str) -> Config:
    """Return the configuration of a tiny run with `overrides` on top."""
    return load_config(None, [*TINY, *overrides])


class ShareOfDigits:
    """Scores a response by its share of digits: a reward that an untrained policy finds, of many values."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        share = sum(character.isdigit() for character in response) / max(1, len(response))
        return Verdict(outcome=Outcome.CORRECT if share == 1.0 else Outcome.INCORRECT, score=share, answer=response)


class MemorySink:
    """Keeps what is logged."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, Mapping[str, float | None]]] = []

    def log(self, step: int, numbers: Mapping[str, float | None]) -> None:
        self.lines.append((step, numbers))

    def close(self) -> None:
        pass


def tiny_trainer(
    config: Config,
    *,
    model: LoadedModel | None = None,
    reference: CausalLM | None = None,
    verifier: Verifier | None = None,
    sink: MemorySink | None = None,
    record: Callable[[int, Sequence[Rollout], Experience], None] = lambda *_: None,
) -> Trainer:
    """Put a trainer together as `rlvr train` does, from the model as it is: there is no warm start.

    Args:
        reference: a copy of the model unless given.
        verifier: ShareOfDigits unless given.
    """
    model = model or wiring.build_model(config)
    return wiring.build_trainer(
        config, model, reference or frozen_copy(model.policy),
        problems=wiring.build_task(config).problems("train"),
        verifiers={"numeric": verifier or ShareOfDigits()},
        encoder=wiring.build_encoder(config, model),
        engine=wiring.build_engine(config, model),
        tracker=Tracker([sink] if sink else []),
        record=record,
    )  # fmt: skip
