"""The held-out pass rate, greedy and sampled, as the commands measure and show it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rlvr.cli import wiring
from rlvr.config.models import Config
from rlvr.evaluation.evaluate import PassRate, evaluate
from rlvr.rollout.prompts import PromptEncoder
from rlvr.rollout.types import RolloutEngine
from rlvr.seeding import derive_seed
from rlvr.tracking.progress import progress
from tasks.types import Problem
from verifiers import Verifier


def measure(
    config: Config,
    engine: RolloutEngine,
    encoder: PromptEncoder,
    problems: Sequence[Problem],
    verifiers: Mapping[str, Verifier],
) -> Iterator[tuple[str, PassRate, list[dict[str, Any]]]]:
    """Yield "greedy" and "sampled", each with its pass rate and a record of every response.

    The seeds are the run's, the same at every step: what changes between two evaluations is the policy alone.
    """
    sampling = wiring.build_sampling(config)
    modes = {
        "greedy": replace(sampling, temperature=0.0, top_p=1.0, top_k=0, samples_per_prompt=1),
        "sampled": replace(sampling, samples_per_prompt=config.evaluation.samples_per_problem),
    }
    for mode, chosen in modes.items():
        with progress(f"evaluate {mode}", len(problems), passing=True) as bar:
            rate, responses = evaluate(
                engine,
                encoder,
                problems,
                verifiers,
                chosen,
                seed=derive_seed(config.run.seed, f"evaluate {mode}"),
                workers=config.rollout.judge_workers,
                retries=config.rollout.judge_retries,
                advance=lambda count, bar=bar: bar.advance({}, count),
            )
        yield mode, rate, responses


def evaluation_line(record: Mapping[str, Any]) -> str:
    """Return an evaluation as one line: where, how often right, with its interval."""
    where = {"base": "base model", "sft": "after SFT", "ppo": f"after {record['step']} PPO steps"}[record["phase"]]
    rates = "   ".join(f"{mode} {rate_text(record[mode])}" for mode in ("greedy", "sampled"))
    return f"held-out pass rate {where}:  {rates}   (n = {record['greedy']['n']})"


def rate_text(rate: Mapping[str, Any]) -> str:
    """Return a pass rate with its 95 % interval: "51.2 % [46.8, 55.6]"."""
    if rate["pass_rate"] is None:
        return "none judged"
    return f"{100 * rate['pass_rate']:.1f} % [{100 * rate['low']:.1f}, {100 * rate['high']:.1f}]"
