"""`rlvr train` from the first line to the last, and what it leaves."""

import json
import shutil
import tomllib
from typing import Any

import pytest
import torch
from support.finished_runs import RUN, lines
from support.processes import failure_of, rlvr_in
from support.tiny_runs import TINY, tiny_config
from transformers import AutoModelForCausalLM, AutoTokenizer

from rlvr.config.models import Config
from rlvr.tracking.names import NAMES
from rlvr.tracking.run_folder import RunFolder


@pytest.fixture(scope="module")
def summary(whole_run) -> dict[str, Any]:
    return json.loads((whole_run.path / "summary.json").read_text())


def test_the_run_folder_has_every_file(whole_run):
    found = {str(path.relative_to(whole_run.path)) for path in whole_run.path.rglob("*") if path.is_file()}
    responses = {
        f"responses/{when}_{mode}.jsonl.gz"
        for when in ("sft_000000", "ppo_000004", "ppo_000008")
        for mode in ("greedy", "sampled")
    }
    policy = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    wanted = {
        "config.toml", "metrics.jsonl", "sft.jsonl", "evaluations.jsonl", "summary.json", "curve.png", "README.md",
        *responses,
        *(f"rollouts/step_{step:06d}.jsonl.gz" for step in range(1, 9)),
        *(f"probes/step_{step:06d}.jsonl.gz" for step in range(0, 9, 2)),
        *(f"reference/{name}" for name in policy),
        *(f"checkpoints/step_000008/policy/{name}" for name in policy),
        "checkpoints/step_000008/critic.safetensors", "checkpoints/step_000008/trainer.pt",
    }  # fmt: skip
    assert wanted <= found
    assert sorted(path.name for path in (whole_run.path / "checkpoints").iterdir()) == ["step_000006", "step_000008"]
    assert not [name for name in found if name.split("/")[-1].startswith(".") or ".writing" in name]


def test_the_configuration_in_the_folder_is_the_resolved_one(whole_run):
    written = Config.model_validate(tomllib.loads((whole_run.path / "config.toml").read_text()))
    assert written == tiny_config(*RUN, "run.name=whole", 'tracking.trackers=["tensorboard"]')


def test_metrics_are_documented_and_one_line_a_step(whole_run):
    steps = lines(whole_run.path / "metrics.jsonl")
    assert [line["step"] for line in steps] == list(range(1, 9))
    assert all(line.keys() == steps[1].keys() for line in steps[1:])
    assert steps[0].keys() < steps[1].keys()  # the critic's warm-up, in which the policy has no numbers
    assert steps[1].keys() - {"step"} <= NAMES.keys()
    assert [line["step"] for line in lines(whole_run.path / "sft.jsonl")] == list(range(1, 51))
    coefficients = [line["kl/coef"] for line in steps]
    assert len(set(coefficients)) > 4


def test_tensorboard_has_the_numbers_of_the_metrics_file_and_of_the_evaluations(whole_run):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(whole_run.path / "tensorboard"))
    events.Reload()

    def points(name: str) -> dict[int, float]:
        return {point.step: pytest.approx(point.value, rel=1e-6) for point in events.Scalars(name)}

    steps = lines(whole_run.path / "metrics.jsonl")
    for name in steps[-1].keys() - {"step"}:
        assert points(name) == {line["step"]: line[name] for line in steps if line.get(name) is not None}, name
    evaluations = lines(whole_run.path / "evaluations.jsonl")
    assert points("eval/greedy_pass_rate") == {line["step"]: line["greedy"]["pass_rate"] for line in evaluations}


def test_evaluations_are_those_before_during_and_after(whole_run):
    found = [(line["phase"], line["step"], line["problems"]) for line in lines(whole_run.path / "evaluations.jsonl")]
    assert found == [("sft", 0, 20), ("ppo", 2, 10), ("ppo", 4, 10), ("ppo", 6, 10), ("ppo", 8, 20)]


