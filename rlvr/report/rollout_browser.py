"""The responses of a report's browser: a few rollouts and probes of a few steps, every token with its numbers.

{"steps": [step] of the rollouts, "probe_steps": [step] of the probes (absent without any), "problems": [{"id",
 "prompt"}], those at several steps first, "responses": [{"step", "problem": its place, "sample": which response to the
 problem in that step, from 0, "probe": true (absent of a rollout), "why": [text], "outcome", "score", "answer",
 "detail", "reward", "finish", "kl", "prompt": as encoded (absent where it is the problem's), "tokens": [text],
 "omitted": tokens left out of the middle (absent without any), "mask": [bool] (absent where the policy wrote all), and
 per token, a list or null: "advantage", "value", "reward_token", "return", "logprob", "ref_logprob", "kl_token",
 "exact_kl", "entropy", "ratio"}]}

A rollout of step n was sampled by the policy after n - 1 steps, and trained on. A probe of step n was sampled by the
policy after n steps and not trained on, so that it has no ratio. Rollouts come first, then probes, by step.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rlvr.report import shown_rollouts as shown
from rlvr.report.budget import Budget
from rlvr.report.choice import choose
from rlvr.report.probe_choice import choose_probes
from rlvr.report.token_texts import TokenTexts
from rlvr.tracking.run_folder import RunFolder

PROBES_SHARE = 0.5
"""Of the bytes of a run that has rollouts, too, for probes; what they leave goes to the rollouts."""


def rollout_browser(
    folder: RunFolder, texts: TokenTexts | None, budget: Budget, *, problems: int, critic: bool
) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the responses to show, None without any, and notes on what was left out.

    Args:
        budget: what is shown is taken from it.
        problems: the most rollouts of one step, and the most probes.
        critic: whether the run has one; without, recorded values are zeros that say nothing.
    """
    rollout_paths = {step: folder.rollouts_path(step) for step in folder.steps_with_rollouts()}
    probe_paths = {step: folder.probes_path(step) for step in folder.steps_with_probes()}
    if not rollout_paths and not probe_paths:
        return None, []
    if texts is None:
        return None, [f"{folder.name}: no tokenizer is saved yet, so rollouts are not shown."]
    if budget.left_bytes <= 0:
        return None, [f"{folder.name}: the page has no room for rollouts; raise --max-mb."]
    own = Budget(budget.left_bytes * (PROBES_SHARE if rollout_paths else 1.0))
    budget.take(own.left_bytes)
    probes = shown.shown_rollouts(probe_paths, choose_probes, texts, own, problems=problems)
    budget.left_bytes += own.left_bytes
    rollouts = shown.shown_rollouts(rollout_paths, choose, texts, budget, problems=problems)
    if not rollouts.count and not probes.count:
        return None, [f"{folder.name}: no rollout fits into the page; raise --max-mb."]
    _finish(probes)
    groups = [found.responses[step] for found in (rollouts, probes) for step in sorted(found.responses)]
    names, responses = _numbered(groups)
    for response in responses if not critic else ():
        response["value"] = None
    kinds = ((rollouts, rollout_paths, "rollouts", ""), (probes, probe_paths, "held-out probes", " --probe"))
    notes = [
        f"{folder.name}: the rollout browser shows {found.count} of {found.drawn:,} {what} of {len(found.responses)} "
        f"of {len(paths)} recorded steps; `rlvr inspect{option}` shows any other."
        for found, paths, what, option in kinds
        if paths
    ]
    shortened = sum("omitted" in response for response in responses)
    if shortened:
        notes.append(
            f"{folder.name}: the middle of {shortened} responses longer than {shown.MAX_TOKENS:,} tokens is left out."
        )
    browser = {"steps": sorted(rollouts.responses), "problems": names, "responses": responses}
    return browser | ({"probe_steps": sorted(probes.responses)} if probes.count else {}), notes


def _finish(probes: shown.ShownRollouts) -> None:
    """Mark them, and put those of a problem together, the most telling problem first."""
    for own in probes.responses.values():
        places = {name: place for place, name in enumerate(dict.fromkeys(response["problem"] for response in own))}
        own.sort(key=lambda response: (places[response["problem"]], response["sample"]))
        for response in own:
            # No update followed, so that the recorded ratio of 1 says nothing.
            response |= {"probe": True, "ratio": None}


def _numbered(groups: Sequence[list[dict[str, Any]]]) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """Return the problems, those at several steps first, and the responses with their problem as its place.

    Args:
        groups: the responses of a step each.
    """
    responses = [response for own in groups for response in own]
    at = Counter(name for own in groups for name in {response["problem"] for response in own})
    prompts = {response["problem"]: response.pop("problem_prompt") for response in responses}
    order = sorted(prompts, key=lambda name: -at[name])
    places = {name: place for place, name in enumerate(order)}
    for response in responses:
        response["problem"] = places[response["problem"]]
    return [{"id": name, "prompt": prompts[name]} for name in order], responses
