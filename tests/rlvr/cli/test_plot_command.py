"""`rlvr plot`, as typed."""

import pytest
import typer
from support.run_folders import evaluation, fabricated_run
from typer.testing import CliRunner

from rlvr.cli.plot_command import plot
from rlvr.errors import ConfigError, RunFolderError
from rlvr.tracking.run_folder import RunFolder

app = typer.Typer()
app.command()(plot)


def run_plot(*arguments):
    """Run the command; errors of ours, which `main` prints in one line, are raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, Exception):
        raise result.exception
    return result


@pytest.mark.parametrize("suffix", ["png", "svg", "csv"])
def test_the_file_is_what_its_name_says(tmp_path, suffix):
    out = tmp_path / f"curve.{suffix}"
    result = run_plot(fabricated_run(tmp_path / "a", steps=10).path, "--out", out)
    assert result.exit_code == 0
    assert result.output == f"wrote {out}\n"
    assert out.read_bytes()[:5] == {"png": b"\x89PNG\r", "svg": b"<?xml", "csv": b"kind,"}[suffix]


def test_without_options_it_is_a_curve_by_step(tmp_path):
    run_plot(fabricated_run(tmp_path / "a", steps=10).path, "--out", tmp_path / "curve.csv")
    first = (tmp_path / "curve.csv").read_text().splitlines()[1]
    assert first.startswith("curve,a,,greedy,step,0,0,0.5,")


def test_warnings_go_to_the_error_stream_and_the_picture_is_made(tmp_path):
    for task in ("one", "two"):
        folder = RunFolder.create(tmp_path / task, f'[task]\nname = "{task}"\n')
        folder.append_evaluation(evaluation(0, "sft", 60, 40))
    result = run_plot(tmp_path / "one", tmp_path / "two", "--out", tmp_path / "curve.csv")
    assert result.stderr.startswith("warning: the runs differ in task (one, two)")
    assert result.stdout == f"wrote {tmp_path / 'curve.csv'}\n"


@pytest.mark.parametrize("kind", ["frontier", "crossover"])
def test_an_axis_is_chosen_for_curves_only(tmp_path, kind):
    with pytest.raises(ConfigError, match=f"--x: a {kind} has an axis of its own"):
        run_plot(tmp_path, "--kind", kind, "--x", "step")


def test_a_crossover_takes_no_rate(tmp_path):
    with pytest.raises(ConfigError, match="--y: a crossover shows pass@k for every k"):
        run_plot(tmp_path, "--kind", "crossover", "--y", "pass@8")


def test_a_folder_that_is_not_there_is_told(tmp_path):
    for kind in ("curve", "frontier", "crossover"):
        with pytest.raises(RunFolderError, match="nothing"):
            run_plot(tmp_path / "nothing", "--kind", kind, "--out", tmp_path / "curve.png")


@pytest.mark.parametrize("option", [("--kind", "pie"), ("--x", "time")])
def test_unknown_choices_are_refused_with_those_there_are(tmp_path, option):
    result = CliRunner().invoke(app, [str(tmp_path), *option])
    assert result.exit_code == 2
    assert "is not one of" in result.stderr
