from rlvr.rollout.sandbox_use import sandbox_metrics
from rlvr.tracking.names import NAMES
from sandbox.metrics import Counters


def test_a_step_reports_what_the_sandbox_did_in_it():
    counters = Counters()
    counters.count_run("exited", queue_s=1.0, run_s=1.0, program_s=1.0, clean_ms=1.0)
    before = [counters.snapshot()]
    counters.count_run("exited", queue_s=0.002, run_s=0.004, program_s=0.003, clean_ms=0.5)
    counters.count_run("timed_out", queue_s=0.0, run_s=0.008, program_s=0.005, clean_ms=1.5)
    counters.count("retries")
    counters.count_recycled("unclean")
    found = {metric.name: metric.value.number for metric in sandbox_metrics(before, [counters.snapshot()])}
    assert found["sandbox/runs"] == 2
    assert found["sandbox/retries"] == found["sandbox/recycled"] == 1
    assert found["sandbox/timed_out_frac"] == 0.5
    assert round(found["sandbox/queue_ms"], 6) == 1.0
    assert round(found["sandbox/run_ms"], 6) == 6.0
    assert round(found["sandbox/program_ms"], 6) == 4.0
    assert found["sandbox/clean_ms"] == 1.0


def test_every_sandbox_metric_has_a_name_and_none_is_reported_where_nothing_ran():
    counters = Counters()
    assert sandbox_metrics([], [counters.snapshot()]) == []
    counters.count("failures")
    found = {metric.name for metric in sandbox_metrics([], [counters.snapshot()])}
    assert found == {name for name in NAMES if name.startswith("sandbox/")}
