import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.containers import containers_of, kill, wait_until
from support.docker_engine import require_docker

import sandbox.docker_sandbox
from sandbox import (
    End,
    Judge,
    Limits,
    Program,
    Sandbox,
    SandboxClosedError,
    SandboxError,
    SandboxLostError,
    SandboxUnavailableError,
)
from sandbox.contract_checks import python
from sandbox.docker_sandbox import DockerSandbox
from sandbox.warm_container import Shape

HOME = Path(sandbox.docker_sandbox.__file__).parent.parent
SUM = "print(int(input()) + int(input()))"
PATIENT = Limits(wall_s=30.0, cpu_s=30.0)


def add(docker: Sandbox, first: int, second: int, limits: Limits = PATIENT) -> int:
    execution = docker.run(python(SUM, stdin=b"%d\n%d\n" % (first, second)), limits)
    assert execution.end is End.EXITED, execution
    return int(execution.stdout)


@pytest.fixture
def own() -> Iterator[DockerSandbox]:
    """A sandbox that a test may damage."""
    require_docker()
    with DockerSandbox(containers=2) as made:
        yield made
    assert not containers_of(made.run_label), "containers are left"


def test_it_is_a_sandbox(docker_sandbox: DockerSandbox):
    assert isinstance(docker_sandbox, Sandbox)


def test_nothing_is_started_before_the_first_run(own: DockerSandbox):
    assert not containers_of(own.run_label)
    assert add(own, 1, 2) == 3
    assert len(containers_of(own.run_label)) == 1


def test_many_threads_each_get_their_own_answer(docker_sandbox: DockerSandbox):
    with ThreadPoolExecutor(16) as threads:
        sums = list(threads.map(lambda number: add(docker_sandbox, number, 1000), range(200)))
    assert sums == [number + 1000 for number in range(200)]
    assert len(containers_of(docker_sandbox.run_label)) <= 8


def test_no_more_programs_run_at_once_than_there_are_containers(docker_sandbox: DockerSandbox):
    source = "import time; print(time.monotonic()); time.sleep(0.05); print(time.monotonic())"
    with ThreadPoolExecutor(8) as threads:
        outputs = threads.map(lambda _: docker_sandbox.run(python(source), PATIENT).stdout.split(), range(24))
        spans = [(float(begin), float(end)) for begin, end in outputs]
    for moment, _ in spans:
        assert sum(begin <= moment < end for begin, end in spans) <= 2


def test_a_program_whose_container_is_killed_runs_again_elsewhere(own: DockerSandbox):
    add(own, 0, 0)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(own.run, python("import time; time.sleep(1); print('done')"), PATIENT)
        time.sleep(0.3)
        for container in containers_of(own.run_label):
            kill(container)
        assert running.result().stdout == b"done\n"
    assert own.metrics.retries == 1
    assert own.metrics.failures == 0


def test_idle_containers_that_were_killed_are_replaced(own: DockerSandbox):
    add(own, 0, 0)
    for container in containers_of(own.run_label):
        kill(container)
    assert add(own, 2, 3) == 5


def test_a_program_that_always_loses_its_container_raises():
    require_docker()
    stop = threading.Event()

    def kill_all(label: str) -> None:
        while not stop.is_set():
            for container in containers_of(label):
                kill(container)

    with DockerSandbox(containers=1, tries=2, patience_s=3.0) as made, ThreadPoolExecutor(1) as threads:
        add(made, 0, 0)
        killing = threads.submit(kill_all, made.run_label)
        try:
            with pytest.raises(SandboxLostError):
                made.run(python("import time; time.sleep(20)"), PATIENT)
        finally:
            stop.set()
            killing.result()
        assert made.metrics.failures == 1
        assert add(made, 1, 1) == 2


def test_a_container_that_answers_no_more_is_given_up(own: DockerSandbox, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sandbox.docker_sandbox, "_BACKSTOP_S", 2.0)
    add(own, 0, 0)
    (frozen,) = containers_of(own.run_label)
    require_docker().client.api.pause(frozen)
    execution = own.run(python("print('elsewhere')"), Limits(wall_s=1.0))
    assert execution.stdout == b"elsewhere\n"
    wait_until(lambda: frozen not in containers_of(own.run_label), "the frozen container is removed")


