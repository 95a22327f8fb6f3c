import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import typer
from support.endpoint_server import RETRY_SOON, Asked, Reply, answered, refused, serving
from support.finished_runs import lines
from support.processes import Command, rlvr_in
from support.tiny_runs import TINY, tiny_config
from typer.testing import CliRunner

from rlvr.cli.arguments import run_configuration
from rlvr.cli.eval_command import evaluate
from rlvr.cli.eval_subjects import named_model
from rlvr.cli.held_out import mode_seed
from rlvr.config.document import annotated_toml
from rlvr.errors import ConfigError, EndpointError, ModelError, RunFolderError
from rlvr.evaluation.measured import load_measured
from rlvr.tracking.run_folder import RunFolder

APP = typer.Typer()
APP.command()(evaluate)


@pytest.fixture(autouse=True)
def _process_left_as_it_was() -> Iterator[None]:
    """The command sets what is the whole process's; later tests want their subnormal numbers back."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)


def run_folder(path: Path) -> RunFolder:
    return RunFolder.create(path, annotated_toml(tiny_config("run.seed=11")))


def test_a_run_folder_stands_for_its_latest_checkpoint_and_its_own_configuration(tmp_path: Path):
    folder = run_folder(tmp_path / "mine")
    for name in ("step_999999", "step_1000000", "step_000002"):
        (folder.checkpoints_dir / name / "policy").mkdir(parents=True)
    (folder.checkpoints_dir / ".step_1000001.writing" / "policy").mkdir(parents=True)
    name, config = run_configuration(str(folder.path), None, ["evaluation.problems=5"])
    assert name == str(folder.checkpoints_dir / "step_1000000" / "policy")
    assert (config.run.seed, config.evaluation.problems) == (11, 5)


def test_before_the_first_checkpoint_it_stands_for_its_reference(tmp_path: Path):
    folder = run_folder(tmp_path / "mine")
    folder.reference_path.mkdir()
    assert run_configuration(str(folder.path), None, [])[0] == str(folder.reference_path)


def test_a_run_that_has_saved_nothing_yet_cannot_be_evaluated(tmp_path: Path):
    folder = run_folder(tmp_path / "mine")
    with pytest.raises(RunFolderError, match="has saved no model yet; wait for its warm start to end"):
        run_configuration(str(folder.path), None, [])


def test_anything_else_is_a_model_under_the_given_configuration(tmp_path: Path):
    name, config = run_configuration("someone/model", None, ["run.seed=4"])
    assert (name, config.run.seed) == ("someone/model", 4)


def test_a_moment_of_a_run_is_named_after_an_at(tmp_path: Path):
    folder = run_folder(tmp_path / "mine")
    for name in ("step_000020", "step_000040"):
        (folder.checkpoints_dir / name / "policy").mkdir(parents=True)
    folder.reference_path.mkdir()
    named = {moment: named_model(f"{folder.path}@{moment}", None, []) for moment in ("20", "sft", "base")}
    assert named["20"].name == str(folder.checkpoints_dir / "step_000020" / "policy")
    assert named["sft"].name == str(folder.reference_path)
    assert named["base"].name == "tiny"
    assert all(one.config.run.seed == 11 for one in named.values())
    with pytest.raises(RunFolderError, match=r"has saved no model @30; it has @20, @40, @sft, @base"):
        named_model(f"{folder.path}@30", None, [])


def test_a_moment_of_a_run_that_is_not_there_is_not_taken_for_a_model(tmp_path: Path):
    for moment in ("sft", "base", "40"):
        with pytest.raises(RunFolderError, match=r"nothing is not a run folder: it does not exist"):
            named_model(f"{tmp_path / 'nothing'}@{moment}", None, [])


def measure(home: Path, *arguments: str, model: str = "tiny") -> str:
    """Run the command on the tiny model in `home`, and return what it prints."""
    ran = CliRunner().invoke(APP, [model, *TINY, *arguments, "--dir", str(home / "evals")])
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    assert ran.exit_code == 0, ran.output
    return ran.output


def only_folder(home: Path) -> Path:
    [path] = (home / "evals").iterdir()
    return path


def untimed_record(path: Path) -> dict[str, Any]:
    record = json.loads((path / "evaluation.json").read_text())
    return {name: value for name, value in record.items() if name not in ("started", "wall_s")}


def test_what_is_printed_says_how_often_with_intervals_and_where_everything_is(tmp_path: Path):
    shown = measure(tmp_path, "--samples", "4", "evaluation.problems=30", "evaluation.audit.exact={}").splitlines()
    assert shown[0] == "tiny on arithmetic/test, 30 problems"
    assert re.match(r"  greedy   0\.0 % \[0\.0, 11\.4\] +n 30   truncated ", shown[1])
    assert re.match(r"  sampled  0\.0 % \[0\.0, 11\.4\] +n 120   truncated ", shown[2])
    assert shown[3].startswith("  4 sampled responses to each problem, temperature 1: mean@4 is 0.0 % [")
    assert [line.split()[0] for line in shown[4:8]] == ["k", "1", "2", "4"]
    assert all(name in shown[4] for name in ("pass@k", "pass^k", "maj@k"))
    text = "\n".join(shown[8:])
    assert "audit by exact: greedy 0.0 % [0.0, 11.4], sampled 0.0 % [" in text
    assert "95 % intervals (greedy: Wilson; sampled: cluster Wilson over problems)" in text
    assert "raise rollout.max_new_tokens" in text  # an untrained model does not stop
    assert f"every response with its verdict is in {only_folder(tmp_path)}" in text


def test_the_folder_holds_figures_rows_problems_seeds_and_what_it_ran_on(tmp_path: Path):
    measure(tmp_path, "--samples", "2", "evaluation.problems=5")
    path = only_folder(tmp_path)
    assert re.fullmatch(r"tiny-arithmetic-test-[0-9a-f]{8}", path.name)
    assert sorted(file.name for file in path.iterdir()) == [
        "evaluation.json", "greedy.jsonl", "problems.jsonl", "sampled.jsonl",
    ]  # fmt: skip
    record = json.loads((path / "evaluation.json").read_text())
    assert record["finished"] is True
    assert record["name"] == path.name
    assert (record["task"], record["split"], record["problems"]) == ("arithmetic", "test", 5)
    assert record["sampling"] == {"max_new_tokens": 16, "top_p": 1.0, "top_k": 0}
    assert list(record["modes"]) == ["greedy", "sampled"]
    assert record["modes"]["sampled"]["n"] == 10
    assert record["seeds"] == {mode: mode_seed(tiny_config(), mode) for mode in ("greedy", "sampled")}
    assert record["versions"]["torch"]
    assert [(row["problem"], row["sample"]) for row in lines(path / "sampled.jsonl")] == [
        (f"arithmetic/test/{problem}", sample) for problem in range(5) for sample in range(2)
    ]
    assert [record["judged"] for record in lines(path / "problems.jsonl")] == [2] * 5


def test_the_folder_is_what_other_commands_read_as_a_measured_policy(tmp_path: Path):
    measure(tmp_path, "evaluation.problems=5")
    measured = load_measured(str(only_folder(tmp_path)))
    assert (measured.task, measured.finished, list(measured.records)) == ("arithmetic", True, ["greedy", "sampled"])
    assert len(measured.rows("greedy")) == 5


def test_what_was_measured_is_not_measured_again_unless_asked_to(tmp_path: Path):
    first = measure(tmp_path, "evaluation.problems=5").splitlines()
    files = {file: file.stat().st_mtime_ns for file in only_folder(tmp_path).iterdir()}
    again = measure(tmp_path, "evaluation.problems=5").splitlines()
    assert again[1].startswith("already measured (")
    assert again[1].endswith("; --fresh measures again")
    assert [again[0], *again[2:]] == first
    assert {file: file.stat().st_mtime_ns for file in files} == files
    before = untimed_record(only_folder(tmp_path))
    assert "already" not in measure(tmp_path, "evaluation.problems=5", "--fresh")
    assert all(file.stat().st_mtime_ns > changed for file, changed in files.items())
    assert untimed_record(only_folder(tmp_path)) == before


@pytest.mark.parametrize(
    "change",
    [
        "--samples=2", "evaluation.problems=4", "evaluation.split=train", "rollout.temperature=0.5", "run.seed=4",
        "rollout.max_new_tokens=15", "model.tiny_hidden=36", "task.verifier=exact", "evaluation.audit.exact={}",
        "task.options.digits=1", "model.dtype=bfloat16", "rollout.batch_size=2",
    ],
)  # fmt: skip
def test_whatever_changes_the_answers_or_the_verdicts_is_another_evaluation(tmp_path: Path, change: str):
    measure(tmp_path, "evaluation.problems=3", "--no-sampled")
    assert "already" not in measure(tmp_path, "evaluation.problems=3", "--no-sampled", change)
    assert len(list((tmp_path / "evals").iterdir())) == 2


@pytest.mark.parametrize("change", ["rollout.prompts_per_step=8", "evaluation.every=3", "algorithm.kl_coef=0.5"])
def test_what_has_no_bearing_on_them_is_the_same_one(tmp_path: Path, change: str):
    measure(tmp_path, "evaluation.problems=3", "--no-sampled")
    assert "already measured" in measure(tmp_path, "evaluation.problems=3", "--no-sampled", change)


def test_a_mode_that_was_left_out_can_be_added(tmp_path: Path):
    assert "sampled" not in measure(tmp_path, "evaluation.problems=5", "--no-sampled").splitlines()[2]
    rows = (only_folder(tmp_path) / "greedy.jsonl").stat()
    shown = measure(tmp_path, "evaluation.problems=5")
    assert [line.split()[0] for line in shown.splitlines()[2:4]] == ["greedy", "sampled"]
    assert (only_folder(tmp_path) / "greedy.jsonl").stat().st_ino == rows.st_ino
    assert len(lines(only_folder(tmp_path) / "sampled.jsonl")) == 5


def test_nothing_to_measure_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="leave nothing to measure"):
        measure(tmp_path, "--no-greedy", "--no-sampled")


def test_a_place_where_no_folder_can_be_made_is_named(tmp_path: Path):
    (tmp_path / "evals").write_text("a file")
    with pytest.raises(RunFolderError, match=r"--dir: .*evals/tiny-.* cannot be made: "):
        measure(tmp_path, "evaluation.problems=2")


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"--out: .*file/rows\.jsonl cannot be written: "):
        measure(tmp_path, "--out", str(tmp_path / "file" / "rows.jsonl"))
    with pytest.raises(ConfigError, match=r"--out: .* is a folder"):
        measure(tmp_path, "--out", str(tmp_path))
    assert not (tmp_path / "evals").exists()


def test_options_of_endpoints_are_refused_for_other_models(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"^--completions, --price-in: only for an endpoint"):
        measure(tmp_path, "--completions", "--price-in", "1")


def test_a_model_that_cannot_be_loaded_leaves_no_folder_and_no_gap(tmp_path: Path):
    with pytest.raises(ModelError):
        measure(tmp_path, model=str(tmp_path / "nothing"))
    assert not (tmp_path / "evals").exists()


DELAYED_VERIFIER = """
import time

