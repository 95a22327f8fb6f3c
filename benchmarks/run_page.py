"""Write a Markdown page with the evidence of one run folder: pass rates, curve, configuration, cost, responses.

    python -m benchmarks.run_page runs/smollm2-svamp --page docs/results/smollm2_svamp.md \
        --config examples/smollm2_svamp.toml
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

from rlvr.cli.held_out import rate_text
from rlvr.evaluation.curves import plot_curves
from rlvr.evaluation.paired import mcnemar
from rlvr.tracking.run_folder import RunFolder

SHOWN = 5
MODES = ("greedy", "sampled")
LABELS = {"base": "base model", "sft": "after SFT", "ppo": "after PPO"}


def pass_rates(summary: dict[str, Any]) -> list[str]:
    """Return the table of pass@1 by phase."""
    rows = ["| | pass@1, greedy | pass@1, sampled | n | cut by the length limit, greedy |", "|---|---|---|---|---|"]
    for phase, rates in summary["pass_rate"].items():
        cut = f"{100 * rates['greedy']['truncated_frac']:.0f} %"
        rows.append(
            f"| {LABELS[phase]} | {rate_text(rates['greedy'])} | {rate_text(rates['sampled'])} | "
            f"{rates['greedy']['n']} | {cut} |"
        )
    return rows


def flips(folder: RunFolder, summary: dict[str, Any]) -> str:
    """Return how the same problems fared before and after PPO, with the exact McNemar p of each mode."""
    found = []
    for mode in MODES if samples_of(summary) == 1 else MODES[:1]:  # several responses are no single outcome
        before, after = (
            {row["problem"]: row["outcome"] == "correct" for row in records_of(folder, summary, phase, mode)}
            for phase in ("sft", "ppo")
        )
        gained = sum(after[name] and not before[name] for name in before)
        lost = sum(before[name] and not after[name] for name in before)
        found.append(f"{mode} {gained} gained, {lost} lost (p = {mcnemar(gained, lost):.2g})")
    return f"The same problems, after SFT and after PPO: {'; '.join(found)}; exact McNemar test."


def samples_of(summary: dict[str, Any]) -> int:
    """Return how many sampled responses each problem had."""
    return next(iter(summary["pass_rate"].values()))["sampled"]["samples_per_problem"]


def sampling(summary: dict[str, Any]) -> str:
    """Return what a sampled pass rate and the intervals are."""
    samples = samples_of(summary)
    if samples == 1:
        return "Intervals are 95 % (Wilson). Sampled is one response per problem at temperature 1."
    return (
        f"Intervals are 95 %: Wilson for greedy, clustered by problem for sampled, which is {samples} responses "
        "per problem at temperature 1."
    )


def records_of(folder: RunFolder, summary: dict[str, Any], phase: str, mode: str) -> list[dict[str, Any]]:
    """Return the held-out responses of a phase."""
    step = summary["pass_rate"][phase]["step"]
    return folder.read_responses(phase, step, mode)


def cost(summary: dict[str, Any], metrics: list[dict[str, Any]]) -> list[str]:
    """Return time, speed and memory."""
    stages = summary["stage_times_s"]
    rollout_s = sum(row["time/rollout_s"] for row in metrics)
    step_s = sorted(row["time/step_s"] for row in metrics)
    return [
        "| | |",
        "|---|---|",
        f"| machine | {summary['machine']['cpus']} CPUs, {summary['machine']['platform']} |",
        f"| whole run | {summary['wall_s'] / 60:.0f} minutes |",
        f"| PPO | {summary['steps']} steps of {summary['rollouts'] // summary['steps']} rollouts, median "
        f"{step_s[len(step_s) // 2]:.1f} s a step |",
        f"| sampling | {summary['tokens'] / rollout_s:.0f} tokens/s ({summary['tokens']:,} tokens) |",
        f"| peak memory | {summary['peak_memory_mb']:,.0f} MB |",
        "| stages | " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in stages.items()) + " |",
        f"| commit | `{summary['commit']}` |",
    ]


def responses(folder: RunFolder, summary: dict[str, Any]) -> list[str]:
    """Return the sampled responses to the same few problems before and after PPO, evenly spread over the test set."""
    named = {phase: records_of(folder, summary, phase, "sampled") for phase in summary["pass_rate"]}
    count = len(next(iter(named.values())))
    lines: list[str] = []
    for index in (number * count // SHOWN for number in range(SHOWN)):
        rows = {phase: records[index] for phase, records in named.items()}
        lines += [f"**{next(iter(rows.values()))['problem']}**", "", *quoted(next(iter(rows.values()))["prompt"]), ""]
        for phase, row in rows.items():
            lines += [
                f"{LABELS[phase]}: {row['outcome']}, {row['detail'] or 'no detail'}",
                "",
                *fenced(row["text"]),
                "",
            ]
    return lines


def quoted(text: str) -> list[str]:
    """Return text as a Markdown quotation."""
    return [f"> {line}" for line in text.splitlines()]


def fenced(text: str) -> list[str]:
    """Return text as a code block that nothing in it can end."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return [f"{fence}text", *text.splitlines(), fence]


def page(folder: RunFolder, config: Path, image: str, extra: str) -> str:
    """Return the whole page."""
    summary = json.loads(folder.summary_path.read_text(encoding="utf-8"))
    return "\n".join(
        [
            f"# {summary['name']}",
            "",
            f"`{Path(summary['model']).name}` on `{summary['task']}`, preset `{summary['algorithm']}`, seed "
            f"{summary['seed']}, configuration [{config.name}](../../{config.as_posix()}). {sampling(summary)}",
            "",
            *pass_rates(summary),
            "",
            flips(folder, summary),
            "",
            *([extra, ""] if extra else []),
            f"![Held-out pass rate]({image})",
            "",
            "## Cost",
            "",
            *cost(summary, folder.read_metrics()),
            "",
            "## Responses before and after",
            "",
            f"Sampled, {SHOWN} problems evenly spread over the test set, not chosen.",
            "",
            *responses(folder, summary),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--page", type=Path, required=True)
    parser.add_argument(
        "--config", type=Path, required=True, help="the configuration file, as a path in the repository"
    )
    parser.add_argument("--notes", type=Path, help="a Markdown file whose text goes below the table")
    arguments = parser.parse_args()
    folder = RunFolder.open(arguments.run)
    images = arguments.page.parent.parent / "images"
    image = images / f"{arguments.page.stem}.png"
    arguments.page.parent.mkdir(parents=True, exist_ok=True)
    plot_curves([folder.path], image)
    extra = arguments.notes.read_text(encoding="utf-8").strip() if arguments.notes else ""
    text = page(folder, arguments.config, f"../images/{image.name}", extra)
    arguments.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