class Doomed:
    """A source whose containers the kernel kills for memory as soon as they are used."""

    name = "doomed"

    def __init__(self, *_: object, **__: object) -> None:
        self.used = 0

    def capacity(self) -> int:
        return 1

    def start(self, shape: Shape) -> "Doomed":
        return self

    def exchange(self, header: dict[str, Any], blobs: Sequence[bytes], *, timeout_s: float) -> Any:
        raise SandboxLostError("it ended")

    def is_alive(self) -> bool:
        return True

    def ran_out_of_memory(self) -> bool:
        return True

    def kill(self) -> None: ...
    def forget(self) -> None: ...
    def close(self) -> None: ...


def test_a_program_that_twice_takes_its_container_down_for_memory_ran_out_of_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sandbox.docker_sandbox, "DockerSource", Doomed)
    made = DockerSandbox()
    assert made.run(python(""), Limits()).end is End.OUT_OF_MEMORY
    execution, judging = made.run_judged(python(""), Judge(source=b""), Limits())
    assert (execution.end, judging.end) == (End.OUT_OF_MEMORY, End.KILLED)
    monkeypatch.setattr(Doomed, "ran_out_of_memory", lambda self: False)
    with pytest.raises(SandboxLostError, match="8 containers"):
        made.run(python(""), Limits())


def test_a_container_is_replaced_after_a_program_ran_out_of_memory(own: DockerSandbox):
    limits = Limits(memory_mb=64, wall_s=30.0, cpu_s=30.0)
    add(own, 0, 0, limits)
    before = containers_of(own.run_label)
    # Faster than the supervisor looks: the kernel ends it.
    execution = own.run(python("import mmap\nx = mmap.mmap(-1, 1 << 30)\nx.write(b'x' * (1 << 30))"), limits)
    assert execution.end is End.OUT_OF_MEMORY
    if own.metrics.recycled:
        wait_until(lambda: not {*before} & {*containers_of(own.run_label)}, "the container is replaced")
    assert add(own, 1, 1, limits) == 2


def test_a_container_is_replaced_after_its_share_of_programs():
    require_docker()
    with DockerSandbox(containers=1, recycle_after=10) as made:
        first = None
        for number in range(30):
            assert add(made, number, 1) == number + 1
            first = first or containers_of(made.run_label)
            time.sleep(0.02)
        wait_until(lambda: not {*first} & {*containers_of(made.run_label)}, "the worn container is gone")
        assert made.metrics.recycled["runs"] >= 1
        assert made.metrics.failures == made.metrics.retries == 0


def test_programs_get_the_limits_they_ask_for(docker_sandbox: DockerSandbox):
    source = "x = b'x' * (100 << 20); print(len(x))"
    for megabytes, end in ((64, End.OUT_OF_MEMORY), (256, End.EXITED), (64, End.OUT_OF_MEMORY), (256, End.EXITED)):
        limits = Limits(memory_mb=megabytes, wall_s=30.0, cpu_s=30.0)
        assert docker_sandbox.run(python(source), limits).end is end


def test_a_fresh_interpreter_runs_the_same_programs():
    require_docker()
    with DockerSandbox(containers=1, start="exec") as made:
        assert add(made, 20, 22) == 42


def test_a_request_that_cannot_be_carried_out_is_no_verdict(docker_sandbox: DockerSandbox):
    with pytest.raises(SandboxError, match=r"\.\./up"):
        docker_sandbox.run(Program(argv=("python3", "main.py"), files={"../up": b""}), Limits())
    assert add(docker_sandbox, 1, 1) == 2


