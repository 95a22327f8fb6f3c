"""What the probe's responses say about the run: can it learn, do responses end, what does judging cost."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import Any

from rlvr.cli.doctor.findings import Finding, blocker, note, ok, percent, warning
from rlvr.cli.doctor.judging import JudgingTime
from rlvr.cli.doctor.probe import Probe
from rlvr.config.models import Config
from rlvr.evaluation.intervals import Interval, cluster_wilson, wilson
from rlvr.rollout.types import Finish, Rollout
from rlvr.tracking import limits
from verifiers.types import Outcome

_NO_ANSWER_LIMIT = 0.5
_MOST_JUDGING = 0.5
_HOPELESS_RATE = 0.1
"""Where a pass rate of 0 on a few problems leaves room for more than this, more problems may tell otherwise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """What the findings depend on besides the probe."""

    before_sft: bool
    """Whether the run has a warm start still to come, after which all of this is better."""
    untrained: bool
    """Whether the weights are random."""
    samples_per_prompt: int
    compares_groups: bool
    """Whether advantages compare the responses to one problem."""
    max_new_tokens: int
    max_failed_frac: float


def setting_of(config: Config, *, before_sft: bool, untrained: bool) -> Setting:
    """Return what of the configuration matters to the probe."""
    return Setting(
        before_sft=before_sft,
        untrained=untrained,
        samples_per_prompt=config.rollout.samples_per_prompt,
        compares_groups=config.algorithm.advantage in ("group_normalized", "group_centered", "leave_one_out"),
        max_new_tokens=config.rollout.max_new_tokens,
        max_failed_frac=config.rollout.max_failed_frac,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeNumbers:
    """The probe in numbers; None where there is nothing to count."""

    pass_rate: float | None
    interval: Interval | None
    reward_varies: bool
    zero_variance_frac: float | None
    truncated_frac: float
    no_answer_frac: float | None
    failed_frac: float

    def as_record(self) -> dict[str, Any]:
        """Return it as a JSON-like dict with `low` and `high` for the interval."""
        names = ("pass_rate", "zero_variance_frac", "truncated_frac", "no_answer_frac", "failed_frac")
        edges = self.interval
        return {
            **{name: getattr(self, name) for name in names},
            "low": edges.low if edges else None,
            "high": edges.high if edges else None,
        }


def probe_numbers(probe: Probe) -> ProbeNumbers:
    """Count what the probe shows."""
    groups = [list(own) for _, own in groupby(probe.rollouts, key=lambda rollout: rollout.problem.id)]
    outcomes = [rollout.verdict.outcome for rollout in probe.rollouts]
    rates = [_right(group) / len(group) for group in groups]
    many = any(len(group) > 1 for group in groups)
    interval = None
    if groups:
        interval = cluster_wilson(rates) if many else wilson(sum(rates), len(rates))
    flat = [len({rollout.reward for rollout in group}) == 1 for group in groups if len(group) > 1]
    return ProbeNumbers(
        pass_rate=outcomes.count(Outcome.CORRECT) / len(outcomes) if outcomes else None,
        interval=interval,
        reward_varies=len({rollout.reward for rollout in probe.rollouts}) > 1,
        zero_variance_frac=fmean(flat) if flat else None,
        truncated_frac=fmean(response.finish is Finish.LENGTH for response in probe.responses),
        no_answer_frac=outcomes.count(Outcome.NO_ANSWER) / len(outcomes) if outcomes else None,
        failed_frac=len(probe.failures) / len(probe.responses),
    )


def check_probe(probe: Probe, numbers: ProbeNumbers, setting: Setting) -> Iterator[Finding]:
    """Say what the probe shows, and what to do about it."""
    samples = f", {setting.samples_per_prompt} responses to each" if setting.samples_per_prompt > 1 else ""
    asked = f"{probe.asked} training problems{samples}"
    if probe.asked < probe.wanted:
        asked += f" (of {probe.wanted}: sampling is slow, the rest was left out)"
    if setting.before_sft:
        yield note(
            f"asked the model {asked}; these numbers are from before the warm start",
            "once it is done, look again: rlvr doctor ... model.name=RUN/reference sft.steps=0",
        )
    else:
        yield ok(f"asked the model {asked}")
    yield from _failures(probe, numbers, setting)
    if numbers.pass_rate is not None:
        yield from _pass_rate(numbers, setting)
        yield from _groups(numbers, setting)
    yield _truncation(numbers, setting)
    if numbers.no_answer_frac is not None:
        yield _no_answer(numbers, setting)
    lengths = probe.lengths
    yield ok(
        f"response lengths: {fmean(lengths):.0f} tokens on average, {quantile(lengths, 0.5):.0f} at the middle, "
        f"{quantile(lengths, 0.95):.0f} at the 95th percentile, limit {setting.max_new_tokens}"
    )


def _failures(probe: Probe, numbers: ProbeNumbers, setting: Setting) -> Iterator[Finding]:
    if not probe.failures:
        yield ok(f"all {len(probe.responses)} responses got a verdict")
        return
    problem, error = probe.failures[0]
    told = (
        f"{len(probe.failures)} of {len(probe.responses)} responses could not be judged, the first on problem "
        f"{problem.id}: {' '.join(str(error).split())[:300]}"
    )
    if numbers.failed_frac > setting.max_failed_frac:
        yield blocker(
            told, f"the run stops above rollout.max_failed_frac = {setting.max_failed_frac:g}: mend the cause"
        )
    else:
        yield warning(told, "such responses are dropped; mend the cause")


def _pass_rate(numbers: ProbeNumbers, setting: Setting) -> Iterator[Finding]:
    assert numbers.pass_rate is not None
    assert numbers.interval is not None
    interval = f"[{100 * numbers.interval.low:.1f}, {100 * numbers.interval.high:.1f}]"
    told = f"pass rate {percent(numbers.pass_rate)} {interval}"
    if numbers.pass_rate == 0 and setting.before_sft and setting.untrained:
        yield note(f"{told}: the model's weights are random, so nothing else is possible before SFT")
    elif numbers.pass_rate == 0 and setting.before_sft:
        yield warning(f"{told} before SFT", "look at what it writes; SFT has to bring the first right responses")
    elif numbers.pass_rate == 0 and numbers.reward_varies:
        yield warning(f"{told}, but rewards differ, by partial scores or form", "see that they lead to right answers")
    elif numbers.pass_rate == 0 and (setting.untrained or numbers.interval.high <= _HOPELESS_RATE):
        yield blocker(
            f"{told}, and every reward is the same: nothing can be learned",
            "warm-start it (sft.steps), take easier problems, or ask for the answer in the form the verifier reads",
        )
    elif numbers.pass_rate == 0:
        yield warning(
            f"{told}: too few problems to say whether anything can be learned",
            "ask more (--problems 64; a lower rollout.max_new_tokens is quicker), or warm-start it (sft.steps)",
        )
    elif numbers.pass_rate == 1:
        yield warning(f"{told}: there is nothing left to learn", "take harder problems, or look for what is given away")
    else:
        yield ok(told + (" before SFT" if setting.before_sft else ""))


def _groups(numbers: ProbeNumbers, setting: Setting) -> Iterator[Finding]:
    share = numbers.zero_variance_frac
    if share is None:
        return
    told = f"{percent(share)} of the problems got the same reward for all {setting.samples_per_prompt} responses"
    if not setting.compares_groups:
        yield ok(told)
    elif setting.before_sft:
        yield note(f"{told} before SFT", "after it, such groups teach nothing")
    elif share > limits.ZERO_VARIANCE_FRAC:
        yield warning(
            f"{told}: they teach nothing, so most of each step is wasted",
            "raise rollout.samples_per_prompt, or take problems that are right about half of the time",
        )
    else:
        yield ok(f"{told}; only the others teach")


def _truncation(numbers: ProbeNumbers, setting: Setting) -> Finding:
    share = numbers.truncated_frac
    told = f"{percent(share)} of the responses reached the limit of {setting.max_new_tokens} tokens and were cut off"
    if share <= limits.TRUNCATED_FRAC:
        return ok(told)
    if setting.before_sft:
        return note(f"{told} before SFT", "SFT teaches where to stop; demonstrations end with the stop token")
    if share == 1.0:
        return warning(
            f"{told}: the model never stops",
            "see that its stop tokens are the ones it writes, use its chat template, or raise rollout.max_new_tokens",
        )
    return warning(told, f"raise rollout.max_new_tokens (to {2 * setting.max_new_tokens}, say)")


def _no_answer(numbers: ProbeNumbers, setting: Setting) -> Finding:
    assert numbers.no_answer_frac is not None
    told = f"{percent(numbers.no_answer_frac)} of the responses have no answer where the verifier looks for it"
    if numbers.no_answer_frac <= _NO_ANSWER_LIMIT:
        return ok(told)
    if setting.before_sft:
        return note(f"{told} before SFT")
    return warning(told, "ask for it in the prompt (task.options, model.system_prompt), or warm-start (sft.steps)")


def check_latency(judging: JudgingTime, *, on: str, share_of_step: float) -> Finding:
    """Say what judging costs.

    Args:
        on: what was judged, in words.
        share_of_step: part of a step's time that goes into judging.
    """
    latencies = sorted(judging.latencies_s)
    told = f"a verdict on {on} takes " + ", ".join(
        f"{_milliseconds(value)} {name}"
        for name, value in (
            ("at the middle (p50)", quantile(latencies, 0.5)),
            ("p99", quantile(latencies, 0.99)),
            ("at most", latencies[-1]),
        )
    )
    told += f"; about {percent(share_of_step)} of a step"
    if share_of_step > _MOST_JUDGING:
        return warning(told, "raise rollout.judge_workers, or task.verifier_options.containers for programs")
    return ok(told)


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms" if seconds >= 1e-4 else "under 0.1 ms"


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the value that `share` of the sorted values do not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _right(group: Sequence[Rollout]) -> int:
    return sum(rollout.verdict.outcome is Outcome.CORRECT for rollout in group)
