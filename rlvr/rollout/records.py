"""Rollouts as JSON-like records: what a run folder keeps of them."""

from collections.abc import Sequence
from typing import Any

from rlvr.rollout.types import Experience, Rollout

PER_TOKEN = (
    "old_logprobs", "ref_logprobs", "values", "rewards", "advantages", "returns", "entropies", "exact_kls",
    "update_log_ratios",
)  # fmt: skip
"""Fields of Experience that a record holds as one list per response, aligned with its token_ids."""
_DECIMALS = 5


def rollout_records(rollouts: Sequence[Rollout], experience: Experience) -> list[dict[str, Any]]:
    """Return one record per rollout: problem, tokens, text, verdict, reward, and what each token was worth.

    Args:
        experience: of the same rollouts, in the same order.
    """
    columns = {name: getattr(experience, name).cpu().double().round(decimals=_DECIMALS).tolist() for name in PER_TOKEN}
    kl = (
        (experience.old_logprobs - experience.ref_logprobs).cpu().double().sum(dim=1).round(decimals=_DECIMALS).tolist()
    )
    records: list[dict[str, Any]] = []
    for row, rollout in enumerate(rollouts):
        response, verdict = rollout.response, rollout.verdict
        start = len(response.prompt_ids) - 1
        stop = start + len(response.token_ids)
        records.append(
            {
                "problem": rollout.problem.id,
                "prompt": rollout.problem.prompt,
                "text": response.text,
                "outcome": verdict.outcome.value,
                "score": verdict.score,
                "answer": verdict.answer,
                "detail": verdict.detail,
                "reward": rollout.reward,
                "finish": response.finish.value,
                "kl": kl[row],
                "policy_step": rollout.policy_step,
                "prompt_ids": response.prompt_ids,
                "token_ids": response.token_ids,
                "mask": response.mask,
                **{name: values[row][start:stop] for name, values in columns.items()},
            }
        )
    return records