def test_closing_ends_what_runs_and_refuses_the_rest():
    require_docker()
    made = DockerSandbox(containers=1)
    add(made, 0, 0)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(made.run, python("import time; time.sleep(60)"), Limits(wall_s=60.0))
        time.sleep(0.3)
        made.close()
        with pytest.raises(SandboxClosedError):
            running.result(20)
    made.close()
    with pytest.raises(SandboxClosedError):
        add(made, 1, 1)
    wait_until(lambda: not containers_of(made.run_label), "the containers are gone")


def test_a_pickled_copy_starts_its_own(docker_sandbox: DockerSandbox):
    with pickle.loads(pickle.dumps(docker_sandbox)) as copy:
        assert copy.run_label != docker_sandbox.run_label
        assert add(copy, 3, 4) == 7


def test_a_forked_child_starts_its_own_and_leaves_its_parents_alone(own: DockerSandbox):
    add(own, 0, 0)
    before = containers_of(own.run_label)
    child = os.fork()
    if not child:
        right = add(own, 5, 6) == 11 and len(containers_of(own.run_label)) == 2
        own.close()
        os._exit(0 if right else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    wait_until(lambda: containers_of(own.run_label) == before, "the child's container is gone, the parent's is not")
    assert add(own, 7, 8) == 15
    assert own.metrics.lost == 0


OWNER = """
import sys, time
from sandbox.contract_checks import python
from sandbox.docker_sandbox import DockerSandbox
from sandbox import Limits
made = DockerSandbox(containers=1)
assert made.run(python("print(1)"), Limits(wall_s=30.0)).stdout == b"1\\n"
print(made.run_label, flush=True)
{then}
"""


def owner(then: str) -> tuple[subprocess.Popen[str], str]:
    require_docker()
    started = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(then=then)], cwd=HOME, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    return started, started.stdout.readline().strip()


def test_the_end_of_the_interpreter_removes_the_containers():
    process, label = owner("")
    assert process.wait(30) == 0
    assert not containers_of(label)


@pytest.mark.parametrize("at_work", [False, True], ids=["idle", "at work"])
def test_containers_end_with_an_owner_that_is_killed(at_work: bool):
    work = "made.run(python('while True: pass'), Limits(wall_s=60.0, cpu_s=60.0))" if at_work else "time.sleep(60)"
    process, label = owner(work)
    assert len(containers_of(label)) == 1
    process.kill()
    process.wait()
    wait_until(lambda: not containers_of(label), "the containers of a killed owner are gone")


def test_without_an_engine_the_first_call_says_what_to_do():
    with DockerSandbox(docker_hosts=["unix:///no/such/docker.sock"]) as made:
        for _ in range(2):
            with pytest.raises(
                SandboxUnavailableError, match=r"no Docker engine answers at unix:///no/such/docker\.sock"
            ):
                add(made, 1, 1)
        assert made.metrics.failures == 2


def test_one_engine_that_answers_is_enough():
    engine = require_docker()
    with DockerSandbox(docker_hosts=["unix:///no/such/docker.sock", engine.url], containers=1) as made:
        assert add(made, 1, 2) == 3


def test_metrics_add_up(own: DockerSandbox):
    for number in range(3):
        add(own, number, number)
    own.run(python("exit(1)"), PATIENT)
    own.run(python("import time; time.sleep(9)"), Limits(wall_s=0.5))
    metrics = own.metrics
    assert metrics.runs == 5
    assert metrics.ends == {"exited": 4, "timed_out": 1}
    assert metrics.program_s > 0.5
    assert metrics.run_s > metrics.program_s
    assert metrics.started == 1


def test_a_program_cannot_limit_pid_1(docker_sandbox: DockerSandbox):
    source = (
        "import resource\n"
        "for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE):\n"
        "    try:\n        resource.prlimit(1, kind, (1, 1))\n"
        "    except OSError:\n        continue\n"
        "    print('limited')\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "print('done')\n"
    )
    lost = docker_sandbox.metrics.lost
    execution = docker_sandbox.run(python(source), PATIENT)
    assert (execution.end, execution.stdout) == (End.EXITED, b"done\n"), execution
    assert add(docker_sandbox, 1, 2) == 3
    assert docker_sandbox.metrics.lost == lost
