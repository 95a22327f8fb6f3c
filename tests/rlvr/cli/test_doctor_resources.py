"""What the doctor says of memory, disk, time and settings."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import pytest
from support.tiny_runs import tiny_config

from rlvr.cli.doctor import machine
from rlvr.cli.doctor.checks_config import check_config, check_evaluation, check_run_folder, half_width_points
from rlvr.cli.doctor.checks_resources import (
    DiskUse,
    TimeEstimate,
    check_disk,
    check_memory,
    check_time,
    check_weights_fit,
    checkpoints_at_once,
    evaluated_responses,
)
from rlvr.cli.doctor.findings import Finding, Level
from rlvr.cli.doctor.memory import Load, Shape, estimate_memory


def levels(findings: Iterable[Finding]) -> list[Level]:
    return [finding.level for finding in findings]


def only(findings: Iterable[Finding], level: Level) -> Finding:
    """Return the one finding of a level."""
    (found,) = [finding for finding in findings if finding.level is level]
    return found


def healthy(findings: Sequence[Finding]) -> bool:
    return all(finding.level in (Level.OK, Level.NOTE) for finding in findings)


# memory, disk, time

SMALL = Shape(
    parameters=1_000_000, weight_bytes=4, compute_bytes=4, vocabulary=100, layers=4, hidden=160, intermediate=320,
    key_value=160, splits_logits=True,
)  # fmt: skip
LOAD = Load(
    sampled_rows=64, prompt_tokens=8, response_tokens=40, trained_rows=16, critic_parameters=1000,
    sampler_copies_weights=False,
)  # fmt: skip


def test_memory_grows_with_what_its_part_names():
    large_cache = estimate_memory(SMALL, Load(**{**asdict(LOAD), "sampled_rows": 50_000}))
    assert large_cache.largest[0] == "key-value cache"
    assert "rollout.batch_size" in large_cache.largest[1].key
    large_batch = estimate_memory(SMALL, Load(**{**asdict(LOAD), "trained_rows": 50_000}))
    assert large_batch.phase == "updating"
    assert "micro_batch_size" in large_batch.largest[1].key


def test_a_model_holds_its_weights_five_times_over():
    """Policy, reference, gradient and two moments; a sixth is Python itself."""
    shape = Shape(**{**asdict(SMALL), "parameters": 10**9})
    assert 20e9 < estimate_memory(shape, LOAD).bytes < 22e9


def test_autocast_keeps_activations_in_both_types():
    mixed = Shape(**{**asdict(SMALL), "compute_bytes": 2})
    load = Load(**{**asdict(LOAD), "trained_rows": 50_000})
    plain, both = (estimate_memory(shape, load).parts["activations"].bytes for shape in (SMALL, mixed))
    assert both == 1.5 * plain


def test_memory_that_is_not_there_blocks_with_the_key_to_lower():
    estimate = estimate_memory(SMALL, Load(**{**asdict(LOAD), "sampled_rows": 50_000}))
    found = check_memory(estimate, 10**9)
    assert found.level is Level.BLOCKER
    assert found.advice == "take a lower rollout.batch_size"
    assert check_memory(estimate, round(1.1 * estimate.bytes)).level is Level.WARNING
    assert check_memory(estimate, 10**12).level is Level.OK
    assert check_memory(estimate, None).level is Level.NOTE


def test_a_model_larger_than_the_memory_is_not_loaded():
    assert levels(check_weights_fit(10**10, 10**9)) == [Level.BLOCKER]
    assert levels(check_weights_fit(10**8, 10**9)) == []


USE = DiskUse(checkpoint=4e9, checkpoints=3, reference=1e9, rollouts=1e8)


def test_a_small_disk_blocks_with_the_key_to_change():
    found = check_disk(USE, round(5e9), Path("/data"))
    assert found.level is Level.BLOCKER
    assert "about 13.1 GB (3 checkpoints of 4.0 GB" in found.what
    assert "checkpoint.keep" in found.advice
    assert check_disk(USE, round(14e9), Path("/data")).level is Level.WARNING
    assert check_disk(USE, round(1e12), Path("/data")).level is Level.OK


def test_a_disk_that_rollouts_would_fill_names_their_key():
    records = DiskUse(checkpoint=1e6, checkpoints=1, reference=1e6, rollouts=9e9)
    assert "tracking.rollouts_every" in check_disk(records, round(1e9), Path("/data")).advice


def test_one_checkpoint_more_than_are_kept_lies_there_while_it_is_written():
    assert checkpoints_at_once(steps=100, every=10, keep=2) == 3
    assert checkpoints_at_once(steps=10, every=10, keep=2) == 1
    assert checkpoints_at_once(steps=100, every=10, keep=0) == 10
    assert checkpoints_at_once(steps=100, every=0, keep=2) == 1


def test_evaluations_before_after_and_on_the_way_are_counted():
    # 2 before and after on 10 problems, after steps 2 and 4 on 5; one greedy and one sampled response each
    assert evaluated_responses(steps=6, every=2, problems=10, curve_problems=5, samples=1, first=1) == 2 * (20 + 10)


def test_a_run_of_days_warns():
    short = TimeEstimate(rollout=1, judge=1, experience=1, update=1, sft=10, evaluations=10, steps=5)
    long = TimeEstimate(rollout=100, judge=1, experience=1, update=1, sft=10, evaluations=10, steps=5000)
    assert levels(check_time(short, at_most=False, tokens_per_s=100)) == [Level.OK, Level.OK]
    _, run = check_time(long, at_most=True, tokens_per_s=100)
    assert run.level is Level.WARNING
    assert "at most about 143 h" in run.what


# configuration


def advice_on(*overrides: str) -> list[Finding]:
    return [
        found for found in check_config(tiny_config("sft.warmup_steps=5", *overrides)) if found.level is not Level.OK
    ][:-1]


def test_the_tiny_configuration_gets_no_advice_but_on_seeds():
    assert advice_on() == []


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["optimizer.lr=0"], "optimizer.lr is 0"),
        (["run.steps=500", "algorithm.kl_coef=0"], "algorithm.kl_coef is 0 over 500 steps"),
        (["algorithm.epochs=8"], "8 epochs over the same rollouts"),
        (["rollout.top_p=0.9"], "cut off the tail"),
        (["rollout.temperature=0.1"], "draws nearly the same response"),
        (["critic.warmup_steps=6"], "the policy never changes"),
        (["optimizer.warmup_steps=6"], "the full learning rate is never reached"),
        (["sft.warmup_steps=60"], "outlasts the warm start"),
        (["run.steps=500", "checkpoint.every=0"], "a crash loses the whole run"),
        (["task.verifier=random"], "judged by the control 'random' too"),
        (["task.verifier=exact"], "what fools it shows nowhere"),
        (["model.name=x", "model.dtype=bfloat16", "optimizer.lr=1e-6"], "are rounded away"),
        (["model.name=x"], "pretrained models usually take"),
        (["run.steps=0"], "ends after the warm start"),
    ],
)
def test_settings_that_are_usually_not_meant_are_told(overrides: list[str], told: str):
    (found,) = advice_on(*overrides)
    assert told in found.what


def test_a_control_whose_held_out_problems_are_judged_truly_gets_no_advice():
    assert advice_on("task.verifier=random", "evaluation.verifier=task") == []


def test_too_few_held_out_problems_warn_with_the_half_width():
    assert half_width_points(500) == pytest.approx(4.4, abs=0.05)
    few = only(check_evaluation(tiny_config("run.steps=0"), 20), Level.WARNING)
    assert "20 held-out problems measure a pass rate to +-21.9 points" in few.what
    assert few.advice.startswith("raise evaluation.problems")
    assert "find more" in only(check_evaluation(tiny_config("run.steps=0"), 15), Level.WARNING).advice
    many = tiny_config("evaluation.problems=500", "evaluation.curve_problems=200")
    assert healthy(list(check_evaluation(many, 500)))


def test_a_curve_on_all_the_problems_there_are_is_not_told_to_take_more_of_them():
    few = tiny_config("evaluation.problems=500", "evaluation.curve_problems=10")
    assert "raise evaluation.curve_problems" in only(check_evaluation(few, 500), Level.WARNING).advice
    whole = tiny_config("evaluation.problems=20", "evaluation.curve_problems=200")
    assert [f for f in check_evaluation(whole, 20) if "evaluation.curve_problems" in f.advice] == []


def test_a_curve_of_few_points_is_noted():
    config = tiny_config("evaluation.problems=500", "evaluation.curve_problems=0", "evaluation.every=5")
    assert "fewer than three points" in only(check_evaluation(config, 500), Level.NOTE).what


def test_a_run_folder_that_exists_blocks_and_none_is_made(tmp_path: Path):
    config = tiny_config(f"run.dir={str(tmp_path / 'runs')!r}", "run.name=mine")
    assert levels(check_run_folder(config)) == [Level.OK]
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    assert "--resume" in only(check_run_folder(config), Level.BLOCKER).advice


def test_a_run_dir_that_is_a_file_blocks(tmp_path: Path):
    (tmp_path / "runs").write_text("")
    config = tiny_config(f"run.dir={str(tmp_path / 'runs')!r}")
    assert "is a file" in only(check_run_folder(config), Level.BLOCKER).what


def test_a_run_dir_in_which_nothing_can_be_written_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)  # root may write anywhere
    config = tiny_config(f"run.dir={str(tmp_path / 'runs')!r}")
    assert f"nothing can be written in {tmp_path}" in only(check_run_folder(config), Level.BLOCKER).what


# machine


@pytest.mark.parametrize(("limit", "room"), [("1000\n", 700), ("max\n", None), ("100\n", 0)])
def test_a_containers_limit_leaves_what_is_not_used_files_that_were_read_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, room: int | None
):
    (tmp_path / "memory.max").write_text(limit)
    (tmp_path / "memory.current").write_text("800\n")
    (tmp_path / "memory.stat").write_text("anon 300\nfile 500\nactive_file 200\ninactive_file 300\n")
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    assert machine._cgroup_room() == room
    monkeypatch.setattr(machine, "_CGROUP", tmp_path / "nothing")
    assert machine._cgroup_room() is None
