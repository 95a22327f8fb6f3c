"""Run folders and series for tests of findings and reports, with rollouts of any size."""

import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlvr.tracking.run_folder import RunFolder

GOLDEN_RUN = Path(__file__).parents[1] / "golden" / "run"
_LISTS = (
    "old_logprobs", "ref_logprobs", "values", "rewards", "advantages", "returns", "entropies", "exact_kls",
    "update_log_ratios",
)  # fmt: skip

HEALTHY: Mapping[str, tuple[float, float]] = {
    "kl/per_response": (0.0, 1.4),
    "kl/k1": (0.0, 0.05),
    "policy/entropy": (0.05, 0.013),
    "policy/clip_frac": (0.008, 0.0002),
    "policy/approx_kl": (1e-3, 1e-5),
    "policy/updates": (4.0, 4.0),
    "policy/lr": (1e-4, 1e-5),
    "policy/ratio_max": (4.0, 1.5),
    "policy/skipped_updates": (0.0, 0.0),
    "critic/explained_variance": (0.0, 0.3),
    "rollout/response_tokens": (25.0, 27.0),
    "rollout/truncated_frac": (0.0, 0.0),
    "rollout/zero_variance_groups_frac": (0.4, 0.5),
    "rollout/logprob_gap": (2e-8, 1e-8),
    "verify/pass_rate": (0.4, 0.93),
    "verify/timed_out_frac": (0.0, 0.0),
    "verify/failed_frac": (0.0, 0.0),
    "reward/mean": (0.4, 0.93),
    "time/step_s": (2.0, 2.5),
}
"""First and last values of a run in which nothing is wrong."""


def metric_lines(steps: int = 30, **changes: Sequence[float] | float | tuple[float, float]) -> list[dict[str, Any]]:
    """Return metrics that go evenly from HEALTHY's first values to its last.

    Args:
        changes: by the last part of a metric's name: a constant, (first, last), or a list with a value for each step.
    """
    lines: list[dict[str, Any]] = [{"step": step} for step in range(1, steps + 1)]
    for name, ends in HEALTHY.items():
        given = changes.get(name.split("/")[1], ends)
        for place, line in enumerate(lines):
            if isinstance(given, list):
                line[name] = given[place]
            elif isinstance(given, tuple):
                line[name] = given[0] + (given[1] - given[0]) * place / max(1, steps - 1)
            else:
                line[name] = given
    return lines


def rollout_record(
    problem: str,
    ids: Sequence[int],
    *,
    outcome: str = "correct",
    advantage: float = 1.0,
    kl: float = 0.5,
    seed: int = 0,
    **changes: Any,
) -> dict[str, Any]:
    """Return a rollout record with made-up numbers for every token."""
    draw = random.Random(seed)
    columns = {name: [round(draw.gauss(0, 1), 5) for _ in ids] for name in _LISTS} | {
        "advantages": [advantage] * len(ids)
    }
    return {
        "problem": problem, "prompt": f"{problem}?", "text": "12", "outcome": outcome, "score": 1.0, "answer": "12",
        "detail": "equals 12", "reward": 1.0, "finish": "stop", "kl": kl, "policy_step": 0, "prompt_ids": [1, 2],
        "token_ids": list(ids), "mask": [True] * len(ids), **columns, **changes,
    }  # fmt: skip


def golden_copy(path: Path) -> RunFolder:
    """Return a copy of the stored run that a test may write into."""
    shutil.copytree(GOLDEN_RUN, path)
    return RunFolder.open(path)
