import hashlib
import json
from pathlib import Path

import pytest
import typer
from support.stored_runs import stored_run
from typer.testing import CliRunner, Result

from rlvr.cli.replay_command import replay
from rlvr.errors import ConfigError, RunFolderError
from rlvr.tracking.run_folder import RunFolder
from verifiers.errors import UnknownVerifierError

SHOUTING = """
from verifiers import Outcome, Verdict, VerifierError, register_verifier


@register_verifier("picky")
class Picky:
    def __init__(self, *, refuses: str = "never"):
        self._refuses = refuses

    def verify(self, problem, response):
        if self._refuses in response:
            raise VerifierError("it refuses this text")
        return Verdict(outcome=Outcome.INCORRECT, score=0.0)
"""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return stored_run(tmp_path / "mine")


def replayed(folder: RunFolder, *arguments: str, exit_code: int = 0) -> Result:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(replay)
    found = CliRunner().invoke(app, [str(folder.path), *arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == exit_code, found.output
    return found


def figures(folder: RunFolder, *arguments: str, exit_code: int = 0) -> dict:
    return json.loads(replayed(folder, "--json", *arguments, exit_code=exit_code).stdout)


def fingerprint(folder: RunFolder) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.path.rglob("*"))
        if path.is_file()
    }


def test_the_runs_own_verifier_flips_nothing_and_changes_no_file(folder):
    before = fingerprint(folder)
    found = figures(folder)
    assert [found["changes"][name]["flipped"] for name in ("training rollouts", "held-out responses")] == [0, 0]
    assert [found["changes"][name]["n"] for name in ("training rollouts", "held-out responses")] == [16, 32]
    assert fingerprint(folder) == before


def test_another_verifier_flips_verdicts_and_moves_both_curves(folder):
    found = figures(folder, "--verifier", "exact")
    assert found["judge"] == "verifier exact"
    assert {"old": "correct", "new": "incorrect", "n": 4} in found["changes"]["training rollouts"]["outcomes"]
    assert [(one["old_pass_rate"], one["new_pass_rate"]) for one in found["steps"]] == [(0.5, 0.25)] * 2
    rates = {
        (one["phase"], one["mode"]): (one["old"]["pass_rate"], one["new"]["pass_rate"]) for one in found["evaluations"]
    }
    assert rates["sft", "greedy"] == (0.5, 0.25)
    assert rates["ppo", "sampled"] == (1.0, 1.0)


def test_the_text_says_where_the_first_flipped_responses_are_and_why(folder):
    lines = replayed(folder, "--verifier", "exact", "--show", "1", "--what", "rollouts").stdout.splitlines()
    assert "training rollouts: 16 with a verdict of both, 4 flipped (25.00 %)" in lines
    where = lines.index("step 1, arithmetic/train/1, response 0")
    assert lines[where + 2].startswith("  old   correct, answer 0")
    assert lines[where + 3].endswith("differs from the gold text")
    assert lines[-1] == f"more of one: rlvr inspect {folder.path} --step 1 --problem arithmetic/train/1"


def test_a_flipped_response_that_is_not_its_problems_first_is_pointed_to_by_its_number(tmp_path):
    folder = stored_run(tmp_path / "mine", samples=2)
    rows = folder.read_rollouts(1)
    # Of the padded answer only the second response is left.
    rows[2]["text"] = rows[2]["text"].replace("#0", "#")
    folder.write_rollouts(1, rows)
    lines = replayed(folder, "--verifier", "exact", "--what", "rollouts", "--steps", "1").stdout.splitlines()
    assert "step 1, arithmetic/train/1, response 1" in lines
    assert lines[-1].endswith("--step 1 --problem arithmetic/train/1 --sample 1")


def test_a_reward_of_its_own_changes_the_mean_reward_and_no_verdict(folder):
    found = figures(folder, "reward.no_answer=-1.0", "reward.correct=2.0")
    assert found["changes"]["training rollouts"]["flipped"] == 0
    assert [(one["old_reward"], one["new_reward"]) for one in found["steps"]] == [(0.5, 0.75)] * 2


