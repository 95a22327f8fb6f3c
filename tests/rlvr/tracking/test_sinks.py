import json
import math

import pytest

from rlvr.tracking.metrics import Last, Mean, Metric
from rlvr.tracking.sinks import JsonlSink, Tracker


def test_every_step_is_one_flat_line_that_can_be_read_at_once(tmp_path):
    path = tmp_path / "metrics.jsonl"
    tracker = Tracker([JsonlSink(path)])
    tracker.log(1, [Metric("reward/mean", Mean.of([0.0, 1.0])), Metric("policy/lr", Last(math.nan))])
    assert json.loads(path.read_text()) == {"step": 1, "reward/mean": 0.5, "policy/lr": None}
    tracker.log(2, [])
    assert len(path.read_text().splitlines()) == 2
    tracker.close()


def test_a_sink_goes_on_after_what_an_earlier_process_wrote_and_tore(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n{"step": 2, "rew')
    sink = JsonlSink(path)
    sink.log(2, {"reward/mean": 1.0})
    sink.close()
    assert [json.loads(line)["step"] for line in path.read_text().splitlines()] == [1, 2]


def test_every_sink_gets_the_combined_numbers_that_log_returns(tmp_path):
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    tracker = Tracker([JsonlSink(path) for path in paths])
    numbers = tracker.log(3, [Metric("reward/mean", Mean.of(0.0)), Metric("reward/mean", Mean.of(1.0))])
    tracker.close()
    assert numbers == {"reward/mean": 0.5}
    assert paths[0].read_text() == paths[1].read_text() == '{"step": 3, "reward/mean": 0.5}\n'


def test_one_sink_that_fails_to_close_keeps_no_other_open(tmp_path):
    class Stuck(JsonlSink):
        def close(self) -> None:
            super().close()
            raise ConnectionError("no network")

    sinks = [JsonlSink(tmp_path / "a.jsonl"), Stuck(tmp_path / "b.jsonl"), JsonlSink(tmp_path / "c.jsonl")]
    with pytest.raises(ConnectionError):
        Tracker(sinks).close()
    assert all(sink._file.closed for sink in sinks)
