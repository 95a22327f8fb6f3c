from pathlib import Path

from support.report_runs import golden_copy, metric_lines
from support.run_folders import evaluation

from rlvr.report.facts import facts, failures, times
from rlvr.report.run_data import RunData, read_run
from rlvr.tracking.jsonl import write_records
from rlvr.tracking.run_folder import RunFolder


def run_with(path: Path, metrics: list, *evaluations: dict) -> RunData:
    folder = RunFolder.create(path / "run", "[rollout]\nprompts_per_step = 100\n[run]\nsteps = 40\n")
    write_records(folder.metrics_path, metrics)
    for record in evaluations:
        folder.append_evaluation(record)
    return read_run(folder)


def test_facts_say_what_was_run(tmp_path: Path):
    found = dict(facts(read_run(golden_copy(tmp_path / "run"))))
    assert found["task"] == "arithmetic (digits = 2)"
    assert found["audits"] == "math"
    assert found["responses per step"] == "32 (16 problems x 2)"
    assert found["steps"] == "8"
    assert found["held-out problems"] == "20 of split test; 10 of them while training"
    assert "torch" in found["versions"]


def test_facts_of_a_run_that_goes_say_how_far_it_is(tmp_path: Path):
    found = dict(facts(run_with(tmp_path, metric_lines(12))))
    assert found["steps"] == "12 of 40"
    assert "took" not in found


def test_times_are_shares_of_the_whole_with_the_rest_as_other(tmp_path: Path):
    rows = times(read_run(golden_copy(tmp_path / "run")))
    assert rows[-1]["stage"] == "other"
    assert abs(sum(row["share"] for row in rows) - 1) < 0.01
    stages = [row["seconds"] for row in rows[:-1]]
    assert stages == sorted(stages, reverse=True)


def test_times_of_a_run_that_goes_are_those_of_its_steps(tmp_path: Path):
    lines = metric_lines(3, step_s=10.0)
    for line in lines:
        line |= {"time/rollout_s": 6.0, "time/update_s": 3.0}
    rows = {row["stage"]: row["share"] for row in times(run_with(tmp_path, lines))}
    assert rows == {"rollout": 0.6, "update": 0.3, "other": 0.1}


def test_nothing_failed_is_an_empty_list(tmp_path: Path):
    assert failures(run_with(tmp_path, metric_lines(3), evaluation(3, "ppo", 100, 100))) == []


def test_failures_are_counted_over_the_run(tmp_path: Path):
    lines = metric_lines(4, failed_frac=[0.0, 0.1, 0.0, 0.1], skipped_updates=[1.0, 0.0, 2.0, 0.0])
    lines[2]["sandbox/failures"] = 5.0
    record = evaluation(4, "ppo", 100, 100)
    record["sampled"] |= {"failed": 50, "audit": {"math": {"failed": 3}}}
    found = {row["what"]: (row["count"], row["share"]) for row in failures(run_with(tmp_path, lines, record))}
    assert found == {
        "training responses not judged": (20, 0.05),
        "held-out sampled responses not judged": (50, 0.2),
        "audits of sampled responses failed": (3, None),
        "programs without an outcome": (5, None),
        "updates skipped": (3, None),
    }


def test_a_run_that_has_just_begun_has_facts_and_nothing_else(tmp_path: Path):
    run = run_with(tmp_path, [])
    assert dict(facts(run))["steps"] == "0 of 40"
    assert times(run) == failures(run) == []


def test_facts_name_the_verifier_also_where_the_task_chooses_it(tmp_path: Path):
    run = run_with(tmp_path, metric_lines(3))
    assert dict(facts(run))["verifier"] == "the task's own"
    run.folder.write_summary({"verifier": {"names": ["math", "numeric"]}})
    assert dict(facts(read_run(run.folder)))["verifier"] == "math, numeric"
