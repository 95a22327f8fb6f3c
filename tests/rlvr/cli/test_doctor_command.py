"""The doctor's whole round on the tiny model, from Python, by `rlvr doctor` and by `rlvr train --dry-run`."""

import json
from pathlib import Path

import pytest
import torch
from support.processes import Command, failure_of, rlvr_in
from support.tiny_runs import TINY, tiny_config

from rlvr.cli import wiring
from rlvr.cli.doctor.examination import Examination
from rlvr.cli.doctor.findings import Finding, Level
from rlvr.cli.doctor.machine import Machine
from rlvr.cli.doctor_command import changes_text
from rlvr.config.models import Config
from rlvr.training.checkpoint import save_policy

SMALL = (
    "sft.warmup_steps=5",
    "rollout.max_new_tokens=24",
    "evaluation.problems=200",
    "evaluation.curve_problems=100",
    "evaluation.every=1",
)
ROOMY = Machine(memory_bytes=10**11, free_disk_bytes=lambda folder: 10**12)


@pytest.fixture(autouse=True)
def one_process_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    # Threads and the treatment of subnormal numbers are the process's own, and this one runs other tests too.
    monkeypatch.setattr(wiring, "prepare_process", lambda config: None)


def round_of(*overrides: str, machine: Machine = ROOMY, problems: int = 8) -> dict[str, list[Finding]]:
    """Return what an examination of the tiny configuration finds, by group."""
    config = tiny_config(*SMALL, *overrides)
    examination = Examination(config, problems=problems, machine=machine)
    return {title.partition(":")[0]: list(findings) for title, findings in examination.groups()}


def blockers(found: dict[str, list[Finding]]) -> list[tuple[str, str]]:
    return [(group, f.what) for group, findings in found.items() for f in findings if f.level is Level.BLOCKER]


def left_out(found: dict[str, list[Finding]]) -> list[str]:
    return [group for group, findings in found.items() if findings[0].what.startswith("not looked at")]


def tiny_folder(path: Path, *, damaged: bool = False) -> str:
    model = wiring.build_model(tiny_config())
    if damaged:
        with torch.no_grad():
            next(model.policy.module.parameters())[0, 0] = torch.inf
    save_policy(path, model.policy, model.tokenizer)
    return str(path)


def test_a_healthy_run_has_no_blocker_and_no_warning():
    found = round_of()
    assert left_out(found) == []
    assert [f for findings in found.values() for f in findings if f.level in (Level.BLOCKER, Level.WARNING)] == []


def test_what_was_measured_is_there_for_programs():
    examination = Examination(tiny_config(*SMALL), problems=8, machine=ROOMY)
    for _, findings in examination.groups():
        list(findings)
    assert examination.numbers["asked"] == 8
    assert examination.numbers["pass_rate"] == 0.0
    assert all(examination.numbers[name] > 0 for name in ("step_s", "run_s", "memory_bytes", "disk_bytes"))


def test_without_a_warm_start_random_weights_block():
    assert [group for group, _ in blockers(round_of("sft.steps=0"))] == ["Probe"]


def test_a_model_that_is_not_there_leaves_out_what_needs_it_and_nothing_else(tmp_path: Path):
    found = round_of(f"model.name={str(tmp_path / 'none')!r}")
    assert [group for group, _ in blockers(found)] == ["Model and tokenizer"]
    assert left_out(found) == ["Prompts and demonstrations", "Probe", "Numerics", "Memory, disk and time"]
    assert len(found["Configuration"]) > 1


def test_a_damaged_model_is_a_blocker(tmp_path: Path):
    found = round_of(f"model.name={tiny_folder(tmp_path / 'model', damaged=True)!r}")
    assert "not finite on a six-token input" in blockers(found)[0][1]


def test_a_task_that_is_not_there_leaves_out_what_needs_data():
    found = round_of("task.name=arithmetik", "task.options={}")
    assert [group for group, _ in blockers(found)] == ["Data"]
    assert left_out(found) == [
        "Sandbox", "Verifier", "Prompts and demonstrations", "Probe", "Numerics", "Memory, disk and time",
    ]  # fmt: skip
    assert any("LlamaForCausalLM" in finding.what for finding in found["Model and tokenizer"])


def test_a_verifier_that_is_not_there_is_told_once():
    found = round_of("task.verifier=numerik")
    assert [group for group, _ in blockers(found)] == ["Verifier"]
    assert left_out(found) == ["Sandbox", "Probe", "Numerics", "Memory, disk and time"]


