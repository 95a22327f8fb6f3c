"""The definitions of rlvr.algorithms in plain Python: lists, floats, no recursion tricks, no tensors."""

import math
from collections.abc import Callable, Sequence

Row = Sequence[float]
Mask = Sequence[bool]


def valid(row: Row, mask: Mask) -> list[float]:
    """Return the entries that count."""
    return [x for x, counts in zip(row, mask, strict=True) if counts]


def scatter(entries: Row, mask: Mask) -> list[float]:
    """Put the entries where mask is True, in order, and 0 elsewhere."""
    rest = iter(entries)
    return [next(rest) if counts else 0.0 for counts in mask]


def mean(entries: Row) -> float:
    """Return the mean; 0 of nothing."""
    return math.fsum(entries) / len(entries) if entries else 0.0


def variance(entries: Row) -> float:
    """Return the population variance; 0 of nothing."""
    centre = mean(entries)
    return mean([(x - centre) ** 2 for x in entries])


def whiten(entries: Row, eps: float) -> list[float]:
    """Return (x - mean) / sqrt(variance + eps)."""
    return [(x - mean(entries)) / math.sqrt(variance(entries) + eps) for x in entries]


def gae(
    rewards: Row, values: Row, mask: Mask, *, gamma: float, gae_lambda: float, bootstrap: float = 0.0
) -> tuple[list[float], list[float]]:
    """Return advantages and returns of one row: A_k = sum over j >= k of (gamma lambda)^(j - k) delta_j."""
    r, v = valid(rewards, mask), valid(values, mask)
    deltas = [r[k] + gamma * (v[k + 1] if k + 1 < len(v) else bootstrap) - v[k] for k in range(len(r))]
    advantages = [
        math.fsum((gamma * gae_lambda) ** (j - k) * deltas[j] for j in range(k, len(r))) for k in range(len(r))
    ]
    returns = [a + x for a, x in zip(advantages, v, strict=True)]
    return scatter(advantages, mask), scatter(returns, mask)


def reward_to_go(rewards: Row, mask: Mask, *, gamma: float) -> list[float]:
    """Return the discounted sum of a row's rewards from each token on."""
    r = valid(rewards, mask)
    return scatter([math.fsum(gamma ** (j - k) * r[j] for j in range(k, len(r))) for k in range(len(r))], mask)


def group_of(scores: Row, groups: Sequence[int], row: int) -> list[float]:
    """Return the scores of the group that the row belongs to."""
    return [score for score, group in zip(scores, groups, strict=True) if group == groups[row]]


def group_normalized(scores: Row, groups: Sequence[int], *, eps: float) -> list[float]:
    """Return (score - group mean) / (unbiased group std + eps), 0 in a group of one."""
    advantages = []
    for row, score in enumerate(scores):
        group = group_of(scores, groups, row)
        std = math.sqrt(variance(group) * len(group) / (len(group) - 1)) if len(group) > 1 else 0.0
        advantages.append((score - mean(group)) / (std + eps))
    return advantages


def leave_one_out(scores: Row, groups: Sequence[int]) -> list[float]:
    """Return score - mean of the others' scores, 0 without others."""
    advantages = []
    for row, score in enumerate(scores):
        others = [scores[k] for k in range(len(scores)) if groups[k] == groups[row] and k != row]
        advantages.append(score - mean(others) if others else 0.0)
    return advantages


def softmax(logits: Row) -> list[float]:
    """Return exp(logit) / sum of exp(logit)."""
    weights = [math.exp(x) for x in logits]
    return [weight / math.fsum(weights) for weight in weights]


def kl(logits: Row, ref_logits: Row) -> float:
    """Return KL(policy || ref) by its sum."""
    return math.fsum(p * math.log(p / q) for p, q in zip(softmax(logits), softmax(ref_logits), strict=True))


def entropy(logits: Row) -> float:
    """Return -sum p log p."""
    return -math.fsum(p * math.log(p) for p in softmax(logits))


def expectation(estimator: Callable[[float], float], logits: Row, ref_logits: Row) -> float:
    """Return the expectation, over actions of the policy, of an estimator of x = log p - log q."""
    pairs = zip(softmax(logits), softmax(ref_logits), strict=True)
    return math.fsum(p * estimator(math.log(p / q)) for p, q in pairs)


def clipped_surrogate(
    ratio: float, advantage: float, *, clip_low: float, clip_high: float, dual_clip: float
) -> tuple[float, float]:
    """Return PPO's loss and its derivative by the ratio, case by case."""
    if advantage >= 0:
        if advantage > 0 and ratio > 1 + clip_high:
            return -advantage * (1 + clip_high), 0.0
        return -advantage * ratio, -advantage
    if ratio < 1 - clip_low:
        return -advantage * (1 - clip_low), 0.0
    if dual_clip > 0 and ratio > dual_clip:
        return -advantage * dual_clip, 0.0
    return -advantage * ratio, -advantage


def value_loss(value: float, old_value: float, target: float, *, clip: float) -> float:
    """Return half the larger of the squared errors of the value and of the value kept near the old one."""
    near = value if clip == 0 else min(max(value, old_value - clip), old_value + clip)
    return 0.5 * max((value - target) ** 2, (near - target) ** 2)


def aggregate(losses: Sequence[Row], masks: Sequence[Mask], *, mode: str, constant: int) -> float:
    """Return one loss of a whole minibatch."""
    rows = [valid(row, mask) for row, mask in zip(losses, masks, strict=True)]
    sums = [math.fsum(row) for row in rows]
    if mode == "token_mean":
        return mean([x for row in rows for x in row])
    if mode == "sequence_mean":
        return mean([mean(row) for row in rows])
    if mode == "sequence_sum":
        return mean(sums)
    assert mode == "constant"
    return mean([x / constant for x in sums])


def explained_variance(values: Row, returns: Row) -> float:
    """Return 1 - Var(returns - values) / Var(returns)."""
    residuals = [target - value for target, value in zip(returns, values, strict=True)]
    return 1.0 - variance(residuals) / variance(returns)
