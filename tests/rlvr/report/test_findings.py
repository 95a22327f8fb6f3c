"""What readers should keep in mind about the evidence; the rules of the numbers are tested in tests/rlvr/tracking."""

from pathlib import Path

from support.report_runs import metric_lines
from support.run_folders import evaluation

from rlvr.report.findings import as_record, report_findings
from rlvr.report.headline import headline
from rlvr.report.run_data import RunData, read_run
from rlvr.tracking.jsonl import write_records
from rlvr.tracking.run_folder import RunFolder

CONFIG = """
[run]
name = "{name}"
seed = {seed}
steps = 30
[algorithm]
preset = "{preset}"
[evaluation]
problems = {problems}
"""


def made(
    path: Path, name: str, *, seed: int = 0, preset: str = "ppo", problems: int = 200, finished: bool = True
) -> RunData:
    folder = RunFolder.create(path / name, CONFIG.format(name=name, seed=seed, preset=preset, problems=problems))
    write_records(folder.metrics_path, metric_lines())
    for step, phase, right in ((0, "sft", 80), (30, "ppo", 180)):
        folder.append_evaluation(evaluation(step, phase, right, right))
    if finished:
        folder.write_summary({"finished": True})
    return read_run(folder)


def kinds(run: RunData, *others: RunData) -> list[str]:
    return [found.kind for found in report_findings(run, headline(run), others)]


def test_one_run_alone_is_one_seed_and_nothing_else(tmp_path: Path):
    assert kinds(made(tmp_path, "a")) == ["one seed"]


def test_another_seed_of_the_same_method_settles_that(tmp_path: Path):
    a, b = made(tmp_path, "a"), made(tmp_path, "b", seed=1, problems=100)
    assert kinds(a, b) == kinds(b, a) == []


def test_another_method_is_not_another_seed(tmp_path: Path):
    a, b = made(tmp_path, "a"), made(tmp_path, "b", seed=1, preset="grpo")
    assert kinds(a, b) == ["one seed"]


def test_a_run_that_goes_says_how_far_it_is_and_how_to_go_on(tmp_path: Path):
    run = made(tmp_path, "a", finished=False)
    (found, _) = report_findings(run, headline(run), [])
    assert found.title == "The run has not finished: 30 of 30 steps"
    assert f"rlvr train --resume {run.folder.path}" in found.text


def test_a_wide_interval_is_pointed_out(tmp_path: Path):
    run = made(tmp_path, "a")
    run.evaluations[-1]["greedy"] |= {"low": 0.6, "high": 0.95, "n": 20}
    assert kinds(run) == ["one seed", "wide"]


def test_a_difference_within_chance_says_how_many_problems_would_tell(tmp_path: Path):
    run = made(tmp_path, "a")
    for phase, step, right in (("sft", 0, range(80)), ("ppo", 30, range(2, 85))):
        rows = [{"problem": f"p/{i}", "outcome": "correct" if i in right else "incorrect"} for i in range(200)]
        run.folder.write_responses(phase, step, "greedy", rows)
    (found,) = [one for one in report_findings(run, headline(run), []) if one.kind == "indistinguishable"]
    assert found.title == "Before and after cannot be told apart with 200 problems"
    assert "problems would show a difference like this one" in found.text


def test_serious_findings_come_before_notes_in_the_page(tmp_path: Path):
    run = made(tmp_path, "a")
    for line in run.metrics:
        line["rollout/truncated_frac"] = 0.93
    first = as_record(report_findings(run, headline(run), [])[0])
    assert first["level"] == "alarm"
    assert first["metric"] == "rollout/truncated_frac"
    assert set(first) == {"level", "title", "text", "step", "metric"}