def test_a_small_disk_and_a_small_memory_block():
    small = Machine(memory_bytes=10**8, free_disk_bytes=lambda folder: 10**4)
    found = blockers(round_of(machine=small))
    assert [what.partition(":")[0] for _, what in found] == ["memory", "disk"]


def test_a_sandbox_that_is_not_there_leaves_out_the_verifier(tmp_path: Path):
    found = round_of(
        "task.verifier=function_tests",
        f"task.verifier_options={{docker = {{docker_hosts = ['unix://{tmp_path}/docker.sock']}}}}",
    )
    assert [group for group, _ in blockers(found)] == ["Sandbox"]
    assert left_out(found) == ["Verifier", "Probe", "Numerics", "Memory, disk and time"]


def test_groups_of_responses_are_looked_at(tmp_path: Path):
    found = round_of(
        "algorithm.preset=grpo", "rollout.samples_per_prompt=4", "sft.steps=0",
        f"model.name={tiny_folder(tmp_path / 'model')!r}",
    )  # fmt: skip
    assert any("100.0 % of the problems got the same reward for all 4 responses" in f.what for f in found["Probe"])
    assert {f.level for f in found["Numerics"]} == {Level.OK}


def test_changes_are_the_keys_that_are_not_the_defaults():
    assert changes_text(Config()) == "configuration: the defaults"
    assert "  rollout.prompts_per_step = 16\n" in changes_text(tiny_config())
    assert "model.dtype" not in changes_text(tiny_config())


def test_the_command_prints_groups_and_findings_and_exits_0(tmp_path: Path):
    command = rlvr_in(tmp_path, "doctor", *TINY, *SMALL, "--problems", "8")
    assert command.end() == 0, command.stderr
    lines = command.stdout.splitlines()
    assert lines[0] == "Environment"
    assert "Probe: what the policy does on 8 problems" in lines
    assert lines[-1].endswith("nothing stands in the way of this run")
    assert not (tmp_path / "runs").exists()


def test_blockers_exit_1_and_are_objects_in_json(tmp_path: Path):
    command = Command("doctor", *TINY, "sft.steps=0", "--problems", "4", "--json", folder=tmp_path)
    assert command.end() == 1, command.stderr
    found = json.loads(command.stdout)
    assert found["exit_code"] == 1
    assert found["counts"]["BLOCKER"] == 1
    (blocker,) = [finding for finding in found["findings"] if finding["level"] == "BLOCKER"]
    assert blocker["group"].startswith("Probe")
    assert "nothing can be learned" in blocker["what"]
    assert blocker["advice"]
    assert found["numbers"]["asked"] == 4
    assert found["changed"]["sft.steps"] == "0"


def test_a_configuration_that_cannot_be_read_is_a_usage_error(tmp_path: Path):
    assert "sft.stepps" in failure_of(tmp_path, "doctor", "sft.stepps=0")


def test_a_dry_run_prints_the_changes_examines_and_makes_no_folder(tmp_path: Path):
    command = Command("train", "--dry-run", *TINY, *SMALL, folder=tmp_path)
    assert command.end() == 0, command.stderr
    assert command.stdout.startswith("configuration, where it differs from the defaults\n  run.seed = 3\n")
    assert "nothing stands in the way of this run" in command.stdout
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_of_a_taken_name_exits_1_and_leaves_the_folder_alone(tmp_path: Path):
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    command = Command("train", "--dry-run", *TINY, *SMALL, "run.name=mine", folder=tmp_path)
    assert command.end() == 1, command.stderr
    assert "BLOCKER  the run folder runs/mine exists already" in command.stdout
    assert list((tmp_path / "runs" / "mine").iterdir()) == []


def test_a_dry_run_of_a_resumed_run_looks_at_its_own_model(tmp_path: Path):
    assert rlvr_in(tmp_path, "train", *TINY, "run.steps=0", "sft.steps=5", "run.name=mine").end() == 0
    before = sorted(path.name for path in (tmp_path / "runs" / "mine").rglob("*"))
    command = Command("train", "--dry-run", "--resume", "runs/mine", folder=tmp_path)
    assert command.end() in (0, 1), command.stderr
    assert "looking at runs/mine/reference, where the run goes on" in command.stdout
    assert "exists already" not in command.stdout
    assert sorted(path.name for path in (tmp_path / "runs" / "mine").rglob("*")) == before
