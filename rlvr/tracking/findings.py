"""What single numbers of a run mean in plain words, and what to do: the rules of a step and of an evaluation.

The warnings of a run under way and the report's come from here, so that both say the same of the same number.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from rlvr.tracking import limits

Level: TypeAlias = Literal["alarm", "warning", "note"]
Numbers: TypeAlias = Mapping[str, float | None]
"""By metric name; what is absent or None says nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Something a reader of a run should know."""

    kind: str
    """A stable name of the rule."""
    level: Level
    """alarm: do not trust or go on before it is mended; warning: look at it; note: keep it in mind."""
    title: str
    """What was seen, in one clause with its number."""
    text: str
    """What it means and what to do."""
    step: int | None = None
    metric: str | None = None
    """Where to look at it."""

    @property
    def line(self) -> str:
        """Both in one line, without the full stop at its end, as the command line writes."""
        return f"{self.title}. {self.text}".removesuffix(".")

    def at(self, step: int) -> "Finding":
        """Return it placed at a step."""
        return replace(self, step=step)


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """What rules need to know of a run's configuration."""

    max_new_tokens: int | None = None
    samples_per_prompt: int = 1


def percent(share: float) -> str:
    """Return a share as people read it: "93 %", and with a decimal where it would be 0 %: "0.4 %"."""
    return f"{100 * share:.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.2g} %"


def step_findings(numbers: Numbers, setting: Setting) -> list[Finding]:
    """Return what the numbers of one step, or the means of several, call for."""
    truncated, passed = numbers.get("rollout/truncated_frac"), numbers.get("verify/pass_rate")
    rules = (
        truncation(truncated, setting) if truncated is not None else None,
        _extremes(passed),
        _equal_groups(numbers.get("rollout/zero_variance_groups_frac"), passed, setting),
        _failed(numbers.get("verify/failed_frac")),
        _timed_out(numbers.get("verify/timed_out_frac")),
        _skipped(numbers.get("policy/skipped_updates")),
        _logprob_gap(numbers.get("rollout/logprob_gap")),
        _ratio(numbers.get("policy/ratio_max")),
    )
    return [found for found in rules if found is not None]


