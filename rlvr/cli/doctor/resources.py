"""From what was measured to what the run will need: memory, disk, time."""

import gzip
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rlvr.cli.doctor.checks_probe import check_latency
from rlvr.cli.doctor.checks_resources import (
    DiskUse,
    TimeEstimate,
    check_disk,
    check_memory,
    check_time,
    checkpoints_at_once,
    evaluated_responses,
)
from rlvr.cli.doctor.findings import Finding
from rlvr.cli.doctor.judging import JudgingTime
from rlvr.cli.doctor.machine import Machine
from rlvr.cli.doctor.memory import Load, MemoryEstimate, Shape, estimate_memory
from rlvr.cli.doctor.model_shape import shape_of
from rlvr.cli.doctor.numerics import Numerics
from rlvr.cli.doctor.probe import Probe
from rlvr.cli.doctor.timing import sft_step_s
from rlvr.config.models import Config
from rlvr.evaluation.sources import PROBLEMS_AT_ONCE
from rlvr.models.loading import LoadedModel
from rlvr.models.value_head import value_head
from rlvr.rollout.prompts import PromptEncoder
from rlvr.rollout.records import rollout_records
from rlvr.rollout.types import Rollout
from tasks.types import Problem


def resource_findings(
    config: Config,
    model: LoadedModel,
    encoder: PromptEncoder,
    train: Sequence[Problem],
    held_out: Sequence[Problem],
    probe: Probe,
    rollouts: Sequence[Rollout],
    numerics: Numerics,
    machine: Machine,
    *,
    disk: Path,
    before_sft: bool,
    demonstration_time: JudgingTime,
    numbers: dict[str, Any],
) -> Iterator[Finding]:
    """Say what the run will need, and put the figures into `numbers`.

    Args:
        held_out: those of a whole evaluation.
        rollouts: those that `numerics` was measured on.
        disk: a folder that exists on the disk that run folders go to.
        demonstration_time: of judging demonstrations; what an untrained model writes may cost nothing to judge.
    """
    shape = shape_of(model.policy)
    critic = _critic_parameters(config, shape)
    evaluated = len(held_out)
    memory = memory_of_run(config, model, shape, critic, evaluated, probe)
    yield check_memory(memory, machine.memory_bytes)
    use = disk_of_run(config, shape, critic, evaluated, rollouts, numerics)
    yield check_disk(use, machine.free_disk_bytes(disk), disk)
    sft_s = 0.0
    demonstrated = [problem for problem in islice(train, 1000) if problem.demonstration is not None]
    if before_sft and demonstrated:
        one_step_s = sft_step_s(
            model.policy, encoder, demonstrated, stop_id=model.stop_id, batch_size=config.sft.batch_size
        )
        sft_s = config.sft.steps * one_step_s
    on_demonstrations = before_sft and demonstration_time.responses > 0
    judging = demonstration_time if on_demonstrations else probe.judging
    time = time_of_run(config, evaluated, probe, judging, numerics, sft_s=sft_s)
    yield from check_time(
        time,
        at_most=before_sft,
        tokens_per_s=probe.tokens / probe.sampling_s,
    )
    yield check_latency(
        judging, on="a demonstration" if on_demonstrations else "a response", share_of_step=time.judge / time.step
    )
    numbers |= {
        "memory_bytes": memory.bytes,
        "disk_bytes": use.bytes,
        "step_s": time.step,
        "run_s": time.whole,
        "tokens_per_s": probe.tokens / probe.sampling_s,
    }


def memory_of_run(
    config: Config, model: LoadedModel, shape: Shape, critic: int, evaluated: int, probe: Probe
) -> MemoryEstimate:
    """Estimate a run's memory.

    Args:
        critic: its parameters.
        evaluated: held-out problems of a whole evaluation.
    """
    rows = config.rollout.prompts_per_step * config.rollout.samples_per_prompt
    evaluated_rows = min(evaluated, PROBLEMS_AT_ONCE) * config.evaluation.samples_per_problem
    at_once = config.rollout.batch_size or max(rows, evaluated_rows)
    minibatch = max(1, rows // config.algorithm.minibatches)
    trained = min(config.algorithm.micro_batch_size or minibatch, minibatch)
    if config.sft.steps:
        trained = max(trained, min(config.sft.micro_batch_size or config.sft.batch_size, config.sft.batch_size))
    return estimate_memory(
        shape,
        Load(
            sampled_rows=max(at_once, config.rollout.samples_per_prompt),
            prompt_tokens=max(len(response.prompt_ids) for response in probe.responses),
            response_tokens=config.rollout.max_new_tokens,
            trained_rows=trained,
            critic_parameters=critic,
            sampler_copies_weights=model.policy.autocast is not None,
        ),
    )


def disk_of_run(
    config: Config, shape: Shape, critic: int, evaluated: int, rollouts: Sequence[Rollout], numerics: Numerics
) -> DiskUse:
    """Estimate what a run writes, from records of real rollouts; arguments as in `memory_of_run`."""
    records = rollout_records(rollouts, numerics.experience)
    record_bytes = len(gzip.compress("\n".join(map(json.dumps, records)).encode())) / len(records)
    texts = [{"prompt": record["prompt"], "text": record["text"], "detail": record["detail"]} for record in records]
    text_bytes = len(gzip.compress("\n".join(map(json.dumps, texts)).encode())) / len(texts)
    steps, every = config.run.steps, config.tracking.rollouts_every
    rows = config.rollout.prompts_per_step * config.rollout.samples_per_prompt
    weights = shape.parameters * shape.weight_bytes
    critic_bytes = critic * shape.weight_bytes
    return DiskUse(
        checkpoint=3 * (weights + critic_bytes),  # weights and AdamW's two moments
        checkpoints=checkpoints_at_once(steps=steps, every=config.checkpoint.every, keep=config.checkpoint.keep),
        reference=weights,
        rollouts=(steps // every if every else 0) * rows * record_bytes
        + _evaluated_responses(config, evaluated) * text_bytes,
    )


def time_of_run(
    config: Config, evaluated: int, probe: Probe, judging: JudgingTime, numerics: Numerics, *, sft_s: float
) -> TimeEstimate:
    """Estimate how long a run takes from the times of its parts."""
    rows = config.rollout.prompts_per_step * config.rollout.samples_per_prompt
    per_response_s = probe.step_sampling_s / rows + judging.each_s
    return TimeEstimate(
        rollout=probe.step_sampling_s,
        judge=judging.each_s * rows,
        experience=numerics.experience_s / numerics.rows * rows,
        update=numerics.update_s / numerics.rows * rows * config.algorithm.epochs,
        sft=sft_s,
        evaluations=_evaluated_responses(config, evaluated) * per_response_s,
        steps=config.run.steps,
    )


def _evaluated_responses(config: Config, evaluated: int) -> int:
    warm_starts = config.sft.steps > 0
    has_base = config.model.name != "tiny" or not warm_starts
    return evaluated_responses(
        steps=config.run.steps,
        every=config.evaluation.every,
        problems=evaluated,
        curve_problems=config.evaluation.curve_problems,
        samples=config.evaluation.samples_per_problem,
        first=has_base + warm_starts,
    )


def _critic_parameters(config: Config, shape: Shape) -> int:
    if config.algorithm.advantage != "gae":
        return 0
    head = value_head(shape.hidden, config.critic.head, seed=0)
    trunk = shape.parameters if config.critic.kind == "separate" else 0
    return sum(parameter.numel() for parameter in head.parameters()) + trunk
