import asyncio
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from torch.utils.data import DataLoader, Dataset

import verifiers
from verifiers import VerifierError
from verifiers.worker_pool import LimitReachedError, WorkerJobError, WorkerLostError, WorkerPool

FUNCTION = "support.worker_jobs:do"
CODE = [str(Path(verifiers.__file__).parents[1]), str(Path(__file__).parents[1])]
PATIENCE_S = 20.0


@pytest.fixture
def make_pool() -> Iterator[Callable[..., WorkerPool]]:
    pools: list[WorkerPool] = []

    def make(function: str = FUNCTION, **options: Any) -> WorkerPool:
        pools.append(WorkerPool(function, **options))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


def limit_of(pool: WorkerPool, job: Any) -> str:
    with pytest.raises(LimitReachedError) as caught:
        pool.call(job)
    assert "\n" not in str(caught.value)
    return caught.value.limit


def worker_id(pool: WorkerPool) -> int:
    return pool.call(["process"])[0]


def exists(process_id: int) -> bool:
    """Whether there is such a process, be it a zombie."""
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def runs(process_id: int) -> bool:
    """Whether it exists and is no zombie; an orphan's zombie is for the system to reap, not for us."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return sys.platform != "linux" and exists(process_id)


def wait_until(condition: Callable[[], bool], within_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def start_script(script: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(CODE)},
    )  # fmt: skip


# What crosses


@pytest.mark.parametrize(
    "value",
    ["\ud800 lone \udfff", "a\x00b", "\U0001f600\u221a\n\r", "\\frac{1}{2}" * 10_000, {"k": [None, True, 1.5, 10**50]}],
    ids=["surrogates", "NUL", "unicode", "100k characters", "nested"],
)
def test_a_value_crosses_unchanged(make_pool: Callable[..., WorkerPool], value: Any):
    assert make_pool().call(["echo", value]) == value


def test_printing_and_reading_cannot_disturb_the_replies(make_pool: Callable[..., WorkerPool]):
    pool = make_pool()
    assert pool.call(["make noise"]) == "heard ''"
    assert pool.call(["echo", 1]) == 1


def test_a_worker_has_no_descriptor_and_no_process_group_of_ours(make_pool: Callable[..., WorkerPool], tmp_path: Path):
    pool = make_pool(workers=1)
    with (tmp_path / "ours").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        process, group, _ = pool.call(["process"])
        assert group == process
        if sys.platform == "linux":
            assert str(tmp_path / "ours") not in pool.call(["open files"])


def test_every_worker_orders_sets_alike(make_pool: Callable[..., WorkerPool]):
    pool = make_pool(recycle_after=1)
    pool.warm_up()
    answers = [pool.call(["process"]) for _ in range(3)]
    assert len({answer[0] for answer in answers}) > 1
    assert answers[0][2] == answers[1][2] == answers[2][2]


# Limits


@pytest.mark.parametrize("job", [["sleep", 30], ["loop in c"]], ids=["sleep", "loop in C"])
def test_a_job_ends_at_the_wall_limit(make_pool: Callable[..., WorkerPool], job: list[Any]):
    pool = make_pool(wall_s=0.4)
    pool.warm_up()
    started = time.monotonic()
    assert limit_of(pool, job) == "time"
    assert 0.4 <= time.monotonic() - started < 0.9
    assert pool.call(["echo", 1]) == 1


def test_the_wall_limit_ends_what_the_job_started_too(make_pool: Callable[..., WorkerPool], tmp_path: Path):
    assert limit_of(make_pool(wall_s=0.4), ["leave a child behind", str(tmp_path / "id")]) == "time"
    child = int((tmp_path / "id").read_text())
    wait_until(lambda: not runs(child))


def test_the_call_after_a_limit_does_not_wait_for_an_import(
    make_pool: Callable[..., WorkerPool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(1.0)\ndo = time.sleep\n")
    monkeypatch.syspath_prepend(tmp_path)
    pool = make_pool("slow_to_import:do", workers=1, wall_s=0.1)
    pool.warm_up()
    assert limit_of(pool, 9) == "time"
    started = time.monotonic()
    pool.call(0)
    assert time.monotonic() - started < 0.8


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces the limit")
def test_a_job_cannot_take_more_than_its_memory(make_pool: Callable[..., WorkerPool]):
    pool = make_pool(memory_mb=100)
    before = worker_id(pool)
    assert pool.call(["allocate", 60]) == 60
    assert limit_of(pool, ["allocate", 101]) == "memory"
    assert worker_id(pool) != before
    assert not exists(before)


@pytest.mark.parametrize("job", [["exit", 3], ["exit", 0], ["segfault"]], ids=["exit 3", "exit 0", "segfault"])
def test_a_job_that_kills_its_process_is_a_crash(make_pool: Callable[..., WorkerPool], job: list[Any]):
    pool = make_pool()
    assert limit_of(pool, job) == "crash"
    assert pool.call(["echo", 1]) == 1


def test_a_job_whose_process_died_is_tried_once_more_elsewhere(make_pool: Callable[..., WorkerPool], tmp_path: Path):
    pool = make_pool()
    assert limit_of(pool, ["count", str(tmp_path)]) == "crash"
    tries = [path.name.split("-")[0] for path in tmp_path.iterdir()]
    assert len(tries) == len(set(tries)) == 2
    assert pool.call(["die once", str(tmp_path / "marker")]) == "survived"


def test_both_tries_share_the_wall_limit(make_pool: Callable[..., WorkerPool]):
    pool = make_pool(wall_s=0.6)
    pool.warm_up()
    started = time.monotonic()
    assert limit_of(pool, ["exit after", 0.4]) == "time"
    assert time.monotonic() - started < 1.1


def test_endless_recursion_is_a_crash(make_pool: Callable[..., WorkerPool]):
    assert limit_of(make_pool(), ["recurse"]) == "crash"


def test_a_reply_of_more_than_a_mebibyte_is_a_crash(make_pool: Callable[..., WorkerPool]):
    pool = make_pool()
    assert limit_of(pool, ["long text", 2**20]) == "crash"
    assert len(pool.call(["long text", 2**20 - 100])) == 2**20 - 100


def test_waiting_for_a_free_worker_is_not_job_time(make_pool: Callable[..., WorkerPool]):
    pool = make_pool(workers=1, wall_s=0.6)
    with ThreadPoolExecutor(4) as threads:
        started = time.monotonic()
        slept = list(threads.map(pool.call, [["sleep", 0.4]] * 4))
    assert all(seconds >= 0.4 for seconds in slept)
    assert time.monotonic() - started >= 1.6


def test_a_limit_survives_pickling():
    error = pickle.loads(pickle.dumps(LimitReachedError("time", "too long")))
    assert (error.limit, str(error)) == ("time", "too long")


# Failures of ours


@pytest.mark.parametrize(("job", "cause"), [("divide by zero", "ZeroDivisionError"), ("return an object", "TypeError")])
def test_a_bug_in_the_function_comes_with_its_traceback(make_pool: Callable[..., WorkerPool], job: str, cause: str):
    pool = make_pool(workers=1)
    before = worker_id(pool)
    with pytest.raises(WorkerJobError, match=rf"^support\.worker_jobs:do raised {cause}: .*\n(.*\n)*Traceback"):
        pool.call([job])
    assert worker_id(pool) == before


def test_a_worker_that_cannot_start_says_why(make_pool: Callable[..., WorkerPool]):
    with pytest.raises(WorkerLostError, match=r"exited with code 1 before its first job\n(.*\n)*.*no_such_module"):
        make_pool("no_such_module:do").call(1)


def test_a_worker_that_takes_too_long_to_start_is_given_up(make_pool: Callable[..., WorkerPool]):
    with pytest.raises(WorkerLostError, match=r"not ready after 0\.001 s"):
        make_pool(startup_s=0.001).warm_up()


def test_a_worker_killed_between_jobs_costs_nothing(make_pool: Callable[..., WorkerPool]):
    pool = make_pool()
    pool.warm_up()
    process = worker_id(pool)
    os.kill(process, signal.SIGKILL)
    time.sleep(0.1)
    assert worker_id(pool) != process
    assert not exists(process)


@pytest.mark.parametrize("options", [{"workers": 0}, {"wall_s": 0}, {"memory_mb": 0}, {"function": "no colon"}])
def test_impossible_settings_are_refused(make_pool: Callable[..., WorkerPool], options: dict[str, Any]):
    with pytest.raises(ValueError, match=r"^function: |each must be above 0"):
        make_pool(**options)


def test_its_errors_are_of_the_right_kind():
    assert issubclass(WorkerLostError, VerifierError)
    assert issubclass(WorkerJobError, VerifierError)
    assert not issubclass(LimitReachedError, VerifierError)


# Callers of all kinds


def test_threads_get_their_own_answers(make_pool: Callable[..., WorkerPool]):
    pool = make_pool()
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda value: pool.call(["echo", value]), range(400))) == list(range(400))


def test_it_works_within_asyncio(make_pool: Callable[..., WorkerPool]):
    pool = make_pool(wall_s=0.3)

    async def use() -> list[Any]:
        directly = pool.call(["echo", 0])
        slow = asyncio.to_thread(limit_of, pool, ["sleep", 9])
        return [directly, *await asyncio.gather(slow, asyncio.to_thread(pool.call, ["echo", 1]))]

    assert asyncio.run(use()) == [0, "time", 1]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_uses_workers_of_its_own_and_leaves_ours_alone(make_pool: Callable[..., WorkerPool]):
    pool = make_pool()
    ours = worker_id(pool)
    with ThreadPoolExecutor(1) as threads:
        at_work = threads.submit(pool.call, ["sleep", 0.5])
        time.sleep(0.1)
        read_end, write_end = os.pipe()
        fork = os.fork()
        if fork == 0:
            try:
                theirs = worker_id(pool)
                pool.close()
                os.write(write_end, f"{theirs} {exists(theirs)}".encode())
            finally:
                os._exit(0)
        os.close(write_end)
        os.waitpid(fork, 0)
        with os.fdopen(read_end) as pipe:
            theirs, survived = pipe.read().split()
        assert at_work.result() >= 0.5
    assert int(theirs) != ours
    assert survived == "False"
    assert worker_id(pool) == ours


class Judged(Dataset[Any]):
    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Any:
        if index == 5:
            return limit_of(self._pool, ["sleep", 9])
        return self._pool.call(["echo", index])


def test_data_loader_workers_can_call_it(make_pool: Callable[..., WorkerPool]):
    pool = make_pool(wall_s=0.3)
    ours = worker_id(pool)
    loader = DataLoader(Judged(pool), batch_size=None, num_workers=2, multiprocessing_context="fork", timeout=20)
    assert list(loader) == [0, 1, 2, 3, 4, "time", 6, 7]
    assert worker_id(pool) == ours


def test_a_pickled_copy_has_workers_of_its_own(make_pool: Callable[..., WorkerPool]):
    pool = make_pool(wall_s=0.3)
    ours = worker_id(pool)
    copy = pickle.loads(pickle.dumps(pool))
    assert worker_id(copy) != ours
    assert limit_of(copy, ["sleep", 9]) == "time"
    copy.close()
    assert worker_id(pool) == ours


def test_an_interrupt_leaves_the_pool_usable(make_pool: Callable[..., WorkerPool]):
    pool = make_pool(workers=1, wall_s=20)
    process = worker_id(pool)
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    interrupt = threading.Timer(0.2, signal.pthread_kill, (main_thread, signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        pool.call(["sleep", 15])
    assert pool.call(["echo", 1]) == 1
    assert not exists(process)


# The end of processes


def test_a_worker_is_replaced_after_so_many_jobs(make_pool: Callable[..., WorkerPool]):
    pool = make_pool(workers=1, recycle_after=3)
    pool.warm_up()
    processes = [worker_id(pool) for _ in range(5)]
    assert processes[0] == processes[1] == processes[2]
    assert processes[3] == processes[4] != processes[0]
    assert not exists(processes[0])


def test_close_leaves_no_process(make_pool: Callable[..., WorkerPool]):
    pool = make_pool()
    with ThreadPoolExecutor(2) as threads:
        processes = [answer[0] for answer in threads.map(pool.call, [["process"], ["process"]])]
    pool.close()
    pool.close()
    assert not any(exists(process) for process in processes)
    with pytest.raises(WorkerLostError, match="closed"):
        pool.call(["echo", 1])


def test_close_ends_the_calls_at_work_and_those_that_wait(make_pool: Callable[..., WorkerPool]):
    pool = make_pool(workers=1, wall_s=20)
    pool.warm_up()
    with ThreadPoolExecutor(3) as threads:
        calls = [threads.submit(pool.call, ["sleep", 15]) for _ in range(3)]
        time.sleep(0.2)
        pool.close()
        errors = [call.exception(timeout=5) for call in calls]
    assert all(isinstance(error, WorkerLostError) for error in errors)


def test_a_pool_that_is_dropped_takes_its_workers_along():
    pool = WorkerPool(FUNCTION)
    process = worker_id(pool)
    del pool
    assert not exists(process)


def test_a_program_that_ends_leaves_no_worker_and_no_warning():
    script = f"""
from verifiers.worker_pool import WorkerPool
pool = WorkerPool({FUNCTION!r})
print(pool.call(["process"])[0])
"""
    stdout, stderr = start_script(script).communicate(timeout=PATIENCE_S)
    assert stderr == ""
    assert not exists(int(stdout))


@pytest.mark.parametrize("job", [["loop in c"], ["sleep", 60], None], ids=["loop in C", "sleep", "idle"])
def test_the_worker_of_a_killed_program_ends(job: list[Any] | None):
    script = f"""
import time
from verifiers.worker_pool import WorkerPool
pool = WorkerPool({FUNCTION!r}, workers=1, wall_s=1.0)
print(pool.call(["process"])[0], flush=True)
job = {job!r}
pool.call(job) if job else time.sleep(60)
"""
    program = start_script(script)
    with program:
        assert program.stdout
        process = int(program.stdout.readline())
        time.sleep(0.2)
        assert runs(process)
        program.kill()
    wait_until(lambda: not runs(process), within_s=5.0)
