"""Run folders with made-up numbers, for everything that reads them."""

from pathlib import Path
from typing import Any

from rlvr.tracking.metrics import Mean, Metric
from rlvr.tracking.run_folder import RunFolder
from rlvr.tracking.sinks import JsonlSink, Tracker


def measured(correct: int, n: int = 200) -> dict[str, Any]:
    """Return one mode of an evaluation record, with a plausible interval."""
    rate = correct / n
    return {
        "pass_rate": rate,
        "low": max(0.0, rate - 0.07),
        "high": min(1.0, rate + 0.07),
        "n": n,
        "correct": correct,
        "truncated_frac": 0.0,
        "no_answer_frac": 0.01,
        "failed": 0,
        "response_tokens": 8.5,
    }


def evaluation(step: int, phase: str, greedy: int, sampled: int, *, split: str = "test") -> dict[str, Any]:
    """Return one line of evaluations.jsonl: right answers of 200, greedy and sampled."""
    return {
        "step": step,
        "phase": phase,
        "split": split,
        "problems": 200,
        "wall_s": 30.0 + 4.0 * step,
        "rollouts": 512 * step,
        "greedy": measured(greedy),
        "sampled": {**measured(sampled), "temperature": 1.0, "samples_per_problem": 1},
    }


def fabricated_run(path: Path, *, steps: int = 40, evaluate_every: int = 10) -> RunFolder:
    """Make a run folder whose pass rate rises from 50 % to 90 %."""
    folder = RunFolder.create(path, '[run]\nname = "fabricated"\n')
    folder.append_evaluation(evaluation(0, "base", 2, 0))
    folder.append_evaluation(evaluation(0, "sft", 100, 80))
    tracker = Tracker([JsonlSink(folder.metrics_path)])
    for step in range(1, steps + 1):
        rate = 0.4 + 0.4 * step / steps
        tracker.log(step, [Metric("verify/pass_rate", Mean(rate * 512, 512)), Metric("reward/mean", Mean(rate, 1))])
        folder.write_rollouts(step, [{"problem": f"arithmetic/train/{step}", "reward": rate}])
        if step % evaluate_every == 0:
            folder.append_evaluation(evaluation(step, "ppo", 100 + 80 * step // steps, 80 + 80 * step // steps))
    tracker.close()
    return folder


def fabricated_summary() -> dict[str, Any]:
    """Return a whole summary.json."""
    return {
        "name": "arithmetic-ppo-1",
        "task": "arithmetic",
        "model": "tiny",
        "algorithm": "ppo",
        "seed": 7,
        "commit": "52ad885",
        "versions": {"torch": "2.13.0", "transformers": "5.24.0"},
        "started": "2026-01-02T03:04:05Z",
        "wall_s": 260.0,
        "rollouts": 51200,
        "tokens": 460800,
        "steps": 100,
        "pass_rate": {
            "base": {"greedy": measured(2), "sampled": measured(0)},
            "sft": {"greedy": measured(100), "sampled": {**measured(80), "temperature": 1.0, "samples_per_problem": 4}},
            "ppo": {
                "greedy": measured(180),
                "sampled": {**measured(160), "temperature": 1.0, "samples_per_problem": 4},
            },
        },
        "stage_times_s": {"sft": 20.0, "rollout": 90.0, "update": 130.0},
        "peak_memory_mb": 900.0,
        "machine": "2 CPU cores",
        "warnings": ["docker was not used"],
        "finished": True,
    }