from verifiers import load_verifier, register_verifier


@register_verifier("delayed_numeric")
class DelayedNumeric:
    def __init__(self):
        self._numeric = load_verifier("numeric")

    def verify(self, problem, response):
        time.sleep(0.004)
        return self._numeric.verify(problem, response)
"""


def test_an_evaluation_killed_at_any_moment_goes_on_to_the_same_bytes(tmp_path: Path):
    (tmp_path / "delayed.py").write_text(DELAYED_VERIFIER)
    arguments = [
        "eval", "tiny", *TINY, "evaluation.problems=300", "--samples", "2", "rollout.max_new_tokens=8",
        "--plugin", "delayed.py", "task.verifier=delayed_numeric",
    ]  # fmt: skip
    expected = rlvr_in(tmp_path, *arguments, "--dir", "whole")
    assert "already" not in expected.stdout, expected.stderr
    [whole] = (tmp_path / "whole").iterdir()
    killed = tmp_path / "evals" / whole.name
    for mode, rows in (("greedy", 129), ("sampled", 1)):
        command = Command(*arguments, folder=tmp_path)
        path = killed / f"{mode}.jsonl"
        command.wait_until(lambda path=path, rows=rows: path.exists() and path.read_bytes().count(b"\n") >= rows)
        command.send(signal.SIGKILL)
        assert command.end() == -signal.SIGKILL
        if rows == 1:
            path.write_bytes(path.read_bytes()[:-7])  # as if it had hit the writing of a line
    last = rlvr_in(tmp_path, *arguments)
    assert f"going on with evals/{whole.name}" in last.stdout, last.stderr
    assert last.stdout.splitlines()[2:-1] == expected.stdout.splitlines()[1:-1]
    for name in ("greedy.jsonl", "sampled.jsonl", "problems.jsonl"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name
    assert untimed_record(killed) == untimed_record(whole)


def adds(asked: Asked, _: int) -> Reply:
    """Answer "12+34=" rightly, and every second sample wrongly."""
    a, b = re.match(r"(\d+)\+(\d+)=", asked.prompt).groups()  # type: ignore[union-attr]
    n = asked.body.get("n", 1)
    return answered(*[f"#{int(a) + int(b) + i % 2}" for i in range(n)], usage=(10, 3 * n))


@pytest.fixture
def _direct_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai", reason="endpoints need the extra rlvr[endpoint]")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.mark.usefixtures("_direct_connections")
def test_an_endpoint_is_measured_like_any_model_and_its_cost_counted(tmp_path: Path):
    prices = ["--price-in", "2", "--price-out", "10"]
    with serving(adds, models=("org/adder",)) as server:
        arguments = ["--samples", "4", "evaluation.problems=10", *prices]
        shown = measure(tmp_path, *arguments, model=server.url)
        asked = len(server.asked)
        again = measure(tmp_path, *arguments, model=server.url + "/")
        assert len(server.asked) == asked == 20
    assert shown.splitlines()[0] == f"org/adder at {server.url} on arithmetic/test, 10 problems"
    assert "greedy   100.0 %" in shown
    assert "mean@4 is 50.0 %" in shown
    # 10 greedy requests and 10 for four responses each; a prompt is paid for once a request.
    amount = f"{(200 * 2 + (30 + 120) * 10) / 1e6:.4f}"
    cost = f"answered 20 requests: 200 prompt and 150 response tokens, {amount} at 2 and 10 per million"
    assert cost in shown
    assert cost in again
    record = json.loads((only_folder(tmp_path) / "evaluation.json").read_text())
    assert record["endpoint"] == {"url": server.url, "model": "org/adder", "api": "chat/completions"}
    assert record["usage"] == {"requests": 20, "prompt_tokens": 200, "completion_tokens": 150, "uncounted": 0}
    seeds = {asked.body["seed"] for asked in server.asked}
    assert {row["seed"] for mode in record["modes"] for row in lines(only_folder(tmp_path) / f"{mode}.jsonl")} == seeds


@pytest.mark.usefixtures("_direct_connections")
def test_an_endpoint_that_fails_half_way_is_gone_on_with_by_the_same_command(tmp_path: Path):
    def breaks_down(asked: Asked, before: int) -> Reply:
        return adds(asked, before) if before < 30 else refused(503, "overloaded", **RETRY_SOON)

    arguments = ["evaluation.problems=40", "--no-sampled", "--retries", "1", "--concurrency", "2"]
    with serving(breaks_down) as server:
        with pytest.raises(EndpointError) as caught:
            measure(tmp_path, *arguments, model=server.url)
        first, second = str(caught.value).splitlines()
        assert "refused after 2 tries, HTTP 503: overloaded" in first
        assert second.startswith(f"what is done is in {only_folder(tmp_path)}, and the same command")
        assert len(lines(only_folder(tmp_path) / "greedy.jsonl")) == 24  # three batches of four times two
        # Six more were answered, and paid for, before the batch broke off.
        assert json.loads((only_folder(tmp_path) / "evaluation.json").read_text())["usage"]["requests"] == 30
        server.behave, before = adds, len(server.asked)
        shown = measure(tmp_path, *arguments, "--concurrency", "4", model=server.url)
        # Batches are now of sixteen, and only whole ones are kept.
        assert [asked.prompt for asked in server.asked[before:]] != []
        assert len(server.asked) - before == 24
    assert "going on with" in shown
    assert "greedy   100.0 %" in shown
    usage = json.loads((only_folder(tmp_path) / "evaluation.json").read_text())["usage"]
    assert usage["requests"] == 30 + 24


@pytest.mark.usefixtures("_direct_connections")
def test_an_endpoint_that_refuses_from_the_start_leaves_no_folder(tmp_path: Path):
    with serving(lambda *_: refused(401, "no key")) as server, pytest.raises(EndpointError) as caught:
        measure(tmp_path, "evaluation.problems=4", model=server.url)
    assert len(str(caught.value).splitlines()) == 1
    assert list((tmp_path / "evals").iterdir()) == []


@pytest.mark.usefixtures("_direct_connections")
def test_measuring_again_loses_nothing_before_there_is_something_to_put_in_its_place(tmp_path: Path):
    arguments = ["evaluation.problems=4", "--endpoint-model", "m"]
    with serving(adds) as server:
        measure(tmp_path, *arguments, model=server.url)
        before = {path.name: path.read_bytes() for path in only_folder(tmp_path).iterdir()}
        server.behave = lambda *_: refused(401, "no key")
        with pytest.raises(EndpointError):
            measure(tmp_path, *arguments, "--fresh", model=server.url)
        assert {path.name: path.read_bytes() for path in only_folder(tmp_path).iterdir()} == before
        server.behave = lambda *_: answered("#0")
        assert "greedy   0.0 %" in measure(tmp_path, *arguments, "--fresh", model=server.url)
    assert len(lines(only_folder(tmp_path) / "greedy.jsonl")) == 4


@pytest.mark.usefixtures("_direct_connections")
def test_of_several_models_one_must_be_chosen(tmp_path: Path):
    with serving(adds, models=("a", "b")) as server:
        with pytest.raises(ConfigError, match=r"offers a, b; choose one by --endpoint-model NAME"):
            measure(tmp_path, model=server.url)
        measure(tmp_path, "evaluation.problems=2", "--endpoint-model", "b", model=server.url)
    assert {asked.body["model"] for asked in server.asked} == {"b"}


@pytest.mark.usefixtures("_direct_connections")
def test_the_key_comes_from_the_environment_and_goes_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", "sesame-4711")
    with serving(adds) as server:
        with pytest.raises(ConfigError, match="--api-key-env: the environment has no variable NO_SUCH_KEY"):
            measure(tmp_path, "--api-key-env", "NO_SUCH_KEY", model=server.url)
        shown = measure(tmp_path, "evaluation.problems=2", "--api-key-env", "MY_KEY", model=server.url)
    assert server.asked[0].headers["authorization"] == "Bearer sesame-4711"
    written = [path.read_text() for path in only_folder(tmp_path).iterdir()]
    assert not [text for text in [shown, *written] if "sesame" in text]
