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
        "warning: step 4: 25% of the responses reached the limit of 32 tokens and were cut off, so their answers "
        "may be missing; raise rollout.max_new_tokens (to 64, say)"
    )


def test_a_step_without_any_reward_is_warned_about():
    (line,) = warnings(Alarms(max_new_tokens=32), pass_rate=0.0)
    assert "no response was right" in line


def test_nothing_left_to_learn_is_warned_about():
    (line,) = warnings(Alarms(max_new_tokens=32), pass_rate=1.0, zero_variance_groups_frac=1.0)
    assert "take harder problems" in line


def test_failed_verdicts_and_skipped_updates_are_warned_about():
    failed, skipped = warnings(Alarms(max_new_tokens=32), failed_frac=0.025, skipped_updates=2.0)
    assert "2.5% of the responses could not be judged and were dropped" in failed
    assert "2 updates were skipped" in skipped


def test_the_same_warning_comes_back_only_after_a_while():
    alarms = Alarms(max_new_tokens=32)
    warned = [step for step in range(1, 50) if warnings(alarms, step, pass_rate=0.0)]
    assert warned == [1, 21, 41]
    assert [warning.split(":")[0] for warning in alarms.raised] == ["step 1", "step 21", "step 41"]


def test_numbers_that_do_not_exist_warn_of_nothing():
    assert warnings(Alarms(max_new_tokens=32), truncated_frac=None, pass_rate=None, skipped_updates=None) == []
