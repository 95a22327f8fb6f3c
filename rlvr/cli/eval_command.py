"""`rlvr eval`: how often a model is right on a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlvr.cli.arguments import ConfigArguments, PluginFiles, split_arguments

if TYPE_CHECKING:
    from rlvr.cli.eval_subjects import Subject

Price = Annotated[float | None, typer.Option(metavar="PRICE", min=0.0, help="Of a million tokens.", show_default=False)]

_CONCURRENCY = 8
_RETRIES = 6
_TIMEOUT_S = 600.0


def evaluate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A model folder, a .gguf file, a hub name, a run folder, RUN@<step>, RUN@sft, RUN@base, or the URL of "
            "an OpenAI-compatible endpoint (http://localhost:8000/v1).",
        ),
    ],
    arguments: ConfigArguments = None,
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples", metavar="N", min=1, help="Sampled responses per problem (evaluation.samples_per_problem)."
        ),
    ] = None,
    greedy: Annotated[bool, typer.Option("--greedy/--no-greedy", help="Measure one greedy response.")] = True,
    sampled: Annotated[bool, typer.Option("--sampled/--no-sampled", help="Measure sampled responses.")] = True,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.jsonl", help="Write every response with its verdict.")
    ] = None,
    directory: Annotated[Path, typer.Option("--dir", metavar="DIR", help="Where evaluation folders are made.")] = Path(
        "evals"
    ),
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure again what is measured already.")] = False,
    plugin: PluginFiles = None,
    endpoint_model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which model of the endpoint; the only one unless given.")
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Environment variable with the endpoint's key; OPENAI_API_KEY unless given."),
    ] = None,
    completions: Annotated[
        bool, typer.Option("--completions", help="Ask /completions with the bare prompt: for base models.")
    ] = False,
    seeds: Annotated[
        bool, typer.Option("--seeds/--no-seeds", help="Send an endpoint a seed with each request; some break on it.")
    ] = True,
    concurrency: Annotated[int, typer.Option(metavar="N", min=1, help="Requests in flight.")] = _CONCURRENCY,
    retries: Annotated[int, typer.Option(metavar="N", min=0, help="Further tries of a request.")] = _RETRIES,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="Of one request.")] = _TIMEOUT_S,
    requests_per_minute: Annotated[
        float | None, typer.Option(metavar="N", min=0.1, help="Limit, retries included.", show_default="no limit")
    ] = None,
    price_in: Price = None,
    price_out: Price = None,
) -> None:
    """Measure how often a model is right on a task's held-out problems, greedy and sampled, with 95 % intervals.

    A run folder stands for its latest checkpoint, judged under the run's own configuration. What was measured before is
    answered from its folder at once; what was cut short goes on.
    """
    from rlvr.cli import wiring
    from rlvr.cli.eval_measuring import Evaluation
    from rlvr.cli.eval_subjects import EndpointModel, LocalModel, endpoint_key, named_model
    from rlvr.cli.eval_summary import summary_lines, time_line
    from rlvr.errors import ConfigError
    from rlvr.evaluation.endpoint import Endpoint
    from rlvr.tracking.jsonl import write_records

    wanted = tuple(mode for mode, asked in (("greedy", greedy), ("sampled", sampled)) if asked)
    if not wanted:
        raise ConfigError("--no-greedy and --no-sampled leave nothing to measure; drop one of them")
    path, overrides = split_arguments(arguments)
    if samples is not None:
        overrides.append(f"evaluation.samples_per_problem={samples}")
    named = named_model(model, path, overrides)
    config = named.config
    if not named.is_endpoint:
        _refuse_endpoint_options(
            endpoint_model=endpoint_model, api_key_env=api_key_env, completions=completions or None,
            no_seeds=not seeds or None, requests_per_minute=requests_per_minute, price_in=price_in, price_out=price_out,
        )  # fmt: skip
    elif completions and config.model.system_prompt is not None:
        raise ConfigError("model.system_prompt: --completions sends the bare prompt; leave one of the two out")
    if out is not None:
        _check_out(out)
    wiring.prepare_process(config)
    wiring.load_plugins(plugin or [])
    task = wiring.build_task(config)
    problems = wiring.problems_of(config, task, config.evaluation.split)
    problems = problems[: config.evaluation.problems or len(problems)]
    subject: Subject
    if named.is_endpoint:
        endpoint = Endpoint(
            url=named.name, api_key=endpoint_key(api_key_env), completions=completions,
            system_prompt=config.model.system_prompt, sends_seeds=seeds, concurrency=concurrency, retries=retries,
            timeout_s=timeout, requests_per_minute=requests_per_minute,
        )  # fmt: skip
        subject = EndpointModel(endpoint, endpoint_model)
    else:
        subject = LocalModel(config, named.name)
    evaluation = Evaluation(
        config=config, subject=subject, task=task.name, problems=problems, wanted=wanted, plugins=tuple(plugin or ())
    )
    folder = evaluation.folder(directory)
    typer.echo(f"{subject.title} on {task.name}/{config.evaluation.split}, {len(problems)} problems")
    record = folder.read_record()
    if record is not None and evaluation.is_done(record) and not fresh:
        typer.echo(f"already measured ({record['started']}), read from {folder.path}; --fresh measures again")
    else:
        if record is not None and not fresh:
            typer.echo(f"going on with {folder.path}")
        record = evaluation.measure_into(folder, fresh=fresh)
    for line in summary_lines(record, price_in=price_in, price_out=price_out):
        typer.echo(line)
    typer.echo(time_line(record, folder.path))
    if out is not None:
        write_records(out, ({"mode": mode, **row} for mode in wanted for row in folder.read_rows(mode)))
        typer.echo(f"wrote {out}")


def _check_out(out: Path) -> None:
    """Refuse a file that cannot be written before anything is measured."""
    from rlvr.errors import ConfigError

    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out: {out} cannot be written: {error.strerror or error}") from error
    if out.is_dir():
        raise ConfigError(f"--out: {out} is a folder; give a file")


def _refuse_endpoint_options(**given: Any) -> None:
    from rlvr.errors import ConfigError

    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    if named:
        raise ConfigError(f"{', '.join(named)}: only for an endpoint, whose MODEL is a URL (http://localhost:8000/v1)")
