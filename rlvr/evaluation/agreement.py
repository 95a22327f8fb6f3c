"""What judged rows add up to: outcomes, agreement with the rows' own labels, latencies; in constant memory."""

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate

from rlvr.evaluation.rejudge import JudgedRow
from verifiers.types import Outcome

LINES_KEPT = 5
MAX_GROUPS = 100
OTHER_GROUPS = "(other)"
"""Where rows count whose group came after the first MAX_GROUPS."""

_BUCKETS_PER_DECADE = 100


class Latencies:
    """Call times, kept as a histogram of logarithmic buckets: quantiles are right to about two per cent."""

    def __init__(self) -> None:
        self._buckets: Counter[int] = Counter()

    def add(self, latency_s: float) -> None:
        self._buckets[math.ceil(_BUCKETS_PER_DECADE * math.log10(max(latency_s, 1e-9)))] += 1

    def quantile_s(self, share: float) -> float:
        """Return the time that `share` of the calls did not exceed. There must have been a call."""
        wanted = max(1, math.ceil(share * self._buckets.total()))
        ordered = sorted(self._buckets)
        up_to = accumulate(self._buckets[bucket] for bucket in ordered)
        bucket = next(bucket for bucket, count in zip(ordered, up_to, strict=True) if count >= wanted)
        return 10 ** (bucket / _BUCKETS_PER_DECADE)


@dataclass(kw_only=True, slots=True)
class Agreement:
    """How verdicts agree with labels; "positive" is a verdict of CORRECT."""

    true_positives: int = 0
    true_negatives: int = 0
    false_positives: int = 0
    false_negatives: int = 0
    false_positive_lines: list[int] = field(default_factory=list)
    """The first few."""
    false_negative_lines: list[int] = field(default_factory=list)

    @property
    def n(self) -> int:
        return self.agreed + self.false_positives + self.false_negatives

    @property
    def agreed(self) -> int:
        return self.true_positives + self.true_negatives

    def add(self, line: int, *, label: bool, accepted: bool) -> None:
        if label and accepted:
            self.true_positives += 1
        elif not label and not accepted:
            self.true_negatives += 1
        elif accepted:
            self.false_positives += 1
            self.false_positive_lines += [line] * (len(self.false_positive_lines) < LINES_KEPT)
        else:
            self.false_negatives += 1
            self.false_negative_lines += [line] * (len(self.false_negative_lines) < LINES_KEPT)


class Totals:
    """Adds judged rows up."""

    def __init__(self) -> None:
        self.failed = 0
        """Rows that could not be judged."""
        self.outcomes: Counter[Outcome] = Counter()
        self.agreement = Agreement()
        """Over the rows with a label."""
        self.groups: dict[str, Agreement] = {}
        self.latencies = Latencies()

    @property
    def judged(self) -> int:
        return self.outcomes.total()

    def add(self, row: JudgedRow) -> None:
        if row.outcome is None:
            self.failed += 1
            return
        self.outcomes[row.outcome] += 1
        self.latencies.add(row.latency_s)
        if row.correct is None:
            return
        agreements = [self.agreement]
        if row.group is not None:
            known = row.group in self.groups or len(self.groups) < MAX_GROUPS
            agreements.append(self.groups.setdefault(row.group if known else OTHER_GROUPS, Agreement()))
        for agreement in agreements:
            agreement.add(row.line, label=row.correct, accepted=row.outcome is Outcome.CORRECT)
