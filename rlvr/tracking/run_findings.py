"""What the course of a run means in plain words: rules over its series of steps and of evaluations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, TypeAlias

from rlvr.tracking import limits
from rlvr.tracking.findings import (
    Finding,
    Numbers,
    Setting,
    evaluation_findings,
    most_serious_first,
    percent,
    step_findings,
    truncation,
)

Series: TypeAlias = list[tuple[int, float]]
"""Steps and numbers, without the steps that have none."""

COURSE_METRICS = (
    "kl/per_response", "kl/k1", "policy/entropy", "critic/explained_variance", "policy/clip_frac", "policy/updates",
    "policy/approx_kl", "policy/lr", "rollout/response_tokens", "verify/pass_rate",
)  # fmt: skip
"""All that `course_findings` looks at."""
_MEANS = (
    "rollout/truncated_frac", "verify/pass_rate", "rollout/zero_variance_groups_frac", "verify/timed_out_frac",
    "rollout/logprob_gap",
)  # fmt: skip


def run_findings(
    metrics: Sequence[Mapping[str, Any]], evaluations: Sequence[Mapping[str, Any]], setting: Setting
) -> list[Finding]:
    """Return what a whole run calls for, most serious first, each thing once.

    Args:
        metrics: lines of metrics.jsonl, oldest first.
        evaluations: lines of evaluations.jsonl, oldest first.
    """
    return most_serious_first(
        [*held_out_findings(evaluations, setting), *course_findings(metrics), *_overall(metrics, setting)]
    )


def course_findings(metrics: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Return what series of training metrics call for, also of a run under way."""
    rules = (_kl, _entropy, _critic, _clipping, _lengths)
    return [found for rule in rules if (found := rule(metrics)) is not None]


def held_out_findings(evaluations: Sequence[Mapping[str, Any]], setting: Setting) -> list[Finding]:
    """Return what held-out evaluations call for; of a thing seen several times the last."""
    latest: dict[str, Finding] = {}
    for before, record in zip([None, *evaluations], evaluations, strict=False):
        latest |= {found.kind: found for found in evaluation_findings(record, before)}
    found = list(latest.values())
    falls = _held_out_falls(evaluations)
    last = (evaluations[-1].get("sampled") or {}).get("truncated_frac") if evaluations else None
    cut = truncation(last, setting) if last is not None else None
    if cut is not None:
        title = cut.title.replace("responses", "held-out responses")
        step = evaluations[-1]["step"]
        found.append(replace(cut, kind="held-out truncated", title=title, step=step, metric="eval/truncated_frac"))
    return [*found, falls] if falls else found


def _overall(metrics: Sequence[Mapping[str, Any]], setting: Setting) -> list[Finding]:
    """Return what the rules of a step say of the last third of the run, and of what must not happen at any step."""
    numbers: dict[str, float | None] = {}
    places: dict[str, int] = {}
    for name in _MEANS:
        found = _series(metrics, name)
        if found:
            last = _last_third(found)
            numbers[name], places[name] = fmean(value for _, value in last), last[0][0]
    for name, total in _RARE.items():
        found = [(step, value) for step, value in _series(metrics, name) if value]
        if found:
            numbers[name] = total([value for _, value in found], len(metrics))
            places[name] = max(found, key=lambda pair: pair[1])[0]
    return [found.at(places[found.metric]) if found.metric else found for found in step_findings(numbers, setting)]


_RARE: dict[str, Callable[[Sequence[float], int], float]] = {
    "verify/failed_frac": lambda values, steps: sum(values) / steps,
    "policy/skipped_updates": lambda values, _: sum(values),
    "policy/ratio_max": lambda values, _: max(values),
}
"""Metrics of which a single step counts, and what they come to over a run."""


