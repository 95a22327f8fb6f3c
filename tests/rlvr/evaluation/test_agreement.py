import random

import pytest

from rlvr.evaluation.agreement import LINES_KEPT, MAX_GROUPS, OTHER_GROUPS, Agreement, Latencies, Totals
from rlvr.evaluation.rejudge import JudgedRow
from verifiers.types import Outcome


def row(line: int, outcome: Outcome | None, correct: bool | None = None, group: str | None = None) -> JudgedRow:
    return JudgedRow(
        line=line, record=b"", size_bytes=0, outcome=outcome, correct=correct, group=group, latency_s=0.001
    )


def totals(*rows: JudgedRow) -> Totals:
    found = Totals()
    for one in rows:
        found.add(one)
    return found


def test_outcomes_are_counted_and_failures_apart():
    found = totals(row(1, Outcome.CORRECT), row(2, Outcome.NO_ANSWER), row(3, Outcome.CORRECT), row(4, None))
    assert (found.judged, found.failed) == (3, 1)
    assert found.outcomes == {Outcome.CORRECT: 2, Outcome.NO_ANSWER: 1}
    assert found.agreement.n == 0


def test_labels_and_verdicts_make_four_counts():
    found = totals(
        row(1, Outcome.CORRECT, True),
        row(2, Outcome.CORRECT, False),
        row(3, Outcome.TIMED_OUT, True),
        row(4, Outcome.NO_ANSWER, False),
        row(5, Outcome.INCORRECT, False),
        row(6, Outcome.CORRECT),
        row(7, None, True),
    ).agreement
    assert (found.true_positives, found.false_positives) == (1, 1)
    assert (found.false_negatives, found.true_negatives) == (1, 2)
    assert (found.n, found.agreed) == (5, 3)
    assert (found.false_positive_lines, found.false_negative_lines) == ([2], [3])


def test_only_the_first_lines_of_mistakes_are_kept():
    agreement = Agreement()
    for line in range(1, 100):
        agreement.add(line, label=False, accepted=True)
    assert agreement.false_positives == 99
    assert agreement.false_positive_lines == list(range(1, LINES_KEPT + 1))


def test_groups_are_counted_up_to_a_limit():
    found = totals(*(row(i, Outcome.CORRECT, True, f"g{i}") for i in range(MAX_GROUPS + 50)))
    assert len(found.groups) == MAX_GROUPS + 1
    assert found.groups["g0"].n == 1
    assert found.groups[OTHER_GROUPS].n == 50
    assert found.agreement.n == MAX_GROUPS + 50


def test_quantiles_are_right_to_a_few_per_cent():
    rng = random.Random(0)
    times = [rng.lognormvariate(-7, 2) for _ in range(20_000)]
    latencies = Latencies()
    for time_s in times:
        latencies.add(time_s)
    for share in (0.5, 0.99, 1.0):
        exact = sorted(times)[max(0, round(share * len(times)) - 1)]
        assert latencies.quantile_s(share) == pytest.approx(exact, rel=0.025)


def test_a_clock_that_shows_nothing_is_no_trouble():
    latencies = Latencies()
    latencies.add(0.0)
    assert latencies.quantile_s(0.5) == pytest.approx(1e-9)
