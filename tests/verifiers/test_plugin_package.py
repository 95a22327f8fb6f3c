"""The entry-point route, with a real distribution that pip builds and installs."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import verifiers

ROOT = Path(verifiers.__file__).parent.parent
PACKAGE = Path(__file__).parent.parent / "plugin_package"


def pip_install(source: Path, target: Path) -> None:
    """Install a copy of the package, changed by nobody's settings and with nothing fetched."""
    if importlib.util.find_spec("pip") is None:
        pytest.skip("needs pip in this environment to install a distribution")
    command = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "install", "--quiet"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run(
        [*command, *offline, "--target", str(target), str(source)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run_python(*arguments: str, site: Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run an interpreter that has `site` among its packages."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True, text=True, timeout=120, cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])},
    )  # fmt: skip


def python(code: str, *, site: Path) -> str:
    """Run `code` and return what it printed."""
    done = run_python("-c", code, site=site)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(PACKAGE, folder / "source")
    pip_install(folder / "source", folder / "site")
    return folder / "site"


@pytest.fixture(scope="module")
def clashing_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same distribution, but with names that built-in ones have."""
    folder = tmp_path_factory.mktemp("clashing_plugin")
    shutil.copytree(PACKAGE, folder / "source")
    project = folder / "source" / "pyproject.toml"
    verifier, task = '"rlvr_plugin_demo.word_count:WordCountVerifier"', '"rlvr_plugin_demo.word_count:WordCountTask"'
    text = project.read_text()
    text = text.replace(f"demo_word_count = {verifier}", f"exact = {verifier}")
    text = text.replace(f"demo_word_count = {task}", f"arithmetic = {task}")
    project.write_text(text)
    pip_install(folder / "source", folder / "site")
    return folder / "site"


def test_an_installed_verifier_and_task_are_listed(site: Path):
    listed = python(
        "import tasks, verifiers; print('demo_word_count' in verifiers.verifier_names(),"
        " 'demo_word_count' in tasks.task_names())",
        site=site,
    )
    assert listed == "True True"


def test_without_the_distribution_neither_is_known(tmp_path: Path):
    assert python("import verifiers; print('demo_word_count' in verifiers.verifier_names())", site=tmp_path) == "False"


def test_an_installed_task_gives_problems_that_its_verifier_judges(site: Path):
    code = """
from tasks import load_task
from verifiers import load_verifier

for problem in load_task("demo_word_count", {"longest": 4}).problems("test"):
    verifier = load_verifier(problem.verifier)
    for response in (problem.demonstration, "one two three", " "):
        print(problem.id, verifier.verify(problem, response).outcome)
"""
    assert python(code, site=site).splitlines() == [
        "demo_word_count/test/2 correct",
        "demo_word_count/test/2 incorrect",
        "demo_word_count/test/2 no_answer",
        "demo_word_count/test/4 correct",
        "demo_word_count/test/4 incorrect",
        "demo_word_count/test/4 no_answer",
    ]


def test_an_installed_tasks_options_are_checked_as_a_built_in_ones(site: Path):
    code = """
import tasks
try:
    tasks.load_task("demo_word_count", {"longst": 4})
except tasks.TaskOptionError as error:
    print(error)
"""
    assert "task.options.longst: task 'demo_word_count' has no such option (did you mean 'longest'?)" in python(
        code, site=site
    )


def test_an_installed_verifier_passes_the_conformance_suite(site: Path):
    code = """
from tasks import load_task
from verifiers import load_verifier
from verifiers.conformance import Case, self_check

cases = [
    Case(problem=problem, accepted=[problem.demonstration], rejected=["", problem.demonstration + " more"])
    for problem in load_task("demo_word_count").problems("train")[1:4]
]
print(*self_check(load_verifier("demo_word_count"), cases, skip=["junk"]))  # it counts the words of anything
"""
    assert {"contract", "accepts", "rejects", "picklable"} <= set(python(code, site=site).split())


def test_an_installed_task_reaches_the_command_line(site: Path, tmp_path: Path):
    """An option that it does not have is refused in its name, so the command has found it."""
    arguments = ["-m", "rlvr", "train", "task.name=demo_word_count", "task.options.longst=4"]
    done = run_python(*arguments, site=site, folder=tmp_path)
    assert done.returncode == 2
    assert "task 'demo_word_count' has no such option (did you mean 'longest'?)" in done.stderr


def test_an_installed_name_that_a_built_in_one_has_is_an_error_that_names_both(clashing_site: Path):
    code = """
import tasks, verifiers
for load, name, error_kind in (
    (verifiers.load_verifier, "exact", verifiers.VerifierNameTakenError),
    (tasks.load_task, "arithmetic", tasks.TaskNameTakenError),
):
    try:
        load(name)
    except error_kind as error:
        print(error)
"""
    verifier, task = python(code, site=clashing_site).splitlines()
    assert verifier == (
        "the verifier name 'exact' belongs to the built-in verifier and to the installed distribution"
        " 'rlvr-plugin-demo' (rlvr_plugin_demo.word_count:WordCountVerifier); rename or uninstall one of them"
    )
    assert task.startswith("the task name 'arithmetic' belongs to the built-in task and to the installed distribution")


def test_a_clash_leaves_the_other_names_alone(clashing_site: Path):
    assert python("import verifiers; print(type(verifiers.load_verifier('numeric')).__name__)", site=clashing_site) == (
        "Numeric"
    )
