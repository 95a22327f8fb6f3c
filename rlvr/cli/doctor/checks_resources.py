"""Room and time: memory, disk, and how long the run will take."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rlvr.cli.doctor.findings import Finding, blocker, duration, note, ok, percent, size, warning
from rlvr.cli.doctor.memory import MemoryEstimate

_NEARLY_ALL = 0.8
_LONG_RUN_S = 24 * 3600.0


def check_memory(estimate: MemoryEstimate, available: int | None) -> Finding:
    """Compare the estimate with what is free."""
    name, part = estimate.largest
    told = (
        f"memory: about {size(estimate.bytes)} at once while {estimate.phase}, most of it for {name} "
        f"({size(part.bytes)})"
    )
    if available is None:
        return note(f"{told}; how much is free is not known here")
    told += f", of {size(available)} free"
    if estimate.bytes > available:
        return blocker(told, f"take {part.key}")
    if estimate.bytes > _NEARLY_ALL * available:
        return warning(told, f"that is tight for an estimate: take {part.key}, or close other programs")
    return ok(told)


def check_weights_fit(weights_bytes: int, available: int | None) -> Iterator[Finding]:
    """Compare a model's files with what is free, before it is loaded."""
    if available is not None and weights_bytes > available:
        yield blocker(
            f"the model's files have {size(weights_bytes)}, and {size(available)} of memory are free: not loaded",
            "take a smaller model, or a machine with more memory",
        )


def weight_files_bytes(name: str) -> int:
    """Return the size of a model's weights on disk, 0 where it is none of this machine's folders or files."""
    path = Path(name).expanduser()
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.glob("*.safetensors")) if path.is_dir() else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class DiskUse:
    """What a run writes, in bytes."""

    checkpoint: float
    """One, with optimizer and critic."""
    checkpoints: int
    """The most that lie there at the same time."""
    reference: float
    rollouts: float
    """All records of training rollouts and held-out responses."""

    @property
    def bytes(self) -> float:
        return self.checkpoint * self.checkpoints + self.reference + self.rollouts


def checkpoints_at_once(*, steps: int, every: int, keep: int) -> int:
    """Return the most checkpoints that lie in a run folder at the same time; an old one goes after the new is whole."""
    written = math.ceil(steps / every) if every else min(1, steps)
    return min(written, keep + 1) if keep else written


def check_disk(use: DiskUse, free: int, folder: Path) -> Finding:
    """Compare what a run writes with what is free."""
    told = (
        f"disk: about {size(use.bytes)} ({use.checkpoints} checkpoint{'s' * (use.checkpoints != 1)} of "
        f"{size(use.checkpoint)}, reference {size(use.reference)}, rollouts {size(use.rollouts)}), "
        f"{size(free)} free at {folder}"
    )
    cures = {
        "checkpoint.keep or checkpoint.every": use.checkpoint * use.checkpoints,
        "tracking.rollouts_every": use.rollouts,
    }
    key = max(cures, key=lambda name: cures[name])
    cure = "keep fewer checkpoints (checkpoint.keep)" if key.startswith("checkpoint") else f"raise {key}"
    if use.bytes > free:
        return blocker(told, f"{cure}, free some, or set run.dir")
    if use.bytes > _NEARLY_ALL * free:
        return warning(told, f"{cure}, free some, or set run.dir")
    return ok(told)


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeEstimate:
    """How long the run's stages take, in seconds."""

    rollout: float
    """Per step, as are the next three."""
    judge: float
    experience: float
    update: float
    sft: float
    """The whole warm start, as is the next for all evaluations."""
    evaluations: float
    steps: int

    @property
    def step(self) -> float:
        return self.rollout + self.judge + self.experience + self.update

    @property
    def whole(self) -> float:
        return self.sft + self.steps * self.step + self.evaluations


def evaluated_responses(*, steps: int, every: int, problems: int, curve_problems: int, samples: int, first: int) -> int:
    """Return how many responses a run's evaluations draw.

    Args:
        first: evaluations on all `problems` before PPO; there is one after it.
    """
    during = (steps - 1) // every if every and steps else 0
    whole = first + (1 if steps else 0)
    return (whole * problems + during * min(curve_problems or problems, problems)) * (samples + 1)


def check_time(found: TimeEstimate, *, at_most: bool, tokens_per_s: float) -> Iterator[Finding]:
    """Say how long the run will take.

    Args:
        at_most: whether this was measured before SFT, on responses that are longer than those after it.
        tokens_per_s: of the sampler.
    """
    shares = ", ".join(
        f"{name} {percent(part / found.step)}"
        for name, part in (
            ("sampling", found.rollout), ("judging", found.judge), ("experience", found.experience),
            ("update", found.update),
        )
    )  # fmt: skip
    bound = "at most about" if at_most else "about"
    longer = " (before SFT responses are longer)" if at_most else ""
    yield ok(f"a step takes {bound} {duration(found.step)}{longer}: {shares}; {tokens_per_s:,.0f} tokens/s sampled")
    told = (
        f"the run takes {bound} {duration(found.whole)}: "
        + (f"SFT {duration(found.sft)}, " if found.sft else "")
        + f"{found.steps} PPO steps {duration(found.steps * found.step)}, evaluations {duration(found.evaluations)}"
    )
    if found.whole > _LONG_RUN_S:
        yield warning(told, "try it with few steps first: run.steps = 3, evaluation.problems = 50")
    else:
        yield ok(told)
