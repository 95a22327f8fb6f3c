import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.bench_folders import finished_run

from rlvr.evaluation.bench_figure import plot_bench
from rlvr.evaluation.bench_measures import Arm, read_seed_run
from rlvr.evaluation.bench_table import Bench, bench_page, bench_record, bench_summary, sentences, threshold_of

STAMP: Mapping[str, Any] = {
    "commit": "52ad885",
    "time": "2026-01-02T03:04:05+00:00",
    "machine": {"platform": "Linux", "python": "3.11.7", "cpus": 2},
    "versions": {"rlvr": "0.1.0", "torch": "2.13.0"},
    "command": "rlvr bench my.toml",
}


def bench(folder: Path, curves: Mapping[str, list[list[int]]], **changes: Any) -> Bench:
    """Return a bench of arms with these curves, one for each seed; what is named as a control is one."""
    arms = []
    for name, own in curves.items():
        runs = []
        for seed, curve in enumerate(own):
            rewarded = 0.0 if name == "format_only" else 0.5
            run = finished_run(folder / name / f"seed-{seed}", curve, seed=seed, rewarded=rewarded)
            runs.append(read_seed_run(run.path, seed=seed, shown=f"{name}/seed-{seed}"))
        arms.append(Arm(name=name, control=name in ("random_reward", "format_only", "lr_zero"), runs=runs))
    seeds = list(range(max(map(len, curves.values()))))
    given: dict[str, Any] = {
        "name": "toy", "seeds": seeds, "main_arm": "ppo", "threshold": None, "arms": arms, "warm_starts_s": [],
        "missing": {}, "stamp": STAMP, **changes,
    }  # fmt: skip
    return Bench(**given)


CURVES = {
    "ppo": [[15, 30, 45], [15, 33, 44]],
    "random_reward": [[15, 16, 15], [15, 14, 16]],
    "lr_zero": [[15, 15, 15], [15, 15, 15]],
}


def test_each_control_is_put_in_words_beside_the_real_reward(tmp_path: Path):
    drawn, zero = sentences(bench(tmp_path, CURVES))
    assert drawn.startswith("random_reward gained 1.0 points, greedy (95 % interval of the change [")
    assert "not distinguishable from none): what training alone gives when the reward is drawn at random." in drawn
    assert "ppo (+59.0 [" in drawn
    assert "ended 58.0 points [" in drawn
    assert drawn.endswith("] higher.")
    assert "gained 0.0 points, greedy (95 % interval of the change [" in zero
    assert "[0.0, 0.0]" not in zero
    assert "find out why" not in zero


def test_a_gain_that_a_control_matches_is_said_to_be_none(tmp_path: Path):
    (sentence,) = sentences(bench(tmp_path, {"ppo": [[15, 25], [15, 26]], "random_reward": [[15, 25], [15, 26]]}))
    assert sentence.endswith("is not distinguishable from it here.")
    assert "random_reward gained 21.0 points" in sentence


def test_learning_without_a_learning_rate_is_an_alarm(tmp_path: Path):
    (sentence,) = sentences(bench(tmp_path, {"ppo": [[15, 45]], "lr_zero": [[15, 30]]}))
    assert "It must be 0, and 15 answers changed: find out why the same weights" in sentence


def test_without_a_learning_rate_changes_that_cancel_are_an_alarm_too(tmp_path: Path):
    found = bench(tmp_path, {"ppo": [[15, 45]], "lr_zero": [[15, 15]]})
    run = found.arms[1].runs[0]
    swapped = {**run.rates_before["greedy"]}
    one, other = (next(name for name, rate in swapped.items() if rate == right) for right in (0.0, 1.0))
    swapped |= {one: 1.0, other: 0.0}
    changed = replace(run, rates_after={**run.rates_after, "greedy": swapped})
    arms = [found.arms[0], replace(found.arms[1], runs=[changed])]
    (sentence,) = sentences(replace(found, arms=arms))
    assert "gained 0.0 points" in sentence
    assert "It must be 0, and 2 answers changed" in sentence


def test_a_control_that_earned_nothing_is_said_to_have_had_no_reward(tmp_path: Path):
    (sentence,) = sentences(bench(tmp_path, {"ppo": [[15, 45]], "format_only": [[15, 5]]}))
    assert sentence.startswith("format_only lost 20.0 points")
    assert "No response of it was ever rewarded" in sentence


def test_the_threshold_is_half_of_the_main_arms_gain_unless_given(tmp_path: Path):
    found = bench(tmp_path, CURVES)
    assert threshold_of(found) == pytest.approx((0.3 + 0.89) / 2)
    assert threshold_of(bench(tmp_path / "given", CURVES, threshold=0.25)) == 0.25
    assert threshold_of(bench(tmp_path / "none", {"ppo": [[15, 15]]})) is None


