"""Training runs of TRL and of rlvr on one checkpoint, each in a process of its own, and the figures they come to."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr.config.models import Config
from tasks import MathAnswer, Problem

REPOSITORY = Path(__file__).resolve().parents[1]


class BenchmarkError(Exception):
    """The benchmark cannot be run as asked, or one of its runs failed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """What one training run came to."""

    trainer: str
    seed: int
    rollouts: int
    wall_s: float
    rollouts_per_s: float
    peak_rss_mb: float
    pass_rate_before: float
    pass_rate_after: float
    details: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Batches:
    """How both trainers draw rollouts and learn from them."""

    rollouts_per_update: int
    """Rollouts of one optimizer step."""
    updates_per_round: int
    """Optimizer steps on the rollouts that are drawn at a time."""
    responses_per_prompt: int
    """Of the peer, whose advantages compare them; rlvr has rollout.samples_per_prompt."""

    @property
    def rollouts_per_round(self) -> int:
        """Rollouts that are drawn at a time: a PPO step."""
        return self.rollouts_per_update * self.updates_per_round


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """What all runs of one benchmark share."""

    config: Config
    overrides: Sequence[str]
    """The settings that made `config`, as `rlvr train` takes them."""
    batches: Batches
    threads: int
    folder: Path
    """Holds train.jsonl and test.jsonl; runs and logs are added."""
    checkpoint: Path
    """Where training starts, a Hugging Face folder; `warm_start` makes one."""
    peer_script: Path
    peer_python: str

    def warm_start(self) -> None:
        """Make the checkpoint by a run of rlvr that ends after SFT."""
        own = {
            "run.name": self.checkpoint.parent.name, "run.dir": self.checkpoint.parent.parent, "run.steps": 0,
            "run.threads": self.threads, "run.device": "cpu",
        }  # fmt: skip
        self._run(_train_command(self.overrides, own), self.folder / "sft.log", REPOSITORY)

    def run_peer(self, steps: int, seed: int) -> Figures:
        """Train with TRL for `steps` optimizer steps."""
        config, batches = self.config, self.batches
        folder = self.folder / f"trl_{steps}_{seed}"
        folder.mkdir()
        command = [
            self.peer_python, self.peer_script, "--contains",
            "--model", self.checkpoint, "--train", self.folder / "train.jsonl", "--test", self.folder / "test.jsonl",
            "--steps", steps, "--batch", batches.rollouts_per_update,
            "--steps-per-generation", batches.updates_per_round, "--generations", batches.responses_per_prompt,
            "--max-new", config.rollout.max_new_tokens, "--lr", config.optimizer.lr,
            "--beta", config.algorithm.kl_coef, "--dtype", config.model.dtype,
            "--threads", self.threads, "--seed", seed,
        ]  # fmt: skip
        output, peak_rss_mb = self._run(command, folder.with_suffix(".log"), folder)
        return peer_figures(output, seed=seed, peak_rss_mb=peak_rss_mb)

    def run_ours(self, steps: int, seed: int, *, evaluation_every: int = 0) -> Figures:
        """Train with rlvr for as many PPO steps as hold `steps` optimizer steps."""
        ppo_steps = steps // self.batches.updates_per_round
        run = self.folder / "runs" / f"rlvr_{steps}_{seed}"
        own = counterpart(self.config, self.batches) | {
            "model.name": self.checkpoint, "run.name": run.name, "run.dir": run.parent, "run.steps": ppo_steps,
            "run.seed": seed, "run.threads": self.threads, "run.device": "cpu", "evaluation.every": evaluation_every,
        }  # fmt: skip
        log = self.folder / f"{run.name}.log"
        _, peak_rss_mb = self._run(_train_command(self.overrides, own), log, REPOSITORY)
        return our_figures(
            json.loads((run / "summary.json").read_text(encoding="utf-8")),
            _json_lines(run / "metrics.jsonl"),
            _json_lines(run / "evaluations.jsonl"),
            peak_rss_mb=peak_rss_mb,
        )

    def _run(self, command: Sequence[Any], log: Path, folder: Path) -> tuple[str, float]:
        """Run `command` in `folder`; return what it printed and the most memory it held, in MiB.

        Raises:
            BenchmarkError: it failed; the message ends with its last lines.
        """
        environment = {
            # The peer's environment has packages of its own; ours must not come before them.
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "OMP_NUM_THREADS": str(self.threads), "MKL_NUM_THREADS": str(self.threads),
            "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1",
        }  # fmt: skip
        words = [str(word) for word in command]
        with log.open("wb") as file:
            process = subprocess.Popen(words, cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT)
            try:
                # Not process.wait(), which forgets the memory that this very process used.
                _, status, usage = os.wait4(process.pid, 0)
            except BaseException:
                process.terminate()
                process.wait()
                raise
        process.returncode = os.waitstatus_to_exitcode(status)
        output = log.read_text(encoding="utf-8", errors="replace")
        if process.returncode:
            last_lines = "\n".join(output.splitlines()[-15:])
            raise BenchmarkError(f"a run ended with code {process.returncode}; {log} ends with:\n{last_lines}")
        return output, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def counterpart(config: Config, batches: Batches) -> dict[str, Any]:
    """Return the settings that make a run of rlvr from a checkpoint the counterpart of the peer's.

    Raises:
        BenchmarkError: rollout.samples_per_prompt does not divide a round.
    """
    samples, rollouts = config.rollout.samples_per_prompt, batches.rollouts_per_round
    if rollouts % samples:
        raise BenchmarkError(f"rollout.samples_per_prompt: {samples} does not divide the {rollouts} rollouts of a step")
    return {
        "model.chat_template": "off",
        "sft.steps": 0,
        "rollout.prompts_per_step": rollouts // samples,
        # Also in evaluations, which would otherwise set the peak of memory.
        "rollout.batch_size": rollouts,
        "rollout.temperature": 1.0,
        "algorithm.minibatches": batches.updates_per_round,
        "algorithm.epochs": 1,
        "evaluation.curve_problems": config.evaluation.problems or 10**9,
        "checkpoint.every": 0,
    }


