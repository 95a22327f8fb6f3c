import csv
import subprocess
import sys
from itertools import pairwise

import pytest
from support.run_folders import evaluation, fabricated_run, measured

from rlvr.evaluation.curves import plot_curves
from rlvr.evaluation.curves.canvas import apart, new_picture
from rlvr.evaluation.curves.draw_learning_curve import learning_curve_figure
from rlvr.evaluation.curves.learning_curve import learning_curve
from rlvr.evaluation.curves.quantities import parse_quantity
from rlvr.evaluation.curves.recorded_runs import load_runs
from rlvr.tracking.run_folder import RunFolder

BOTH = [parse_quantity("greedy"), parse_quantity("sampled")]


def svg_text(path) -> str:
    return path.read_text(encoding="utf-8")


def png_size(path) -> tuple[int, int]:
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(content[16:20]), int.from_bytes(content[20:24])


@pytest.fixture
def readable_svg():
    """Words in an SVG as words, where they can be looked for; drawn as shapes otherwise."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none"}):
        yield


def rows_of(path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def drawn_lines(axes) -> set[tuple[tuple[float, float], ...]]:
    return {tuple(map(tuple, line.get_xydata().tolist())) for line in axes.lines}


def audited_run(path) -> RunFolder:
    """A run in which the audit accepts ever less of what the verifier accepts, and with pass@4."""
    folder = RunFolder.create(path, "")
    for step, right, audited in ((0, 80, 80), (10, 120, 100), (20, 160, 110)):
        record = evaluation(step, "ppo" if step else "sft", right, right)
        record["tokens"] = 1000 * step
        record["sampled"] |= {
            "samples_per_problem": 4,
            "pass_at_k": {"4": {"value": right / 200 + 0.1, "low": right / 200, "high": right / 200 + 0.2}},
            "audit": {"math": measured(audited)},
        }
        folder.append_evaluation(record)
    return folder


@pytest.mark.parametrize("x", ["step", "rollouts", "wall_s"])
def test_one_run_gives_a_picture_of_readme_width_on_any_axis(tmp_path, x):
    plot_curves([fabricated_run(tmp_path / "a").path], tmp_path / "new" / "curve.png", x=x)
    assert png_size(tmp_path / "new" / "curve.png") == (1000, 560)


def test_start_and_end_are_written_beside_the_curve(tmp_path, readable_svg):
    plot_curves([fabricated_run(tmp_path / "a").path], tmp_path / "curve.svg")
    text = svg_text(tmp_path / "curve.svg")
    for words in (
        "SFT start: 50.0 %",
        "greedy: 90.0 %",
        "sampled: 80.0 %",
        "held-out, sampled",
        "training problems",
        "before SFT",
    ):
        assert words in text


def test_several_runs_are_named_in_the_legend(tmp_path, readable_svg):
    runs = [fabricated_run(tmp_path / name).path for name in ("first-ppo-1", "second-grpo-1")]
    plot_curves(runs, tmp_path / "curve.svg")
    text = svg_text(tmp_path / "curve.svg")
    assert "first-ppo-1" in text
    assert "second-grpo-1" in text


def test_equal_runs_give_equal_svg_bytes(tmp_path):
    run = fabricated_run(tmp_path / "a")
    for name in ("one.svg", "two.svg"):
        plot_curves([run.path], tmp_path / name)
    assert svg_text(tmp_path / "one.svg") == svg_text(tmp_path / "two.svg")


def test_a_single_evaluation_is_a_picture_too(tmp_path, readable_svg):
    folder = RunFolder.create(tmp_path / "a", "")
    folder.append_evaluation(evaluation(0, "base", 60, 40))
    plot_curves([folder.path], tmp_path / "curve.svg")
    assert "start: 30.0 %" in svg_text(tmp_path / "curve.svg")


def test_what_was_not_measured_is_left_out(tmp_path):
    folder = RunFolder.create(tmp_path / "a", "")
    first, second = evaluation(0, "sft", 60, 40), evaluation(10, "ppo", 70, 50)
    del first["sampled"]
    second["greedy"] = {**second["greedy"], "pass_rate": None, "low": None, "high": None}
    del second["wall_s"]
    folder.append_evaluation(first)
    folder.append_evaluation(second)
    for x in ("step", "wall_s"):
        plot_curves([folder.path], tmp_path / f"{x}.png", x=x)
        plot_curves([folder.path, fabricated_run(tmp_path / x).path], tmp_path / f"{x}-2.png", x=x)
        assert png_size(tmp_path / f"{x}.png") == (1000, 560)


def test_another_split_evaluated_later_does_not_change_the_curve(tmp_path):
    folder = fabricated_run(tmp_path / "a")
    plot_curves([folder.path], tmp_path / "before.svg")
    folder.append_evaluation(evaluation(40, "ppo", 1, 1, split="train"))
    plot_curves([folder.path], tmp_path / "after.svg")
    assert svg_text(tmp_path / "before.svg") == svg_text(tmp_path / "after.svg")


def test_of_a_step_measured_twice_the_last_counts(tmp_path, readable_svg):
    folder = fabricated_run(tmp_path / "a")
    folder.append_evaluation(evaluation(40, "ppo", 190, 170))
    plot_curves([folder.path], tmp_path / "curve.svg")
    assert "greedy: 95.0 %" in svg_text(tmp_path / "curve.svg")
    assert "greedy: 90.0 %" not in svg_text(tmp_path / "curve.svg")


def test_importing_the_module_does_not_import_matplotlib_or_torch():
    code = "import sys, rlvr.evaluation.curves; print({'matplotlib', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("x", ["step", "rollouts", "tokens", "wall_s"])
def test_the_csv_holds_the_lines_of_the_picture(tmp_path, x):
    path = audited_run(tmp_path / "a").path
    plot_curves([path], tmp_path / "curve.csv", x=x)
    [run] = load_runs([path])
    subject = learning_curve(run, x=x, quantities=BOTH, audits=True)
    lines = drawn_lines(learning_curve_figure([subject], x=x, what="pass rate", over_seeds=False).axes[0])
    rows = rows_of(tmp_path / "curve.csv")
    assert {row["series"] for row in rows} == {"greedy", "sampled", "audited by math"}
    for name in ("greedy", "sampled", "audited by math"):
        own = [row for row in rows if row["series"] == name]
        assert tuple((float(row["x"]), float(row["y"])) for row in own) in lines
        assert all(float(row["low"]) < float(row["y"]) < float(row["high"]) for row in own)


def test_a_row_of_the_csv_says_all_about_a_point(tmp_path):
    plot_curves([audited_run(tmp_path / "a").path], tmp_path / "curve.csv", x="wall_s", y="pass@4")
    assert rows_of(tmp_path / "curve.csv")[1] == {
        "kind": "curve", "run": "a", "group": "", "series": "pass@4", "x_name": "minutes", "step": "10",
        "x": str(70.0 / 60), "y": "0.7", "low": "0.6", "high": "0.8", "n": "200", "n_of": "responses",
    }  # fmt: skip


def test_the_gap_to_an_audit_is_shaded_where_there_is_one(tmp_path):
    [run] = load_runs([audited_run(tmp_path / "a").path])
    subject = learning_curve(run, x="step", quantities=BOTH, audits=True)
    figure = learning_curve_figure([subject], x="step", what="pass rate", over_seeds=False)
    [gap] = [found for found in figure.axes[0].collections if found.get_hatch()]
    corners = set(map(tuple, gap.get_paths()[0].vertices.tolist()))
    assert {(20.0, 160 / 200), (20.0, 110 / 200), (10.0, 120 / 200), (10.0, 100 / 200)} <= corners
    assert "gap between verifier and audit" in [text.get_text() for text in figure.legends[0].texts]


def test_an_audit_that_agrees_leaves_no_gap(tmp_path):
    folder = RunFolder.create(tmp_path / "a", "")
    for step in (0, 10):
        record = evaluation(step, "ppo" if step else "sft", 80, 80)
        record["sampled"]["audit"] = {"math": measured(80)}
        folder.append_evaluation(record)
    [run] = load_runs([folder.path])
    subject = learning_curve(run, x="step", quantities=BOTH, audits=True)
    figure = learning_curve_figure([subject], x="step", what="pass rate", over_seeds=False)
    assert not any(found.get_hatch() for found in figure.axes[0].collections)
    assert "sampled, audited by math" in [text.get_text() for text in figure.legends[0].texts]


def test_the_rate_axis_begins_at_zero(tmp_path):
    [run] = load_runs([fabricated_run(tmp_path / "a").path])
    subject = learning_curve(run, x="step", quantities=BOTH, audits=True)
    low, high = learning_curve_figure([subject], x="step", what="pass rate", over_seeds=False).axes[0].get_ylim()
    assert -0.05 < low < 0
    assert high == pytest.approx(1.03)


def test_with_one_response_per_problem_pass_at_1_is_the_sampled_rate(tmp_path):
    path = fabricated_run(tmp_path / "a").path
    for name in ("sampled", "pass@1"):
        plot_curves([path], tmp_path / f"{name}.csv", y=name)
    one, other = (rows_of(tmp_path / f"{name}.csv") for name in ("sampled", "pass@1"))
    # Of the sampled curve the numbers alone are the same; its lines have other names.
    assert [(row["x"], row["y"], row["low"]) for row in one] == [(row["x"], row["y"], row["low"]) for row in other]


def test_a_rate_that_an_older_run_recorded_without_interval_is_drawn_without(tmp_path):
    folder = RunFolder.create(tmp_path / "a", "")
    record = evaluation(0, "sft", 80, 80)
    record["sampled"]["pass_at_k"] = {"1": 0.4, "2": 0.6}
    folder.append_evaluation(record)
    plot_curves([folder.path], tmp_path / "curve.csv", y="pass@2")
    [row] = rows_of(tmp_path / "curve.csv")
    assert (row["y"], row["low"], row["high"]) == ("0.6", "", "")
    plot_curves([folder.path], tmp_path / "curve.png", y="pass@2")


def test_names_that_matplotlib_would_read_as_something_else_are_written_as_they_are(tmp_path, readable_svg):
    paths = [fabricated_run(tmp_path / name).path for name in ("_hidden", "a$b^{$")]
    plot_curves(paths, tmp_path / "curve.svg")
    text = svg_text(tmp_path / "curve.svg")
    assert "_hidden" in text
    assert "a$b^{$" in text


def test_more_runs_than_colours_are_told_apart_by_colour_and_marker(tmp_path):
    runs = load_runs([fabricated_run(tmp_path / str(index), steps=10).path for index in range(9)])
    subjects = [learning_curve(run, x="step", quantities=BOTH, audits=False) for run in runs]
    figure = learning_curve_figure(subjects, x="step", what="pass rate", over_seeds=False)
    looks = [(line.get_color(), line.get_marker()) for line in figure.legends[0].legend_handles[:9]]
    assert len(set(looks)) == 9


def test_labels_are_moved_apart_as_little_as_needed():
    assert apart([0.0, 100.0, 50.0], 15.0) == [0.0, 100.0, 50.0]
    assert apart([10.0, 12.0], 10.0) == [6.0, 16.0]
    moved = apart([3.0, 1.0, 2.0, 40.0, 30.0], 10.0)
    ordered = sorted(moved)
    assert all(after - before >= 10.0 - 1e-9 for before, after in pairwise(ordered))
    assert [moved.index(value) for value in ordered] == [1, 2, 0, 4, 3]


def test_words_in_the_picture_do_not_overlap(tmp_path):
    [run] = load_runs([audited_run(tmp_path / "a").path])
    subject = learning_curve(run, x="step", quantities=BOTH, audits=True)
    figure = learning_curve_figure([subject], x="step", what="pass rate", over_seeds=False)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in [*axes.texts, *figure.legends[0].texts, axes.xaxis.label]]
    for index, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:index])
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1


def test_drawing_leaves_the_settings_of_matplotlib_alone(tmp_path):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    plot_curves([fabricated_run(tmp_path / "a").path], tmp_path / "curve.svg")
    assert dict(mpl.rcParams) == before
    assert new_picture(title="t", xlabel="x", ylabel="y")[0].get_size_inches().tolist() == [10.0, 5.6]