def test_the_page_has_every_arm_seed_and_origin(tmp_path: Path):
    missing = {"ppo/seed-2": "thirteen steps bring bad luck"}
    page = bench_page(bench(tmp_path, CURVES, seeds=[0, 1, 2], missing=missing, warm_starts_s=[60.0, 66.0]))
    assert "| ppo           | 2 of 3 |" in page
    assert "rollouts to 59.5 %" in page
    assert "- ppo/seed-2: thirteen steps bring bad luck" in page
    assert "trained once (2.1 minutes for all seeds)" in page
    assert "| 30.0 % [19.1, 43.8] | 90.0 % [78.6, 95.7] |" in page
    for text in ("random_reward/seed-1", "52ad885", "2026-01-02", "torch 2.13.0", "`rlvr bench my.toml`"):
        assert text in page
    assert "over seeds and problems" in page


def test_one_seed_is_said_to_say_nothing_of_others(tmp_path: Path):
    assert "say nothing of how another seed would fare" in bench_page(bench(tmp_path, {"ppo": [[15, 45]]}))


def test_arms_that_were_sampled_at_different_temperatures_are_told(tmp_path: Path):
    found = bench(tmp_path, {"ppo": [[15, 45]], "cool": [[15, 40]]})
    assert "temperature" not in bench_page(found)
    run = found.arms[1].runs[0]
    cool = replace(run, after={**run.after, "sampled": {**run.after["sampled"], "temperature": 0.5}})
    page = bench_page(replace(found, arms=[found.arms[0], replace(found.arms[1], runs=[cool])]))
    assert "and these differ (0.5, 1): compare the greedy rates" in page


def test_runs_of_different_commits_are_told_apart(tmp_path: Path):
    found = bench(tmp_path, {"ppo": [[15, 45]]})
    other = finished_run(tmp_path / "other", [15, 45])
    other.write_summary({**(other.read_summary() or {}), "commit": "feed"})
    arm = Arm(name="grpo", control=False, runs=[read_seed_run(other.path, seed=0, shown="grpo/seed-0")])
    page = bench_page(bench(tmp_path / "two", {"ppo": [[15, 45]]}, arms=[*found.arms, arm]))
    assert "trained by 2 different commits" in page


def test_a_bench_without_any_finished_run_still_has_a_table(tmp_path: Path):
    found = bench(tmp_path, {"ppo": [], "lr_zero": []}, seeds=[0], missing={"ppo/seed-0": "not trained yet"})
    assert "| ppo     | 0 of 1 | -     | -   |" in bench_summary(found)
    assert bench_record(found)["arms"][0]["greedy"]["gain"] is None
    plot_bench(found, [tmp_path / "figure.png"])


def test_the_record_is_json_and_has_the_same_numbers(tmp_path: Path):
    record = json.loads(json.dumps(bench_record(bench(tmp_path, CURVES))))
    ppo, drawn, _ = record["arms"]
    assert ppo["greedy"]["gain"]["value"] == pytest.approx(0.59)
    assert ppo["greedy"]["gain"]["per_seed"] == [pytest.approx(0.6), pytest.approx(0.58)]
    assert ppo["greedy"]["lead_over_main"] is None
    assert drawn["greedy"]["lead_over_main"]["value"] == pytest.approx(-0.58)
    assert drawn["control"] is True
    assert ppo["seeds"][0]["rollouts_to_threshold"] == pytest.approx(98.333, rel=1e-4)
    assert record["stamp"] == STAMP


def test_one_seed_has_the_same_interval_in_both_tables(tmp_path: Path):
    page = bench_page(bench(tmp_path, {"ppo": [[15, 45]]}))
    assert page.count("30.0 % [19.1, 43.8]") == 4
    assert page.count("90.0 % [78.6, 95.7]") == 4


def test_an_arm_whose_name_begins_with_an_underscore_is_in_the_legend(tmp_path: Path):
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none"}):
        plot_bench(bench(tmp_path, {"ppo": [[15, 45]], "_mine": [[15, 30]]}), [tmp_path / "figure.svg"])
    assert (tmp_path / "figure.svg").read_text().count("_mine") == 2


def test_equal_benches_give_equal_pictures(tmp_path: Path):
    found = bench(tmp_path, CURVES)
    plot_bench(found, [tmp_path / "a.svg", tmp_path / "a.png"])
    plot_bench(found, [tmp_path / "b.svg"])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
