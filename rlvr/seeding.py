"""Every random choice of a run, derived from the run's seed, what the choice is for, and when.

No generator outlives a step, so there is no generator state to save: step 40 draws the same numbers whether the run
came there in one go or was resumed.
"""

import hashlib
import random

import numpy
import torch


def derive_seed(seed: int, purpose: str, *indices: int) -> int:
    """Return a 63-bit seed for `purpose` ("rollout", "minibatches", ...) at `indices` (step, epoch, ...)."""
    text = "/".join([str(seed), purpose, *map(str, indices)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def seed_process(seed: int) -> None:
    """Seed the generators that the whole process shares. We draw from none of them, but a plug-in may."""
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)
