"""From what happened to a program, test by test, to the verdict on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sandbox.types import End, Execution
from verifiers.types import Outcome, Verdict

Word = Literal["pass", "fail", "timeout", "memory", "error", "rejected"]
"""What became of a test: passed; ran, and was wrong; out of time; out of memory; an exception, a signal, a missing name
or another limit; refused (too much output, a value that cannot be sent)."""

_OUTCOMES: dict[Word, Outcome] = {
    "pass": Outcome.CORRECT,
    "fail": Outcome.INCORRECT,
    "timeout": Outcome.TIMED_OUT,
    "memory": Outcome.CRASHED,
    "error": Outcome.CRASHED,
    "rejected": Outcome.CRASHED,
}
_ENDS: dict[End, tuple[Word, str]] = {
    End.TIMED_OUT: ("timeout", "ran out of time"),
    End.OUT_OF_MEMORY: ("memory", "ran out of memory"),
    End.KILLED: ("error", "was killed for a limit or a forbidden action"),
    End.OUTPUT_LIMIT: ("rejected", "wrote too much output"),
}
_NAMED_PARTS = 100
_STDERR_BYTES = 2000


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What became of one test."""

    word: Word
    detail: str = ""
    name: str = ""
    """The test's own name, where it has one."""


def verdict_of(findings: Sequence[Finding], *, total: int, program: str, partial: bool) -> Verdict:
    """Return the verdict on `program`: that of the first test that did not pass, CORRECT where all `total` did.

    Its detail begins with that test's word, which `word_of` reads, and its parts are the scores of the first tests and
    the share of all that passed. Tests without a finding were not run, and count as not passed.

    Args:
        partial: make that share the score, instead of 0 for all that is not CORRECT.
    """
    assert 0 < total >= len(findings)
    passed = sum(finding.word == "pass" for finding in findings)
    share = passed / total
    parts = {"tests passed": share}
    for number, finding in enumerate(findings[:_NAMED_PARTS], 1):
        parts[f"test {number}"] = float(finding.word == "pass")
    if passed == total:
        tests = "the test" if total == 1 else f"all {total} tests"
        return Verdict(outcome=Outcome.CORRECT, score=1.0, answer=program, detail=f"pass: {tests} passed", parts=parts)
    number, finding = next((number, f) for number, f in enumerate(findings, 1) if f.word != "pass")
    named = f" {one_line(finding.name, 60)}" if finding.name else ""
    detail = f"{finding.word}: test {number} of {total}{named} {one_line(finding.detail)} ({passed} of {total} passed)"
    return Verdict(
        outcome=_OUTCOMES[finding.word], score=share if partial else 0.0, answer=program, detail=detail, parts=parts
    )


def word_of(verdict: Verdict) -> Word | None:
    """Return the word of a code verifier's verdict, None for NO_ANSWER, where no test was run."""
    word = verdict.detail.partition(":")[0]
    return next((known for known in get_args(Word) if known == word), None)


def finding_of(execution: Execution) -> Finding | None:
    """Return what an execution alone says of a test: None where the program came to its own end with exit code 0.

    What the program wrote on stderr only words the detail, and tells a MemoryError from other exceptions.
    """
    if execution.end is not End.EXITED:
        word, detail = _ENDS[execution.end]
        return Finding(word=word, detail=detail)
    if execution.exit_code == 0:
        return None
    last = execution.stderr[-_STDERR_BYTES:].decode("utf-8", "replace").strip().rpartition("\n")[2]
    ended = f"ended with {_exit_words(execution.exit_code)}"
    memory = execution.exit_code == 1 and last.split(":")[0] == "MemoryError"
    return Finding(word="memory" if memory else "error", detail=f"{ended}: {last}" if last else ended)


def _exit_words(exit_code: int | None) -> str:
    return f"signal {-exit_code}" if exit_code is not None and exit_code < 0 else f"exit code {exit_code}"


def one_line(text: str, limit: int = 200) -> str:
    """Return a text that a program may have written, for a detail: one line, printable ASCII, at most `limit` long."""
    shown = ascii(text[: limit + 1])[1:-1]
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."
