from pathlib import Path

import pytest
from support.run_folders import evaluation

from rlvr.report.headline import headline
from rlvr.report.run_data import read_run
from rlvr.tracking.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", "[run]\nsteps = 40\n")


def evaluate(folder: RunFolder, step: int, right: set[int], n: int = 200, *, phase: str | None = None) -> None:
    """Record an evaluation on n problems in which those of `right` are."""
    phase = phase or ("ppo" if step else "sft")
    record = evaluation(step, phase, len(right), len(right))
    record["greedy"]["n"] = n
    folder.append_evaluation(record)
    rows = [{"problem": f"p/{i}", "outcome": "correct" if i in right else "incorrect"} for i in range(n)]
    folder.write_responses(phase, step, "greedy", rows)


def finish(folder: RunFolder) -> None:
    folder.write_summary({"finished": True})


def test_a_rise_is_told_with_both_rates_and_what_flipped(folder: RunFolder):
    evaluate(folder, 0, set(range(50)))
    evaluate(folder, 40, set(range(1, 180)))
    finish(folder)
    found = headline(read_run(folder))
    assert found.text == (
        "Greedy held-out pass rate rose from 25.0 % [18.0, 32.0] to 89.5 % [82.5, 96.5] (n = 200; 130 problems gained, "
        "1 lost, exact McNemar p < 0.001)."
    )
    record = found.as_record()
    assert record["before"]["label"] == "after the SFT warm start"
    assert record["after"] == {
        "label": "after 40 PPO steps", "greedy": "89.5 % [82.5, 96.5]", "sampled": "89.5 % [82.5, 96.5]", "n": 200,
    }  # fmt: skip
    assert record["paired"]["gained"] == 130
    assert record["paired"]["difference"].startswith("+64.5 points [")


def test_a_fall_is_told_as_one(folder: RunFolder):
    evaluate(folder, 0, set(range(150)))
    evaluate(folder, 40, set(range(50)))
    finish(folder)
    assert " fell from 75.0 %" in headline(read_run(folder)).text


def test_a_difference_within_chance_is_not_called_a_rise(folder: RunFolder):
    evaluate(folder, 0, set(range(100)))
    evaluate(folder, 40, set(range(1, 103)))
    finish(folder)
    found = headline(read_run(folder))
    assert "not distinguishable from the 50.0 % [43.0, 57.0] it began with" in found.text
    assert found.paired is not None
    assert found.paired.problems_needed is not None


def test_evaluations_on_fewer_problems_are_paired_by_problem(folder: RunFolder):
    evaluate(folder, 0, set(range(50)))
    evaluate(folder, 10, set(range(40)), n=50)
    found = headline(read_run(folder))
    assert found.paired is not None
    assert (found.paired.gained, found.paired.lost, found.paired.difference.n) == (0, 10, 50)
    assert found.text == (
        "After 10 of 40 steps: Greedy held-out pass rate fell from 100.0 % [92.9, 100.0] to 80.0 % [67.0, 88.8] (on "
        "the 50 problems that both asked: 0 problems gained, 10 lost, exact McNemar p = 0.002)."
    )
    record = found.as_record()
    assert (record["before"]["n"], record["before"]["greedy"]) == (200, "25.0 % [18.0, 32.0]")


def test_without_rows_the_rates_stand_alone(folder: RunFolder):
    folder.append_evaluation(evaluation(0, "sft", 50, 50))
    folder.append_evaluation(evaluation(40, "ppo", 150, 150))
    finish(folder)
    found = headline(read_run(folder))
    assert found.text == ("Greedy held-out pass rate went from 25.0 % [18.0, 32.0] to 75.0 % [68.0, 82.0] (n = 200).")
    assert found.paired is None


def test_responses_that_were_not_judged_are_in_no_pair(folder: RunFolder):
    evaluate(folder, 0, {0})
    evaluate(folder, 40, {0, 1})
    folder.write_responses(
        "ppo", 40, "greedy", [{"problem": "p/0", "outcome": "correct"}, {"problem": "p/1", "outcome": None}]
    )
    paired = headline(read_run(folder)).paired
    assert paired is not None
    assert paired.difference.n == 1


def test_before_anything_is_measured_it_says_so(folder: RunFolder):
    assert headline(read_run(folder)).text == "Nothing has been measured on held-out problems yet."


def test_before_the_first_evaluation_of_ppo_it_tells_the_start(folder: RunFolder):
    evaluate(folder, 0, set(range(2)), phase="base")
    evaluate(folder, 0, set(range(50)))
    text = headline(read_run(folder)).text
    assert text.startswith("Greedy held-out pass rate of the model after its SFT warm start: 25.0 %")
    assert text.endswith("nothing has been measured after PPO steps yet.")


def test_without_a_start_the_end_stands_alone(folder: RunFolder):
    evaluate(folder, 40, set(range(50)))
    assert "what it began with was not measured" in headline(read_run(folder)).text