def test_options_reach_the_runs_own_verifier_and_another_one_starts_without_them(tmp_path):
    folder = stored_run(tmp_path / "mine", "task.verifier_options.abs_tol=0.5")
    loose = figures(folder, "--options", "abs_tol=1", "--what", "rollouts")
    assert loose["judge"] == "the task's verifier with { abs_tol = 1 }"
    assert loose["steps"][0]["new_pass_rate"] == 0.75
    assert figures(folder, "--verifier", "exact")["judge"] == "verifier exact"


def test_steps_choose_rollouts_and_evaluations(folder):
    found = figures(folder, "--steps", "2")
    assert [one["step"] for one in found["steps"]] == [2]
    assert {one["phase"] for one in found["evaluations"]} == {"ppo"}
    assert [one["step"] for one in figures(folder, "--steps", "1:", "--what", "rollouts")["steps"]] == [1, 2]
    assert figures(folder, "--steps", ":0")["steps"] == []


@pytest.mark.parametrize("text", ["two", "2:1", "-1:2", "1:2:3"])
def test_a_range_that_is_none_is_refused(folder, text):
    with pytest.raises(ConfigError, match="--steps"):
        replayed(folder, "--steps", text)


def test_every_response_is_written_with_both_verdicts(folder, tmp_path):
    out = tmp_path / "new" / "judged.jsonl"
    replayed(folder, "--verifier", "exact", "--out", str(out))
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 48
    flipped = [line for line in lines if line["flipped"]]
    assert {(line["old_outcome"], line["new_outcome"]) for line in flipped} == {("correct", "incorrect")}
    assert {line["place"] for line in flipped} == {"step 1", "step 2", "sft 0 greedy", "sft 0 sampled"}


def test_a_file_of_the_run_is_never_written_over(folder):
    with pytest.raises(ConfigError, match="is a file of the run"):
        replayed(folder, "--out", str(folder.metrics_path))


def test_responses_that_cannot_be_judged_end_in_exit_code_1_and_are_told_apart(folder, tmp_path):
    (tmp_path / "picky.py").write_text(SHOUTING)
    arguments = ("--plugin", str(tmp_path / "picky.py"), "--verifier", "picky", "--options", 'refuses="1+1"')
    found = replayed(folder, *arguments, "--what", "rollouts", exit_code=1)
    assert "  4 could not be judged now: it refuses this text" in found.stdout.splitlines()
    assert "training rollouts: 12 with a verdict of both, 8 flipped (66.67 %)" in found.stdout


def test_problems_that_the_task_no_longer_has_are_told_and_not_judged(folder):
    found = replayed(folder, "task.options.seed=99", "--what", "rollouts", exit_code=1)
    assert "16 responses to 16 problems were not judged" in found.stderr
    assert "with a verdict of both" not in found.stdout.replace("0 with a verdict of both", "")


def test_an_unknown_verifier_or_override_is_one_clear_error(folder):
    with pytest.raises(UnknownVerifierError, match="did you mean 'exact'"):
        replayed(folder, "--verifier", "exct")
    with pytest.raises(ConfigError, match=r'"run.seed=3" changes nothing about judging'):
        replayed(folder, "run.seed=3")


def test_a_run_without_stored_responses_is_told_so(tmp_path):
    folder = stored_run(tmp_path / "mine", steps=1)
    folder.rollouts_path(1).unlink()
    with pytest.raises(RunFolderError, match="has stored nothing"):
        replayed(folder, "--what", "rollouts")


def test_responses_that_were_not_kept_are_left_out_with_a_note(folder):
    folder.responses_path("sft", 0, "greedy").unlink()
    found = replayed(folder)
    assert "1 sets of held-out responses are not in the run folder" in found.stderr


def test_the_evaluations_own_verifier_goes_on_judging_held_out_responses(tmp_path):
    folder = stored_run(tmp_path / "mine", 'task.verifier="exact"', 'evaluation.verifier="task"')
    found = figures(folder)
    assert found["judge"] == "verifier exact, held-out responses by the task's verifier"
    assert found["changes"]["held-out responses"]["flipped"] == 0
    assert found["changes"]["training rollouts"]["flipped"] == 4
    assert figures(folder, "--verifier", "task")["changes"]["training rollouts"]["flipped"] == 0
