from pathlib import Path

import pytest
from support.bench_folders import finished_run, judged_rows

from rlvr.errors import RunFolderError
from rlvr.evaluation.bench_measures import (
    Arm,
    curve_means,
    mean_after,
    mean_before,
    mean_gain,
    mean_lead,
    read_seed_run,
    rollouts_to,
)
from rlvr.evaluation.intervals import wilson
from rlvr.evaluation.pass_rate import pass_rate


def arm(folder: Path, name: str, *curves: list[int], seeds: list[int] | None = None) -> Arm:
    runs = []
    for seed, curve in zip(seeds or list(range(len(curves))), curves, strict=True):
        run = finished_run(folder / name / f"seed-{seed}", curve, seed=seed)
        runs.append(read_seed_run(run.path, seed=seed, shown=f"{name}/seed-{seed}"))
    return Arm(name=name, control=False, runs=runs)


def test_the_means_are_those_of_the_records(tmp_path: Path):
    found = arm(tmp_path, "ppo", [10, 40], [20, 45])
    before, after, gain = (mean(found, "greedy") for mean in (mean_before, mean_after, mean_gain))
    assert before is not None
    assert after is not None
    assert gain is not None
    assert (before.per_seed, after.per_seed) == ((0.2, 0.4), (0.8, 0.9))
    assert gain.value == pytest.approx(0.55)
    assert gain.interval.low < 0.55 < gain.interval.high
    assert found.runs[0].after["greedy"]["pass_rate"] == 0.8


def test_a_lead_compares_the_seeds_that_both_have(tmp_path: Path):
    one = arm(tmp_path, "one", [10, 40], [10, 30], seeds=[1, 2])
    other = arm(tmp_path, "other", [10, 20], [10, 50], seeds=[2, 3])
    lead = mean_lead(one, other, "greedy")
    assert lead is not None
    assert lead.per_seed == (0.2,)
    assert mean_lead(one, Arm(name="empty", control=True, runs=[]), "greedy") is None


def test_a_paired_gain_is_surer_than_its_two_ends(tmp_path: Path):
    """The same problems before and after: none that was solved is lost, so the gain varies less than either rate."""
    found = arm(tmp_path, "ppo", [30, 33])
    gain, after = mean_gain(found, "greedy"), mean_after(found, "greedy")
    assert gain is not None
    assert after is not None
    assert gain.interval.high - gain.interval.low < 0.7 * (after.interval.high - after.interval.low)


def test_the_curve_is_over_the_problems_of_every_point(tmp_path: Path):
    run = finished_run(tmp_path / "run", [10, 30, 40])
    rows = judged_rows(["correct"] * 8 + ["incorrect"] * 2)
    for mode in ("greedy", "sampled"):
        run.write_responses("ppo", 1, mode, rows)
    found = read_seed_run(run.path, seed=0, shown="run")
    assert [len(point.rates["greedy"]) for point in found.curve] == [10, 10, 10]
    assert len(found.rates_after["greedy"]) == 50
    means = curve_means(Arm(name="a", control=False, runs=[found]), "greedy")
    assert [place for place, _ in means] == [0, 100, 200]
    assert means[1][1].value == 0.8


def test_what_could_not_be_judged_counts_neither_way(tmp_path: Path):
    run = finished_run(tmp_path / "run", [10, 30])
    run.write_responses("ppo", 1, "sampled", judged_rows(["correct", None, "incorrect", None], samples=2))
    found = read_seed_run(run.path, seed=0, shown="run")
    assert found.rates_after["sampled"] == {"toy/test/0": 1.0, "toy/test/1": 0.0}


def test_a_run_with_its_own_warm_start_begins_at_the_evaluation_after_it(tmp_path: Path):
    run = finished_run(tmp_path / "run", [10, 30])
    rows = judged_rows(["correct"] * 25 + ["incorrect"] * 25)
    record = run.read_evaluations()[0] | {"phase": "sft"}
    for mode in ("greedy", "sampled"):
        run.write_responses("sft", 0, mode, rows)
        record[mode] = pass_rate(rows, temperature=0.0).as_record()
    run.append_evaluation(record)
    found = read_seed_run(run.path, seed=0, shown="run")
    assert found.before["greedy"]["pass_rate"] == 0.5
    assert [point.rollouts for point in found.curve] == [0, 100]


@pytest.mark.parametrize(
    ("curve", "threshold", "expected"),
    [([10, 30], 0.4, 50.0), ([10, 30], 0.6, 100.0), ([10, 30], 0.7, None), ([10, 10, 30], 0.3, 125.0), ([10], 0.1, 0)],
)
def test_the_threshold_is_reached_on_the_straight_line_between_evaluations(
    tmp_path: Path, curve: list[int], threshold: float, expected: float | None
):
    run = finished_run(tmp_path / "run", curve)
    found = rollouts_to(read_seed_run(run.path, seed=0, shown="run"), threshold)
    assert found == (None if expected is None else pytest.approx(expected))


def test_a_rate_that_never_varied_has_the_interval_of_its_problems(tmp_path: Path):
    before = mean_before(arm(tmp_path, "ppo", [0, 10], [0, 10]), "greedy")
    assert before is not None
    assert before.interval == wilson(0, 50)


def test_a_run_that_has_not_finished_cannot_be_read(tmp_path: Path):
    run = finished_run(tmp_path / "run", [1, 2])
    run.summary_path.unlink()
    with pytest.raises(RunFolderError, match="no finished run to read"):
        read_seed_run(run.path, seed=0, shown="run")
