"""`rlvr train`: a whole run, or the rest of one."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlvr.cli.arguments import ConfigArguments, PluginFiles, split_arguments

if TYPE_CHECKING:
    from rlvr.config.models import Config
    from rlvr.tracking.run_folder import RunFolder


def train(
    arguments: ConfigArguments = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="RUN", help="Go on with an interrupted run folder.")
    ] = None,
    plugin: PluginFiles = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Make no run; look for what would go wrong, as `rlvr doctor` does.")
    ] = False,
) -> None:
    """Warm-start, train with reinforcement learning, evaluate on held-out problems, and write the run folder.

    Without arguments: the tiny model on the arithmetic task, no download, a few minutes on a laptop.
    """
    from rlvr.config.document import annotated_toml
    from rlvr.config.loading import load_config
    from rlvr.errors import ConfigError
    from rlvr.tracking.run_folder import RunFolder, next_free_name

    path, overrides = split_arguments(arguments)
    if resume is not None and (path is not None or overrides):
        raise ConfigError(f"--resume takes no configuration: the run's own is {resume / 'config.toml'}")
    resumed = None if resume is None else RunFolder.open(resume)
    config = load_config(resumed.config_path if resumed else path, overrides)

    from rlvr.cli.wiring import load_plugins

    load_plugins(plugin or [])
    if dry_run:
        raise typer.Exit(_dry_run(config, resumed))

    from rlvr.cli.training_run import TrainingRun

    if resumed is not None:
        folder = resumed
    else:
        name = config.run.name or next_free_name(Path(config.run.dir), f"{config.task.name}-{config.algorithm.preset}")
        folder = RunFolder.create(Path(config.run.dir) / name, annotated_toml(config))
    plugin_options = [part for file in plugin or [] for part in ("--plugin", str(file))]
    resume_command = shlex.join(["rlvr", "train", "--resume", str(folder.path), *plugin_options])
    try:
        run = TrainingRun(config, folder, plugin_files=plugin or [])
    except BaseException:
        if resumed is None:
            folder.discard()  # nothing has happened in it yet
        raise
    typer.echo(f"run folder: {folder.path}")
    try:
        exit_code = run.run()
    except KeyboardInterrupt:
        typer.echo(f"interrupted; go on with: {resume_command}", err=True)
        raise typer.Exit(130) from None
    except Exception:
        if resumed is None and folder.is_blank:
            folder.discard()  # so that the corrected run can have its name
        raise
    if exit_code:
        typer.echo(f"interrupted and saved; go on with: {resume_command}", err=True)
        raise typer.Exit(exit_code)
    _print_end(folder)


def _dry_run(config: Config, resumed: RunFolder | None) -> int:
    """Print what the run would be and what stands in its way; return the exit code."""
    from rlvr.cli.doctor_command import changes_text, examine
    from rlvr.tracking.run_folder import complete_checkpoints

    policies: list[Path] = []
    if resumed is not None:
        policies = [path for path in [resumed.reference_path] if path.exists()]
        policies += [checkpoint / "policy" for checkpoint in complete_checkpoints(resumed.checkpoints_dir)]
    typer.echo(f"{changes_text(config)}\n")
    return examine(config, model=str(policies[-1]) if policies else None, new_run=resumed is None)


def _print_end(folder: RunFolder) -> None:
    """Print what came of a finished run, and where to look."""
    from rlvr.cli.held_out import rate_text

    summary = json.loads(folder.summary_path.read_text(encoding="utf-8"))
    labels = {"base": "base model", "sft": "after SFT", "ppo": f"after PPO ({summary['steps']} steps)"}
    rows = [
        f"  {labels[phase]:<24}{rate_text(rates['greedy']):<24}{rate_text(rates['sampled'])}"
        for phase, rates in summary["pass_rate"].items()
    ]
    first = next(iter(summary["pass_rate"].values()))
    trained = folder.checkpoints_dir / f"step_{summary['steps']:06d}" / "policy"
    model = trained if summary["steps"] else folder.reference_path
    minutes, seconds = divmod(round(summary["wall_s"]), 60)
    lines = [
        "",
        f"held-out pass rate, n = {first['greedy']['n']}, with 95 % intervals",
        f"  {'':<24}{'greedy':<24}sampled",
        *rows,
        "",
        f"{summary['rollouts']:,} rollouts in {minutes}m{seconds:02d}s, {summary['peak_memory_mb']:.0f} MB at most",
        f"curve      {folder.curve_path}",
        f"card       {folder.card_path}",
        f"model      {model}",
    ]
    typer.echo("\n".join(lines))
