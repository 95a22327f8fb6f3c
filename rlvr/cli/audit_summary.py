"""What `rlvr audit` prints and writes, and when it fails."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rlvr.cli.verify_summary import milliseconds, rate_text
from rlvr.evaluation.intervals import wilson
from verifiers.attacks import Expected
from verifiers.audit import AuditReport, Finding
from verifiers.audit_process import Ending

_SHOWN_CHARACTERS = 60
_RATES = {"false-positive rate": Expected.REJECTED, "false-negative rate": Expected.ACCEPTED}


def summary_lines(report: AuditReport, *, show: int) -> Iterator[str]:
    """Yield the lines: each kind of attack, the two rates with 95 % intervals, latencies, and failing inputs."""
    width = max(len(name) for name in report.tallies)
    yield f"  {'attack':<{width}}   right verdict        n    wrong   no verdict"
    for name, tally in sorted(report.tallies.items(), key=lambda item: (item[1].expected, item[0])):
        yield f"  {name:<{width}}   {tally.expected:<13} {tally.n:>8,} {tally.wrong:>8,} {tally.failed:>12,}"
    for name, expected in _RATES.items():
        wrong, n = report.counts(expected)
        yield f"{name}   {rate_text(wrong, n)}   {wrong:,} of {n:,} attacks"
    if report.counts(Expected.ACCEPTED)[1] == 0:
        yield "  no response is known to be right: no demonstrations, and references that are no MathAnswer"
    if report.partial_credit:
        yield (
            f"partial credit   {report.partial_credit:,} wrong responses earn a score without being accepted, "
            f"{report.top_partial_score:g} at most"
        )
    p50, p99, longest = (milliseconds(report.latency_s(share)) for share in (0.5, 0.99, 1.0))
    yield f"latency   p50 {p50}   p99 {p99}   max {longest}   ({len(report.latencies_s):,} verdicts)"
    if report.stopped_early:
        yield "stopped early: too many calls hung or died"
    first_errors = list({finding.problem_id: finding for finding in reversed(report.errors)}.values())[::-1]
    if first_errors:
        yield f"VerifierErrors: {len(report.errors):,}, on {len(first_errors):,} problems; the first of each problem:"
        yield from map(_finding_line, first_errors[:show])
    if report.findings:
        yield f"failing inputs: {len(report.findings):,}"
        yield from map(_finding_line, report.findings[:show])
    if len(first_errors) > show or len(report.findings) > show:
        yield "  ... (--show more, or --out for all)"


def _finding_line(finding: Finding) -> str:
    return (
        f"  {finding.attack.name}, {finding.problem_id}, to be {finding.attack.expected}: "
        f"{_shown(finding.attack.response)} -> {_shown(finding.call.found, 120)}"
    )


def exceeded_limits(
    report: AuditReport,
    *,
    max_false_positive_rate: float,
    max_false_negative_rate: float,
    max_error_rate: float,
    max_p99_s: float | None,
) -> list[str]:
    """Return each limit that the audit exceeds, in words; a call that hangs, dies or raises is always too many."""
    exceeded = []
    limits = dict(zip(_RATES, (max_false_positive_rate, max_false_negative_rate), strict=True))
    for name, limit in limits.items():
        wrong, n = report.counts(_RATES[name])
        if wrong > limit * n:
            exceeded.append(f"{name} {wrong / n:.3%} is above --max-{name.replace(' ', '-')} {limit:g}")
    if len(report.errors) > max_error_rate * report.calls:
        exceeded.append(f"{len(report.errors):,} VerifierErrors are above --max-error-rate {max_error_rate:g}")
    for ending, claim in {Ending.RAISED: "raised", Ending.HUNG: "hung", Ending.DIED: "died"}.items():
        count = sum(finding.call.ending is ending for finding in report.findings)
        if count:
            exceeded.append(f"{count:,} calls {claim}")
    p99_s = report.latency_s(0.99)
    if max_p99_s is not None and p99_s > max_p99_s:
        exceeded.append(f"p99 {milliseconds(p99_s)} is above --max-p99-ms {1000 * max_p99_s:g}")
    if not report.latencies_s:
        exceeded.append("no attack got a verdict")
    return exceeded


def report_json(report: AuditReport, origin: Mapping[str, Any]) -> str:
    """Return the whole report, failing responses in full; ASCII, so that lone surrogates survive."""
    rates = {}
    for name, expected in _RATES.items():
        wrong, n = report.counts(expected)
        interval = wilson(wrong, n) if n else None
        rates[name.replace("-", "_").replace(" ", "_")] = {
            "wrong": wrong, "n": n, "rate": wrong / n if n else None,
            "low": interval.low if interval else None, "high": interval.high if interval else None,
        }  # fmt: skip
    latencies = {name: report.latency_s(share) for name, share in {"p50": 0.5, "p99": 0.99, "max": 1.0}.items()}
    return json.dumps(
        {
            **origin,
            **rates,
            "latency_s": latencies if report.latencies_s else None,
            "partial_credit": {"n": report.partial_credit, "top_score": report.top_partial_score},
            "stopped_early": report.stopped_early,
            "attacks": {
                name: {"expected": tally.expected, "n": tally.n, "wrong": tally.wrong, "failed": tally.failed}
                for name, tally in report.tallies.items()
            },
            "errors": [_record(finding) for finding in report.errors],
            "findings": [_record(finding) for finding in report.findings],
        },
        indent=2,
    )


def _record(finding: Finding) -> dict[str, Any]:
    return {
        "attack": finding.attack.name,
        "expected": finding.attack.expected,
        "problem": finding.problem_id,
        "response": finding.attack.response,
        "ending": finding.call.ending,
        "found": finding.call.found,
    }


def _shown(text: str, length: int = _SHOWN_CHARACTERS) -> str:
    """Return a text on one printable line."""
    cut = f" ({len(text):,} characters)" if len(text) > length else ""
    return ascii(text if not cut else f"{text[: length - 3]}...") + cut
