"""The comparison with TRL, as far as it can be checked without TRL and without training."""

import dataclasses
import json

import pytest

from benchmarks.comparison import first_reached, medians, ratios, search_threshold, table
from benchmarks.stamp import shown_command
from benchmarks.trainer_runs import Batches, BenchmarkError, Figures, counterpart, our_figures, peer_figures, peer_rows
from rlvr.config.loading import load_config
from tasks import MathAnswer, Problem, load_task

FIGURES = Figures(
    trainer="trl",
    seed=0,
    rollouts=512,
    wall_s=4.0,
    rollouts_per_s=128.0,
    peak_rss_mb=800.0,
    pass_rate_before=0.5,
    pass_rate_after=0.75,
    details={},
)
BATCHES = Batches(rollouts_per_update=64, updates_per_round=4, responses_per_prompt=8)


def test_rows_hold_the_prompt_and_the_gold_number_of_each_problem():
    problems = load_task("arithmetic", {}).problems("test")[:20]
    expected = [{"prompt": p.prompt, "answer": str(int(p.metadata["a"]) + int(p.metadata["b"]))} for p in problems]
    assert peer_rows(problems) == expected


@pytest.mark.parametrize("answer", ["x + 1", "1/2", "", "12,000"])
def test_an_answer_that_the_peer_cannot_judge_is_refused(answer: str):
    problem = Problem(id="t/1", prompt="?", reference=MathAnswer(value=answer), verifier="symbolic")
    with pytest.raises(BenchmarkError, match="problem t/1"):
        peer_rows([problem])


def test_medians_are_taken_quantity_by_quantity():
    runs = [
        dataclasses.replace(FIGURES, rollouts_per_s=speed, peak_rss_mb=peak)
        for speed, peak in ((90.0, 3.0), (100.0, 9.0), (500.0, 6.0))
    ]
    found = medians(runs)
    assert (found["rollouts_per_s"], found["peak_rss_mb"]) == (100.0, 6.0)


def test_ratios_are_ours_over_the_peers():
    peer = medians([FIGURES])
    ours = {**peer, "rollouts_per_s": 256.0, "peak_rss_mb": 400.0}
    found = ratios(ours, peer)
    assert (found["rollouts_per_s"], found["peak_rss_mb"], found["pass_rate_after"]) == (2.0, 0.5, 1.0)


def test_a_ratio_to_zero_is_none_and_is_shown_as_a_dash():
    peer = {**medians([FIGURES]), "pass_rate_before": 0.0}
    found = ratios(peer, peer)
    assert found["pass_rate_before"] is None
    assert table(peer, peer, found).splitlines()[3].endswith("-")


@pytest.mark.parametrize("needed", [20, 60, 100, 140, 220, 300, 320])
def test_the_search_finds_the_fewest_steps_that_reach_the_threshold(needed: int):
    search = search_threshold(lambda steps: float(steps >= needed), 0.95, first=20, most=320, resolution=20)
    assert search.steps == needed
    assert not search.ended_early


def test_no_number_of_steps_is_tried_twice():
    tried: list[int] = []

    def pass_rate_after(steps: int) -> float:
        tried.append(steps)
        return steps / 320

    search = search_threshold(pass_rate_after, 0.7, first=20, most=320, resolution=20)
    assert search.steps == 240
    assert len(tried) == len(set(tried))
    assert search.pass_rates == {steps: steps / 320 for steps in tried}


def test_a_threshold_out_of_reach_ends_the_search_at_the_most_steps():
    search = search_threshold(lambda steps: 0.5, 0.95, first=40, most=240, resolution=20)
    assert search.steps is None
    assert list(search.pass_rates) == [40, 80, 160, 240]


def test_a_search_whose_time_is_up_says_so_and_keeps_the_hit_it_has():
    left = iter([True, True, False])
    search = search_threshold(
        lambda steps: float(steps >= 100), 0.95, first=40, most=320, resolution=20, has_time=lambda: next(left)
    )
    assert search.ended_early
    assert search.steps == 160


def test_a_curve_reaches_a_threshold_at_its_first_point_that_is_not_below():
    curve = [(0, 0.4), (1280, 0.94), (2560, 0.95), (3840, 0.93)]
    assert first_reached(curve, 0.95) == 2560
    assert first_reached(curve, 0.96) is None


def test_the_peers_figures_are_its_last_line_of_json_among_the_noise():
    line = {"peer": "trl-grpo", "wall_s": 2.0, "rollouts": 256, "pass_rate_before": 0.5, "pass_rate_after": 0.6}
    output = "\n".join(["a warning", "{'loss': 0.1}", json.dumps(line), ""])
    assert peer_figures(output, seed=3, peak_rss_mb=700.0).rollouts_per_s == 128.0


def test_a_peer_that_prints_no_figures_is_an_error():
    with pytest.raises(BenchmarkError):
        peer_figures("a warning\n", seed=0, peak_rss_mb=1.0)


def test_our_speed_leaves_out_evaluations_and_nothing_else():
    summary = {
        "seed": 0,
        "wall_s": 10.0,
        "rollouts": 512,
        "stage_times_s": {"evaluate": 2.0, "record": 0.5, "checkpoint": 0.5},
        "pass_rate": {
            phase: {"greedy": {"pass_rate": rate}, "sampled": {"pass_rate": rate}}
            for phase, rate in (("base", 0.4), ("ppo", 0.6))
        },
        "warnings": [],
    }
    metrics = [{"time/step_s": 3.0, "rollout/response_tokens": 20.0}] * 2
    evaluations = [{"rollouts": rollouts, "greedy": {"pass_rate": 0.5}} for rollouts in (0, 512)]
    found = our_figures(summary, metrics, evaluations, peak_rss_mb=500.0)
    assert found.rollouts_per_s == 512 / 8.0
    assert found.details["steps_only"]["wall_s"] == 7.0
    assert (found.pass_rate_before, found.pass_rate_after) == (0.4, 0.6)


@pytest.mark.parametrize("samples", [1, 8])
def test_a_ppo_step_draws_and_learns_from_as_many_rollouts_as_a_round_of_the_peer(samples: int):
    config = load_config(None, [f"rollout.samples_per_prompt={samples}"])
    settings = counterpart(config, BATCHES)
    ours = load_config(
        None, [f"rollout.samples_per_prompt={samples}", *(f"{key}={value}" for key, value in settings.items())]
    )
    assert ours.rollout.prompts_per_step * ours.rollout.samples_per_prompt == BATCHES.rollouts_per_round == 256
    assert BATCHES.rollouts_per_round // ours.algorithm.minibatches == BATCHES.rollouts_per_update
    assert ours.algorithm.epochs == 1


def test_samples_that_do_not_divide_a_round_are_refused():
    with pytest.raises(BenchmarkError, match="samples_per_prompt"):
        counterpart(load_config(None, ["rollout.samples_per_prompt=3", "rollout.prompts_per_step=4"]), BATCHES)


def test_the_recorded_command_keeps_nothing_of_this_machines_folders():
    shown = shown_command(
        "benchmarks.train_vs_trl",
        ["--peer-python", "/home/me/venv/bin/python", "--work=/tmp/here", "task.options.digits=2"],
    )
    assert shown == "python -m benchmarks.train_vs_trl --peer-python python --work=here task.options.digits=2"
