"""Settings that are allowed and usually not meant, and what the chosen numbers can show."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

from rlvr.cli.doctor.checks_references import CONTROLS
from rlvr.cli.doctor.findings import Finding, blocker, note, ok, warning
from rlvr.config.models import Config

_WIDE_POINTS = 8.0
_MANY_STEPS = 200
_Z = 1.96


def check_config(config: Config) -> Iterator[Finding]:
    """Say what in the configuration is likely a mistake."""
    found = [
        *_learning(config),
        *_sampling(config),
        *_schedule(config),
        *_judging(config),
    ]
    yield from found
    if not found:
        yield ok("no setting stands out")
    yield note(
        f"one run is one seed (run.seed = {config.run.seed}), and seeds differ",
        "before you claim a difference, run three: run.seed = 0, 1, 2",
    )


def check_run_folder(config: Config) -> Iterator[Finding]:
    """See whether a new run folder can be made; makes none."""
    folder = Path(config.run.dir)
    if config.run.name and (folder / config.run.name).exists():
        yield blocker(
            f"the run folder {folder / config.run.name} exists already",
            f"resume it with `rlvr train --resume {folder / config.run.name}`, or choose another run.name",
        )
    place = existing_parent(folder)
    if not place.is_dir():
        yield blocker(f"run.dir: {place} is a file", "choose another run.dir")
    elif not os.access(place, os.W_OK | os.X_OK):
        yield blocker(
            f"run.dir: nothing can be written in {place}", "choose another run.dir, or change its permissions"
        )
    else:
        yield ok(f"run folders go to {folder}")


def existing_parent(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder


def half_width_points(n: int) -> float:
    """Return half of the 95 % interval of a pass rate of one half on n problems, in percentage points."""
    return 100 * _Z * math.sqrt(0.25 / n)


def _learning(config: Config) -> Iterator[Finding]:
    algorithm, optimizer, steps = config.algorithm, config.optimizer, config.run.steps
    if steps == 0:
        yield note("run.steps is 0: the run ends after the warm start")
        return
    if optimizer.lr == 0:
        yield warning("optimizer.lr is 0: the policy never changes", "keep it for a control arm alone")
    elif config.model.dtype == "bfloat16" and config.model.name != "tiny" and optimizer.lr < 1e-4:
        yield warning(
            f'model.dtype is "bfloat16", whose steps are 0.4 % wide: most updates of lr '
            f"{optimizer.lr:g} are rounded away",
            'set model.dtype = "float32", and model.autocast = "bfloat16" for speed',
        )
    if config.model.name != "tiny" and optimizer.lr > 3e-5:
        yield note(
            f"optimizer.lr = {optimizer.lr:g} suits the tiny model; pretrained models usually take 1e-6 to 1e-5",
            "watch kl/per_response in the first steps",
        )
    if algorithm.kl_coef == 0 and steps >= _MANY_STEPS:
        yield warning(
            f"algorithm.kl_coef is 0 over {steps} steps: nothing holds the policy to its reference",
            "watch kl/per_response and policy/entropy, or set algorithm.kl_coef = 0.01",
        )
    if algorithm.epochs > 4 and not algorithm.target_kl:
        yield warning(
            f"{algorithm.epochs} epochs over the same rollouts, and no algorithm.target_kl to stop them",
            "set algorithm.epochs to 1 or 2, or algorithm.target_kl = 0.05",
        )


def _sampling(config: Config) -> Iterator[Finding]:
    rollout = config.rollout
    if rollout.top_p < 1 or rollout.top_k:
        yield warning(
            "rollout.top_p and rollout.top_k cut off the tail when sampling, and the loss reckons with all of it",
            "for training set top_p = 1 and top_k = 0",
        )
    if rollout.temperature < 0.5:
        yield warning(
            f"rollout.temperature = {rollout.temperature:g} draws nearly the same response again and again",
            "exploration needs about 1",
        )


def _schedule(config: Config) -> Iterator[Finding]:
    steps = config.run.steps
    uses_critic = config.algorithm.advantage == "gae"
    if steps and uses_critic and config.critic.warmup_steps >= steps:
        yield warning(
            f"the critic alone learns for critic.warmup_steps = {config.critic.warmup_steps} of {steps} steps: the "
            "policy never changes",
            "lower critic.warmup_steps",
        )
    if steps and config.optimizer.warmup_steps >= steps:
        yield warning(
            f"optimizer.warmup_steps = {config.optimizer.warmup_steps} outlasts the {steps} steps of the run: the full "
            "learning rate is never reached",
            f"set optimizer.warmup_steps to {steps // 10}",
        )
    if config.sft.steps and config.sft.warmup_steps >= config.sft.steps:
        yield warning(
            f"sft.warmup_steps = {config.sft.warmup_steps} outlasts the warm start of {config.sft.steps} steps",
            f"set sft.warmup_steps to {config.sft.steps // 10}",
        )
    if config.checkpoint.every == 0 and steps >= _MANY_STEPS:
        yield warning(
            "checkpoint.every is 0: a crash loses the whole run (an interrupt saves)", "set checkpoint.every = 20"
        )


def _judging(config: Config) -> Iterator[Finding]:
    verifier, evaluation = config.task.verifier, config.evaluation
    if verifier in CONTROLS and evaluation.verifier is None:
        yield warning(
            f"held-out responses are judged by the control {verifier!r} too, so the curve shows nothing",
            'set evaluation.verifier = "task"',
        )
    elif verifier is not None and evaluation.verifier is None and not evaluation.audit:
        yield note(
            f"the verifier {verifier!r} gives the reward and judges held-out responses: what fools it shows nowhere",
            "set evaluation.audit.task = {}, which has the task's own verifier judge them besides",
        )


def check_evaluation(config: Config, used: int) -> Iterator[Finding]:
    """Say what the evaluations can show.

    Args:
        used: held-out problems of a whole evaluation.
    """
    evaluation, steps = config.evaluation, config.run.steps
    if evaluation.problems > used:
        yield note(f"evaluation.problems is {evaluation.problems}, and the split has {used}: all of them are used")
    points = half_width_points(used)
    told = f"{used} held-out problems measure a pass rate to +-{points:.1f} points (95 %, at 50 %)"
    if points > _WIDE_POINTS:
        more = "raise evaluation.problems" if used == evaluation.problems else "find more held-out problems"
        yield warning(told, f"{more}: 500 give +-4.4 points")
    else:
        yield ok(told)
    curve = min(evaluation.curve_problems or used, used)
    if evaluation.every and steps:
        points = half_width_points(curve)
        told = f"a point on the curve stands on {curve} problems and moves by +-{points:.1f} points by chance alone"
        if points > 1.5 * _WIDE_POINTS:
            key = "evaluation.curve_problems" if curve < used else "the number of held-out problems"
            yield warning(told, f"raise {key}")
        else:
            yield ok(told)
    if steps and (evaluation.every == 0 or steps // evaluation.every < 3):
        yield note(
            "the curve will have fewer than three points during training",
            f"set evaluation.every to {max(1, steps // 10)}",
        )
