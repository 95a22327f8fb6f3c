"""Identities that hold when masks, positions and log-probs are right, on a real batch of the real model."""

import math
from collections.abc import Callable, Iterator, Sequence

import torch

from rlvr.cli.doctor.findings import Finding, blocker, ok, warning
from rlvr.cli.doctor.numerics import Numerics
from rlvr.errors import InvariantError
from rlvr.rollout.types import Rollout
from rlvr.training.invariants import (
    LARGEST_OVER_MEAN,
    MEAN_TOLERANCE,
    MEAN_TOLERANCE_16_BIT,
    check_first_ratio,
    check_masks,
    check_reference_kl,
)

_PADDING_CURE = (
    "the model looks at padding or batch mates, so training would not see what was sampled; take another architecture, "
    "or report it"
)


def check_numerics(found: Numerics, rollouts: Sequence[Rollout], compute_dtype: torch.dtype) -> Iterator[Finding]:
    """Compare a first update with what it must be.

    Args:
        rollouts: those that were measured.
        compute_dtype: of the matrix products.
    """
    largest = found.log_ratios.abs().max().item()
    yield from _holds(
        lambda: check_masks(found.experience, rollouts, masked_rows=0),
        f"exactly the sampled tokens count ({int(found.experience.mask.sum())} in {len(rollouts)} responses)",
    )
    yield from _holds(
        lambda: check_first_ratio(found.log_ratios, compute_dtype),
        f"the importance ratio before the first update is 1 (|log ratio| at most {_small(largest)})",
    )
    kl = 0.0 if found.exact_kl is None else found.exact_kl
    yield from _holds(
        lambda: check_reference_kl(found.exact_kl, compute_dtype),
        f"the KL to a frozen copy is 0 ({_small(abs(kl))} nats per token)",
    )
    if not math.isfinite(found.loss):
        yield blocker(
            f"the loss of the first update is {found.loss}", "lower reward.correct; look at the model's dtype"
        )
    elif not math.isfinite(found.gradient_norm):
        yield blocker(
            f"the gradient of the first update is not finite (norm {found.gradient_norm})",
            'take model.dtype = "float32"; with model.autocast = "bfloat16" it is fast too',
        )
    elif found.gradient_norm == 0:
        yield blocker("no gradient reaches the weights", "the model's parameters are frozen; load another copy")
    else:
        yield ok(f"loss and gradient of a first update are finite (norm {found.gradient_norm:.2g}); not applied")


def _small(number: float) -> str:
    return f"{number:.1e}" if number else "0"


def _holds(check: Callable[[], None], told: str) -> Iterator[Finding]:
    try:
        check()
    except InvariantError as error:
        what, _, advice = str(error).rpartition(": ")
        yield blocker(what, advice)
    else:
        yield ok(told)


def check_gaps(
    compute_dtype: torch.dtype,
    *,
    alone_and_together: torch.Tensor,
    sampled_alone_and_together: torch.Tensor,
    sampler_gap: float | None,
) -> Iterator[Finding]:
    """Judge differences of log-probs that should be rounding alone, all in nats.

    Args:
        alone_and_together: training forward, a row alone and in a padded batch.
        sampled_alone_and_together: the sampler, a prompt alone and left-padded.
        sampler_gap: mean over sampled tokens, sampler and training forward.
    """
    limit = MEAN_TOLERANCE.get(compute_dtype, MEAN_TOLERANCE_16_BIT)
    for what, gaps in (
        ("in training, a row's log-probs do not depend on padding and batch mates", alone_and_together),
        ("in sampling, a prompt's log-probs do not depend on left padding and batch mates", sampled_alone_and_together),
    ):
        told = f"(differences: mean {gaps.mean().item():.1e}, largest {gaps.max().item():.1e} nats)"
        if gaps.mean() <= limit and gaps.max() <= LARGEST_OVER_MEAN * limit:
            yield ok(f"{what} {told}")
        else:
            yield blocker(f"{what.replace('do not depend', 'depend')} {told}", _PADDING_CURE)
    if sampler_gap is None:
        return
    told = f"sampler and training forward agree on log-probs up to {sampler_gap:.1e} nats per token"
    if sampler_gap <= limit:
        yield ok(told)
    else:
        yield warning(
            f"sampler and training forward disagree on log-probs by {sampler_gap:.1e} nats per token, more than "
            "rounding",
            "old log-probs are computed anew, so training stays right; but one policy samples and another is trained",
        )
