"""Thousands of programs, hostile and benign, through one sandbox: is every verdict right, and does nothing pile up."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.labelled_programs import LabelledProgram
from benchmarks.sandbox_left import containers_of, engine_process, orphans, resident_mb
from benchmarks.sandbox_speed import quantile
from sandbox.docker_sandbox import DockerSandbox
from sandbox.engine import connect
from sandbox.types import Sandbox
from tasks.types import Problem, StdinTests
from verifiers import VerifierError, load_verifier
from verifiers.code.outcome import word_of
from verifiers.code.verifier import CodeVerifier
from verifiers.types import Outcome

THREADS = 2
TRIVIAL_SHARE = 0.5
WRONG_SHARE = 0.25
"""Of the trivial programs, those that print a wrong sum."""
MEMORY_POINTS = 10
_SETTLING_S = 3.0
_BENIGN = ("correct_", "wrong_", "syntax_error", "runtime_exception", "binary_output")


@dataclass(kw_only=True, slots=True)
class Tally:
    """What came of the programs so far."""

    done: int = 0
    wrong: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)
    """SandboxErrors, and whatever else is our failure."""
    walls_s: dict[str, list[float]] = field(default_factory=dict)
    """Of single verdicts, by group."""
    words: Counter[str] = field(default_factory=Counter)


def soak(
    cases: Sequence[LabelledProgram], *, programs: int, minutes: float, seed: int, quick_s: float
) -> dict[str, Any]:
    """Return what came of `programs` verdicts, or of as many as `minutes` allow.

    Args:
        cases: those that have one right reward and take less than `quick_s` in a first pass are mixed in.
        seed: of the order.
    """
    with DockerSandbox(containers=THREADS) as sandbox, _engine_pid() as engine:
        chosen = quick(cases, sandbox, quick_s=quick_s)
        if not chosen:
            raise SystemExit(f"no case takes less than {quick_s:g} s")
        began = time.monotonic()
        tally, memory = _run(chosen, sandbox, programs=programs, until=began + 60 * minutes, seed=seed, engine=engine)
        wall_s = time.monotonic() - began
        metrics = asdict(sandbox.metrics)
    return {
        "asked": programs,
        "done": tally.done,
        "threads": THREADS,
        "seed": seed,
        "wall_s": round(wall_s, 1),
        "cases": {"mixed_in": len(chosen), "of": len(cases), "groups": Counter(group_of(case) for case in chosen)},
        "verdicts": dict(sorted(tally.words.items())),
        "wrong": tally.wrong,
        "failed": tally.failed,
        "latency": {name: latency(walls_s) for name, walls_s in sorted(tally.walls_s.items())},
        "memory": memory,
        "left": _left(sandbox.run_label),
        "metrics": metrics,
    }


def quick(cases: Sequence[LabelledProgram], sandbox: Sandbox, *, quick_s: float) -> list[LabelledProgram]:
    """Return the cases with one right reward whose verdict, right or wrong, took less than `quick_s`."""
    decided = [case for case in cases if case.reward is not None]

    def took(case: LabelledProgram) -> float:
        start = time.perf_counter()
        _word(case, sandbox)
        return time.perf_counter() - start

    with ThreadPoolExecutor(THREADS) as threads:
        return [case for case, spent in zip(decided, threads.map(took, decided), strict=True) if spent < quick_s]


def case_of(number: int, cases: Sequence[LabelledProgram], *, seed: int) -> LabelledProgram:
    """Return program `number`: one of the cases, or a trivial one of its own, which is right or wrong."""
    chance = random.Random(f"{seed}/{number}")
    if chance.random() >= TRIVIAL_SHARE:
        return chance.choice(cases)
    a, b, is_right = number, chance.randrange(1_000_000), chance.random() >= WRONG_SHARE
    reference = StdinTests(cases=((f"{a}\n{b}\n", f"{a + b}\n"),))
    return LabelledProgram(
        problem=Problem(id=f"trivial/{number}", prompt="", reference=reference, verifier="stdin_tests"),
        program="print(int(input()) + int(input()))" if is_right else "print(int(input()) - int(input()) - 1)",
        options={},
        kind="trivial",
        accept=("pass",) if is_right else ("fail",),
        reward=int(is_right),
        partial=None,
        sequence=None,
        step=0,
        post=(),
    )


def group_of(case: LabelledProgram) -> str:
    """Return "trivial", "benign" or "hostile"."""
    return "trivial" if case.kind == "trivial" else "benign" if case.kind.startswith(_BENIGN) else "hostile"


def latency(walls_s: Sequence[float]) -> dict[str, Any]:
    """Return count and quantiles of single verdicts."""
    quantiles = {f"p{share}_ms": round(1e3 * quantile(walls_s, share / 100), 1) for share in (50, 99)}
    return {"n": len(walls_s), **quantiles, "slowest_ms": round(1e3 * max(walls_s), 1)}


def _run(
    cases: Sequence[LabelledProgram], sandbox: Sandbox, *, programs: int, until: float, seed: int, engine: int | None
) -> tuple[Tally, list[dict[str, Any]]]:
    tally, lock = Tally(), threading.Lock()
    numbers = iter(range(programs))
    measured_at = {programs * point // MEMORY_POINTS for point in range(1, MEMORY_POINTS + 1)}
    memory = [_memory(0, engine)]

    def work() -> None:
        while time.monotonic() < until:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            case = case_of(number, cases, seed=seed)
            start = time.perf_counter()
            word, reward, detail = _word(case, sandbox)
            wall_s = time.perf_counter() - start
            with lock:
                _count(tally, number, case, word, reward, detail, wall_s)
                if tally.done in measured_at:
                    memory.append(_memory(tally.done, engine))

    with ThreadPoolExecutor(THREADS) as threads:
        for worker in [threads.submit(work) for _ in range(THREADS)]:
            worker.result()
    if memory[-1]["programs"] != tally.done:
        memory.append(_memory(tally.done, engine))
    return tally, memory


def _word(case: LabelledProgram, sandbox: Sandbox) -> tuple[str, int, str]:
    """Return the verdict's word ("infra" where there is none), the reward and the detail."""
    verifier = load_verifier(case.problem.verifier, {**case.options, "sandbox": sandbox})
    assert isinstance(verifier, CodeVerifier)
    try:
        verdict = verifier.verify_program(case.problem, case.program)
    except VerifierError as error:
        return "infra", 0, str(error)
    return word_of(verdict) or "error", int(verdict.outcome is Outcome.CORRECT), verdict.detail


