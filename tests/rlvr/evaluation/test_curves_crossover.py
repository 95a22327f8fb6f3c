"""pass@k against k: unbiased values, the policies of a run, and where lines cross."""

import csv
import json
from itertools import combinations

import pytest
from support.run_folders import evaluation

from rlvr.errors import ConfigError, RunFolderError
from rlvr.evaluation.curves import plot_crossover
from rlvr.evaluation.curves.crossover import (
    MeasuredPolicy,
    crossings,
    on_common_problems,
    pass_at_k_line,
    policies_of,
)
from rlvr.evaluation.curves.draw_crossover import crossover_figure
from rlvr.evaluation.curves.plotting import subject_of_policies
from rlvr.evaluation.curves.series import Point, Series
from rlvr.tracking.run_folder import RunFolder


def rows(right, n):
    """n responses to each problem, of which `right` says how many are correct."""
    return [
        {"problem": problem, "sample": sample, "outcome": "correct" if sample < count else "incorrect"}
        for problem, count in right.items()
        for sample in range(n)
    ]


def evaluated_run(path, phases, *, n=4, config="") -> RunFolder:
    """A run with these numbers of right responses by problem, by (phase, step)."""
    folder = RunFolder.create(path, config)
    for (phase, step), right in phases.items():
        record = evaluation(step, phase, 100, 100)
        record["problems"] = len(right)
        record["sampled"]["samples_per_problem"] = n
        folder.append_evaluation(record)
        folder.write_responses(phase, step, "sampled", rows(right, n))
    return folder


def many(counts):
    return {f"p{index}": count for index, count in enumerate(counts)}


def line(ys, *, half=0.01, role="policy") -> Series:
    points = tuple(
        Point(key=2**power, step=None, x=2.0**power, y=y, low=y - half, high=y + half) for power, y in enumerate(ys)
    )
    return Series(name="line", role=role, points=points, n_of="problems")


def test_pass_at_k_is_the_share_of_all_draws_of_k_that_hold_a_right_one():
    right, n = {"a": 1, "b": 3, "c": 0, "d": 5}, 6
    policy = MeasuredPolicy(
        name="p", role="policy", step=None, task="t", counts={name: (n, count) for name, count in right.items()}
    )
    points = pass_at_k_line(policy).points
    assert [point.key for point in points] == [1, 2, 4, 6]
    for point in points:
        draws = [
            any(i < count for i in drawn) for count in right.values() for drawn in combinations(range(n), point.key)
        ]
        assert point.y == pytest.approx(sum(draws) / len(draws))
        assert point.low is not None
        assert point.high is not None
        assert point.low <= point.y <= point.high
        assert point.n == 4


def test_a_run_gives_a_line_for_the_base_model_the_sft_start_and_the_last_policy(tmp_path):
    right = many([1, 2, 3])
    folder = evaluated_run(
        tmp_path / "a", {("base", 0): many([0, 0, 1]), ("sft", 0): right, ("ppo", 5): {"p0": 4}, ("ppo", 10): right}
    )
    assert [(policy.name, policy.step) for policy in policies_of(str(folder.path))] == [
        ("base", 0), ("SFT", 0), ("RL", 10),
    ]  # fmt: skip


def test_a_run_that_stopped_is_compared_on_the_problems_that_all_its_policies_were_asked(tmp_path):
    folder = evaluated_run(tmp_path / "a", {("sft", 0): many([1, 2, 3, 0]), ("ppo", 5): many([4, 4])})
    [warning] = plot_crossover([str(folder.path)], tmp_path / "k.csv")
    assert "compared on the 2 (of up to 4) in common" in warning
    with (tmp_path / "k.csv").open(newline="") as file:
        found = {(row["series"], row["x"]): (float(row["y"]), row["n"]) for row in csv.DictReader(file)}
    assert found["SFT", "1.0"] == (pytest.approx((1 / 4 + 2 / 4) / 2), "2")


def test_problems_are_paired_by_id_whatever_their_order():
    one, other = (
        MeasuredPolicy(name="p", role="policy", step=None, task="t", counts=counts)
        for counts in ({"a": (2, 0), "b": (2, 1)}, {"b": (2, 2), "c": (2, 0)})
    )
    kept, [warning] = on_common_problems([one, other])
    assert [policy.counts for policy in kept] == [{"b": (2, 1)}, {"b": (2, 2)}]
    assert "1 (of up to 2) in common" in warning


def test_policies_without_a_common_problem_are_drawn_with_a_warning(tmp_path):
    one = evaluated_run(tmp_path / "a", {("sft", 0): {"p": 1, "q": 2}})
    other = evaluated_run(tmp_path / "b", {("sft", 0): {"r": 1, "s": 2}})
    warnings = plot_crossover([str(one.path), str(other.path)], tmp_path / "k.png")
    assert "no problem was asked of all policies" in warnings[0]
    assert (tmp_path / "k.png").stat().st_size > 10_000


def test_a_response_that_could_not_be_judged_counts_neither_way(tmp_path):
    folder = evaluated_run(tmp_path / "a", {("sft", 0): many([1, 2])})
    judged = rows(many([1, 2]), 4)
    judged[3]["outcome"] = None
    folder.write_responses("sft", 0, "sampled", judged)
    [policy] = policies_of(str(folder.path))
    assert policy.counts == {"p0": (3, 1), "p1": (4, 2)}
    assert [point.key for point in pass_at_k_line(policy).points] == [1, 2, 3]


