"""What a worker process does for the mathematics verifier: decide what exact fractions cannot."""

from typing import Any

from verifiers.maths.deciding import decide_all, read_gold
from verifiers.maths.full_numerics import FullNumerics
from verifiers.maths.policy import Policy

_NUMERICS = FullNumerics()


def decide_job(job: dict[str, Any]) -> dict[str, Any]:
    """Return {"correct", "detail"} for {"gold", "answer", "rivals", "policy"}.

    Without a policy it is math-verify that decides.
    """
    if "policy" not in job:
        return {"correct": _second_opinion(**job), "detail": "math-verify's opinion"}
    correct, detail = decide_all(
        read_gold(job["gold"]), job["answer"], job["rivals"], Policy(**job["policy"]), _NUMERICS
    )
    return {"correct": correct, "detail": detail}


def _second_opinion(gold: str, answer: str, rivals: list[str]) -> bool:
    """Ask math-verify, which must say the same of every answer given. The limits are the worker pool's."""
    from math_verify import LatexExtractionConfig, parse, verify

    config = [LatexExtractionConfig(boxed_match_priority=0)]
    wanted, *found = (parse(f"${text}$", config, parsing_timeout=None) for text in (gold, answer, *rivals))  # type: ignore[arg-type]
    return bool(wanted) and all(each and verify(wanted, each, timeout_seconds=None) for each in found)
