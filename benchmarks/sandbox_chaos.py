"""Kill a sandbox's containers at random, and restart its engine, while programs run: every verdict must be right.

    python -m benchmarks.sandbox_chaos --programs 1000 --out benchmarks/results/sandbox_chaos.json
    python -m benchmarks.sandbox_chaos --restart-dockerd "systemctl restart docker"

Only containers of this run are killed; a restart of the engine ends everybody's. Ends with exit code 1 where a program
got a wrong verdict or none.
"""

import argparse
import contextlib
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.stamp import stamp
from sandbox.contract_checks import python
from sandbox.docker_sandbox import DockerSandbox
from sandbox.engine import connect
from sandbox.errors import SandboxError
from sandbox.types import End, Execution, Judge, Limits, Program, Sandbox

_LIMITS = Limits(wall_s=20.0, cpu_s=20.0)
_HASTY = Limits(wall_s=0.5, cpu_s=20.0)
_KILL_EVERY_S = 1.0
_JUDGE = b"import os, sys\nos.write(4, sys.stdin.buffer.read())\nprint(os.read(3, 99).decode())\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A program and what must come of it."""

    program: Program
    limits: Limits
    end: End
    exit_code: int | None
    stdout: bytes
    judge: Judge | None = None
    """With a judge, `stdout` is the judge's."""


@dataclass(kw_only=True, slots=True)
class Outcome:
    """What came of all programs."""

    right: int
    wrong: list[str]
    failed: list[str]
    kills: int
    wall_s: float
    longest_s: float
    """From the call to the verdict of one program, restarts waited for included."""


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--containers", type=int, default=2)
    parser.add_argument("--kill-every", type=float, default=_KILL_EVERY_S, metavar="S", help="mean pause between kills")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--docker-host", metavar="URL", help="default: the engine that the docker command uses")
    parser.add_argument(
        "--restart-dockerd", metavar="COMMAND", help="run by a shell when half of the programs are done"
    )
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    hosts = [arguments.docker_host] if arguments.docker_host else []
    with DockerSandbox(containers=arguments.containers, docker_hosts=hosts) as sandbox:
        outcome = chaos(
            sandbox, programs=arguments.programs, threads=arguments.threads, kill_every_s=arguments.kill_every,
            seed=arguments.seed, host=arguments.docker_host, halfway=_restart(arguments.restart_dockerd),
        )  # fmt: skip
        metrics = asdict(sandbox.metrics)
    record: dict[str, Any] = {**stamp("benchmarks.sandbox_chaos"), **asdict(outcome), "metrics": metrics}
    print(json.dumps(record, indent=2))
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    sys.exit(1 if outcome.wrong or outcome.failed else 0)


def chaos(
    sandbox: DockerSandbox,
    *,
    programs: int,
    threads: int,
    kill_every_s: float = _KILL_EVERY_S,
    seed: int = 0,
    host: str | None = None,
    halfway: Callable[[], None] | None = None,
) -> Outcome:
    """Run `programs` programs in `threads` threads while containers of `sandbox` on the engine `host` are killed.

    `halfway` is called in one of the threads when half of the programs are done.
    """
    done = Counter[str]()
    wrong: list[str] = []
    failed: list[str] = []
    longest_s = 0.0
    lock = threading.Lock()

    def run(number: int) -> None:
        nonlocal longest_s
        asked = program_of(number)
        started = time.monotonic()
        try:
            problem = _difference(asked, sandbox)
        except SandboxError as error:
            with lock:
                failed.append(f"program {number}: {error}")
            return
        with lock:
            longest_s = max(longest_s, time.monotonic() - started)
            done["right" if problem is None else "wrong"] += 1
            if problem is not None:
                wrong.append(f"program {number}: {problem}")
            is_halfway = done.total() == programs // 2
        if is_halfway and halfway is not None:
            halfway()

    began = time.monotonic()
    with killing(sandbox, kill_every_s, seed, host) as kills, ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, range(programs)))
    return Outcome(
        right=done["right"],
        wrong=wrong,
        failed=failed,
        kills=kills["kills"],
        wall_s=time.monotonic() - began,
        longest_s=longest_s,
    )


def program_of(number: int) -> Asked:
    """Return one of several kinds of programs; each has an answer of its own."""
    kind, name = number % 6, b"%d" % number
    exits = {"limits": _LIMITS, "end": End.EXITED, "exit_code": 0}
    if kind == 0:
        return Asked(program=python("print(int(input()) + 1)", stdin=name), stdout=b"%d\n" % (number + 1), **exits)
    if kind == 1:
        source = "import time; time.sleep(0.1); print(input() * 2000)"
        return Asked(program=python(source, stdin=name), stdout=name * 2000 + b"\n", **exits)
    if kind == 2:
        source = "n = int(input())\nprint(n, flush=True)\nexit(n % 100 + 1)"
        return Asked(
            program=python(source, stdin=name), limits=_LIMITS, end=End.EXITED, exit_code=number % 100 + 1,
            stdout=name + b"\n",
        )  # fmt: skip
    if kind == 3:
        source = "print(input(), flush=True)\nwhile True: pass"
        return Asked(
            program=python(source, stdin=name), limits=_HASTY, end=End.TIMED_OUT, exit_code=None, stdout=name + b"\n"
        )
    if kind == 4:
        source = "print(sum(range(300_000)) + int(input()))"
        return Asked(program=python(source, stdin=name), stdout=b"%d\n" % (sum(range(300_000)) + number), **exits)
    answers = "import os, time\nos.write(4, os.read(3, 99)[::-1])\ntime.sleep(60)"
    return Asked(
        program=python(answers), limits=_LIMITS, end=End.EXITED, exit_code=0, stdout=name[::-1] + b"\n",
        judge=Judge(source=_JUDGE, stdin=name),
    )  # fmt: skip


@contextlib.contextmanager
def killing(sandbox: DockerSandbox, every_s: float, seed: int, host: str | None) -> Iterator[Counter[str]]:
    """Kill a container of `sandbox` every now and then while the block runs; counts the kills."""
    import docker.errors
    import requests.exceptions

    chance = random.Random(seed)
    stop = threading.Event()
    kills = Counter[str]()

    def kill() -> None:
        engine = connect(host)
        api = engine.client.api
        while not stop.wait(chance.expovariate(1 / every_s)):
            # The engine may be restarting, and the container may end before it is killed.
            with contextlib.suppress(docker.errors.APIError, requests.exceptions.RequestException):
                running = api.containers(filters={"label": f"rlvr.run={sandbox.run_label}"})
                if running:
                    api.kill(chance.choice(running)["Id"])
                    kills["kills"] += 1
        engine.close()

    with ThreadPoolExecutor(1) as thread:
        killer = thread.submit(kill)
        try:
            yield kills
        finally:
            stop.set()
            killer.result()


def _difference(asked: Asked, sandbox: Sandbox) -> str | None:
    """Run the program and return in what its execution differs from the one it must have."""
    if asked.judge is None:
        execution = sandbox.run(asked.program, asked.limits)
    else:
        execution = sandbox.run_judged(asked.program, asked.judge, asked.limits)[1]
    expected = Execution(end=asked.end, exit_code=asked.exit_code, stdout=asked.stdout)
    found = Execution(end=execution.end, exit_code=execution.exit_code, stdout=execution.stdout)
    return None if found == expected else f"{execution} in place of {expected}"


def _restart(command: str | None) -> Callable[[], None] | None:
    return None if command is None else lambda: subprocess.run(command, shell=True, check=True) and None


if __name__ == "__main__":
    main()
