import json
from pathlib import Path

import pytest
import typer
from support.stored_runs import rollout, store_probes, stored_run
from typer.testing import CliRunner

from rlvr.cli.inspect_command import inspect
from rlvr.errors import ConfigError, RunFolderError
from rlvr.tracking.run_folder import RunFolder
from tasks.arithmetic import Arithmetic

PROBLEM = "arithmetic/train/0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> RunFolder:
    return stored_run(tmp_path_factory.mktemp("runs") / "mine", per_step=12)


def inspected(folder: RunFolder, *arguments: str) -> list[str]:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(inspect)
    found = CliRunner().invoke(app, [str(folder.path), *arguments])
    if found.exception is not None:
        raise found.exception
    return found.stdout.splitlines()


def as_json(folder: RunFolder, *arguments: str):
    return json.loads("\n".join(inspected(folder, *arguments, "--json")))


def test_without_a_step_the_steps_are_listed(folder):
    lines = inspected(folder)
    assert [line.split()[:3] for line in lines[1:]] == [["1", "50.0", "%"], ["2", "50.0", "%"]]


def test_without_a_problem_the_steps_problems_are_listed_with_outcome_and_reward(folder):
    lines = inspected(folder, "--step", "1")
    assert len(lines) == 13
    assert lines[1].split()[:5] == [PROBLEM, "0", "correct", "1.0000", "1.0000"]


def test_a_rollout_is_shown_with_every_token(folder):
    lines = inspected(folder, "--step", "1", "--problem", PROBLEM)
    total = Arithmetic(digits=2).problems("train")[0].reference.value
    assert lines[0] == f"step 1, {PROBLEM}, response 0"
    assert f"verdict   correct, score 1, answer {total}: equals '{total}'" in lines
    heads = next(line for line in lines if line.startswith("token")).split()
    assert heads[1:] == [
        "logprob", "ref_logprob", "ratio", "k1", "exact_kl", "entropy", "value", "reward", "return", "advantage",
    ]  # fmt: skip
    table = lines[lines.index(next(line for line in lines if line.startswith("token"))) + 1 :]
    assert [row.split()[1] for row in table] == [f'"{text}"' for text in ["#", *total, "<eos>"]]
    assert table[1].split()[2:] == [
        "-0.1000", "-0.1500", "1.0000", "0.0500", "0.0600", "0.1250", "0.5000", "-0.0100", "0.7500", "0.2500",
    ]  # fmt: skip
    assert len({len(row) for row in table}) == 1


def test_the_sums_add_up_the_tokens(folder):
    record = as_json(folder, "--step", "1", "--problem", PROBLEM)
    n = len(record["tokens"])
    assert record["sums"]["reward"] == pytest.approx(1.0 - 0.01 * n)
    assert record["sums"]["k1"] == pytest.approx(0.05 * n)
    assert record["sums"]["exact_kl"] == pytest.approx(0.06 * n)
    assert record["tokens"][1]["ratio"] == 1.0


@pytest.mark.parametrize("text", ["arithmetic/train/3", "3", "train/3"])
def test_a_unique_end_of_an_id_is_enough(folder, text):
    assert inspected(folder, "--step", "1", "--problem", text)[0].startswith("step 1, arithmetic/train/3,")


def test_a_unique_beginning_of_an_id_is_enough(tmp_path):
    folder = stored_run(tmp_path / "mine")
    names = ["svamp/train/chal-40", "svamp/train/chal-404", "gsm8k/train/7"]
    folder.write_rollouts(
        1, [{**row, "problem": name} for row, name in zip(folder.read_rollouts(1), names, strict=False)]
    )
    assert inspected(folder, "--step", "1", "--problem", "gsm")[0].startswith("step 1, gsm8k/train/7,")


def test_an_exact_id_wins_over_those_that_begin_with_it(folder):
    assert inspected(folder, "--step", "1", "--problem", "arithmetic/train/1")[0].endswith("train/1, response 0")


def test_an_ambiguous_id_names_some_and_an_unknown_one_names_near_ones(folder):
    with pytest.raises(ConfigError, match=r"may be arithmetic/train/0, .* and 7 more of step 1"):
        inspected(folder, "--step", "1", "--problem", "arithmetic")
    with pytest.raises(ConfigError, match=r"step 1 has no problem 'aritmetic/train/7'; near it: arithmetic/train/7"):
        inspected(folder, "--step", "1", "--problem", "aritmetic/train/7")