def test_probes_follow_the_same_held_out_problems_over_the_run(whole_run):
    folder = RunFolder.open(whole_run.path)
    assert folder.steps_with_probes() == [0, 2, 4, 6, 8]
    problems = [row["problem"] for row in folder.read_responses("sft", 0, "greedy")][:8]
    for step in folder.steps_with_probes():
        records = folder.read_probes(step)
        assert [record["problem"] for record in records] == problems
        assert all(len(record["advantages"]) == len(record["token_ids"]) for record in records)
        assert {record["policy_step"] for record in records} == {step}


def test_rollouts_tell_what_was_asked_said_judged_and_learned(whole_run):
    records = RunFolder.open(whole_run.path).read_rollouts(8)
    assert len(records) == 16
    for record in records:
        assert record.keys() >= {"problem", "prompt", "text", "outcome", "reward", "kl", "advantages", "finish"}
        length = len(record["token_ids"])
        assert all(len(record[name]) == length for name in ("mask", "old_logprobs", "values", "advantages", "returns"))
    tokenizer = AutoTokenizer.from_pretrained(whole_run.path / "reference")
    assert tokenizer.decode(records[0]["token_ids"], skip_special_tokens=True) == records[0]["text"]


def test_the_summary_has_what_a_report_needs(summary: dict[str, Any]):
    assert summary.keys() >= {
        "name", "task", "model", "algorithm", "seed", "commit", "versions", "machine", "started", "wall_s", "steps",
        "rollouts", "tokens", "pass_rate", "stage_times_s", "peak_memory_mb", "warnings", "finished",
    }  # fmt: skip
    assert (summary["seed"], summary["steps"], summary["rollouts"], summary["finished"]) == (3, 8, 128, True)
    assert summary["wall_s"] > 0
    assert summary["peak_memory_mb"] > 50
    stages = ("sft", "rollout", "judge", "experience", "update", "evaluate", "checkpoint")
    assert all(summary["stage_times_s"][stage] > 0 for stage in stages)
    assert sum(summary["stage_times_s"].values()) <= summary["wall_s"]


def test_the_summarys_pass_rates_are_before_and_after_with_n_and_interval(summary: dict[str, Any]):
    assert list(summary["pass_rate"]) == ["sft", "ppo"]
    for rates in summary["pass_rate"].values():
        for mode in ("greedy", "sampled"):
            rate = rates[mode]
            assert rate["n"] == 20
            assert 0 <= rate["low"] <= rate["pass_rate"] <= rate["high"] <= 1


def test_the_summary_counts_what_the_metrics_say(summary: dict[str, Any], whole_run):
    steps = lines(whole_run.path / "metrics.jsonl")
    assert summary["tokens"] == pytest.approx(sum(16 * line["rollout/response_tokens"] for line in steps))
    assert summary["stage_times_s"]["update"] == pytest.approx(sum(line["time/update_s"] for line in steps))


def test_a_run_that_is_no_terminals_writes_one_readable_line_a_step(whole_run):
    steps = [line for line in whole_run.stderr.splitlines() if line.startswith("PPO ")]
    assert len(steps) == 8
    assert all(word in steps[0] for word in ("1/8", "reward", "pass", "kl", "s/step", "left"))
    assert "Writing model shards" not in whole_run.stderr
    assert "it/s]" not in whole_run.stderr


def test_the_run_ends_by_saying_what_came_of_it_and_where_it_is(whole_run):
    assert "held-out pass rate, n = 20, with 95 % intervals" in whole_run.stdout
    assert "after PPO (8 steps)" in whole_run.stdout
    assert "curve      runs/whole/curve.png" in whole_run.stdout


def test_the_policy_folder_loads_with_transformers_alone(whole_run):
    folder = whole_run.path / "checkpoints/step_000008/policy"
    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    prompt = tokenizer("12+34=", return_tensors="pt")
    generated = model.generate(prompt["input_ids"], max_new_tokens=4, do_sample=False)
    assert torch.equal(generated[:, : prompt["input_ids"].shape[1]], prompt["input_ids"])


