import shlex
from pathlib import Path

import pytest
from huggingface_hub import ModelCard
from support.run_folders import fabricated_summary
from support.stored_runs import stored_run
from support.tiny_runs import tiny_config

from rlvr.cli.card_facts import card_facts, changes_from_preset, paired_gains, reproduction
from rlvr.config.loading import load_config
from rlvr.tracking.card import run_card
from rlvr.tracking.run_folder import RunFolder
from tasks.arithmetic import Arithmetic

TASK = Arithmetic(digits=2)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return stored_run(tmp_path / "mine", per_step=8)


def test_the_keys_that_differ_are_told_in_toml_and_those_of_the_preset_are_not():
    config = load_config(None, ["algorithm.preset=grpo", "rollout.samples_per_prompt=4", "run.seed=3", "run.name=x"])
    assert changes_from_preset(config) == {"rollout.samples_per_prompt": "4"}
    assert changes_from_preset(load_config(None, ["evaluation.audit={ math = {} }"])) == {
        "evaluation.audit": "{ math = {} }"
    }
    assert changes_from_preset(load_config(None, [])) == {}


def test_the_gain_is_counted_problem_by_problem(folder):
    found = paired_gains(folder)["greedy"]
    assert (found["before"], found["after"], found["n"], found["gained"], found["lost"]) == ("sft", 2, 8, 4, 0)
    assert found["difference"]["value"] == pytest.approx(0.5)
    assert found["p"] == pytest.approx(2 * 0.5**4)


def test_without_responses_or_a_second_evaluation_there_is_no_gain(folder):
    folder.responses_path("sft", 0, "greedy").unlink()
    assert paired_gains(folder) == {}
    folder.evaluations_path.unlink()
    assert paired_gains(folder) == {}


def test_the_command_gives_the_run_another_name_and_its_plugins(folder):
    command = shlex.split(reproduction(folder, [Path("my file.py")]))
    assert command[:2] == ["rlvr", "train"]
    assert load_config(Path(command[2]), [command[3]]).run.name == "mine-again"
    assert command[4:] == ["--plugin", "my file.py"]


def test_the_whole_card_is_a_model_card_that_the_hub_understands(folder):
    config = tiny_config("tracking.audit_problems=1", "run.steps=2")
    held_out = TASK.problems("test")[:8]
    facts = card_facts(config, folder, TASK.problems("train"), held_out)
    folder.card_path.write_text(run_card({**fabricated_summary(), "pass_rate": {}, **facts}, folder))
    card = ModelCard.load(folder.card_path)
    for words in (
        "| greedy | 8 | 4 | 0 | +50.0", "| `numeric` | 1 | 0.0 % [0.0,", "Contamination: of 8 held-out prompts",
        "200,000 training problems; 8 held-out problems", "`rollout.prompts_per_step` | `16`", "one seed (7)",
        "rlvr train ", "mine-again",
    ):  # fmt: skip
        assert words in card.text, words


def test_without_audit_problems_the_facts_have_no_audit(folder):
    config = tiny_config("tracking.audit_problems=0")
    assert "audit" not in card_facts(config, folder, TASK.problems("train"), TASK.problems("test")[:8])


def test_a_run_that_was_interrupted_need_not_wait_for_audits(folder):
    config = tiny_config("tracking.audit_problems=2")
    train, held_out = TASK.problems("train"), TASK.problems("test")[:8]
    assert {"audit", "contamination"}.isdisjoint(card_facts(config, folder, train, held_out, audits=False))
    folder.audit_path.write_text('{"problems": 0, "verifiers": []}')
    assert "audit" in card_facts(config, folder, train, held_out, audits=False)
