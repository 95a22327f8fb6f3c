import os
import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rlvr
from rlvr.cli.main import app, main
from rlvr.config.loading import load_config
from rlvr.config.models import Config
from rlvr.errors import ConfigError, RlvrError
from sandbox.errors import SandboxError
from tasks.errors import TaskError
from verifiers.errors import VerifierError

HOME = Path(rlvr.__file__).parent.parent


def run_rlvr(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rlvr", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HOME)},
    )


def exit_code(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["rlvr", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code


@pytest.fixture
def raising(monkeypatch: pytest.MonkeyPatch):
    """Add a command `raise` to the real app for one test; what it raises is set through the returned list."""
    to_raise: list[BaseException] = []
    monkeypatch.setattr(app, "registered_commands", [*app.registered_commands])

    @app.command(name="raise")
    def raise_it() -> None:
        raise to_raise[0]

    return to_raise


def test_help_lists_the_commands_in_plain_text():
    done = run_rlvr("--help")
    assert done.returncode == 0
    assert done.stdout.isascii()
    listed = [line.split()[0] for line in done.stdout.partition("Commands:")[2].splitlines() if line.strip()]
    assert {"train", "eval", "config", "plot"} <= set(listed)


def test_help_takes_under_a_second_of_processor_time():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run_rlvr("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.0


def test_the_command_line_starts_without_the_heavy_libraries():
    heavy = ("torch", "transformers", "matplotlib", "datasets", "sympy", "numpy")
    program = f"import sys, rlvr.cli.main; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=HOME)
    assert done.stdout == "[]\n", done.stderr


def test_version_is_the_packages():
    done = run_rlvr("--version")
    assert (done.returncode, done.stdout) == (0, f"rlvr {rlvr.__version__}\n")


def test_config_alone_prints_the_defaults():
    done = run_rlvr("config")
    assert Config.model_validate(tomllib.loads(done.stdout)) == Config()


def test_config_with_arguments_prints_what_a_run_would_use(tmp_path: Path):
    (tmp_path / "my.toml").write_text("[run]\nseed = 5\n")
    arguments = ["algorithm.preset=grpo", "rollout.samples_per_prompt=8"]
    done = run_rlvr("config", "my.toml", *arguments, folder=tmp_path)
    assert Config.model_validate(tomllib.loads(done.stdout)) == load_config(tmp_path / "my.toml", arguments)


def test_mistakes_in_the_configuration_are_one_block_on_stderr_and_exit_2():
    done = run_rlvr("config", "run.sed=1", "run.steps=-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: command line: run.sed: unknown key; did you mean run.seed?\n"
        "       command line: run.steps: got -1; must be an integer, at least 0\n"
    )


@pytest.mark.parametrize("kind", [RlvrError, ConfigError, TaskError, VerifierError, SandboxError])
def test_an_error_of_ours_is_told_in_one_line_and_exits_2(
    kind: type[Exception],
    raising: list[BaseException],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    raising.append(kind("what, where, what to do"))
    assert exit_code(monkeypatch, "raise") == 2
    assert capsys.readouterr().err == "error: what, where, what to do\n"


def test_a_bug_keeps_its_traceback(raising: list[BaseException], monkeypatch: pytest.MonkeyPatch):
    raising.append(ZeroDivisionError("a bug"))
    monkeypatch.setattr(sys, "argv", ["rlvr", "raise"])
    with pytest.raises(ZeroDivisionError, match="a bug"):
        main()


def test_an_interrupt_exits_130(raising: list[BaseException], monkeypatch: pytest.MonkeyPatch):
    raising.append(KeyboardInterrupt())
    assert exit_code(monkeypatch, "raise") == 130


def test_an_unknown_command_and_an_unknown_option_exit_2(monkeypatch: pytest.MonkeyPatch):
    assert exit_code(monkeypatch, "trane") == 2
    assert exit_code(monkeypatch, "config", "--nope") == 2
