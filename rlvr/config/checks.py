"""Rules that tie several keys together, or that no range can say."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from rlvr.config.models import Config

_GROUP_ADVANTAGES = ("group_normalized", "group_centered", "leave_one_out")


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflict:
    """Keys whose values do not go together."""

    keys: tuple[str, ...]
    """Dotted; the first is the one to report."""
    message: str
    """What is wrong and what to set, without naming the first key again."""


def conflicts(config: Config) -> list[Conflict]:
    """Return every rule that the configuration breaks."""
    return [
        *_run_name(config),
        *_tiny_model(config),
        *_rewards(config),
        *_batch_sizes(config),
        *_advantage(config),
        *_dual_clip(config),
        *_kl(config),
    ]


def _run_name(config: Config) -> Iterator[Conflict]:
    name = config.run.name
    if name and not re.fullmatch(r"\w[\w.+=-]{0,199}", name):
        yield Conflict(
            keys=("run.name",),
            message=f'"{name}" must be a plain folder name: letters, digits and _ . + = -, the first no sign',
        )


def _tiny_model(config: Config) -> Iterator[Conflict]:
    hidden, heads = config.model.tiny_hidden, config.model.tiny_heads
    if config.model.name == "tiny" and hidden % (2 * heads):
        step = 2 * heads
        widths = sorted({max(hidden // step, 1) * step, (hidden // step + 1) * step})
        valid = [count for count in _divisors(hidden) if (hidden // count) % 2 == 0]
        head_cure = f"set it to {_alternatives(_around(valid, heads))}, or " if valid else ""
        yield Conflict(
            keys=("model.tiny_heads", "model.tiny_hidden", "model.name"),
            message=f"{heads} heads do not share a model.tiny_hidden of {hidden} in equal, even parts (rotary "
            f"positions turn pairs); {head_cure}set model.tiny_hidden to {_alternatives(widths)}",
        )


def _rewards(config: Config) -> Iterator[Conflict]:
    reward = config.reward
    if reward.correct <= reward.incorrect:
        yield Conflict(
            keys=("reward.correct", "reward.incorrect"),
            message=f"{reward.correct} must be above reward.incorrect, which is {reward.incorrect}",
        )
    cache, limit = reward.overlong_cache, config.rollout.max_new_tokens
    if cache >= limit:
        yield Conflict(
            keys=("reward.overlong_cache", "rollout.max_new_tokens"),
            message=f"{cache} must be below rollout.max_new_tokens, which is {limit}, or every response is punished; a "
            f"fifth of it ({limit // 5}) is usual, and 0 is off",
        )
    elif cache and reward.truncation == "bootstrap":
        yield Conflict(
            keys=("reward.overlong_cache", "reward.truncation"),
            message=f'{cache} punishes responses that stop just before the limit, and reward.truncation = "bootstrap" '
            'spares those that run into it; set it to 0, or reward.truncation to "fail"',
        )


def _batch_sizes(config: Config) -> Iterator[Conflict]:
    prompts, samples = config.rollout.prompts_per_step, config.rollout.samples_per_prompt
    minibatches, rollouts = config.algorithm.minibatches, prompts * samples
    if rollouts % minibatches:
        prompt_counts = _divisible_around(prompts, samples, minibatches)
        yield Conflict(
            keys=("algorithm.minibatches", "rollout.prompts_per_step", "rollout.samples_per_prompt"),
            message=f"{minibatches} does not divide the {rollouts} rollouts of a step (rollout.prompts_per_step "
            f"{prompts} x rollout.samples_per_prompt {samples}); set it to "
            f"{_alternatives(_around(_divisors(rollouts), minibatches))}, "
            f"or rollout.prompts_per_step to {_alternatives(prompt_counts)}",
        )


def _advantage(config: Config) -> Iterator[Conflict]:
    advantage = config.algorithm.advantage
    if advantage in _GROUP_ADVANTAGES and config.rollout.samples_per_prompt < 2:
        yield Conflict(
            keys=("rollout.samples_per_prompt", "algorithm.advantage"),
            message=f'1 is too few: algorithm.advantage = "{advantage}" compares responses to the same problem; '
            "set it to 2 or more",
        )
    if advantage == "gae":
        return
    if config.reward.truncation == "bootstrap":
        yield Conflict(
            keys=("reward.truncation", "algorithm.advantage"),
            message=f'"bootstrap" needs the critic, which algorithm.advantage = "{advantage}" does without; '
            'set it to "fail" or "mask", or algorithm.advantage to "gae"',
        )
    if config.algorithm.length_adaptive_alpha > 0:
        yield Conflict(
            keys=("algorithm.length_adaptive_alpha", "algorithm.advantage"),
            message=f'adapts the lambda of GAE, and algorithm.advantage is "{advantage}"; '
            'set it to 0, or algorithm.advantage to "gae"',
        )


def _dual_clip(config: Config) -> Iterator[Conflict]:
    bound = config.algorithm.dual_clip
    if 0 < bound < 1:
        yield Conflict(
            keys=("algorithm.dual_clip",),
            message=f"{bound} must be at least 1 (3 is usual), or 0 for none",
        )


def _kl(config: Config) -> Iterator[Conflict]:
    algorithm = config.algorithm
    keys = ("algorithm.kl_estimator", "algorithm.kl_in")
    if algorithm.kl_in == "reward" and algorithm.kl_estimator != "k1":
        yield Conflict(
            keys=keys,
            message=f'"{algorithm.kl_estimator}" is a term of the loss, and algorithm.kl_in is "reward"; '
            'set it to "k1", or algorithm.kl_in to "loss"',
        )
    if algorithm.kl_in == "loss" and algorithm.kl_estimator == "k1":
        yield Conflict(
            keys=keys,
            message='"k1" has a gradient of zero mean as a term of the loss, and algorithm.kl_in is "loss"; '
            'set it to "k2" or "exact", or algorithm.kl_in to "reward"',
        )
    if algorithm.kl_control == "adaptive" and algorithm.kl_coef == 0:
        yield Conflict(
            keys=("algorithm.kl_coef", "algorithm.kl_control"),
            message='0 stays 0 under algorithm.kl_control = "adaptive", which multiplies it; '
            'start above 0, or set algorithm.kl_control to "fixed"',
        )


def _divisors(number: int) -> list[int]:
    small = [count for count in range(1, math.isqrt(number) + 1) if number % count == 0]
    return sorted({*small, *(number // count for count in small)})


def _around(valid: list[int], value: int) -> list[int]:
    """Return the nearest members of sorted `valid` below and above `value`."""
    return [*[count for count in valid if count < value][-1:], *[count for count in valid if count > value][:1]]


def _divisible_around(prompts: int, samples: int, minibatches: int) -> list[int]:
    """Return the prompt counts nearest to `prompts` whose rollouts divide into the minibatches."""
    step = minibatches // math.gcd(samples, minibatches)
    below = prompts // step * step
    return [*([below] if below else []), below + step]


def _alternatives(values: list[int]) -> str:
    return " or ".join(str(value) for value in values)
