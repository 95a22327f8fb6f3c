import subprocess
import sys

import pytest
from support.run_folders import evaluation, fabricated_run

from rlvr.errors import RunFolderError
from rlvr.evaluation.curves import plot_curves
from rlvr.tracking.run_folder import RunFolder


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


@pytest.mark.parametrize("x", ["step", "rollouts", "wall_s"])
def test_one_run_gives_a_picture_of_readme_width_on_any_axis(tmp_path, x):
    plot_curves([fabricated_run(tmp_path / "a").path], tmp_path / "new" / "curve.png", x=x)
    assert png_size(tmp_path / "new" / "curve.png") == (1000, 560)


def test_start_and_end_are_written_beside_the_curve(tmp_path, readable_svg):
    plot_curves([fabricated_run(tmp_path / "a").path], tmp_path / "curve.svg")
    text = svg_text(tmp_path / "curve.svg")
    for words in (
        "SFT start, greedy: 50.0 %",
        "greedy: 90.0 %",
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
    assert "start, greedy: 30.0 %" in svg_text(tmp_path / "curve.svg")


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


def test_a_run_without_evaluations_is_an_error(tmp_path):
    folder = RunFolder.create(tmp_path / "a", "")
    with pytest.raises(RunFolderError, match="no evaluation"):
        plot_curves([folder.path], tmp_path / "curve.png")


def test_importing_the_module_does_not_import_matplotlib_or_torch():
    code = "import sys, rlvr.evaluation.curves; print({'matplotlib', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
