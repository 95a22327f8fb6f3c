"""Every number that a run keeps of a rollout's tokens, under the names that people read."""

import math
from collections.abc import Mapping
from typing import Any

_RECORDED = {
    "logprob": "old_logprobs",
    "ref_logprob": "ref_logprobs",
    "ratio": "update_log_ratios",
    "k1": "old_logprobs",
    "exact_kl": "exact_kls",
    "entropy": "entropies",
    "value": "values",
    "reward": "rewards",
    "return": "returns",
    "advantage": "advantages",
}
"""Names, and the list of the record that each is or is made from."""

TOKEN_NUMBERS = tuple(_RECORDED)
"""In the order in which they are shown."""

_LARGEST_LOG_RATIO = 80.0
"""Logarithms beyond it are no ratios any more; exp of 710 would raise."""


def token_numbers(record: Mapping[str, Any]) -> dict[str, list[float | None]]:
    """Return the numbers of each token of a rollout by name: as recorded, the ratio and k1 = logprob - ref_logprob.

    None stands for a number that was not finite. What the version that made the run did not record is absent.

    Args:
        record: of `rollout_records`.
    """
    found = {name: record[source] for name, source in _RECORDED.items() if source in record}
    if "ratio" in found:
        found["ratio"] = [None if log is None else math.exp(min(_LARGEST_LOG_RATIO, log)) for log in found["ratio"]]
    if "ref_logprob" in found and "k1" in found:
        pairs = zip(found["logprob"], found["ref_logprob"], strict=True)
        found["k1"] = [
            None if policy is None or reference is None else policy - reference for policy, reference in pairs
        ]
    else:
        found.pop("k1", None)
    return found
