"""pass@k: the chance that at least one of k responses to a problem is right."""

from collections.abc import Iterable


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate of pass@k from `n` responses of which `c` are right.

    1 - C(n - c, k) / C(n, k) (Chen et al. 2021, arXiv:2107.03374), as a product of ratios, so that no binomial
    coefficient overflows. Drawing k of the n *with* replacement instead is biased low.

    Raises:
        ValueError: c lies outside [0, n], or k outside [1, n].
    """
    if not 0 <= c <= n:
        raise ValueError(f"of {n} responses between 0 and {n} can be right, got {c}")
    if not 1 <= k <= n:
        raise ValueError(f"pass@{k} needs at least {max(k, 1)} responses and k >= 1, got {n}")
    if n - c < k:
        return 1.0
    all_wrong = 1.0
    # C(n - c, k) / C(n, k) is symmetric in c and k; the shorter product is also the more exact one.
    shorter, longer = min(c, k), max(c, k)
    for drawn in range(shorter):
        all_wrong *= (n - longer - drawn) / (n - drawn)
    return 1.0 - all_wrong


def mean_pass_at_k(counts: Iterable[tuple[int, int]], k: int) -> float:
    """Return pass@k averaged over problems, given (responses, right ones) for each.

    Raises:
        ValueError: there are no problems, or one has fewer than k responses.
    """
    rates = [pass_at_k(n, c, k) for n, c in counts]
    if not rates:
        raise ValueError(f"pass@{k} needs at least one problem, got none")
    return sum(rates) / len(rates)
