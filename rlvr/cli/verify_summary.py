"""What `rlvr verify` prints at its end."""

from collections.abc import Iterator

from rlvr.evaluation.agreement import LINES_KEPT, Agreement, Totals
from rlvr.evaluation.intervals import wilson
from verifiers.types import Outcome


def rate_text(successes: int, n: int) -> str:
    """Return a rate with its 95 % Wilson interval: "98.3 % [97.1, 99.0]"."""
    if n == 0:
        return "not measurable"
    interval = wilson(successes, n)
    return f"{100 * successes / n:.1f} % [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms"


def summary_lines(totals: Totals, *, wall_s: float) -> Iterator[str]:
    """Yield the lines: outcomes, pace, and how verdicts agree with labels where there are any."""
    rows = totals.judged + totals.failed
    yield f"{rows:,} rows, {totals.judged:,} judged, {totals.failed:,} could not be judged"
    if totals.judged == 0:
        return
    for outcome in Outcome:
        count = totals.outcomes[outcome]
        yield f"  {outcome.value:<10} {count:>9,}   {100 * count / totals.judged:5.1f} %"
    p50, p99 = (milliseconds(totals.latencies.quantile_s(share)) for share in (0.5, 0.99))
    yield f"{rows / wall_s:,.0f} rows/s   verifier p50 {p50}, p99 {p99} a row"
    if totals.agreement.n:
        yield from _agreement_lines(totals.agreement)
        if totals.groups:
            yield from _group_lines(totals.groups)


def _agreement_lines(agreement: Agreement) -> Iterator[str]:
    yield f"accuracy {rate_text(agreement.agreed, agreement.n)}   n = {agreement.n:,}"
    yield "                    judged correct   judged otherwise"
    yield f"  labelled correct  {agreement.true_positives:>14,}   {agreement.false_negatives:>16,}"
    yield f"  labelled wrong    {agreement.false_positives:>14,}   {agreement.true_negatives:>16,}"
    yield _mistakes("false positives", agreement.false_positives, agreement.false_positive_lines)
    yield _mistakes("false negatives", agreement.false_negatives, agreement.false_negative_lines)


def _mistakes(name: str, count: int, lines: list[int]) -> str:
    if count == 0:
        return f"{name} 0"
    more = ", ..." if count > LINES_KEPT else ""
    return f"{name} {count:,}: line{'s' * (count > 1)} {', '.join(map(str, lines))}{more}"


def _group_lines(groups: dict[str, Agreement]) -> Iterator[str]:
    width = max(len("group"), *(len(_shown(name)) for name in groups))
    yield f"  {'group':<{width}}          n   accuracy   false positives   false negatives"
    for name, agreement in sorted(groups.items()):
        yield (
            f"  {_shown(name):<{width}} {agreement.n:>10,}   {100 * agreement.agreed / agreement.n:6.1f} %   "
            f"{agreement.false_positives:>15,}   {agreement.false_negatives:>15,}"
        )


def _shown(name: str) -> str:
    return ascii(name)[1:-1][:40]