def _train_command(overrides: Sequence[str], own: Mapping[str, Any]) -> list[str]:
    return [sys.executable, "-m", "rlvr", "train", *overrides, *(f"{key}={value}" for key, value in own.items())]


def _json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def peer_figures(output: str, *, seed: int, peak_rss_mb: float) -> Figures:
    """Read the figures out of what the peer's script printed."""
    lines = [line for line in output.splitlines() if line.startswith('{"peer"')]
    if not lines:
        raise BenchmarkError("the peer's script printed no line of figures")
    found = json.loads(lines[-1])
    return Figures(
        trainer="trl",
        seed=seed,
        rollouts=found["rollouts"],
        wall_s=found["wall_s"],
        rollouts_per_s=found["rollouts"] / found["wall_s"],
        peak_rss_mb=peak_rss_mb,
        pass_rate_before=found["pass_rate_before"],
        pass_rate_after=found["pass_rate_after"],
        details={},
    )


def our_figures(
    summary: Mapping[str, Any],
    metrics: Sequence[Mapping[str, Any]],
    evaluations: Sequence[Mapping[str, Any]],
    *,
    peak_rss_mb: float,
) -> Figures:
    """Read the figures out of the summary, the metrics and the evaluations of a finished run."""
    stages, rates = summary["stage_times_s"], summary["pass_rate"]
    wall_s = summary["wall_s"] - stages["evaluate"]
    steps_s = sum(record["time/step_s"] for record in metrics) + stages.get("record", 0.0) + stages["checkpoint"]
    return Figures(
        trainer="rlvr",
        seed=summary["seed"],
        rollouts=summary["rollouts"],
        wall_s=wall_s,
        rollouts_per_s=summary["rollouts"] / wall_s,
        peak_rss_mb=peak_rss_mb,
        pass_rate_before=rates["base"]["greedy"]["pass_rate"],
        pass_rate_after=rates["ppo"]["greedy"]["pass_rate"],
        details={
            "steps_only": {"wall_s": steps_s, "rollouts_per_s": summary["rollouts"] / steps_s},
            "stage_times_s": stages,
            "response_tokens": [record["rollout/response_tokens"] for record in (metrics[0], metrics[-1])],
            "sampled_pass_rates": [rates[phase]["sampled"]["pass_rate"] for phase in ("base", "ppo")],
            "greedy_curve": [(record["rollouts"], record["greedy"]["pass_rate"]) for record in evaluations],
            "warnings": summary["warnings"],
        },
    )


def peer_rows(problems: Sequence[Problem]) -> list[dict[str, str]]:
    """Return problems as the rows that the peer's script reads.

    Raises:
        BenchmarkError: an answer is not one number, by which the peer judges.
    """
    rows: list[dict[str, str]] = []
    for problem in problems:
        answer = problem.reference.value if isinstance(problem.reference, MathAnswer) else None
        if answer is None or not re.fullmatch(r"-?\d+(\.\d+)?", answer):
            raise BenchmarkError(f"problem {problem.id}: the peer needs an answer that is one number, not {answer!r}")
        rows.append({"prompt": problem.prompt, "answer": answer})
    return rows
