import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from golden.renew import GOLDEN, golden_payload
from support.report_runs import golden_copy
from support.run_folders import fabricated_run

from rlvr.report.payload import build_payload
from rlvr.tracking.jsonl import write_records
from rlvr.tracking.names import NAMES
from rlvr.tracking.run_folder import RunFolder

PLENTY = 1_000_000.0


def payload_of(*folders: RunFolder, **options: Any) -> dict[str, Any]:
    return build_payload(list(folders), texts_bytes=options.pop("texts_bytes", PLENTY), **options)


def test_the_stored_run_gives_the_stored_payload(monkeypatch: pytest.MonkeyPatch):
    # When a report is meant to say something else, run `python tests/golden/renew.py` and read the difference.
    monkeypatch.chdir(GOLDEN)
    found = json.loads(json.dumps(golden_payload()))
    assert found == json.loads((GOLDEN / "payload.json").read_text(encoding="utf-8"))


def test_the_stored_run_is_shown_in_full(tmp_path: Path):
    payload = payload_of(golden_copy(tmp_path / "run"))
    (run,) = payload["runs"]
    assert payload["title"] == run["name"] == "run"
    assert run["finished"] is True
    assert "paired" in run["headline"]
    assert run["browser"]["steps"] == [2, 4, 6, 8]
    assert {len(column) for column in run["steps"].values()} == {8}
    assert all(len(column) == 8 for column in run["metrics"].values())
    assert run["heldout"]
    last = run["evaluations"][-1]
    assert last["audit"]["math"]["pass_rate"] == last["sampled"]["pass_rate"]
    assert set(last["sampled"]["pass_at_k"]) == {"1", "2"}
    assert last["greedy"]["pass_at_k"] == {}


def test_every_metric_shown_or_warned_of_comes_with_its_meaning(tmp_path: Path):
    payload = payload_of(golden_copy(tmp_path / "run"))
    (run,) = payload["runs"]
    for name in [*run["metrics"], *(warning["metric"] for warning in run["warnings"] if warning["metric"])]:
        assert payload["meanings"][name] == NAMES[name]


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for item in value.values():
            yield from numbers(item)
    elif isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, float):
        yield value


def test_numbers_of_tokens_and_metrics_have_at_most_four_digits_and_are_finite(tmp_path: Path):
    (run,) = payload_of(golden_copy(tmp_path / "run"))["runs"]
    found = list(numbers([run["metrics"], run["browser"], run["evaluations"]]))
    assert len(found) > 1000
    assert all(math.isfinite(value) and value == float(f"{value:.4g}") for value in found)


def test_a_run_that_has_just_begun_has_a_payload(tmp_path: Path):
    folder = RunFolder.create(tmp_path / "run", "")
    payload = payload_of(folder, refresh_s=10.0, made=datetime(2026, 1, 2, tzinfo=UTC))
    (run,) = payload["runs"]
    assert (payload["refresh_s"], payload["made"]) == (10.0, "2026-01-02T00:00:00+00:00")
    assert run["finished"] is False
    assert run["browser"] is None
    assert run["evaluations"] == run["heldout"] == run["times"] == run["failures"] == []
    assert [warning["level"] for warning in run["warnings"]] == ["note", "note"]


def test_a_run_of_an_older_version_has_a_payload(tmp_path: Path):
    folder = fabricated_run(tmp_path / "run")
    evaluations = folder.read_evaluations()
    evaluations[-1]["sampled"]["pass_at_k"] = {"1": 0.5, "4": 0.75}
    del evaluations[-1]["rollouts"]
    folder.evaluations_path.unlink()
    for record in evaluations:
        folder.append_evaluation(record)
    (run,) = payload_of(folder)["runs"]
    assert run["evaluations"][-1]["sampled"]["pass_at_k"]["4"]["value"] == 0.75
    assert run["evaluations"][-1]["rollouts"] is None
    assert run["browser"] is None


def test_two_runs_are_compared_over_their_common_problems(tmp_path: Path):
    a, b = golden_copy(tmp_path / "a"), golden_copy(tmp_path / "b")
    rows = b.read_responses("ppo", 8, "greedy")
    b.write_responses("ppo", 8, "greedy", [{**row, "outcome": "correct"} for row in rows])
    payload = payload_of(a, b)
    assert payload["title"] == "2 runs"
    comparison = payload["comparison"]
    assert (comparison["a"], comparison["b"]) == ("a", "b")
    assert comparison["sentence"].startswith("B (b) is better than A (a) by ")
    assert all(set(row) == {"label", "a", "b", "difference"} for row in comparison["rows"])
    assert all(isinstance(text, str) for row in comparison["rows"] for text in row.values())
    assert any("exact McNemar test p" in row["difference"] for row in comparison["rows"])


def test_runs_of_different_tasks_are_not_compared_and_it_says_why(tmp_path: Path):
    a, b = golden_copy(tmp_path / "a"), golden_copy(tmp_path / "b")
    b.config_path.write_text(b.config_path.read_text().replace('name = "arithmetic"', 'name = "gsm8k"'))
    payload = payload_of(a, b)
    assert payload["comparison"] is None
    assert any(note.startswith("The runs are not compared: ") for note in payload["notes"])


def test_several_runs_share_the_room(tmp_path: Path):
    folders = [golden_copy(tmp_path / name) for name in "abc"]
    alone = payload_of(folders[0], texts_bytes=30_000)["runs"][0]["browser"]["responses"]
    among = payload_of(*folders, texts_bytes=30_000)["runs"]
    assert all(0 < len(run["browser"]["responses"]) < len(alone) for run in among)


def test_the_gaps_between_training_verifier_and_audit_are_numbers_of_each_evaluation(tmp_path: Path):
    folder = golden_copy(tmp_path / "run")
    payload = payload_of(folder)
    for found, record in zip(payload["runs"][0]["evaluations"], folder.read_evaluations(), strict=True):
        audited = record["sampled"]["audit"]["math"]["pass_rate"]
        assert found["metrics"]["eval/audit_gap"] == pytest.approx(record["sampled"]["pass_rate"] - audited, abs=1e-4)
        trained = record["train_pass_rate"]
        assert ("eval/train_gap" in found["metrics"]) is (trained is not None)
        if trained is not None:
            assert found["metrics"]["eval/train_gap"] == pytest.approx(trained - audited, rel=1e-3)
    assert payload["meanings"]["eval/train_gap"] == NAMES["eval/train_gap"]


def test_runs_in_folders_of_the_same_name_can_be_told_apart(tmp_path: Path):
    folders = [golden_copy(tmp_path / parent / "seed-0") for parent in "ab"]
    names = [run["name"] for run in payload_of(*folders, golden_copy(tmp_path / "seed-1"))["runs"]]
    assert names == [*(str(folder.path) for folder in folders), "seed-1"]


def test_values_are_shown_of_a_run_whose_critic_has_explained_nothing(tmp_path: Path):
    folder = golden_copy(tmp_path / "run")
    lines = [{**line, "critic/explained_variance": None} for line in folder.read_metrics()]
    write_records(folder.metrics_path, lines)
    responses = payload_of(folder)["runs"][0]["browser"]["responses"]
    assert all(response["value"] for response in responses)