def test_a_step_without_rollouts_names_those_near_it(folder):
    with pytest.raises(RunFolderError, match="no rollouts of step 9; near it: 1, 2"):
        inspected(folder, "--step", "9")


def test_one_of_several_responses_is_chosen_by_its_number(tmp_path):
    folder = stored_run(tmp_path / "mine", samples=2)
    lines = inspected(folder, "--step", "1", "--problem", PROBLEM, "--sample", "1")
    assert lines[0] == f"step 1, {PROBLEM}, response 1 of 2 (--sample)"
    with pytest.raises(ConfigError, match="step 1 has 2 responses to arithmetic/train/0, 0 to 1"):
        inspected(folder, "--step", "1", "--problem", PROBLEM, "--sample", "2")


def test_what_a_terminal_would_obey_is_escaped(tmp_path: Path):
    folder = stored_run(tmp_path / "mine")
    problem = Arithmetic(digits=2).problems("train")[0]
    row = rollout(problem, "#1", 1)
    folder.write_rollouts(1, [{**row, "text": "\x1b[31mred\u202e\n#1", "answer": "\x1b[2J", "detail": "a\x07b"}])
    shown = "\n".join([*inspected(folder, "--step", "1", "--problem", PROBLEM), *inspected(folder, "--step", "1")])
    assert not any(ord(character) < 32 and character != "\n" for character in shown)
    assert "\u202e" not in shown
    assert "\\u001b[31mred\\u202e" in shown


def test_columns_that_an_older_run_lacks_are_left_out_and_named(tmp_path):
    folder = stored_run(tmp_path / "mine")
    late = ("entropies", "exact_kls", "update_log_ratios")
    rows = folder.read_rollouts(1)
    folder.write_rollouts(1, [{name: value for name, value in row.items() if name not in late} for row in rows])
    lines = inspected(folder, "--step", "1", "--problem", PROBLEM)
    assert lines[-1] == "not recorded by the version that made this run: ratio, exact_kl, entropy"


def test_without_a_saved_tokenizer_tokens_are_shown_by_their_ids(tmp_path):
    folder = stored_run(tmp_path / "mine")
    (folder.reference_path / "tokenizer.json").unlink()
    record = as_json(folder, "--step", "1", "--problem", PROBLEM)
    assert [token["text"] for token in record["tokens"]] == [f"<{token['id']}>" for token in record["tokens"]]


def test_held_out_responses_to_a_problem_are_shown_over_the_course_of_the_run(folder):
    lines = inspected(folder, "--evaluation", "--problem", "test/2")
    heads = [line for line in lines if line.startswith(("sft", "ppo"))]
    assert [head.partition(":")[0] for head in heads] == [
        f"{phase}, {mode}, response 0" for phase in ("sft 0", "ppo 2") for mode in ("greedy", "sampled")
    ]
    verdicts = [line for line in lines if line.startswith("verdict")]
    assert [verdict.split()[1] for verdict in verdicts] == ["incorrect,"] * 2 + ["correct,"] * 2


def test_evaluations_are_listed_and_chosen_by_phase_step_and_mode(folder):
    assert [line.partition(":")[0] for line in inspected(folder, "--evaluation")] == ["sft 0", "ppo 2"]
    rows = as_json(folder, "--evaluation", "--phase", "ppo", "--step", "2", "--mode", "greedy", "--problem", "test/2")
    assert [(row["phase"], row["step"], row["mode"]) for row in rows] == [("ppo", 2, "greedy")]
    assert len(inspected(folder, "--evaluation", "--phase", "sft", "--mode", "greedy")) == 13
    with pytest.raises(RunFolderError, match="no such evaluation"):
        inspected(folder, "--evaluation", "--step", "1")


def test_what_does_not_go_together_is_refused(folder):
    with pytest.raises(ConfigError, match="at which step"):
        inspected(folder, "--problem", PROBLEM)
    with pytest.raises(ConfigError, match="add --evaluation"):
        inspected(folder, "--phase", "ppo")


