"""`rlvr bench`: a grid of arms, seeds and controls, trained and put into one table and one figure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlvr.cli.arguments import PluginFiles

if TYPE_CHECKING:
    from rlvr.cli.bench_grid import Training
    from rlvr.config.models import Config
    from rlvr.config.suites import Suite
    from rlvr.evaluation.bench_table import Bench


def bench(
    suite_file: Annotated[Path, typer.Argument(metavar="SUITE.toml", help="What to train; see docs/benchmarks.md.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where the runs go; runs/NAME unless given.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="ARM", help="Train this arm alone; repeatable.")
    ] = None,
    parallel: Annotated[
        int, typer.Option("--parallel", min=1, metavar="N", help="Runs at a time; set run.threads to match.")
    ] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be trained, and stop.")] = False,
    plugin: PluginFiles = None,
) -> None:
    """Train every arm of a suite on every seed beside control arms, and write one table and one figure.

    Started again after an interruption it trains what is missing; started again at the end it rewrites the table.
    """
    from rlvr.cli.bench_children import run_trainings
    from rlvr.cli.bench_grid import check_folders, trainings
    from rlvr.cli.wiring import load_plugins
    from rlvr.config.suites import load_suite

    load_plugins(plugin or [])
    suite = load_suite(suite_file, _own_verifier)
    place = out or Path("runs") / suite.name
    found = trainings(suite, place)
    wanted = _selected(found, only or [], suite)
    check_folders(found)
    if dry_run:
        typer.echo(_plan(found, wanted))
        return
    trained = run_trainings(wanted, parallel=parallel, plugin_files=plugin or [], note=typer.echo)
    command = _command(suite_file, out, only or [], parallel, plugin or [])
    if trained.stopped_by is not None:
        typer.echo(f"interrupted; what was trained is kept, go on with: {command}", err=True)
        raise typer.Exit(128 + trained.stopped_by)
    done = _bench(suite, found, trained.failed, command)
    typer.echo(_write(done, place))
    if trained.failed:
        raise typer.Exit(1)


def _own_verifier(config: Config) -> str:
    """Return the verifier that the task's problems name.

    Raises:
        ConfigError: they name several.
    """
    from rlvr.cli.wiring import build_task, problems_of
    from rlvr.errors import ConfigError

    problems = problems_of(config, build_task(config), "train")
    names = sorted({problem.verifier for problem in problems[:1000]})
    if len(names) > 1:
        raise ConfigError(
            f"control shuffled_reward: the problems of task {config.task.name!r} name several verifiers, "
            f"{', '.join(names)}, and it shuffles the verdicts of one; set task.verifier, or leave the control out"
        )
    return names[0]


def _selected(found: Sequence[Training], only: Sequence[str], suite: Suite) -> list[Training]:
    """Return the trainings of the arms that were asked for, with the warm starts that they need.

    Raises:
        ConfigError: there is no such arm.
    """
    from rlvr.errors import ConfigError

    unknown = [name for name in only if name not in suite.arms]
    if unknown:
        raise ConfigError(f"--only: no arm is named {unknown[0]!r}; there are {', '.join(suite.arms)}")
    arms = [training for training in found if training.arm in (only or suite.arms)]
    needed = {training.after for training in arms}
    return [training for training in found if training in arms or training.name in needed]


def _plan(found: Sequence[Training], wanted: Sequence[Training]) -> str:
    from rlvr.cli.bench_grid import is_finished

    lines = []
    for training in found:
        if is_finished(training):
            state = "done"
        elif training not in wanted:
            state = "left out by --only"
        else:
            state = "to be resumed" if training.folder.exists() else "to be trained"
        start = f", from {training.after}" if training.after else ""
        steps = f"{training.config.run.steps} steps" if training.arm else f"{training.config.sft.steps} SFT steps"
        lines.append(f"{training.name}: {state} ({steps}{start})")
    return "\n".join(lines)


def _command(suite_file: Path, out: Path | None, only: Sequence[str], parallel: int, plugins: Sequence[Path]) -> str:
    words = ["rlvr", "bench", str(suite_file)]
    words += ["--out", str(out)] if out else []
    words += [word for name in only for word in ("--only", name)]
    words += ["--parallel", str(parallel)] if parallel > 1 else []
    words += [word for file in plugins for word in ("--plugin", str(file))]
    return shlex.join(words)


def _bench(suite: Suite, found: Sequence[Training], failed: Mapping[str, str], command: str) -> Bench:
    """Read what is finished."""
    from datetime import UTC, datetime

    from rlvr.cli.bench_grid import is_finished
    from rlvr.cli.summary import code_commit, machine, software
    from rlvr.evaluation.bench_measures import Arm, read_seed_run
    from rlvr.evaluation.bench_table import Bench
    from rlvr.tracking.run_folder import RunFolder

    cells = [training for training in found if training.arm is not None]
    finished = {training.name: training for training in found if is_finished(training)}
    summaries = [
        RunFolder.open(training.folder).read_summary() or {}
        for training in finished.values()
        if training.arm is None
    ]  # fmt: skip
    return Bench(
        name=suite.name,
        seeds=suite.seeds,
        main_arm=suite.main_arm,
        threshold=suite.threshold,
        arms=[
            Arm(
                name=arm,
                control=arm in suite.controls,
                runs=[
                    read_seed_run(training.folder, seed=training.seed, shown=training.name)
                    for training in cells
                    if training.arm == arm and training.name in finished
                ],
            )
            for arm in suite.arms
        ],
        warm_starts_s=[summary["wall_s"] for summary in summaries],
        missing={
            training.name: failed.get(training.name, "not trained yet")
            for training in cells
            if training.name not in finished
        },
        stamp={
            "commit": code_commit(),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine(),
            "versions": software(),
            "command": command,
        },
    )


def _write(done: Bench, place: Path) -> str:
    """Write table.md, table.json and the figure; return what is printed."""
    from rlvr.evaluation.bench_figure import plot_bench
    from rlvr.evaluation.bench_table import bench_page, bench_record, bench_summary
    from rlvr.tracking.atomic import atomic_write
    from rlvr.tracking.jsonl import to_json

    files = {"table": place / "table.md", "numbers": place / "table.json", "figure": place / "figure.png"}
    atomic_write(files["table"], bench_page(done))
    atomic_write(files["numbers"], to_json(bench_record(done), indent=2) + "\n")
    plot_bench(done, [files["figure"], place / "figure.svg"])
    return "\n".join(["", bench_summary(done), "", *(f"{what:<9}{path}" for what, path in files.items())])
