from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from support.report_runs import golden_copy
from typer.testing import CliRunner

from rlvr.cli.report_command import report
from rlvr.errors import ConfigError, RunFolderError
from rlvr.tracking.run_folder import RunFolder

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(report)


def run(arguments: Sequence[str | Path]) -> str:
    found = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output


def test_the_page_of_a_run_is_written_into_its_folder(tmp_path: Path):
    folder = golden_copy(tmp_path / "run")
    output = run([folder.path])
    assert f"wrote {folder.path / 'report.html'} (0." in output
    assert (folder.path / "report.html").read_text().lstrip().lower().startswith("<!doctype html>")


def test_the_page_of_several_runs_is_written_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folders = [golden_copy(tmp_path / name) for name in "ab"]
    monkeypatch.chdir(tmp_path)
    run([folder.path for folder in folders])
    assert (tmp_path / "report.html").exists()


def test_a_file_may_be_named(tmp_path: Path):
    out = tmp_path / "new" / "page.html"
    run([golden_copy(tmp_path / "run").path, "--out", out])
    assert out.exists()


def test_a_run_that_has_just_begun_gets_a_page(tmp_path: Path):
    folder = RunFolder.create(tmp_path / "run", "")
    run([folder.path])
    assert (folder.path / "report.html").exists()


def test_watching_a_finished_run_ends_at_once(tmp_path: Path):
    folder = golden_copy(tmp_path / "run")
    assert run([folder.path, "--watch", "--every", "1"]).count("wrote") == 1


def test_what_cannot_be_made_small_enough_is_said(tmp_path: Path):
    folder = golden_copy(tmp_path / "run")
    noise = "".join(f"# {number}\n" for number in range(200_000))
    folder.config_path.write_text(folder.config_path.read_text() + noise)
    assert "above --max-mb 0.1" in run([folder.path, "--max-mb", "0.1"])


def test_no_run_folder_is_an_error_of_the_user(tmp_path: Path):
    with pytest.raises(RunFolderError, match="is not a run folder"):
        run([tmp_path])


def test_a_page_must_be_named_as_one(tmp_path: Path):
    folder = golden_copy(tmp_path / "run")
    with pytest.raises(ConfigError, match=r"must be a file that ends in \.html"):
        run([folder.path, "--out", tmp_path / "page.pdf"])


def test_a_configuration_that_is_not_toml_is_an_error_of_the_user(tmp_path: Path):
    folder = golden_copy(tmp_path / "run")
    folder.config_path.write_text("[run\n")
    with pytest.raises(RunFolderError, match="is not valid TOML"):
        run([folder.path])