def test_a_held_out_response_is_chosen_by_its_number(tmp_path):
    folder = stored_run(tmp_path / "mine")
    rows = folder.read_responses("sft", 0, "sampled")
    folder.write_responses("sft", 0, "sampled", [{**row, "sample": sample} for row in rows for sample in range(2)])
    chosen = ("--evaluation", "--phase", "sft", "--problem", "test/2")
    assert [row["sample"] for row in as_json(folder, *chosen)] == [0, 0, 1]
    (row,) = as_json(folder, *chosen, "--sample", "1")
    assert (row["mode"], row["sample"]) == ("sampled", 1)
    with pytest.raises(ConfigError, match="has a response 2 to arithmetic/test/2"):
        inspected(folder, *chosen, "--sample", "2")
    with pytest.raises(ConfigError, match="of which problem"):
        inspected(folder, "--step", "1", "--sample", "1")


def test_a_mode_alone_lists_its_responses(folder):
    assert {row["mode"] for row in as_json(folder, "--evaluation", "--mode", "greedy")} == {"greedy"}


@pytest.fixture(scope="module")
def probed(tmp_path_factory) -> RunFolder:
    folder = stored_run(tmp_path_factory.mktemp("runs") / "probed")
    store_probes(folder, {0: ["wrong", "right"], 2: ["right", "right"]}, samples=2)
    return folder


def test_the_steps_that_have_probes_are_listed_with_their_pass_rates(probed):
    lines = inspected(probed, "--probe")
    assert lines[0] == "held-out probes of the policy after so many steps"
    assert [line.split()[:4] for line in lines[2:]] == [["0", "50.0", "%", "0.5000"], ["2", "100.0", "%", "1.0000"]]


def test_the_probes_after_a_step_are_listed(probed):
    rows = as_json(probed, "--probe", "--step", "0")
    found = [(row["problem"], row["sample"], row["outcome"]) for row in rows]
    assert found == [
        ("arithmetic/test/0", 0, "incorrect"), ("arithmetic/test/0", 1, "incorrect"),
        ("arithmetic/test/1", 0, "correct"), ("arithmetic/test/1", 1, "correct"),
    ]  # fmt: skip


def test_a_probe_problem_is_followed_over_the_steps(probed):
    rows = as_json(probed, "--probe", "--problem", "test/0", "--sample", "1")
    assert [(row["step"], row["sample"], row["outcome"]) for row in rows] == [(0, 1, "incorrect"), (2, 1, "correct")]
    assert inspected(probed, "--probe", "--problem", "test/0")[0].split()[:3] == ["step", "problem", "sample"]


def test_a_probe_is_shown_token_by_token_and_has_no_ratio(probed):
    lines = inspected(probed, "--probe", "--step", "2", "--problem", "test/0")
    assert lines[0] == "held-out probe, the policy after step 2, arithmetic/test/0, response 0 of 2 (--sample)"
    heads = next(line for line in lines if line.startswith("token")).split()
    assert {"advantage", "entropy", "value"} < set(heads)
    assert "ratio" not in heads
    assert lines[-1] == "sampled, and not trained on: advantages are not whitened, and a ratio is not applicable"
    assert not any(line.startswith("not recorded") for line in lines)
    record = as_json(probed, "--probe", "--step", "2", "--problem", "test/0")
    assert (record["probe"], record["step"], record["policy_step"]) == (True, 2, 2)


def test_probes_that_are_not_there_are_refused_in_one_line(folder, probed):
    with pytest.raises(RunFolderError, match=r"no probes: .* or tracking.probe_problems = 0"):
        inspected(folder, "--probe")
    with pytest.raises(RunFolderError, match="no probes after step 1; near it: 0, 2"):
        inspected(probed, "--probe", "--step", "1")
    with pytest.raises(ConfigError, match="the set of probes has no problem 'test/7'"):
        inspected(probed, "--probe", "--problem", "test/7")
    with pytest.raises(ConfigError, match="the probes have no response 5 to arithmetic/test/0"):
        inspected(probed, "--probe", "--problem", "test/0", "--sample", "5")
    with pytest.raises(ConfigError, match="give one of them"):
        inspected(probed, "--probe", "--evaluation")