def test_lines_cross_where_interpolation_in_log_k_says():
    [found] = crossings([line([0.5, 0.6, 0.65]), line([0.4, 0.55, 0.70])])
    # Between k = 2 and k = 4 the difference goes from 0.05 to -0.05: half-way on a logarithmic axis.
    assert found.k == pytest.approx(2**1.5)
    assert found.y == pytest.approx(0.625)
    assert found.is_sure


def test_a_crossing_within_the_intervals_is_not_sure():
    [found] = crossings([line([0.5, 0.6, 0.65], half=0.2), line([0.4, 0.55, 0.70])])
    assert not found.is_sure


def test_lines_that_only_touch_or_meet_at_the_end_do_not_cross():
    assert crossings([line([0.5, 0.6, 0.9]), line([0.4, 0.6, 0.8])]) == []
    assert crossings([line([0.5, 0.6, 1.0]), line([0.4, 0.5, 1.0])]) == []


def test_lines_that_are_the_same_for_a_while_cross_between():
    [found] = crossings([line([0.5, 0.6, 0.7]), line([0.4, 0.6, 0.8])])
    assert found.k == pytest.approx(2.0)
    assert found.y == pytest.approx(0.6)


def test_crossings_are_ringed_and_their_k_written(tmp_path):
    folder = evaluated_run(tmp_path / "a", {("sft", 0): many([1] * 40), ("ppo", 9): many([4, 4, 0, 0] * 10)})
    subject = subject_of_policies("a", policies_of(str(folder.path)), step_in_name=True)
    [crossing] = crossings(subject.series)
    axes = crossover_figure([subject], over_seeds=False).axes[0]
    assert f"k = {crossing.k:.1f}" in [text.get_text() for text in axes.texts]
    assert [crossing.k, crossing.y] in [
        ring.get_offsets()[0].tolist() for ring in axes.collections if len(ring.get_offsets())
    ]
    assert axes.get_xscale() == "log"


def test_the_csv_holds_the_lines_of_the_picture(tmp_path):
    folder = evaluated_run(tmp_path / "a", {("sft", 0): many([1, 2, 0]), ("ppo", 9): many([4, 4, 0])})
    plot_crossover([str(folder.path)], tmp_path / "k.csv")
    subject = subject_of_policies("a", policies_of(str(folder.path)), step_in_name=True)
    lines = [drawn.get_xydata().tolist() for drawn in crossover_figure([subject], over_seeds=False).axes[0].lines]
    with (tmp_path / "k.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    for series, drawn in zip(("SFT", "RL, step 9"), lines, strict=True):
        assert [[float(row["x"]), float(row["y"])] for row in found if row["series"] == series] == drawn


def test_moments_of_a_run_and_evaluation_folders_give_a_line_each(tmp_path):
    folder = evaluated_run(tmp_path / "a", {("sft", 0): many([1, 2]), ("ppo", 5): many([3, 4])})
    measured = tmp_path / "evals" / "other"
    measured.mkdir(parents=True)
    (measured / "evaluation.json").write_text(
        json.dumps({"name": "other", "task": "t", "split": "test", "modes": {"sampled": {"samples_per_problem": 4}}})
    )
    (measured / "sampled.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(many([0, 1]), 4)))
    plot_crossover([f"{folder.path}@sft", str(measured)], tmp_path / "k.csv")
    with (tmp_path / "k.csv").open(newline="") as file:
        assert list(dict.fromkeys(row["series"] for row in csv.DictReader(file))) == ["a@sft", "other"]


def test_seeds_are_averaged_line_by_line(tmp_path):
    texts = []
    for seed, right in enumerate(([1, 1], [3, 3])):
        config = f'[run]\nseed = {seed}\n[algorithm]\npreset = "ppo"\n'
        phases = {("sft", 0): many([1, 1]), ("ppo", 5): many(right)}
        texts.append(str(evaluated_run(tmp_path / str(seed), phases, config=config).path))
    plot_crossover(texts, tmp_path / "k.csv", group=True)
    with (tmp_path / "k.csv").open(newline="") as file:
        found = {(row["series"], row["x"]): row for row in csv.DictReader(file)}
    assert float(found["RL", "1.0"]["y"]) == pytest.approx((1 / 4 + 3 / 4) / 2)
    assert (found["RL", "1.0"]["n"], found["RL", "1.0"]["n_of"]) == ("2", "seeds")
    plot_crossover(texts, tmp_path / "k.png", group=True)


def test_one_response_per_problem_is_an_error_that_says_what_to_do(tmp_path):
    folder = evaluated_run(tmp_path / "a", {("sft", 0): many([1, 0])}, n=1)
    with pytest.raises(ConfigError, match=r"one response per problem.*samples_per_problem"):
        plot_crossover([str(folder.path)], tmp_path / "k.png")


def test_a_run_whose_responses_were_not_recorded_is_an_error(tmp_path):
    folder = RunFolder.create(tmp_path / "a", "")
    folder.append_evaluation(evaluation(0, "sft", 100, 100))
    with pytest.raises(RunFolderError, match="no sampled responses"):
        plot_crossover([str(folder.path)], tmp_path / "k.png")
