"""maj@k: the chance that the answer most of k responses agree on is right."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction


def majority_at_k(answers: Sequence[str | None], correct: Sequence[bool], k: int) -> float:
    """Return the chance that the commonest answer among k of the responses, drawn without replacement, is right.

    The average over all draws, exactly and without enumerating them. All right responses vote for the same answer,
    however they write it, for they equal the same gold; wrong ones vote for theirs as it is written. A response without
    an answer does not vote. Of answers with equally many votes one is taken at random; where nobody votes nothing is
    right. (Majority voting, or self-consistency: Wang et al. 2022, arXiv:2203.11171.)

    A draw of v votes for the right answer wins against wrong classes of sizes s_1, s_2, ... when none has more than v;
    with t of them at v it is chosen with chance 1 / (1 + t). The draws are counted by a polynomial in (responses drawn,
    ties at v): the product over classes of 1 + sum_j C(s_i, j) x^j, in which j = v carries a y.

    Args:
        answers: of n responses to one problem.
        correct: whether each is right; a right one counts as the right answer even when `answers` has None there.

    Raises:
        ValueError: the lengths differ, or k lies outside [1, n].
    """
    n = len(answers)
    if len(correct) != n:
        raise ValueError(f"each of {n} answers needs to be right or wrong, got {len(correct)} marks")
    if not 1 <= k <= n:
        raise ValueError(f"maj@{k} needs at least {max(k, 1)} responses and k >= 1, got {n}")
    right = sum(correct)
    wrong = Counter(answer for answer, is_right in zip(answers, correct, strict=True) if not is_right)
    silent = wrong.pop(None, 0)
    if not right:
        return 0.0
    if not wrong:
        return 1.0 - math.comb(silent, k) / math.comb(n, k)
    sizes = list(wrong.values())
    won = sum(
        (
            math.comb(right, votes) * _draws_won(sizes, silent, votes, k - votes)
            for votes in range(1, min(right, k) + 1)
        ),
        Fraction(0),
    )
    return float(won / math.comb(n, k))


def _draws_won(sizes: Sequence[int], silent: int, votes: int, others: int) -> Fraction:
    """Return how many draws of `others` responses leave no wrong answer above `votes`, t ties counting 1 / (1 + t)."""
    # Classes too small to reach `votes` can be drawn at will; of many different answers few are left after them.
    free = silent + sum(size for size in sizes if size < votes)
    # ways[ties][drawn]; whole numbers, so nothing is rounded before the end.
    ways: dict[int, list[int]] = {0: [math.comb(free, drawn) for drawn in range(others + 1)]}
    for size in (size for size in sizes if size >= votes):
        below = [math.comb(size, drawn) for drawn in range(min(votes - 1, others) + 1)]
        at = math.comb(size, votes) if votes <= others else 0
        ways = _with_class(ways, below, at, votes, others)
    return sum((Fraction(counts[others], 1 + ties) for ties, counts in ways.items()), Fraction(0))


def _with_class(
    ways: dict[int, list[int]], below: Sequence[int], at: int, votes: int, others: int
) -> dict[int, list[int]]:
    grown: dict[int, list[int]] = defaultdict(lambda: [0] * (others + 1))
    for ties, counts in ways.items():
        for drawn, count in enumerate(counts):
            if not count:
                continue
            for more, factor in enumerate(below[: others - drawn + 1]):
                grown[ties][drawn + more] += count * factor
            if at and drawn + votes <= others:
                grown[ties + 1][drawn + votes] += count * at
    return grown