def _kl(metrics: Sequence[Mapping[str, Any]]) -> Finding | None:
    responses, tokens = _series(metrics, "kl/per_response"), _series(metrics, "kl/k1")
    if len(responses) < limits.FEW_STEPS or not tokens:
        return None
    recent = _latest(responses)
    per_response, per_token = fmean(value for _, value in recent), fmean(value for _, value in _latest(tokens))
    middle = fmean(value for _, value in _third(responses, 1))
    if per_response <= limits.KL_PER_RESPONSE:
        return None
    here = f"{per_response:.3g} nats a response, {per_token:.2g} a token"
    advice = "Raise algorithm.kl_coef or lower optimizer.lr; the weights of an earlier step may be the better ones."
    if per_response > limits.KL_GROWTH * middle and per_token > limits.KL_PER_TOKEN_GROWING:
        return Finding(
            kind="kl",
            level="alarm",
            title=f"KL blow-up: from {middle:.3g} to {per_response:.3g} nats a response",
            text=f"The policy is running away from its reference ({here}): what it writes is ever less like the SFT "
            f"model's text, and a rising reward may come from that alone. {advice}",
            step=recent[0][0],
            metric="kl/per_response",
        )
    if per_token > limits.KL_PER_TOKEN:
        return Finding(
            kind="kl",
            level="alarm" if per_token > limits.KL_ALARM_FACTOR * limits.KL_PER_TOKEN else "warning",
            title=f"The policy is far from its reference: {here}",
            text="Reward models and verifiers are wrong most often far from the text they were made for: read recent "
            f"responses. {advice}",
            step=recent[0][0],
            metric="kl/per_response",
        )
    return None


def _entropy(metrics: Sequence[Mapping[str, Any]]) -> Finding | None:
    entropies = _series(metrics, "policy/entropy")
    if len(entropies) < limits.FEW_STEPS:
        return None
    start, last = fmean(value for _, value in entropies[:3]), _latest(entropies)
    now = fmean(value for _, value in last)
    if now >= limits.ENTROPY_SHARE * start or not _stalled(metrics):
        return None
    return Finding(
        kind="entropy",
        level="warning",
        title=f"Entropy collapse: {percent(now / start)} of the start's is left, and the pass rate stands still",
        text=f"At {now:.2g} nats a token the policy hardly tries anything else any more, so it finds nothing better. "
        "Raise algorithm.clip_high (0.28 is DAPO's), algorithm.entropy_coef or rollout.temperature, or lower "
        "optimizer.lr, and begin again from an earlier checkpoint.",
        step=last[0][0],
        metric="policy/entropy",
    )


def _critic(metrics: Sequence[Mapping[str, Any]]) -> Finding | None:
    explained = _series(metrics, "critic/explained_variance")
    if len(explained) < limits.CRITIC_STEPS:
        return None
    last = _last_third(explained)
    share = fmean(value for _, value in last)
    if share >= limits.EXPLAINED_LITTLE:
        return None
    harmful = share < limits.EXPLAINED_HARM
    learned = not harmful and not _stalled(metrics)
    return Finding(
        kind="critic",
        level="note" if learned else "warning",
        title=f"The critic explains nothing: explained variance {share:.2g} over the last third",
        text=(
            "Its values are worse than a constant and add noise to the advantages. "
            if harmful
            else "Its values are no better than a constant, so every token of a response gets about the same credit"
            + ("; the run learned all the same. " if learned else ". ")
        )
        + 'Raise optimizer.critic_lr or critic.warmup_steps, take critic.kind = "separate", or a preset without a '
        "critic.",
        step=last[0][0],
        metric="critic/explained_variance",
    )


def _clipping(metrics: Sequence[Mapping[str, Any]]) -> Finding | None:
    clipped = _series(metrics, "policy/clip_frac")
    if len(clipped) < limits.FEW_STEPS:
        return None
    last = _last_third(clipped)
    share = fmean(value for _, value in last)
    if share > limits.CLIP_FRAC:
        return Finding(
            kind="clipping",
            level="warning",
            title=f"The ratio clip removes the gradient of {percent(share)} of the tokens",
            text="The policy moves further within a step than the clip allows, and most of the work of later updates "
            "is thrown away. Lower optimizer.lr, algorithm.epochs or algorithm.minibatches.",
            step=last[0][0],
            metric="policy/clip_frac",
        )
    # One update a step is on-policy: ratio 1, nothing clipped. With a learning rate of 0, stillness is the point.
    several = any(value > 1 for _, value in _series(metrics, "policy/updates"))
    moving = any(value > limits.STILL_APPROX_KL for _, value in _series(metrics, "policy/approx_kl"))
    trained = any(value > 0 for _, value in _series(metrics, "policy/lr"))
    if several and trained and not moving and not any(value for _, value in clipped):
        return Finding(
            kind="clipping",
            level="note",
            title="The policy hardly moves: nothing is ever clipped",
            text="Updates change it by less than rounding; raise optimizer.lr.",
            step=clipped[0][0],
            metric="policy/clip_frac",
        )
    return None


