"""Seeds as one curve: which runs belong together, and the arithmetic of their mean."""

import csv
import statistics

import pytest
from support.run_folders import evaluation, measured

from rlvr.errors import ConfigError
from rlvr.evaluation.curves import plot_curves, plot_frontier
from rlvr.evaluation.curves.draw_learning_curve import learning_curve_figure
from rlvr.evaluation.curves.grouping import grouped, mean_series
from rlvr.evaluation.curves.learning_curve import learning_curve
from rlvr.evaluation.curves.quantities import parse_quantity
from rlvr.evaluation.curves.recorded_runs import load_runs
from rlvr.evaluation.curves.series import Point, Series
from rlvr.tracking.run_folder import RunFolder

T_OF_THREE = 4.303
"""Quantile of Student's t at 97.5 % for two degrees of freedom, as printed in tables."""


def seed_run(path, seed, greedy, *, preset="ppo", extra="", steps=(0, 10, 20), wall_s=0.0) -> RunFolder:
    """A run with these numbers of right greedy answers of 200, one for each step."""
    config = f'[run]\nname = "{path.name}"\nseed = {seed}\n[algorithm]\npreset = "{preset}"\n{extra}'
    folder = RunFolder.create(path, config)
    for step, right in zip(steps, greedy, strict=True):
        record = evaluation(step, "ppo" if step else "sft", right, right // 2)
        record["wall_s"] += wall_s
        folder.append_evaluation(record)
    return folder


def rows_of(path, series="greedy") -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["series"] == series]


def test_the_curve_of_a_group_is_the_mean_of_its_seeds_with_their_interval(tmp_path):
    right = {0: [100, 120, 150], 1: [104, 132, 160], 2: [90, 128, 170]}
    paths = [seed_run(tmp_path / f"s{seed}", seed, counts).path for seed, counts in right.items()]
    assert plot_curves(paths, tmp_path / "curve.csv", group=True) == []
    rows = rows_of(tmp_path / "curve.csv")
    assert [int(row["step"]) for row in rows] == [0, 10, 20]
    for row, counts in zip(rows, zip(*right.values(), strict=True), strict=True):
        rates = [count / 200 for count in counts]
        half = T_OF_THREE * statistics.stdev(rates) / 3**0.5
        assert float(row["y"]) == pytest.approx(statistics.mean(rates))
        assert float(row["low"]) == pytest.approx(max(0, statistics.mean(rates) - half), abs=1e-4)
        assert float(row["high"]) == pytest.approx(min(1, statistics.mean(rates) + half), abs=1e-4)
        assert (row["run"], row["group"], row["n"], row["n_of"]) == ("s0+s1+s2", "algorithm.preset=ppo", "3", "seeds")


def test_on_the_clock_a_point_of_a_group_lies_at_the_mean_of_its_seeds_minutes(tmp_path):
    paths = [seed_run(tmp_path / f"s{seed}", seed, [1, 2, 3], wall_s=60.0 * seed).path for seed in (0, 1)]
    plot_curves(paths, tmp_path / "curve.csv", x="wall_s", group=True)
    assert [float(row["x"]) for row in rows_of(tmp_path / "curve.csv")] == pytest.approx([1.0, 100 / 60, 140 / 60])


def test_steps_that_not_every_seed_has_are_left_out_with_a_warning(tmp_path):
    paths = [
        seed_run(tmp_path / "whole", 0, [100, 120, 150]).path,
        seed_run(tmp_path / "stopped", 1, [100, 120], steps=(0, 10)).path,
    ]
    [warning] = plot_curves(paths, tmp_path / "curve.csv", group=True)
    assert "not every seed has the points at 20" in warning
    assert [row["step"] for row in rows_of(tmp_path / "curve.csv")] == ["0", "10"]


def test_a_single_seed_keeps_its_own_band(tmp_path):
    paths = [
        seed_run(tmp_path / "a", 0, [100, 120, 150]).path,
        seed_run(tmp_path / "b", 0, [80, 90, 99], preset="grpo").path,
        seed_run(tmp_path / "c", 1, [80, 91, 99], preset="grpo").path,
    ]
    plot_curves(paths, tmp_path / "curve.csv", group=True)
    [row] = [row for row in rows_of(tmp_path / "curve.csv") if row["run"] == "a" and row["step"] == "0"]
    own = measured(100)
    assert (float(row["low"]), float(row["high"]), row["n_of"]) == (own["low"], own["high"], "responses")


def test_seeds_that_agree_exactly_are_not_taken_for_certain():
    lines = [
        Series(
            name="greedy", role="first", n_of="responses", points=(Point(key=0, step=0, x=0, y=0.9, low=low, high=1),)
        )
        for low in (0.8, 0.85)
    ]
    [point] = mean_series(lines).points
    assert (point.y, point.low, point.high, point.n) == (pytest.approx(0.9), 0.8, 1, 2)


