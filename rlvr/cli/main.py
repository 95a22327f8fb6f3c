"""The command `rlvr`."""

import sys
import textwrap
from typing import Annotated, NoReturn

import typer

import rlvr
from rlvr.cli.audit_command import audit
from rlvr.cli.bench_command import bench
from rlvr.cli.compare_command import compare
from rlvr.cli.config_command import config
from rlvr.cli.doctor_command import doctor
from rlvr.cli.eval_command import evaluate
from rlvr.cli.inspect_command import inspect
from rlvr.cli.plot_command import plot
from rlvr.cli.replay_command import replay
from rlvr.cli.report_command import report
from rlvr.cli.sandbox_command import sandbox_app
from rlvr.cli.train_command import train
from rlvr.cli.verify_command import verify
from rlvr.errors import RlvrError
from sandbox.errors import SandboxError
from tasks.errors import TaskError
from verifiers.errors import VerifierError

app = typer.Typer(
    name="rlvr",
    help="Reinforcement learning with verifiable rewards on math and code.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> NoReturn:
    """Run the command line and exit: 0 done, 2 the user can mend it, 130 interrupted; a bug keeps its traceback."""
    try:
        app()
    except (RlvrError, TaskError, VerifierError, SandboxError) as error:
        first, *rest = f"error: {error}".splitlines()
        print("\n".join([first, textwrap.indent("\n".join(rest), " " * len("error: "))]).rstrip(), file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rlvr {rlvr.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


app.command()(train)
app.command()(doctor)
app.command(name="eval")(evaluate)
app.command()(compare)
app.command()(plot)
app.command()(report)
app.command()(inspect)
app.command()(replay)
app.command()(bench)
app.command()(verify)
app.command()(audit)
app.command()(config)
app.add_typer(sandbox_app)
