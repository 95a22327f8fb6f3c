"""The KL-versus-reward frontier."""

import csv

import pytest
from support.run_folders import evaluation

from rlvr.errors import ConfigError
from rlvr.evaluation.curves import plot_frontier
from rlvr.evaluation.curves.draw_frontier import frontier_figure
from rlvr.evaluation.curves.frontier import frontier, kl_after
from rlvr.evaluation.curves.quantities import parse_quantity
from rlvr.evaluation.curves.recorded_runs import load_runs
from rlvr.tracking.metrics import Mean, Metric
from rlvr.tracking.run_folder import RunFolder
from rlvr.tracking.sinks import JsonlSink, Tracker

SAMPLED = parse_quantity("sampled")


def run_with_kl(path, kl, *, every=2, config="") -> RunFolder:
    """A run that is evaluated every few steps; `kl` holds the metric of steps 1, 2, ..."""
    folder = RunFolder.create(path, config)
    folder.append_evaluation(evaluation(0, "sft", 60, 40))
    tracker = Tracker([JsonlSink(folder.metrics_path)])
    for step, value in enumerate(kl, start=1):
        tracker.log(step, [Metric("kl/per_response", Mean(value, 1))])
        if step % every == 0:
            folder.append_evaluation(evaluation(step, "ppo", 80 + step, 60 + step))
    tracker.close()
    return folder


def test_the_kl_of_an_evaluated_policy_is_that_of_the_rollouts_drawn_after_it(tmp_path):
    [run] = load_runs([run_with_kl(tmp_path / "a", [0.0, 1.0, 3.0, 8.0, 7.0, 6.0]).path])
    # Rollouts of step 3 come from the policy after step 2: the middle of the three.
    assert kl_after(run, 2) == pytest.approx((1.0 + 3.0 + 8.0) / 3)
    assert kl_after(run, 4) == pytest.approx((8.0 + 7.0 + 6.0) / 3)
    assert kl_after(run, 6) == pytest.approx(6.0)


def test_what_ppo_starts_from_is_the_reference(tmp_path):
    [run] = load_runs([run_with_kl(tmp_path / "a", [0.2, 1.0]).path])
    assert kl_after(run, 0) == 0.0


def test_on_kl_that_grows_evenly_smoothing_changes_nothing(tmp_path):
    [run] = load_runs([run_with_kl(tmp_path / "a", [0.5 * step for step in range(10)]).path])
    assert kl_after(run, 4) == pytest.approx(0.5 * 4)


def test_the_csv_holds_the_line_of_the_picture(tmp_path):
    path = run_with_kl(tmp_path / "a", [0.0, 1.0, 3.0, 8.0, 7.0, 6.0]).path
    plot_frontier([path], tmp_path / "frontier.csv")
    with (tmp_path / "frontier.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    subject = frontier(load_runs([path])[0], quantity=SAMPLED)
    [line] = frontier_figure([subject], what="sampled pass rate", over_seeds=False).axes[0].lines
    assert [[float(row["x"]), float(row["y"])] for row in rows] == line.get_xydata().tolist()
    assert [(row["kind"], row["x_name"], row["step"]) for row in rows] == [
        ("frontier", "kl_nats", step) for step in ("0", "2", "4", "6")
    ]


def test_first_and_last_step_are_written_beside_the_line(tmp_path):
    subject = frontier(
        load_runs([run_with_kl(tmp_path / "a", [0.0, 1.0, 3.0, 8.0, 7.0, 9.0]).path])[0], quantity=SAMPLED
    )
    figure = frontier_figure([subject], what="sampled pass rate", over_seeds=False)
    figure.draw_without_rendering()
    labels = [text for text in figure.axes[0].texts if text.get_text().startswith("step")]
    assert {"step 0", "step 6"} <= {label.get_text() for label in labels}
    boxes = [label.get_window_extent() for label in labels]
    assert not any(box.overlaps(other) for index, box in enumerate(boxes) for other in boxes[:index])


def test_two_runs_are_a_line_each(tmp_path):
    runs = load_runs([run_with_kl(tmp_path / name, [0.0, 1.0, 2.0, 3.0]).path for name in ("a", "b")])
    figure = frontier_figure([frontier(run, quantity=SAMPLED) for run in runs], what="rate", over_seeds=False)
    assert len(figure.axes[0].lines) == 2
    assert [text.get_text() for text in figure.legends[0].texts] == ["a", "b"]


def test_seeds_are_averaged_in_kl_and_in_rate(tmp_path):
    config = '[run]\nseed = {}\n[algorithm]\npreset = "ppo"\n'
    paths = [
        run_with_kl(tmp_path / "a", [0.0, 1.0, 1.0, 1.0], config=config.format(0)).path,
        run_with_kl(tmp_path / "b", [0.0, 3.0, 3.0, 3.0], config=config.format(1)).path,
    ]
    plot_frontier(paths, tmp_path / "frontier.csv", group=True)
    with (tmp_path / "frontier.csv").open(newline="") as file:
        assert [float(row["x"]) for row in csv.DictReader(file)] == pytest.approx([0.0, 2.0, 2.0])


def test_a_run_without_ppo_steps_has_no_place_on_a_kl_axis(tmp_path):
    with pytest.raises(ConfigError, match="kl/per_response"):
        plot_frontier([run_with_kl(tmp_path / "a", []).path], tmp_path / "frontier.png")


def test_equal_runs_give_equal_svg_bytes(tmp_path):
    path = run_with_kl(tmp_path / "a", [0.0, 1.0, 3.0, 8.0]).path
    for name in ("one.svg", "two.svg"):
        plot_frontier([path], tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
