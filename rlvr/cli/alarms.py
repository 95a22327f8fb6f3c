"""Warnings in plain words while a run goes: what the numbers mean and what to change."""

from collections.abc import Mapping
from typing import Any

TRUNCATED_LIMIT = 0.1
GAP_LIMIT = 0.1
_REPEAT_AFTER_STEPS = 20


class Alarms:
    """Looks at each step's numbers and warns, of each thing at most once in a while.

    Args:
        max_new_tokens: the length limit, named in the advice.
    """

    def __init__(self, *, max_new_tokens: int) -> None:
        self._max_new_tokens = max_new_tokens
        self._last_step: dict[str, int] = {}
        self.raised: list[str] = []
        """Every warning so far, for the summary."""

    def after_step(self, step: int, numbers: Mapping[str, float | None]) -> list[str]:
        """Return the warnings that a PPO step's numbers call for."""
        truncated, passed = numbers.get("rollout/truncated_frac"), numbers.get("verify/pass_rate")
        failed, zero_variance = numbers.get("verify/failed_frac"), numbers.get("rollout/zero_variance_groups_frac")
        found: dict[str, str] = {}
        if truncated is not None and truncated > TRUNCATED_LIMIT:
            found["truncated"] = self.truncation(truncated)
        if passed == 0.0:
            found["nothing right"] = (
                "no response was right: nothing can be learned; give it more SFT, or easier problems"
            )
        elif passed == 1.0 and zero_variance == 1.0:
            found["all right"] = "every response was right: there is nothing left to learn; take harder problems"
        if failed:
            found["failed"] = (
                f"{failed:.1%} of the responses could not be judged and were dropped: a verifier failed, not the policy"
            )
        skipped = numbers.get("policy/skipped_updates")
        if skipped:
            found["skipped"] = f"{skipped:.0f} updates were skipped, their gradient was not finite; lower optimizer.lr"
        return [line for kind, text in found.items() if (line := self._raise(kind, step, text))]

    def after_evaluation(self, record: Mapping[str, Any]) -> list[str]:
        """Return the warnings that a held-out evaluation calls for: a reward above what audits confirm."""
        sampled, trained = record["sampled"], record["train_pass_rate"]
        found: dict[str, str] = {}
        for name, audit in (sampled.get("audit") or {}).items():
            if audit["pass_rate"] is None or sampled["pass_rate"] is None:
                continue
            gap = sampled["pass_rate"] - audit["pass_rate"]
            if gap > GAP_LIMIT and sampled["pass_rate"] > audit["high"]:
                found[f"audit {name}"] = (
                    f"reward hacking suspected: the reward's verifier calls {sampled['pass_rate']:.0%} of the held-out "
                    f"responses right, the audit verifier {name!r} {audit['pass_rate']:.0%}; read the responses on "
                    "which they differ, and mend the verifier before training on"
                )
            elif trained is not None and trained - audit["pass_rate"] > GAP_LIMIT and trained > audit["high"]:
                found[f"train {name}"] = (
                    f"the pass rate on the training problems is {trained:.0%}, on held-out problems the audit verifier "
                    f"{name!r} confirms {audit['pass_rate']:.0%}; the policy may be learning its training problems by "
                    "heart: take more of them, or fewer steps"
                )
        return [line for kind, text in found.items() if (line := self._raise(kind, record["step"], text))]

    def truncation(self, share: float) -> str:
        """Say that responses are cut off, and what to raise."""
        return (
            f"{share:.0%} of the responses reached the limit of {self._max_new_tokens} tokens and were cut off, so "
            f"their answers may be missing; raise rollout.max_new_tokens (to {2 * self._max_new_tokens}, say)"
        )

    def _raise(self, kind: str, step: int, text: str) -> str | None:
        last = self._last_step.get(kind)
        if last is not None and step - last < _REPEAT_AFTER_STEPS:
            return None
        self._last_step[kind] = step
        self.raised.append(f"step {step}: {text}")
        return f"warning: step {step}: {text}"
