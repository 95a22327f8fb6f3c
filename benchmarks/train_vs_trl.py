"""Train one tiny SFT checkpoint with TRL's GRPO and with rlvr's PPO, and compare speed, memory and what was learned.

    python -m benchmarks.train_vs_trl --peer-python VENV/bin/python [--steps 160] [key.path=value ...]
    python -m benchmarks.train_vs_trl --peer-python VENV/bin/python --to-threshold 0.95 [key.path=value ...]

What both are held to: the checkpoint, the rollouts drawn at a time, the rollouts of an optimizer step, the length limit
of responses, the learning rate, the KL weight, the precision, temperature 1, the greedy test problems, and the threads.
Sizes of batches are options; the rest comes from the configuration of `rlvr train`, whose key.path=value this takes
too. Everything else is each side's own default: rlvr runs PPO with its critic on one response to each of 256 problems
(rollout.samples_per_prompt), and TRL runs GRPO on 8 responses to each of 32 (--generations).

What is counted:

- rollouts_per_s of TRL: rollouts over the time of `trainer.train()`; loading the model, building the trainer and the
  evaluations are outside.
- rollouts_per_s of rlvr: rollouts over the life of the run but its evaluations. Besides the PPO steps that is loading
  the model, saving the reference, recording every rollout, and the last checkpoint, none of which is in TRL's figure.
  `steps_only` in the JSON has the steps, the records and the checkpoint alone.
- peak_rss_mb: the most resident memory of the whole process, evaluations included, as the kernel tells at its end.
- pass rates: greedy, on the same rows. A response of TRL's is right when the last number in it is the answer; rlvr's
  verifier also wants the number in its place, and no rival to it.
- ratios are rlvr over TRL, of medians over --repeats runs; the two take turns at going first. Repeat i adds i to the
  seed of both.

--to-threshold asks how many rollouts it takes until the greedy pass rate reaches a level, in multiples of --resolution
optimizer steps. rlvr runs once, is evaluated at each of them, and lays its learning rate schedule out for --most-steps.
TRL's script evaluates only at its end and is therefore run anew, each time with a schedule of that length: first for as
many steps as rlvr needed (or --first-steps), twice as many after a miss, and then between the last miss and the first
hit. This takes it for granted that more steps do not learn less.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.comparison import first_reached, medians, ratios, search_threshold, table
from benchmarks.stamp import stamp
from benchmarks.trainer_runs import REPOSITORY, Batches, Bench, BenchmarkError, Figures, counterpart, peer_rows
from rlvr.config.loading import load_config
from rlvr.errors import RlvrError
from tasks import ProblemSampler, TaskError, load_task

_PEER_PACKAGES = ("trl", "torch", "transformers", "accelerate")


def compare(bench: Bench, *, steps: int, repeats: int) -> dict[str, Any]:
    """Run each trainer `repeats` times for `steps` optimizer steps, and return the comparison."""
    runs: dict[str, list[Figures]] = {"trl": [], "rlvr": []}
    for repeat in range(repeats):
        seed = bench.config.run.seed + repeat
        for trainer in ("trl", "rlvr") if repeat % 2 == 0 else ("rlvr", "trl"):
            run = bench.run_peer(steps, seed) if trainer == "trl" else bench.run_ours(steps, seed)
            runs[trainer].append(run)
            print(f"{trainer:<5} seed {seed}: {run.rollouts} rollouts, {run.rollouts_per_s:.1f}/s", flush=True)
    every_run = [*runs["trl"], *runs["rlvr"]]
    if len({run.rollouts for run in every_run}) > 1:
        raise BenchmarkError(f"the runs drew different numbers of rollouts: {[run.rollouts for run in every_run]}")
    before = sorted({run.pass_rate_before for run in every_run})
    if before[-1] - before[0] > 0.02:
        print(f"warning: the untrained policy is judged differently: pass rates {before}")
    peer, ours = medians(runs["trl"]), medians(runs["rlvr"])
    ratio = ratios(ours, peer)
    print(f"\n{table(peer, ours, ratio)}")
    return {
        "rollouts": every_run[0].rollouts,
        "medians": {"trl": peer, "rlvr": ours},
        "ratios": ratio,
        "runs": [asdict(run) for run in every_run],
    }


def race(
    bench: Bench, threshold: float, *, first_steps: int | None, most_steps: int, resolution: int, budget_s: float
) -> dict[str, Any]:
    """Return the rollouts that each trainer needs until its greedy pass rate reaches `threshold`.

    Args:
        first_steps: of TRL's first try; None takes what rlvr needed.

    Raises:
        BenchmarkError: a run failed, or the checkpoint is that good already.
    """
    seed, per_update = bench.config.run.seed, bench.batches.rollouts_per_update
    start_s = time.perf_counter()
    ours = bench.run_ours(most_steps, seed, evaluation_every=resolution // bench.batches.updates_per_round)
    curve = ours.details["greedy_curve"]
    for rollouts, rate in curve:
        print(f"rlvr  {rollouts} rollouts: {rate:.3f}", flush=True)
    reached = first_reached(curve, threshold)
    if reached == 0:
        raise BenchmarkError(
            f"--to-threshold: the checkpoint's pass rate is {curve[0][1]} before any training; ask for more"
        )
    if first_steps is None:
        first_steps = most_steps if reached is None else reached // per_update
    peers: list[Figures] = []

    def peer_after(steps: int) -> float:
        peers.append(bench.run_peer(steps, seed))
        print(f"trl   {peers[-1].rollouts} rollouts: {peers[-1].pass_rate_after:.3f}", flush=True)
        return peers[-1].pass_rate_after

    search = search_threshold(
        peer_after, threshold, first=first_steps, most=most_steps, resolution=resolution,
        has_time=lambda: time.perf_counter() - start_s < budget_s,
    )  # fmt: skip
    needed = {
        "rlvr": reached,
        "trl": None if search.steps is None else search.steps * per_update,
    }
    late = ", the time was up" if search.ended_early else ""
    print(f"\nrollouts to a greedy pass rate of {threshold}: rlvr {needed['rlvr']}, TRL {needed['trl']}{late}")
    return {
        "threshold": threshold,
        "rollouts_needed": needed,
        "resolution_rollouts": resolution * per_update,
        "most_rollouts": most_steps * per_update,
        "trl_grid": [[steps * per_update, rate] for steps, rate in sorted(search.pass_rates.items())],
        "trl_ended_early": search.ended_early,
        "runs": [asdict(run) for run in [ours, *peers]],
    }


def prepared(asked: argparse.Namespace) -> Bench:
    """Check what was asked for, and write the rows of both splits.

    Raises:
        BenchmarkError, RlvrError, TaskError: it cannot be done as asked.
    """
    for option in ("peer", "peer_python", "model"):
        path = getattr(asked, option)
        if path is not None and not path.exists():
            raise BenchmarkError(f"--{option.replace('_', '-')}: there is no {path}")
    racing = asked.to_threshold is not None
    if racing:
        _require_multiple("--resolution", asked.resolution, asked.steps_per_generation)
        _require_multiple("--most-steps", asked.most_steps, asked.resolution)
        if asked.first_steps is not None:
            _require_multiple("--first-steps", asked.first_steps, asked.resolution)
    else:
        _require_multiple("--steps", asked.steps, asked.steps_per_generation)
    config = load_config(None, asked.overrides)
    batches = Batches(
        rollouts_per_update=asked.batch,
        updates_per_round=asked.steps_per_generation,
        responses_per_prompt=asked.generations,
    )
    for key in counterpart(config, batches).keys() - {"sft.steps"}:
        if any(override.partition("=")[0].strip() == key for override in asked.overrides):
            raise BenchmarkError(f"{key}: the benchmark sets it itself, so that both train alike; leave it out")
    folder = asked.work or REPOSITORY / "runs" / f"train_vs_trl-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    folder = folder.resolve()
    if folder.exists():
        raise BenchmarkError(f"--work: {folder} exists already; name a new folder")
    task = load_task(config.task.name, config.task.options)
    train = task.problems("train")
    test = task.problems(config.evaluation.split)
    most_rollouts = asked.batch * (asked.most_steps if racing else asked.steps)
    drawn = ProblemSampler(train, config.run.seed).next(min(most_rollouts, len(train)))
    folder.mkdir(parents=True)
    for name, problems in (("train", drawn), ("test", test[: config.evaluation.problems or len(test)])):
        lines = [json.dumps(row) + "\n" for row in peer_rows(problems)]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    bench = Bench(
        config=config,
        overrides=asked.overrides,
        batches=batches,
        threads=asked.threads,
        folder=folder,
        checkpoint=asked.model.resolve() if asked.model else folder / "runs" / "sft" / "reference",
        peer_script=asked.peer.resolve(),
        # Not resolved: a virtual environment's python is a link, and knows its packages by the link's place.
        peer_python=os.path.abspath(asked.peer_python),
    )
    print(f"runs and logs: {folder}", flush=True)
    return bench


def _require_multiple(option: str, steps: int, unit: int) -> None:
    if steps < 1 or steps % unit:
        nearest = max(unit, round(steps / unit) * unit)
        raise BenchmarkError(f"{option}: {steps} must be a multiple of {unit}, such as {nearest}")


def record_of(bench: Bench, arguments: Sequence[str]) -> dict[str, Any]:
    """Return where the figures come from: commit, machine, command, versions, and what both were held to.

    Raises:
        BenchmarkError: the peer's environment lacks what it needs.
    """
    report = f"import json, importlib.metadata as m; print(json.dumps({{n: m.version(n) for n in {_PEER_PACKAGES!r}}}))"
    asked = subprocess.run([bench.peer_python, "-c", report], capture_output=True, text=True)
    if asked.returncode:
        raise BenchmarkError(f"--peer-python: {bench.peer_python} lacks TRL: {asked.stderr.strip().splitlines()[-1]}")
    config = bench.config
    return {
        **stamp("benchmarks.train_vs_trl", arguments),
        "peer_versions": json.loads(asked.stdout),
        "threads": bench.threads,
        "held_to": {
            **asdict(bench.batches),
            "max_new_tokens": config.rollout.max_new_tokens,
            "lr": config.optimizer.lr,
            "kl_coef": config.algorithm.kl_coef,
            "dtype": config.model.dtype,
            "test_problems": config.evaluation.problems,
            "task": config.task.name,
            "task_options": config.task.options,
        },
    }


def parser() -> argparse.ArgumentParser:
    lines = (__doc__ or "").splitlines()
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.train_vs_trl", description=lines[0], epilog="\n".join(lines[5:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = options.add_argument
    add("overrides", nargs="*", metavar="key.path=value", help="settings of `rlvr train` for the checkpoint and rlvr")
    add("--peer-python", type=Path, required=True, help="the Python of an environment with TRL")
    add("--peer", type=Path, default=REPOSITORY.parent / "shared" / "peers" / "trl_grpo.py", help="TRL's script")
    add("--model", type=Path, help="a checkpoint to start from; without it one is made by SFT")
    add("--steps", type=int, default=160, help="optimizer steps of each run")
    add("--repeats", type=int, default=2, help="runs of each trainer")
    add("--batch", type=int, default=64, help="rollouts of an optimizer step")
    add("--steps-per-generation", type=int, default=4, help="optimizer steps on the rollouts that are drawn at a time")
    add("--generations", type=int, default=8, help="responses to each of TRL's prompts")
    add("--threads", type=int, default=os.cpu_count() or 1, help="of either trainer")
    add("--to-threshold", type=float, metavar="RATE", help="instead, find the rollouts to this greedy pass rate")
    add("--first-steps", type=int, help="optimizer steps of TRL's first try; without it, those that rlvr needed")
    add("--most-steps", type=int, default=640, help="optimizer steps after which either gives up")
    add("--resolution", type=int, default=40, help="optimizer steps between evaluations")
    add("--budget-s", type=float, default=600.0, help="no further try of TRL's is begun after this time")
    add("--work", type=Path, help="a new folder for rows, runs and logs; without it, one below runs/")
    add("--out", type=Path, help="write the figures there as JSON, such as benchmarks/results/train_vs_trl.json")
    return options


def main() -> None:
    asked = parser().parse_intermixed_args()
    try:
        bench = prepared(asked)
        record = record_of(bench, sys.argv[1:])
        if asked.model is None:
            bench.warm_start()
        if asked.to_threshold is None:
            found = compare(bench, steps=asked.steps, repeats=asked.repeats)
        else:
            found = race(
                bench, asked.to_threshold, first_steps=asked.first_steps, most_steps=asked.most_steps,
                resolution=asked.resolution, budget_s=asked.budget_s,
            )  # fmt: skip
    except (BenchmarkError, RlvrError, TaskError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    if asked.out:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(json.dumps(record | found, indent=2) + "\n", encoding="utf-8")
        print(f"written: {asked.out}")


if __name__ == "__main__":
    main()
