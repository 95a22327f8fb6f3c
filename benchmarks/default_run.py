"""Train the default run on several seeds, and write what came of them as JSON and as a page with a table.

    python -m benchmarks.default_run --seeds 0 1 2 --out benchmarks/results/default_run.json \
        --page docs/results/arithmetic.md

Each seed is one `rlvr train run.seed=S` in a process of its own, one after the other, on an otherwise idle machine.
`wall_s` is that of the whole command: imports, SFT, PPO, evaluations and the run folder.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.stamp import stamp
from rlvr.cli.held_out import rate_text

PHASES = {"sft": "after SFT", "ppo": "after PPO"}


def train(seed: int, runs: Path, overrides: list[str]) -> dict[str, Any]:
    """Run `rlvr train` with `seed` and return its summary with the command's own wall time."""
    name = f"seed-{seed}"
    shutil.rmtree(runs / name, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "rlvr",
        "train",
        f"run.seed={seed}",
        f"run.dir={runs}",
        f"run.name={name}",
        *overrides,
    ]
    start = time.perf_counter()
    subprocess.run(command, check=True)
    wall_s = time.perf_counter() - start
    summary = json.loads((runs / name / "summary.json").read_text(encoding="utf-8"))
    return {"seed": seed, "command_wall_s": wall_s, "summary": summary}


def page(results: dict[str, Any]) -> str:
    """Return the results as a Markdown page."""
    rows = []
    for run in results["runs"]:
        rates = run["summary"]["pass_rate"]
        cells = [rate_text(rates[phase][mode]) for mode in ("greedy", "sampled") for phase in PHASES]
        rows.append(
            f"| {run['seed']} | {' | '.join(cells)} | {run['command_wall_s']:.0f} s "
            f"| {run['summary']['peak_memory_mb']:.0f} MB |"
        )
    machine = results["stamp"]["machine"]
    first = results["runs"][0]["summary"]
    rates = first["pass_rate"]["ppo"]["greedy"]
    return "\n".join(
        [
            "# The default run",
            "",
            f"`rlvr train`, nothing else: a {first['model']} model on the task `{first['task']}`, "
            f"{first['steps']} PPO steps, {first['rollouts']:,} rollouts. "
            f"Held-out pass rate on {rates['n']} problems with 95 % Wilson intervals; "
            "sampled is at temperature 1, one response per problem.",
            "",
            "| seed | greedy: SFT | PPO | sampled: SFT | PPO | wall time | memory |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
            f"Machine: {machine['cpus']} CPUs, {machine['platform']}, Python {machine['python']}. "
            f"Commit `{results['stamp']['commit']}`.",
            f"Made by `{results['stamp']['command']}`; the numbers are in `benchmarks/results/default_run.json`.",
            "",
            "![Held-out pass rate of seed 0](../images/default_run.png)",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--runs", type=Path, default=Path("runs/default_run"), help="where the run folders go")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--page", type=Path, help="a Markdown page; the curve of the first seed goes to ../images")
    parser.add_argument("overrides", nargs="*", help="key.path=value, as for rlvr train")
    arguments = parser.parse_args()
    results = {
        "runs": [train(seed, arguments.runs, arguments.overrides) for seed in arguments.seeds],
        "stamp": stamp("benchmarks.default_run"),
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    if arguments.page:
        arguments.page.parent.mkdir(parents=True, exist_ok=True)
        arguments.page.write_text(page(results), encoding="utf-8")
        images = arguments.page.parent.parent / "images"
        images.mkdir(parents=True, exist_ok=True)
        shutil.copy(arguments.runs / f"seed-{arguments.seeds[0]}" / "curve.png", images / "default_run.png")


if __name__ == "__main__":
    main()
