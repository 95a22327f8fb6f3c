from support.report_runs import metric_lines
from support.run_folders import evaluation

from rlvr.cli.alarms import Alarms

FINE = {
    "rollout/truncated_frac": 0.05,
    "verify/pass_rate": 0.5,
    "verify/failed_frac": 0.0,
    "rollout/zero_variance_groups_frac": 0.2,
    "policy/skipped_updates": 0.0,
}


def warnings(alarms: Alarms, step: int = 1, **changes: float | None) -> list[str]:
    """Names are the last parts of the metrics'."""
    numbers = {name: changes.get(name.split("/")[1], value) for name, value in FINE.items()}
    return alarms.after_step(step, numbers)


def test_a_healthy_step_warns_of_nothing():
    assert warnings(Alarms(max_new_tokens=32)) == []


def test_truncation_is_warned_about_with_its_rate_and_what_to_raise():
    (line,) = warnings(Alarms(max_new_tokens=32), 4, truncated_frac=0.25)
    assert line == (
        "warning: step 4: 25 % of the responses are cut off. They reached the limit of 32 tokens and were cut off, so "
        "their answers may be missing; raise rollout.max_new_tokens (to 64, say)"
    )


def test_a_step_without_any_reward_is_warned_about():
    (line,) = warnings(Alarms(max_new_tokens=32), pass_rate=0.0)
    assert "No response was right" in line


def test_nothing_left_to_learn_is_warned_about():
    (line,) = warnings(Alarms(max_new_tokens=32), pass_rate=1.0, zero_variance_groups_frac=1.0)
    assert "take harder problems" in line


def test_failed_verdicts_and_skipped_updates_are_warned_about():
    failed, skipped = warnings(Alarms(max_new_tokens=32), failed_frac=0.025, skipped_updates=2.0)
    assert "2.5 % of the responses could not be judged. They were dropped" in failed
    assert "2 updates were skipped" in skipped


def test_groups_are_looked_at_only_where_there_are_any():
    assert warnings(Alarms(max_new_tokens=32), zero_variance_groups_frac=1.0) == []
    (line,) = warnings(Alarms(max_new_tokens=32, samples_per_prompt=4), zero_variance_groups_frac=1.0)
    assert "groups" in line


def test_the_same_warning_comes_back_only_after_a_while():
    alarms = Alarms(max_new_tokens=32)
    warned = [step for step in range(1, 50) if warnings(alarms, step, pass_rate=0.0)]
    assert warned == [1, 21, 41]
    assert [warning.split(":")[0] for warning in alarms.raised] == ["step 1", "step 21", "step 41"]


def test_numbers_that_do_not_exist_warn_of_nothing():
    assert warnings(Alarms(max_new_tokens=32), truncated_frac=None, pass_rate=None, skipped_updates=None) == []


def test_the_course_of_a_run_is_warned_about_while_it_goes():
    alarms = Alarms(max_new_tokens=40)
    raised = {
        line["step"]: found
        for line in metric_lines(30, per_response=[1.0] * 15 + [40.0] * 15, k1=[0.04] * 15 + [1.5] * 15)
        if (found := alarms.after_step(line["step"], line))
    }
    assert list(raised) == [20]
    assert "KL blow-up" in raised[20][0]


def test_a_healthy_course_is_not_warned_about():
    alarms = Alarms(max_new_tokens=40)
    assert [alarms.after_step(line["step"], line) for line in metric_lines(30, explained_variance=0.0)] == [[]] * 30


def test_a_held_out_fall_is_warned_about():
    alarms = Alarms(max_new_tokens=40)
    records = [evaluation(step, "ppo", rate, rate) for step, rate in ((10, 160), (20, 90))]
    for record, trained in zip(records, (0.6, 0.9), strict=True):
        record["train_pass_rate"] = trained
    assert alarms.after_evaluation(records[0]) == []
    (line,) = alarms.after_evaluation(records[1])
    assert line.startswith("warning: step 20: Reward hacking suspected: in training the pass rate rises")


def test_a_resumed_run_is_measured_against_what_came_before_it():
    lines = metric_lines(30, per_response=[1.0] * 15 + [40.0] * 15, k1=[0.04] * 15 + [1.5] * 15)
    alarms = Alarms(max_new_tokens=40)
    before = [evaluation(10, "ppo", 160, 160)]
    alarms.remember(lines[:19], before, ["step 3: something"])
    (line,) = alarms.after_step(20, lines[19])
    assert "KL blow-up" in line
    (fallen,) = alarms.after_evaluation(evaluation(20, "ppo", 90, 90))
    assert "pass rate fell" in fallen
    assert alarms.raised[0] == "step 3: something"
    assert len(alarms.raised) == 3
