"""pass@k and pass^k: the chance that at least one, or that all, of k responses to a problem are right."""


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate of pass@k from `n` responses of which `c` are right.

    1 - C(n - c, k) / C(n, k) (Chen et al. 2021, arXiv:2107.03374), as a product of ratios, so that no binomial
    coefficient overflows. Drawing k of the n *with* replacement instead is biased low.

    Raises:
        ValueError: c lies outside [0, n], or k outside [1, n].
    """
    _check(n, c, k)
    return 1.0 - _none_among(n, c, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate of pass^k, that k responses are all right: C(c, k) / C(n, k).

    It tells how reliable a policy is (Yao et al. 2024, arXiv:2406.12045).

    Raises:
        ValueError: as `pass_at_k`.
    """
    _check(n, c, k)
    return _none_among(n, n - c, k)


def _check(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"of {n} responses between 0 and {n} can be right, got {c}")
    if not 1 <= k <= n:
        raise ValueError(f"pass@{k} needs at least {max(k, 1)} responses and k >= 1, got {n}")


def _none_among(n: int, marked: int, k: int) -> float:
    """Return the chance that k drawn from n without replacement hold none of the marked: C(n - marked, k) / C(n, k)."""
    if n - marked < k:
        return 0.0
    chance = 1.0
    # It is symmetric in marked and k; the shorter product is also the more exact one.
    shorter, longer = min(marked, k), max(marked, k)
    for drawn in range(shorter):
        chance *= (n - longer - drawn) / (n - drawn)
    return chance