def test_the_card_shows_the_curve_and_how_to_go_on(whole_run):
    card = (whole_run.path / "README.md").read_text()
    assert "](curve.png)" in card
    assert "rlvr train --resume" in card
    assert (whole_run.path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_a_finished_run_can_be_resumed_without_harm(whole_run):
    before = {path: path.read_bytes() for path in whole_run.path.rglob("*") if path.is_file()}
    command = rlvr_in(whole_run.path.parent.parent, "train", "--resume", "runs/whole")
    assert command.end() == 0, command.stderr
    assert "after PPO (8 steps)" in command.stdout
    after = {path: path.read_bytes() for path in whole_run.path.rglob("*") if path.is_file()}
    changed = {path.name for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed <= {"summary.json", "README.md", "curve.png"}
    summary, earlier = (
        json.loads(files[whole_run.path / "summary.json"]) for files in (after, before)
    )  # fmt: skip
    for name in ("pass_rate", "steps", "rollouts", "tokens", "seed", "started", "finished", "warnings"):
        assert summary[name] == earlier[name], name


def test_a_resumed_run_takes_no_overrides(whole_run):
    message = failure_of(whole_run.path.parent.parent, "train", "--resume", "runs/whole", "run.steps=9")
    assert message == "error: --resume takes no configuration: the run's own is runs/whole/config.toml"


def test_the_name_of_a_run_is_taken(whole_run):
    message = failure_of(whole_run.path.parent.parent, "train", *TINY, "run.name=whole")
    assert message.startswith("error: runs/whole exists already; resume it with `rlvr train --resume runs/whole`")


def test_eval_of_a_run_measures_its_last_policy_as_the_run_did(whole_run, summary: dict[str, Any]):
    home = whole_run.path.parent.parent
    command = rlvr_in(home, "eval", "runs/whole", "--out", "responses.jsonl")
    assert command.end() == 0, command.stderr
    assert "step_000008/policy on arithmetic/test, 20 problems" in command.stdout
    greedy = summary["pass_rate"]["ppo"]["greedy"]
    assert f"{100 * greedy['pass_rate']:.1f} %" in command.stdout
    records = lines(home / "responses.jsonl")
    assert [record["mode"] for record in records] == ["greedy"] * 20 + ["sampled"] * 20
    for mode in ("greedy", "sampled"):
        texts = [record["text"] for record in records if record["mode"] == mode]
        assert texts == [line["text"] for line in RunFolder.open(whole_run.path).read_responses("ppo", 8, mode)]


def test_eval_of_a_model_folder_takes_the_task_from_the_arguments(whole_run):
    home = whole_run.path.parent.parent
    arguments = ["task.name=arithmetic", "task.options.digits=2", "evaluation.problems=7"]
    command = rlvr_in(home, "eval", "runs/whole/reference", *arguments)
    assert command.end() == 0, command.stderr
    assert "runs/whole/reference on arithmetic/test, 7 problems" in command.stdout
    assert [line.split()[0] for line in command.stdout.splitlines()[1:3]] == ["greedy", "sampled"]
    assert command.stdout.count("n 7") == 2


def test_eval_of_a_model_that_is_not_there_is_refused(whole_run):
    message = failure_of(whole_run.path, "eval", "./nothing", "task.name=arithmetic")
    assert message == "error: model.name: no file or folder './nothing'"


@pytest.mark.parametrize(("name", "start"), [("x.png", b"\x89PNG"), ("x.svg", b"<?xml")])
def test_plot_draws_several_runs_in_one_picture(whole_run, name: str, start: bytes):
    home = whole_run.path.parent.parent
    if not (home / "other").exists():
        shutil.copytree(whole_run.path, home / "other")
    command = rlvr_in(home, "plot", "runs/whole", "other", "--out", name, "--x", "rollouts")
    assert command.end() == 0, command.stderr
    assert command.stdout == f"wrote {name}\n"
    assert (home / name).read_bytes().startswith(start)


def test_plot_of_what_is_no_run_is_refused(whole_run):
    assert "is not a run folder" in failure_of(whole_run.path, "plot", "nothing")
