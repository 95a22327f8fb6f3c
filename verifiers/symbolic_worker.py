"""What a worker process does for the mathematics verifier: decide what exact fractions cannot."""

from typing import Any

from verifiers.maths.deciding import decide_all, read_gold
from verifiers.maths.full_numerics import FullNumerics
from verifiers.maths.policy import Policy

_NUMERICS = FullNumerics()


def decide_job(job: dict[str, Any]) -> dict[str, Any]:
    """Return {"correct", "detail"} for {"gold", "answer", "rivals", "policy"}."""
    correct, detail = decide_all(
        read_gold(job["gold"]), job["answer"], job["rivals"], Policy(**job["policy"]), _NUMERICS
    )
    return {"correct": correct, "detail": detail}
