"""Random [B T] batches for comparisons with tests/support/slow_rl.py."""

from dataclasses import dataclass

import torch
from hypothesis import strategies as st


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """Four independent [B T] float64 tensors and a mask with holes; a row may have no valid token."""

    first: torch.Tensor
    second: torch.Tensor
    third: torch.Tensor
    fourth: torch.Tensor
    mask: torch.Tensor
    generator: torch.Generator
    """For whatever else a test draws."""


def make_batch(rows: int, width: int, seed: int) -> Batch:
    """Return the batch of this seed."""
    generator = torch.Generator().manual_seed(seed)
    tensors = torch.randn(4, rows, width, generator=generator, dtype=torch.float64)
    mask = torch.rand(rows, width, generator=generator) < 0.7
    return Batch(
        first=tensors[0], second=tensors[1], third=tensors[2], fourth=tensors[3], mask=mask, generator=generator
    )


batches = st.builds(make_batch, st.integers(1, 4), st.integers(1, 7), st.integers(0, 2**31 - 1))
"""Batches of 1 to 4 rows and 1 to 7 columns."""
