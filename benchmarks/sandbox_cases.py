r"""Judge labelled programs, hostile ones among them, through the product's own verifiers.

    python -m benchmarks.sandbox_cases ../shared/cases/code_public.jsonl --out cases.jsonl

A line of the output has id, verdict, reward, wall_s, accepted, score, detail, and in "post" whether each condition that
must hold afterwards did. Ends with exit code 1 where any case was judged wrongly.
"""

import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.labelled_programs import LabelledProgram, read_programs
from sandbox.types import End, Limits, Program, Sandbox
from verifiers import VerifierError, load_verifier
from verifiers.code.outcome import word_of
from verifiers.code.verifier import CodeVerifier
from verifiers.types import Outcome, Verdict

_OTHERS = b"""
import os
print(*[pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (1, os.getpid())])
"""
_SUM = b"print(sum(map(int, input().split())))"


def main() -> None:
    """Judge the file of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sandbox", choices=("docker", "local"), default="docker")
    parser.add_argument("--parallel", type=int, default=2, help="programs at once (default 2)")
    parser.add_argument("--only", help="judge the cases whose id contains this")
    arguments = parser.parse_args()
    cases = [case for case in read_programs(arguments.cases) if (arguments.only or "") in case.problem.id]
    with arguments.out.open("w", encoding="utf-8") as out:
        rows = []
        for row in judged(cases, kind=arguments.sandbox, parallel=arguments.parallel):
            rows.append(row)
            out.write(json.dumps(row) + "\n")
            out.flush()
    lines, misses = summary(cases, rows)
    print("\n".join(lines))
    sys.exit(1 if misses else 0)


def judged(cases: Sequence[LabelledProgram], *, kind: str, parallel: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each case: first those that go by themselves, then the others in a sandbox for one at a time."""
    alone = [case for case in cases if case.sequence or case.post]
    many, one = _sandbox(kind, parallel), _sandbox(kind, 1)
    try:
        with ThreadPoolExecutor(parallel) as threads:
            yield from threads.map(lambda case: _row(case, many), [case for case in cases if case not in alone])
        ordered = sorted(alone, key=lambda case: (case.sequence or "", case.step))
        for _, steps in groupby(ordered, key=lambda case: case.sequence or case.problem.id):
            for case in steps:
                yield _row(case, one, neighbour=many, probe=kind == "docker")
    finally:
        many.close()
        one.close()


def _sandbox(kind: str, containers: int) -> Sandbox:
    if kind == "local":
        from sandbox.local_sandbox import LocalSandbox

        return LocalSandbox(parallel=containers)
    from sandbox.docker_sandbox import DockerSandbox

    return DockerSandbox(containers=containers)


def _row(
    case: LabelledProgram, sandbox: Sandbox, *, neighbour: Sandbox | None = None, probe: bool = False
) -> dict[str, Any]:
    verifier = load_verifier(case.problem.verifier, {**case.options, "sandbox": sandbox})
    assert isinstance(verifier, CodeVerifier)
    watched = _Neighbour(neighbour) if neighbour is not None and "neighbours_ok" in case.post else None
    start = time.perf_counter()
    verdict, failure = None, ""
    try:
        verdict = verifier.verify_program(case.problem, case.program)
    except VerifierError as error:
        failure = str(error)
    wall_s = time.perf_counter() - start
    post: dict[str, bool] = {}
    for condition in case.post:
        name, _, limit_s = condition.partition(":")
        if name == "returns_within":
            tests = sum(part.startswith("test ") for part in verdict.parts) if verdict else 1
            post[condition] = wall_s / max(tests, 1) <= float(limit_s)
        elif name == "neighbours_ok":
            post[condition] = watched is not None and watched.was_well()
        elif name == "no_processes" and probe:
            post[condition] = _nothing_left(sandbox)
    word = (word_of(verdict) or "error") if verdict else "infra"
    return {
        "id": case.problem.id,
        "verdict": word,
        "reward": int(verdict is not None and verdict.outcome is Outcome.CORRECT),
        "wall_s": round(wall_s, 3),
        "accepted": word in case.accept,
        "score": _share(verdict),
        "detail": verdict.detail if verdict else failure,
        "post": post,
    }


def _share(verdict: Verdict | None) -> float | None:
    return verdict.parts.get("tests passed") if verdict else None


def _nothing_left(sandbox: Sandbox) -> bool:
    """Return whether the next program in the container finds itself alone there."""
    execution = sandbox.run(Program(argv=("python3", "main.py"), files={"main.py": _OTHERS}), Limits())
    return execution.end is End.EXITED and execution.exit_code == 0 and not execution.stdout.strip()


class _Neighbour:
    """An honest program that runs again and again elsewhere while a hostile one runs."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._over = threading.Event()
        self._sums: list[bytes] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def was_well(self) -> bool:
        """Stop it, and return whether it always had the right answer."""
        self._over.set()
        self._thread.join()
        return bool(self._sums) and all(out == b"3\n" for out in self._sums)

    def _run(self) -> None:
        program = Program(argv=("python3", "main.py"), files={"main.py": _SUM}, stdin=b"1 2\n")
        while not self._over.wait(0.1 if self._sums else 0):
            self._sums.append(self._sandbox.run(program, Limits()).stdout)


def summary(cases: Sequence[LabelledProgram], rows: Sequence[dict[str, Any]]) -> tuple[list[str], int]:
    """Return the figures in words, and how many cases went wrong in any way."""
    by_id = {row["id"]: row for row in rows}
    pairs = [(case, by_id[case.problem.id]) for case in cases]
    wrong: dict[str, list[str]] = {
        "verdict not in accept": [_told(row) for case, row in pairs if not row["accepted"]],
        "hacks that earned 1": [
            _told(row) for case, row in pairs if case.kind.startswith("hack") and case.reward == 0 and row["reward"]
        ],
        "rewards for other wrong programs": [
            _told(row) for case, row in pairs if case.reward == 0 and row["reward"] and not case.kind.startswith("hack")
        ],
        "correct programs rejected": [_told(row) for case, row in pairs if case.reward == 1 and not row["reward"]],
        "leaks between programs": [
            _told(row) for case, row in pairs if case.sequence and case.step > 1 and not row["accepted"]
        ],
        "conditions afterwards not held": [_told(row) for _, row in pairs if not all(row["post"].values())],
        "partial scores off": [
            _told(row)
            for case, row in pairs
            if case.partial is not None and (row["score"] is None or abs(row["score"] - case.partial) > 1e-9)
        ],
    }
    accepted = sum(row["accepted"] for row in rows)
    lines = [f"{accepted} of {len(rows)} verdicts in accept ({accepted / max(len(rows), 1):.1%})"]
    for what, ids in wrong.items():
        lines.append(f"{len(ids)} {what}")
        lines += [f"    {told}" for told in ids]
    missed = {told for ids in wrong.values() for told in ids}
    return lines, len(missed)


def _told(row: dict[str, Any]) -> str:
    failed = [name for name, held in row["post"].items() if not held]
    return f"{row['id']}: {row['detail'][:160]}" + (f" (not {', '.join(failed)})" if failed else "")


if __name__ == "__main__":
    main()
