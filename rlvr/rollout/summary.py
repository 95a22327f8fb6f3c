"""What a step's rollouts look like in numbers."""

from collections.abc import Sequence

import torch

from rlvr.rollout.rewards import RewardRule, overlong_penalty
from rlvr.rollout.types import Finish, Rollout
from rlvr.tracking.metrics import Last, Mean, Metric
from rlvr.tracking.stopwatch import Stopwatch
from verifiers.types import Outcome


def rollout_metrics(rollouts: Sequence[Rollout], rule: RewardRule, *, failed: int, watch: Stopwatch) -> list[Metric]:
    """Return rewards, verdicts, lengths and speed.

    Args:
        rule: what the rewards were made by.
        failed: responses that got no verdict.
        watch: the step's stages.
    """
    rewards = torch.tensor([r.reward for r in rollouts], dtype=torch.float64)
    outcomes = [r.verdict.outcome for r in rollouts]
    by_group: dict[str, set[float]] = {}
    for rollout in rollouts:
        by_group.setdefault(rollout.problem.id, set()).add(rollout.reward)
    tokens = sum(len(r.response.token_ids) for r in rollouts)
    seconds = watch.totals_s
    shares = {
        "verify/pass_rate": [o is Outcome.CORRECT for o in outcomes],
        "verify/no_answer_frac": [o is Outcome.NO_ANSWER for o in outcomes],
        "verify/timed_out_frac": [o is Outcome.TIMED_OUT for o in outcomes],
        "verify/crashed_frac": [o is Outcome.CRASHED for o in outcomes],
        "verify/failed_frac": [False] * len(rollouts) + [True] * failed,
        "rollout/truncated_frac": [r.response.finish is Finish.LENGTH for r in rollouts],
        "rollout/zero_variance_groups_frac": [len(values) == 1 for values in by_group.values()],
    }
    return [
        Metric("reward/mean", Mean.of(rewards)),
        Metric("reward/std", Last(float(rewards.std(correction=0)))),
        Metric(
            "reward/overlong_penalty", Mean.of([overlong_penalty(len(r.response.token_ids), rule) for r in rollouts])
        ),
        *(Metric(name, Mean.of(values)) for name, values in shares.items()),
        Metric("rollout/response_tokens", Mean.of([len(r.response.token_ids) for r in rollouts])),
        Metric("rollout/prompt_tokens", Mean.of([len(r.response.prompt_ids) for r in rollouts])),
        Metric("rollout/tokens_per_s", Last(tokens / seconds["rollout"])),
        Metric("rollout/rollouts_per_s", Last(len(rollouts) / seconds["step"])),
        *(Metric(f"time/{stage}_s", Last(value)) for stage, value in seconds.items()),
    ]
