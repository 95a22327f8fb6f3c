"""`rlvr eval`: the pass rate of a model on a task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlvr.cli.arguments import ConfigArguments, PluginFiles, split_arguments


def evaluate(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model folder, a .gguf file, a hub name or a run folder.")
    ],
    arguments: ConfigArguments = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.jsonl", help="Write every response with its verdict.")
    ] = None,
    plugin: PluginFiles = None,
) -> None:
    """Measure how often a model is right on a task's held-out problems, greedy and sampled, with 95 % intervals.

    A run folder stands for its latest checkpoint, judged under the run's own configuration.
    """
    from rlvr.cli import wiring
    from rlvr.cli.arguments import run_configuration
    from rlvr.cli.held_out import held_out_verifiers, measure, rate_text
    from rlvr.evaluation.sources import EngineSource
    from rlvr.tracking.jsonl import write_records

    path, overrides = split_arguments(arguments)
    name, config = run_configuration(model, path, overrides)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
    wiring.prepare_process(config)
    wiring.load_plugins(plugin or [])
    task = wiring.build_task(config)
    problems = wiring.problems_of(config, task, config.evaluation.split)
    problems = problems[: config.evaluation.problems or len(problems)]
    verifiers = wiring.build_verifiers(config, [problems])
    loaded = wiring.build_model(config, name)
    encoder, engine = wiring.build_encoder(config, loaded), wiring.build_engine(config, loaded)
    records = []
    typer.echo(f"{name} on {task.name}/{config.evaluation.split}, {len(problems)} problems")
    judges = held_out_verifiers(config, problems, verifiers)
    for mode, rate, responses in measure(config, EngineSource(engine, encoder), problems, judges):
        record = rate.as_record()
        typer.echo(
            f"  {mode:<8} {rate_text(record):<24} n {record['n']}   truncated {record['truncated_frac']:.1%}   "
            f"no answer {record['no_answer_frac']:.1%}   {record['response_tokens']:.0f} tokens"
            + (f"   not judged {record['failed']}" if record["failed"] else "")
        )
        if rate.pass_at_k:
            typer.echo(
                "           " + "   ".join(f"pass@{k} {100 * found.value:.1f} %" for k, found in rate.pass_at_k.items())
            )
        records += [{"mode": mode, **response} for response in responses]
    if out is not None:
        write_records(out, records)
        typer.echo(f"wrote {out}")