def test_groups_are_named_by_the_keys_they_differ_in_without_what_follows_from_the_preset(tmp_path):
    runs = load_runs(
        [
            seed_run(tmp_path / "a", 0, [1, 2, 3], extra='kl_in = "reward"\n[optimizer]\nlr = 0.1\n').path,
            seed_run(tmp_path / "b", 0, [1, 2, 3], preset="grpo", extra='kl_in = "loss"\n[optimizer]\nlr = 0.1\n').path,
            seed_run(tmp_path / "c", 0, [1, 2, 3], preset="grpo", extra='kl_in = "loss"\n[optimizer]\nlr = 0.2\n').path,
            seed_run(tmp_path / "d", 1, [1, 2, 3], preset="grpo", extra='kl_in = "loss"\n[optimizer]\nlr = 0.2\n').path,
        ]
    )
    assert [group.title for group in grouped(runs)] == [
        "algorithm.preset=ppo, optimizer.lr=0.1 (1 seed)",
        "algorithm.preset=grpo, optimizer.lr=0.1 (1 seed)",
        "algorithm.preset=grpo, optimizer.lr=0.2 (2 seeds)",
    ]


def test_seeds_of_a_bench_that_start_from_a_model_each_are_one_group(tmp_path):
    model = '[model]\nname = "out/warm_starts/0c8d/seed-{seed}/reference"\n'
    paths = [seed_run(tmp_path / str(seed), seed, [1, 2, 3], extra=model.format(seed=seed)).path for seed in (0, 1, 10)]
    other = seed_run(tmp_path / "other", 1, [1, 2, 3], extra=model.format(seed=10)).path
    assert [len(group.runs) for group in grouped(load_runs([*paths, other]))] == [3, 1]


def test_of_many_keys_those_are_named_that_tell_the_groups_apart(tmp_path):
    """The arms of a bench: a key that only one of them changes comes last in the file."""
    rollout = "[rollout]\nprompts = {}\nsamples = {}\n[optimizer]\nwarmup = {}\nlr = {}\n"
    arms = [("ppo", 256, 1, 1, 0.5), ("grpo", 32, 8, 2, 0.5), ("ppo", 256, 1, 1, 0.0)]
    runs = load_runs(
        [
            seed_run(tmp_path / str(index), 0, [1, 2, 3], preset=preset, extra=rollout.format(*values)).path
            for index, (preset, *values) in enumerate(arms)
        ]
    )
    assert [group.label for group in grouped(runs)] == [
        "algorithm.preset=ppo, optimizer.lr=0.5, rollout.prompts=256 and 2 more",
        "algorithm.preset=grpo, optimizer.lr=0.5, rollout.prompts=32 and 2 more",
        "algorithm.preset=ppo, optimizer.lr=0.0, rollout.prompts=256 and 2 more",
    ]


def test_a_long_legend_makes_the_page_longer_and_covers_no_words(tmp_path):
    runs = [seed_run(tmp_path / f"run-{index}-{'x' * 50}", 0, [1, 2, 3]).path for index in range(12)]
    subjects = [
        learning_curve(run, x="step", quantities=[parse_quantity("greedy")], audits=False) for run in load_runs(runs)
    ]
    figure = learning_curve_figure(subjects, x="step", what="pass rate", over_seeds=True)
    figure.draw_without_rendering()
    box = figure.axes[0].yaxis.label.get_window_extent()
    assert 0 <= box.y0 < box.y1 <= figure.bbox.y1


def test_what_an_algorithm_key_is_beside_its_preset_is_named(tmp_path):
    runs = load_runs(
        [seed_run(tmp_path / str(kl), 0, [1, 2, 3], extra=f"kl_coef = {kl}\n").path for kl in (0.0, 0.1)]
        + [seed_run(tmp_path / "other", 0, [1, 2, 3], extra="[task.options]\nsize = 3\n[evaluation.audit.math]\n").path]
    )
    assert [group.label for group in grouped(runs)] == [
        "algorithm.kl_coef=0.0, no task.options.size",
        "algorithm.kl_coef=0.1, no task.options.size",
        "no algorithm.kl_coef, task.options.size=3",
    ]


def test_runs_of_one_seed_in_a_group_are_told(tmp_path):
    paths = [seed_run(tmp_path / name, 3, [100, 120, 150]).path for name in "ab"]
    [warning] = plot_curves(paths, tmp_path / "curve.csv", group=True)
    assert "same seed" in warning


def test_grouped_pictures_of_every_look_can_be_drawn(tmp_path):
    paths = [seed_run(tmp_path / f"s{seed}", seed, [100, 120 + seed, 150]).path for seed in (0, 1)]
    other = [seed_run(tmp_path / f"g{seed}", seed, [90, 99 + seed, 110], preset="grpo").path for seed in (0, 1)]
    plot_curves(paths, tmp_path / "one.png", group=True)
    plot_curves(paths + other, tmp_path / "two.png", group=True)
    assert (tmp_path / "one.png").stat().st_size > 10_000
    assert (tmp_path / "two.png").stat().st_size > 10_000


def test_seeds_without_a_common_point_are_an_error(tmp_path):
    paths = [
        seed_run(tmp_path / "a", 0, [100], steps=(5,)).path,
        seed_run(tmp_path / "b", 1, [100], steps=(6,)).path,
    ]
    for plot in (plot_curves, plot_frontier):
        with pytest.raises(ConfigError):
            plot(paths, tmp_path / "curve.png", group=True)
