"""`rlvr verify`: judge responses that are in a file already."""

import os
import sys
import time
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from rlvr.cli.arguments import PluginFiles
from rlvr.cli.options import VerifierOptions, verifier_recipe
from rlvr.errors import ConfigError

ERRORS_SHOWN = 10


def verify(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.jsonl", help='Rows of JSON with a gold answer and a response; .gz too; "-" is standard input.'
        ),
    ],
    verifier: Annotated[str, typer.Option("--verifier", metavar="NAME", help="Which verifier judges.")] = "math",
    options: VerifierOptions = None,
    answer_format: Annotated[
        str,
        typer.Option(
            "--answer-format",
            metavar="FORMAT",
            help="Where a response must put its answer: lenient, boxed, last_number, marker:#### or tag:answer.",
        ),
    ] = "lenient",
    gold_field: Annotated[str, typer.Option("--gold-field", metavar="FIELD")] = "gold",
    response_field: Annotated[str, typer.Option("--response-field", metavar="FIELD")] = "response",
    correct_field: Annotated[
        str, typer.Option("--correct-field", metavar="FIELD", help="true or false, where rows are labelled.")
    ] = "correct",
    group_by: Annotated[
        str, typer.Option("--group-by", metavar="FIELD", help="Labelled rows are also counted by this field.")
    ] = "kind",
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="TEXT", help="Put before the names of the columns that --out adds.")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="OUT.jsonl",
            help="Write the rows with outcome, score, answer and detail; OUT.jsonl.partial until all are judged.",
        ),
    ] = None,
    plugin: PluginFiles = None,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=0, help="Processes that judge; 0 takes every core.")
    ] = 0,
) -> None:
    """Judge the rows of a file, and compare with their labels where they have any.

    Exits with 0 when every row was judged and with 1 when some could not be: no JSON, a field missing or of the wrong
    type, a gold answer that the verifier cannot use. Those are told with their line numbers, and never scored.
    """
    from tqdm import tqdm

    from rlvr.cli.verify_summary import summary_lines
    from rlvr.evaluation.agreement import Totals
    from rlvr.evaluation.rejudge import RowFormat, judge_lines
    from rlvr.evaluation.row_files import STANDARD_INPUT, partial_path, read_lines, writing_lines

    if file != STANDARD_INPUT and (file.is_dir() or not file.exists()):
        raise ConfigError(f"{file}: no such file")
    _check_answer_format(answer_format)
    _check_columns([gold_field, response_field, correct_field, group_by], prefix, written=out is not None)
    recipe = verifier_recipe(verifier, options, plugin)
    row_format = RowFormat(
        gold=gold_field, response=response_field, correct=correct_field, group=group_by,
        answer_format=answer_format, prefix=prefix,
    )  # fmt: skip
    judged = judge_lines(read_lines(file), recipe, row_format, workers=workers or cores())
    whole_bytes = None if file == STANDARD_INPUT or file.suffix == ".gz" else file.stat().st_size or None
    name = "standard input" if file == STANDARD_INPUT else str(file)
    totals, start_s = Totals(), time.monotonic()
    with (
        nullcontext() if out is None else writing_lines(out) as output,
        closing(judged),
        tqdm(total=whole_bytes, unit="B", unit_scale=True, desc="verify", disable=not sys.stderr.isatty()) as bar,
    ):
        try:
            for row in judged:
                totals.add(row)
                if output is not None:
                    output.write(row.record)
                if row.error is not None and totals.failed <= ERRORS_SHOWN:
                    tqdm.write(f"{name}, line {row.line}: {_one_line(row.error)}", file=sys.stderr)
                bar.update(row.size_bytes)
        except BaseException:
            if out is not None:
                written = totals.judged + totals.failed
                tqdm.write(f"stopped; {partial_path(out)} holds the first {written:,} rows", file=sys.stderr)
            raise
    if totals.failed > ERRORS_SHOWN:
        typer.echo(f"{name}: {totals.failed - ERRORS_SHOWN:,} more rows could not be judged", err=True)
    for line in summary_lines(totals, wall_s=time.monotonic() - start_s):
        typer.echo(line)
    if out is not None:
        typer.echo(f"wrote {out}")
    if totals.failed:
        raise typer.Exit(1)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _one_line(text: str) -> str:
    first = text.partition("\n")[0]
    return first if first.isprintable() else ascii(first)


def _check_answer_format(answer_format: str) -> None:
    from verifiers.extract import UnknownAnswerFormatError, extract_answer

    try:
        extract_answer("", answer_format)
    except UnknownAnswerFormatError as error:
        raise ConfigError(f"--answer-format: {error}") from error


def _check_columns(fields: list[str], prefix: str, *, written: bool) -> None:
    """Refuse to write a verdict over what was read."""
    from rlvr.evaluation.rejudge import VERDICT_COLUMNS

    taken = [name for name in fields if name in {f"{prefix}{column}" for column in VERDICT_COLUMNS}]
    if written and taken:
        raise ConfigError(
            f"--out would replace the field {taken[0]!r}, which is read here, by the verdict's; "
            "give --prefix verdict_, say"
        )
