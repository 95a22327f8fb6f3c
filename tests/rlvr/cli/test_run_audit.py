import json
from pathlib import Path

import pytest
from support.stored_runs import stored_run
from support.tiny_runs import tiny_config

from rlvr.cli.run_audit import audit_of, contamination_of
from rlvr.tracking.run_folder import RunFolder
from tasks.arithmetic import Arithmetic
from tasks.plugins import import_plugin_file

TRAIN = Arithmetic(digits=2).problems("train")
GENEROUS = """
from verifiers import Outcome, Verdict, register_verifier


@register_verifier("generous_in_audits")
class Generous:
    def verify(self, problem, response):
        return Verdict(outcome=Outcome.CORRECT, score=1.0)
"""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "mine", "")


def test_the_error_rates_of_a_sound_verifier_are_kept_with_their_intervals(folder):
    record = audit_of(tiny_config("tracking.audit_problems=2"), folder, TRAIN)
    assert record is not None
    (one,) = record["verifiers"]
    assert (record["problems"], one["verifier"], one["errors"], one["broken"]) == (2, "numeric", 0, 0)
    for name in ("false_positive_rate", "false_negative_rate"):
        assert one[name]["wrong"] == one[name]["low"] == 0
        assert 0 < one[name]["high"] < 0.2
    assert json.loads(folder.audit_path.read_text()) == record


def test_what_is_there_is_not_made_again(folder):
    folder.audit_path.write_text('{"problems": 1, "verifiers": []}')
    folder.contamination_path.write_text('{"sentence": "made before"}')
    config = tiny_config("tracking.audit_problems=2")
    assert audit_of(config, folder, TRAIN) == {"problems": 1, "verifiers": []}
    assert contamination_of(folder, TRAIN, TRAIN) == {"sentence": "made before"}


def test_zero_problems_ask_for_no_audit(folder):
    assert audit_of(tiny_config("tracking.audit_problems=0"), folder, TRAIN) is None
    assert not folder.audit_path.exists()


def test_a_users_verifier_is_audited_and_what_it_accepts_is_shown(folder, tmp_path):
    file = tmp_path / "generous.py"
    file.write_text(GENEROUS)
    import_plugin_file(file)
    config = tiny_config("tracking.audit_problems=1", 'task.verifier="generous_in_audits"')
    record = audit_of(config, folder, TRAIN, plugin_files=[file])
    assert record is not None
    (one,) = record["verifiers"]
    assert one["false_positive_rate"]["rate"] == 1.0
    assert sum(one["wrong_attacks"].values()) == one["false_positive_rate"]["wrong"]
    assert all(found["expected"] == "rejected" and len(found["response"]) <= 200 for found in one["findings"])


def test_an_audit_that_cannot_be_made_is_a_reason_and_no_error(folder):
    config = tiny_config("tracking.audit_problems=1", 'task.verifier="no_such_verifier"')
    record = audit_of(config, folder, TRAIN)
    assert record is not None
    assert "no verifier named 'no_such_verifier'" in record["failed"]
    assert not folder.audit_path.exists()


def test_an_audit_ends_when_its_time_is_over(folder):
    record = audit_of(tiny_config("tracking.audit_problems=1"), folder, TRAIN, within_s=0.0)
    assert record is not None
    assert record["verifiers"][0]["out_of_time"]
    assert record["verifiers"][0]["false_positive_rate"] == {
        "wrong": 0,
        "n": 0,
        "rate": None,
        "low": None,
        "high": None,
    }


def test_contamination_is_kept_with_its_sentence(tmp_path):
    folder = stored_run(tmp_path / "mine")
    test = Arithmetic(digits=2).problems("test")[:5]
    record = contamination_of(folder, TRAIN[:100], [*test, TRAIN[3]])
    assert record["verbatim"] >= 1
    assert record["sentence"].startswith("of 6 held-out prompts")
    assert json.loads(folder.contamination_path.read_text()) == json.loads(json.dumps(record))
