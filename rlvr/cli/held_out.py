"""The held-out pass rate, greedy and sampled, as the commands measure and show it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rlvr.cli import wiring
from rlvr.config.models import Config
from rlvr.evaluation.evaluate import evaluate
from rlvr.evaluation.pass_rate import PassRate, pass_rate
from rlvr.evaluation.sources import ResponseSource
from rlvr.rollout.types import Sampling
from rlvr.seeding import derive_seed
from rlvr.tracking import rates
from rlvr.tracking.progress import progress
from tasks.types import Problem
from verifiers import Verifier

MODES = ("greedy", "sampled")


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldOutVerifiers:
    """Who judges held-out responses."""

    verifiers: Mapping[str, Verifier]
    """By the name that problems carry."""
    audits: Mapping[str, Mapping[str, Verifier]]
    """By the audit's name, then as above."""


def held_out_verifiers(
    config: Config, problems: Sequence[Problem], verifiers: Mapping[str, Verifier]
) -> HeldOutVerifiers:
    """Return the judges that the configuration names.

    Args:
        verifiers: those of the reward.
    """
    return HeldOutVerifiers(
        verifiers=wiring.build_held_out_verifiers(config, problems, verifiers),
        audits=wiring.build_audits(config, problems),
    )


def modes(config: Config) -> dict[str, Sampling]:
    """Return how "greedy" and "sampled" responses are drawn."""
    sampling = wiring.build_sampling(config)
    return {
        "greedy": replace(sampling, temperature=0.0, top_p=1.0, top_k=0, samples_per_prompt=1),
        "sampled": replace(sampling, samples_per_prompt=config.evaluation.samples_per_problem),
    }


def mode_seed(config: Config, mode: str) -> int:
    """Return the seed of an evaluation: the run's, the same at every step, so that the policy alone changes."""
    return derive_seed(config.run.seed, f"evaluate {mode}")


def measure(
    config: Config,
    source: ResponseSource,
    problems: Sequence[Problem],
    judges: HeldOutVerifiers,
    *,
    wanted: Sequence[str] = MODES,
    done: Callable[[str], Sequence[Mapping[str, Any]]] = lambda _: (),
    save: Callable[[str, Sequence[Mapping[str, Any]]], None] = lambda *_: None,
) -> Iterator[tuple[str, PassRate, list[dict[str, Any]]]]:
    """Yield "greedy" and "sampled", each with its pass rate and a row for every response.

    Args:
        done: gives the rows of a mode that are there already, whole batches of them.
        save: is given a mode and the rows of each new batch once they are judged.
    """
    for mode, sampling in modes(config).items():
        if mode not in wanted:
            continue
        kept = done(mode)
        with progress(
            f"evaluate {mode}", len(problems), initial=len(kept) // sampling.samples_per_prompt, passing=True
        ) as bar:
            rows = evaluate(
                source,
                problems,
                judges.verifiers,
                sampling,
                audits=judges.audits,
                seed=mode_seed(config, mode),
                workers=config.rollout.judge_workers,
                retries=config.rollout.judge_retries,
                done=kept,
                save=lambda new, mode=mode: save(mode, new),
                advance=_after(len(kept) // sampling.samples_per_prompt, lambda count, bar=bar: bar.advance({}, count)),
            )
        yield mode, pass_rate(rows, temperature=sampling.temperature), rows


def _after(skipped: int, advance: Callable[[int], None]) -> Callable[[int], None]:
    """Return `advance` without the first `skipped` problems, which a resumed bar counts from the start."""
    left = skipped

    def advance_new(count: int) -> None:
        nonlocal left
        known = min(left, count)
        left -= known
        if count > known:
            advance(count - known)

    return advance_new


def evaluation_line(record: Mapping[str, Any]) -> str:
    """Return an evaluation as one line: where, how often right, with its interval."""
    where = {"base": "base model", "sft": "after SFT", "ppo": f"after {record['step']} PPO steps"}[record["phase"]]
    figures = "   ".join(f"{mode} {rate_text(record[mode])}" for mode in ("greedy", "sampled"))
    audits = "".join(
        f"   audited by {name} {rate_text(found)}" for name, found in (record["sampled"].get("audit") or {}).items()
    )
    return f"held-out pass rate {where}:  {figures}{audits}   (n = {record['greedy']['n']})"


def rate_text(rate: Mapping[str, Any]) -> str:
    """Return a pass rate with its 95 % interval, also where there is none."""
    return rates.rate_text(rate) or "none judged"
