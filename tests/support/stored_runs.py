"""A run folder with real problems, responses and verdicts in it, made without training."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from support.run_folders import evaluation
from support.tiny_runs import tiny_config

from rlvr.config.document import annotated_toml
from rlvr.evaluation.evaluate import verdict_columns
from rlvr.models.tiny import tiny_tokenizer
from rlvr.tracking.metrics import Mean, Metric
from rlvr.tracking.run_folder import RunFolder
from rlvr.tracking.sinks import JsonlSink, Tracker
from tasks.arithmetic import Arithmetic
from tasks.types import Problem
from verifiers.numeric import Numeric

KINDS = ("right", "padded", "wrong", "silent")
"""What the responses to problems 0, 1, 2, 3, 4, ... are, over and over: "#12", "#012", "#13", and no answer."""


def response_text(problem: Problem, kind: str) -> str:
    total = int(problem.reference.value)
    return {"right": f"#{total}", "padded": f"#0{total}", "wrong": f"#{total + 1}", "silent": "1+1=2"}[kind]


def stored_run(path: Path, *overrides: str, steps: int = 2, per_step: int = 8, samples: int = 1) -> RunFolder:
    """Make a run folder: `steps` steps of rollouts, and evaluations after SFT and after the last step.

    Every response is judged by the numeric verifier: half of them are right, a quarter because "#012" is 12. The
    evaluation after the last step has the same responses as that after SFT, but every one of them right.
    """
    config = tiny_config(f"run.steps={steps}", *overrides)
    folder = RunFolder.create(path, annotated_toml(config))
    task = Arithmetic(digits=2)
    tracker = Tracker([JsonlSink(folder.metrics_path)])
    for step in range(1, steps + 1):
        problems = task.problems("train")[(step - 1) * per_step : step * per_step]
        folder.write_rollouts(
            step,
            [
                rollout(problem, response_text(problem, KINDS[index % len(KINDS)]), step)
                for index, problem in enumerate(problems)
                for _ in range(samples)
            ],
        )
        tracker.log(step, [Metric("verify/pass_rate", Mean(0.5, 1)), Metric("reward/mean", Mean(0.5, 1))])
    tracker.close()
    held_out = task.problems("test")[:per_step]
    for phase, step, kinds in (("sft", 0, KINDS), ("ppo", steps, ("right",))):
        folder.append_evaluation({**evaluation(step, phase, 100, 100), "train_pass_rate": 0.5})
        for mode in ("greedy", "sampled"):
            folder.write_responses(phase, step, mode, held_out_rows(held_out, kinds))
    tiny_tokenizer().save_pretrained(str(folder.reference_path))
    return folder


def store_probes(folder: RunFolder, kinds: Mapping[int, Sequence[str]], *, samples: int = 1) -> None:
    """Add probes to a run folder.

    Args:
        kinds: by step, of the responses to the first held-out problems, one of KINDS each.
        samples: equal responses to each problem.
    """
    for step, own in kinds.items():
        problems = Arithmetic(digits=2).problems("test")[: len(own)]
        folder.write_probes(
            step,
            [
                rollout(problem, response_text(problem, kind), step + 1)
                for problem, kind in zip(problems, own, strict=True)
                for _ in range(samples)
            ],
        )


def rollout(problem: Problem, text: str, step: int) -> dict[str, Any]:
    """Return a rollout's record whose token i has log-prob -0.1 * i, and -0.1 * i - 0.05 under the reference."""
    columns = verdict_columns(Numeric().verify(problem, text))
    tokenizer = tiny_tokenizer()
    ids = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
    places = range(len(ids))
    return {
        "problem": problem.id,
        "prompt": problem.prompt,
        "text": text,
        **columns,
        "reward": columns["score"],
        "finish": "stop",
        "kl": 0.05 * len(ids),
        "policy_step": step - 1,
        "prompt_ids": tokenizer.encode(problem.prompt, add_special_tokens=False),
        "token_ids": ids,
        "mask": [True] * len(ids),
        "old_logprobs": [-0.1 * i for i in places],
        "ref_logprobs": [-0.1 * i - 0.05 for i in places],
        "values": [0.5 for _ in places],
        "rewards": [-0.01 + (columns["score"] if i == len(ids) - 1 else 0.0) for i in places],
        "advantages": [0.25 for _ in places],
        "returns": [0.75 for _ in places],
        "entropies": [0.125 for _ in places],
        "exact_kls": [0.06 for _ in places],
        "update_log_ratios": [0.0 for _ in places],
    }


def held_out_rows(problems: Sequence[Problem], kinds: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of an evaluation, one response for each problem."""
    rows = []
    for index, problem in enumerate(problems):
        text = response_text(problem, kinds[index % len(kinds)])
        rows.append(
            {
                "problem": problem.id, "sample": 0, "prompt": problem.prompt, "text": text, "finish": "stop",
                "tokens": len(text), "prompt_tokens": len(problem.prompt),
                **verdict_columns(Numeric().verify(problem, text)),
            }
        )  # fmt: skip
    return rows
