import math
import multiprocessing
import time

import pytest
from support import bad_verifiers as bad

from tasks.arithmetic import Arithmetic
from tasks.types import Problem
from verifiers.attacks import Expected
from verifiers.audit import MAX_LOST, AuditReport, audit
from verifiers.audit_process import Ending, VerifierProcess
from verifiers.errors import VerifierError
from verifiers.numeric import Numeric


def problems(count: int) -> list[Problem]:
    return list(Arithmetic(digits=3).problems("test")[:count])


def names(report: AuditReport) -> set[str]:
    return {finding.attack.name for finding in report.findings}


def test_an_audit_of_a_sound_verifier_finds_nothing():
    report = audit(Numeric, problems(12))
    assert (report.findings, report.errors, report.stopped_early) == ([], [], False)
    assert report.counts(Expected.ACCEPTED)[0] == report.counts(Expected.REJECTED)[0] == 0
    assert report.counts(Expected.ACCEPTED)[1] > 100
    assert report.counts(Expected.REJECTED)[1] > 1000
    assert 0 < report.latency_s(0.5) <= report.latency_s(0.99) <= report.latency_s(1.0) == max(report.latencies_s)


def test_the_same_seed_gives_the_same_audit():
    def attacked(seed: int) -> list[str]:
        return [finding.attack.response for finding in audit(bad.Generous, problems(2), seed=seed).findings]

    assert attacked(1) == attacked(1) != attacked(2)


def test_a_verifier_that_looks_for_the_gold_text_is_caught():
    caught = names(audit(bad.GoldAnywhere, problems(3)))
    assert {"two answers", "one or the other", "gold in a longer number", "gold in the thinking"} <= caught
    assert {"gold taken back", "code that gives the gold", "gold outside its place"} <= caught


def test_a_verifier_that_takes_the_first_number_is_caught_in_both_directions():
    caught = {
        (finding.attack.name, finding.attack.expected) for finding in audit(bad.FirstNumber, problems(3)).findings
    }
    assert ("two answers", Expected.REJECTED) in caught
    assert ("gold after thinking", Expected.ACCEPTED) in caught


def test_a_verifier_that_evaluates_the_answer_is_caught():
    assert "code that gives the gold" in names(audit(bad.Evaluating, problems(1)))


def test_a_verifier_that_accepts_everything_is_wrong_on_every_wrong_response():
    report = audit(bad.Generous, problems(2))
    wrong, n = report.counts(Expected.REJECTED)
    assert wrong == n > 0
    assert report.counts(Expected.ACCEPTED)[0] == 0


def test_a_verifier_that_accepts_nothing_is_wrong_on_every_right_response():
    report = audit(bad.Strict, problems(2))
    wrong, n = report.counts(Expected.ACCEPTED)
    assert wrong == n > 0
    assert report.counts(Expected.REJECTED)[0] == 0


def test_a_full_score_is_acceptance_whatever_the_outcome_says():
    wrong, n = audit(bad.FullMarksForWrong, problems(1)).counts(Expected.REJECTED)
    assert wrong == n


def test_partial_credit_for_wrong_responses_is_told_apart():
    report = audit(bad.HalfMarks, problems(1))
    assert report.partial_credit == report.counts(Expected.REJECTED)[1] > 0
    assert report.top_partial_score == 0.5


@pytest.mark.parametrize(("make", "ending"), [(bad.Hanging, Ending.HUNG), (bad.Dying, Ending.DIED)])
def test_an_audit_outlives_calls_that_hang_or_die_and_ends_after_a_few(make: type, ending: Ending):
    start_s = time.monotonic()
    report = audit(make, problems(12), limit_s=0.3)
    lost = [finding for finding in report.findings if finding.call.ending is not Ending.VERDICT]
    assert [finding.call.ending for finding in lost] == [ending] * MAX_LOST
    assert all("\x00" in finding.attack.response for finding in lost)
    assert report.broken == MAX_LOST
    assert report.stopped_early
    assert time.monotonic() - start_s < 30


def test_exceptions_are_findings_and_the_rest_is_still_judged():
    report = audit(bad.Raising, problems(1))
    raised = [finding for finding in report.findings if finding.call.ending is Ending.RAISED]
    assert {finding.attack.name for finding in raised} == {"control characters"}
    assert "UnicodeEncodeError" in raised[0].call.found
    assert report.tallies["near-miss"].n > 0


def test_verifier_errors_are_counted_apart():
    report = audit(bad.Refusing, problems(1))
    assert report.findings == []
    assert len(report.errors) == report.calls > 0
    assert report.counts(Expected.REJECTED) == (0, 0)
    assert math.isnan(report.latency_s(0.5))


def test_what_is_no_verdict_is_a_finding():
    found = audit(bad.Forgetful, problems(1)).findings[0].call
    assert (found.ending, found.found) == (Ending.RAISED, "returned bool and not a Verdict")


def test_a_verifier_that_cannot_be_made_is_an_error_of_its_own(capfd: pytest.CaptureFixture[str]):
    with pytest.raises(VerifierError, match="could not be made in a process of its own"):
        audit(bad.Unmakeable, problems(1))
    assert "no licence" in capfd.readouterr().err


def test_no_process_is_left_behind():
    audit(bad.Strict, problems(1))
    assert multiprocessing.active_children() == []


def test_a_process_goes_on_after_a_hang():
    process = VerifierProcess(bad.Hanging, limit_s=0.3)
    try:
        problem = problems(1)[0]
        endings = [process.judge(problem, response).ending for response in ("1", "\x00", "2")]
    finally:
        process.close()
    assert endings == [Ending.VERDICT, Ending.HUNG, Ending.VERDICT]


def test_an_audit_whose_time_is_over_keeps_what_it_has_and_says_so():
    report = audit(Numeric, problems(3), within_s=0.0)
    assert (report.out_of_time, report.stopped_early, report.calls) == (True, False, 0)
    assert not audit(Numeric, problems(1), within_s=60.0).out_of_time
