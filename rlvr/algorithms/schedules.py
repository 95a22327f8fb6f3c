"""Learning rates over a run."""

import math


def learning_rate_factor(step: int, *, warmup_steps: int, total_steps: int, decay: str, final_frac: float) -> float:
    """Return the share of the peak learning rate that step (counted from 0) takes.

    Linear warm-up from 1 / warmup_steps to 1 at step warmup_steps - 1; then "none" stays at 1, while "linear" and
    "cosine" go down to final_frac at step total_steps - 1 and stay there. A run that ends within its warm-up, or has
    a single step, does not decay.
    """
    if decay not in ("none", "linear", "cosine"):
        raise ValueError(f'unknown decay {decay!r}: take "none", "linear" or "cosine"')
    if step < warmup_steps:
        return (step + 1) / warmup_steps
    peak_step = max(warmup_steps - 1, 0)
    decay_steps = total_steps - 1 - peak_step
    if decay == "none" or decay_steps <= 0:
        return 1.0
    progress = min((step - peak_step) / decay_steps, 1.0)
    remaining = 1.0 - progress if decay == "linear" else 0.5 * (1.0 + math.cos(math.pi * progress))
    return final_frac + (1.0 - final_frac) * remaining