def _lengths(metrics: Sequence[Mapping[str, Any]]) -> Finding | None:
    lengths = _series(metrics, "rollout/response_tokens")
    if len(lengths) < limits.FEW_STEPS:
        return None
    first, last = fmean(value for _, value in lengths[:3]), _latest(lengths)
    now = fmean(value for _, value in last)
    if limits.SHRUNK * first <= now <= limits.GROWN * first:
        return None
    shrunk = now < first
    return Finding(
        kind="lengths",
        level="warning" if _stalled(metrics) or shrunk else "note",
        title=f"Responses have {'shrunk' if shrunk else 'grown'} from {first:.3g} to {now:.3g} tokens",
        text=(
            "Working that was shown may be gone, or the reward may be had for an early end. "
            if shrunk
            else "More thought or mere repetition: the pass rate must pay for it. "
        )
        + "Read responses of the first and the last steps side by side.",
        step=last[0][0],
        metric="rollout/response_tokens",
    )


def _held_out_falls(evaluations: Sequence[Mapping[str, Any]]) -> Finding | None:
    own = [record for record in evaluations if record["phase"] == "ppo" and record["split"] == evaluations[0]["split"]]
    rated = [(record, rate) for record in own if (rate := _truth(record)).get("high") is not None]
    if len(rated) < 2:
        return None
    (last, now), (best, then) = rated[-1], max(rated[:-1], key=lambda pair: pair[1]["pass_rate"])
    if now["high"] >= then["low"]:
        return None
    rewards = (best.get("train_pass_rate"), last.get("train_pass_rate"))
    rising = None not in rewards and rewards[1] > rewards[0]  # type: ignore[operator]
    fallen = f"the held-out pass rate fell from {percent(then['pass_rate'])} to {percent(now['pass_rate'])}"
    return Finding(
        kind="held-out falls",
        level="alarm" if rising else "warning",
        title=f"Reward hacking suspected: in training the pass rate rises, and {fallen}"
        if rising
        else f"{fallen[0].upper()}{fallen[1:]}",
        text=f"Step {best['step']} was the best that was measured. Read responses from then and now; "
        + (
            "what is rewarded in training is no longer what is wanted, or training problems are learned by heart."
            if rising
            else "lower optimizer.lr or raise algorithm.kl_coef, and keep an earlier checkpoint (checkpoint.keep)."
        ),
        step=last["step"],
        metric="eval/sampled_pass_rate",
    )


def _truth(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the sampled rate, as the strictest audit confirms it where there are audits."""
    sampled = record.get("sampled") or {}
    audits = [audit for audit in (sampled.get("audit") or {}).values() if audit["pass_rate"] is not None]
    return min([*audits, sampled], key=lambda rate: rate["pass_rate"]) if sampled.get("pass_rate") is not None else {}


def _stalled(metrics: Sequence[Mapping[str, Any]]) -> bool:
    passed = _series(metrics, "verify/pass_rate")
    if len(passed) < limits.FEW_STEPS:
        return False
    middle, last = (fmean(value for _, value in _third(passed, index)) for index in (1, 2))
    return last < limits.SATURATED_RATE and last - middle < limits.STALLED_GAIN


def _series(metrics: Sequence[Numbers], name: str) -> Series:
    return [(int(line["step"] or 0), value) for line in metrics if (value := line.get(name)) is not None]


def _third(series: Series, index: int) -> Series:
    edges = [len(series) * part // 3 for part in range(4)]
    return series[edges[index] : edges[index + 1]]


def _last_third(series: Series) -> Series:
    return series[len(series) * 2 // 3 :]


def _latest(series: Series) -> Series:
    return series[-max(3, len(series) // 10) :]
