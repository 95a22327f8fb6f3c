import pytest
import torch
from support.training import actor_critic, collated, sampled_rollouts

from rlvr.training.algorithm import Algorithm
from rlvr.training.batches import cut, micro_batches, right_pad


def test_rows_are_padded_on_the_right_and_known_by_their_lengths():
    """checklist 1: an id equal to the filler is kept apart from padding by the lengths alone."""
    tokens, lengths = right_pad([[5, 0], [7], [1, 2, 3]], torch.device("cpu"))
    assert tokens.tolist() == [[5, 0, 0], [7, 0, 0], [1, 2, 3]]
    assert lengths.tolist() == [2, 1, 3]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 9])
def test_micro_batches_hold_every_row_once_and_are_no_wider_than_needed(size: int):
    lengths = torch.tensor([7, 3, 9, 3, 5, 8])
    rows = torch.tensor([5, 1, 2, 4])
    parts = list(micro_batches(rows, lengths, size))
    assert sorted(torch.cat([part for part, _ in parts]).tolist()) == [1, 2, 4, 5]
    assert all(len(part) <= (size or 4) for part, _ in parts)
    assert all(width == lengths[part].max() for part, width in parts)


def test_rows_of_like_length_go_together():
    lengths = torch.tensor([9, 2, 9, 2])
    parts = micro_batches(torch.arange(4), lengths, 2)
    assert [(part.tolist(), width) for part, width in parts] == [([1, 3], 2), ([0, 2], 9)]


def test_a_cut_keeps_everything_that_counts():
    models = actor_critic()
    experience = collated(sampled_rollouts(models.policy), models, Algorithm())
    rows = torch.tensor([3, 0])
    width = int(experience.lengths[rows].max())
    part = cut(experience, rows, width)
    assert part.tokens.shape == (2, width)
    assert part.mask.shape == part.advantages.shape == (2, width - 1)
    assert part.mask.sum() == experience.mask[rows].sum()
    for name in ("old_logprobs", "ref_logprobs", "values", "rewards", "advantages", "returns"):
        assert torch.equal(getattr(part, name)[part.mask], getattr(experience, name)[rows][experience.mask[rows]])