def evaluation_findings(record: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> list[Finding]:
    """Return what a held-out evaluation calls for: a reward above what audits confirm.

    Args:
        record: a line of evaluations.jsonl.
        before: the evaluation before it. The training rate is a mean over the steps since then, so that a rate which
            falls lies above what is confirmed at the end of them: only a gap that was there before is told.
    """
    sampled = record.get("sampled") or {}
    rate = sampled.get("pass_rate")
    found: list[Finding] = []
    for name, audit in (sampled.get("audit") or {}).items():
        confirmed, high = audit["pass_rate"], audit["high"]
        if confirmed is None or rate is None:
            continue
        if rate - confirmed > limits.AUDIT_GAP and rate > high:
            found.append(
                Finding(
                    kind=f"audit {name}",
                    level="alarm",
                    title=f"Reward hacking suspected: {percent(rate)} pass, the audit confirms {percent(confirmed)}",
                    text=f"The reward's verifier calls {percent(rate)} of the held-out responses right, the audit "
                    f"verifier {name!r} {percent(confirmed)}. Read the responses on which they differ, and mend the "
                    "verifier before training on.",
                    step=record["step"],
                    metric="eval/audit_gap",
                )
            )
        elif before is not None and _trained_above(record, name) and _trained_above(before, name):
            found.append(
                Finding(
                    kind=f"train {name}",
                    level="warning",
                    title=f"{percent(record['train_pass_rate'])} pass in training, {percent(confirmed)} are confirmed "
                    "on held-out problems",
                    text=f"The audit verifier {name!r} confirms less on held-out problems than the reward gives in "
                    "training: the policy may be learning its training problems by heart. Take more of them, or fewer "
                    "steps.",
                    step=record["step"],
                    metric="eval/train_gap",
                )
            )
    return found


def _trained_above(record: Mapping[str, Any], audit: str) -> bool:
    """Whether the training problems' pass rate lies above what an audit confirms on held-out problems."""
    trained = record.get("train_pass_rate")
    confirmed = ((record.get("sampled") or {}).get("audit") or {}).get(audit) or {}
    if trained is None or confirmed.get("pass_rate") is None:
        return False
    return trained - confirmed["pass_rate"] > limits.AUDIT_GAP and trained > confirmed["high"]


def most_serious_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with alarms before warnings before notes, otherwise as they came."""
    return sorted(findings, key=lambda found: ("alarm", "warning", "note").index(found.level))


def truncation(share: float, setting: Setting) -> Finding | None:
    """Return what a share of responses that the length limit cut calls for, in training or in an evaluation."""
    if share <= limits.TRUNCATED_FRAC:
        return None
    most = setting.max_new_tokens
    advice = f"rollout.max_new_tokens (to {2 * most}, say)" if most else "rollout.max_new_tokens"
    return Finding(
        kind="truncated",
        level="alarm" if share > limits.TRUNCATED_ALARM_FRAC else "warning",
        title=f"{percent(share)} of the responses are cut off",
        text=f"They reached the limit of {most or 'so many'} tokens and were cut off, so their answers may be missing; "
        f"raise {advice}.",
        metric="rollout/truncated_frac",
    )


def _extremes(passed: float | None) -> Finding | None:
    if passed == 0.0:
        return Finding(
            kind="nothing right",
            level="alarm",
            title="No response was right",
            text="Without any reward nothing can be learned; give the model more SFT, or easier problems.",
            metric="verify/pass_rate",
        )
    if passed is not None and passed >= limits.ALL_RIGHT_RATE:
        return Finding(
            kind="all right",
            level="note",
            title="Every response was right" if passed == 1.0 else "Nearly every response was right",
            text="There is nothing left to learn; take harder problems.",
            metric="verify/pass_rate",
        )
    return None


def _equal_groups(share: float | None, passed: float | None, setting: Setting) -> Finding | None:
    # A group of one is always equal to itself, and where nothing or everything is right another rule says why.
    if share is None or setting.samples_per_prompt < 2 or _extremes(passed) is not None:
        return None
    if share <= limits.ZERO_VARIANCE_FRAC:
        return None
    return Finding(
        kind="equal groups",
        level="warning",
        title=f"In {percent(share)} of the groups all responses earn the same",
        text="Such groups teach nothing where advantages are relative to the group: the effective batch is small and "
        "its gradient noisy. Take problems of middling difficulty, or raise rollout.samples_per_prompt.",
        metric="rollout/zero_variance_groups_frac",
    )


def _failed(share: float | None) -> Finding | None:
    if not share:
        return None
    return Finding(
        kind="failed",
        level="warning",
        title=f"{percent(share)} of the responses could not be judged",
        text="They were dropped: a verifier failed, not the policy. See the verifier's errors in the log; if the "
        "failures depend on the response, the rest of the batch is a biased sample.",
        metric="verify/failed_frac",
    )


def _timed_out(share: float | None) -> Finding | None:
    if share is None or share <= limits.TIMED_OUT_FRAC:
        return None
    return Finding(
        kind="timed out",
        level="warning",
        title=f"{percent(share)} of the answers ran out of time",
        text="They count as wrong. If right answers can be that slow, raise the verifier's time limit "
        "(task.verifier_options); else read some of them.",
        metric="verify/timed_out_frac",
    )


def _skipped(count: float | None) -> Finding | None:
    if not count:
        return None
    return Finding(
        kind="skipped",
        level="warning",
        title=f"{count:.0f} {'update was' if count == 1 else 'updates were'} skipped",
        text='The gradient was not finite; lower optimizer.lr, or train in float32 (model.autocast = "off").',
        metric="policy/skipped_updates",
    )


def _logprob_gap(gap: float | None) -> Finding | None:
    if gap is None or gap <= limits.LOGPROB_GAP:
        return None
    return Finding(
        kind="logprob gap",
        level="warning",
        title=f"Sampler and trainer disagree by {gap:.2g} nats a token",
        text="The ratio then measures the disagreement besides the update, and training is off-policy without knowing "
        "it. Sample and train in the same precision (model.dtype, model.autocast).",
        metric="rollout/logprob_gap",
    )


def _ratio(largest: float | None) -> Finding | None:
    if largest is None or largest <= limits.RATIO_MAX:
        return None
    return Finding(
        kind="ratio",
        level="warning",
        title=f"The importance ratio of a token reached {largest:,.0f}",
        text="Within one step the policy made that token so many times likelier: the update overshoots. Lower "
        "optimizer.lr, or take fewer algorithm.epochs.",
        metric="policy/ratio_max",
    )