def _count(
    tally: Tally, number: int, case: LabelledProgram, word: str, reward: int, detail: str, wall_s: float
) -> None:
    tally.done += 1
    tally.words[word] += 1
    for group in ("all", group_of(case)):
        tally.walls_s.setdefault(group, []).append(wall_s)
    told = {"number": number, "id": case.problem.id, "verdict": word, "accept": case.accept, "detail": detail[:300]}
    if word == "infra":
        tally.failed.append(told)
    elif word not in case.accept or reward != case.reward:
        tally.wrong.append(told)


def _memory(programs: int, engine: int | None) -> dict[str, Any]:
    return {
        "programs": programs,
        "owner_mb": resident_mb(None),
        "engine_mb": None if engine is None else resident_mb(engine),
    }


@contextmanager
def _engine_pid() -> Iterator[int | None]:
    """Give the process of the engine, which must be the same one afterwards."""
    engine = connect(None)
    try:
        pid = engine_process(engine.url)
        yield pid
        if pid != engine_process(engine.url):
            raise RuntimeError("the engine was restarted during the soak: its memory says nothing")
    finally:
        engine.close()


def _left(run: str) -> dict[str, int]:
    """Return how many containers and processes are there some seconds after the sandbox was closed."""
    time.sleep(_SETTLING_S)
    engine = connect(None)
    try:
        return {"containers": len(containers_of(engine, run)), "processes": len(orphans(engine))}
    finally:
        engine.close()
