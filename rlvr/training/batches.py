"""Rows of tokens as padded tensors, and the order in which a batch is cut up."""

from collections.abc import Iterator, Sequence

import torch

from rlvr.rollout.types import Experience


def right_pad(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tokens [B L] and lengths [B]. Masks are made from the lengths; the filler (0) is an ordinary token id."""
    lengths = torch.tensor([len(row) for row in rows])
    tokens = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)
    for index, row in enumerate(rows):
        tokens[index, : len(row)] = torch.tensor(row)
    return tokens.to(device), lengths.to(device)


def micro_batches(rows: torch.Tensor, lengths: torch.Tensor, size: int) -> Iterator[tuple[torch.Tensor, int]]:
    """Cut `rows` (indices into a batch) into micro-batches of `size` (0: one), each with its longest row's length.

    Rows of like length go together, so that little is spent on padding; sums over micro-batches do not depend on the
    order.
    """
    if not size or size >= len(rows):
        yield rows, int(lengths[rows].max())
        return
    for part in rows[lengths[rows].argsort(stable=True)].split(size):
        yield part, int(lengths[part].max())


def cut(experience: Experience, rows: torch.Tensor, width: int) -> Experience:
    """Return the rows of `experience`, `width` tokens wide."""
    predictions = width - 1
    return Experience(
        tokens=experience.tokens[rows, :width],
        lengths=experience.lengths[rows],
        mask=experience.mask[rows, :predictions],
        old_logprobs=experience.old_logprobs[rows, :predictions],
        ref_logprobs=experience.ref_logprobs[rows, :predictions],
        values=experience.values[rows, :predictions],
        rewards=experience.rewards[rows, :predictions],
        advantages=experience.advantages[rows, :predictions],
        returns=experience.returns[rows, :predictions],
        entropies=experience.entropies[rows, :predictions],
        exact_kls=experience.exact_kls[rows, :predictions],
        update_log_ratios=experience.update_log_ratios[rows, :predictions],
        groups=experience.groups[rows],
    )
