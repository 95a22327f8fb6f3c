import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sandbox import SandboxClosedError, SandboxError, SandboxLostError, SandboxUnavailableError
from sandbox.metrics import Counters
from sandbox.pool import Pool
from sandbox.warm_container import Shape

SMALL = Shape(memory_mb=64, processes=8, disk_mb=8)
LARGE = Shape(memory_mb=512, processes=8, disk_mb=8)
PATIENCE_S = 10.0


class PretendContainer:
    """A container without an engine behind it."""

    def __init__(self, source: "PretendSource", shape: Shape) -> None:
        self.source = source
        self.shape = shape
        self.alive = True
        self.forgotten = False

    def exchange(
        self, header: dict[str, Any], blobs: Sequence[bytes], *, timeout_s: float
    ) -> tuple[dict[str, Any], list[bytes]]:
        raise AssertionError("the pool never talks to containers")

    def is_alive(self) -> bool:
        return self.alive

    def ran_out_of_memory(self) -> bool:
        return False

    def kill(self) -> None:
        self.alive = False
        with self.source.lock:
            self.source.running.discard(self)

    def forget(self) -> None:
        self.forgotten = True


class PretendSource:
    """An engine that starts a container in `start_s` seconds, or fails as it is told."""

    def __init__(self, name: str = "here", *, capacity: int = 2, start_s: float = 0.0) -> None:
        self.name = name
        self.start_s = start_s
        self.error: Exception | None = None
        self.lock = threading.Lock()
        self.running: set[PretendContainer] = set()
        self.started = self.starting = self.most_starting = self.most_running = 0
        self._capacity = capacity

    def capacity(self) -> int:
        return self._capacity

    def close(self) -> None:
        pass

    def forget(self) -> None:
        pass

    def start(self, shape: Shape) -> PretendContainer:
        with self.lock:
            self.starting += 1
            self.most_starting = max(self.most_starting, self.starting)
        time.sleep(self.start_s)
        with self.lock:
            self.starting -= 1
            if self.error is not None:
                raise self.error
            container = PretendContainer(self, shape)
            self.started += 1
            self.running.add(container)
            self.most_running = max(self.most_running, len(self.running))
            return container


@contextlib.contextmanager
def pool_on(*sources: PretendSource, recycle_after: int = 1000, patience_s: float = PATIENCE_S) -> Iterator[Pool]:
    pool = Pool(sources, recycle_after=recycle_after, patience_s=patience_s, counters=Counters())
    try:
        yield pool
    finally:
        pool.close()
        assert not any(source.running for source in sources), "the pool left containers behind"


def wait_until(holds: Callable[[], object]) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.002)


def test_a_returned_container_serves_the_next_call():
    source = PretendSource()
    with pool_on(source) as pool:
        first = pool.lease(SMALL)
        pool.give_back(first)
        assert pool.lease(SMALL) is first


def test_no_more_containers_work_at_once_than_the_engine_has_turns():
    source = PretendSource(capacity=2)
    at_work = most = 0
    lock = threading.Lock()

    def work(number: int) -> None:
        nonlocal at_work, most
        lease = pool.lease(SMALL if number % 3 else LARGE)
        with lock:
            at_work += 1
            most = max(most, at_work)
        time.sleep(0.001)
        with lock:
            at_work -= 1
        pool.give_back(lease)

    with pool_on(source) as pool, ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(200)))
    assert most == 2
    assert source.started <= 4, "containers of both shapes are kept"


def test_a_container_is_lent_to_one_call_at_a_time():
    source = PretendSource(capacity=3)
    in_use: set[int] = set()
    lock = threading.Lock()

    def work(_: int) -> None:
        lease = pool.lease(SMALL)
        with lock:
            assert id(lease.container) not in in_use
            in_use.add(id(lease.container))
        time.sleep(0)
        with lock:
            in_use.remove(id(lease.container))
        pool.give_back(lease)

    with pool_on(source) as pool, ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(500)))


def test_at_most_two_containers_start_at_once_on_an_engine():
    source = PretendSource(capacity=6, start_s=0.02)
    with pool_on(source) as pool, ThreadPoolExecutor(6) as threads:
        for lease in list(threads.map(lambda _: pool.lease(SMALL), range(6))):
            pool.give_back(lease)
    assert source.most_starting == 2


def test_a_call_gets_a_container_of_its_shape():
    with pool_on(PretendSource()) as pool:
        for shape in (SMALL, LARGE, SMALL):
            lease = pool.lease(shape)
            assert lease.container.shape == lease.shape == shape  # pyright: ignore[reportAttributeAccessIssue]
            pool.give_back(lease)


def test_the_least_used_container_goes_when_shapes_are_many():
    source = PretendSource(capacity=1)
    with pool_on(source) as pool:
        for megabytes in range(1, 12):
            pool.give_back(pool.lease(Shape(memory_mb=megabytes, processes=8, disk_mb=8)))
        wait_until(lambda: len(source.running) <= 4)
        assert {container.shape.memory_mb for container in source.running} == {8, 9, 10, 11}


def test_a_call_of_another_shape_is_not_starved_by_those_that_find_theirs():
    source = PretendSource(capacity=1, start_s=0.05)
    done = threading.Event()

    def keep_busy() -> None:
        while not done.is_set():
            lease = pool.lease(SMALL)
            time.sleep(0.001)
            pool.give_back(lease)

    with pool_on(source) as pool, ThreadPoolExecutor(4) as threads:
        busy = [threads.submit(keep_busy) for _ in range(3)]
        time.sleep(0.1)
        pool.give_back(pool.lease(LARGE))
        done.set()
        for each in busy:
            each.result(PATIENCE_S)


def test_a_broken_container_is_killed_and_replaced():
    source = PretendSource(capacity=1)
    counters = Counters()
    pool = Pool([source], recycle_after=1000, patience_s=1.0, counters=counters)
    lease = pool.lease(SMALL)
    pool.give_back(lease, broken="out_of_memory")
    wait_until(lambda: source.started == 2 and len(source.running) == 1)
    assert pool.lease(SMALL) is not lease
    pool.close()
    assert counters.snapshot().recycled == {"out_of_memory": 1}


def test_a_worn_container_serves_until_its_successor_is_there():
    source = PretendSource(capacity=1, start_s=0.3)
    with pool_on(source, recycle_after=2) as pool:
        lease = pool.lease(SMALL)
        pool.give_back(lease)
        assert pool.lease(SMALL) is lease
        pool.give_back(lease)
        assert pool.lease(SMALL) is lease, "its successor is still starting"
        wait_until(lambda: source.started == 2)
        pool.give_back(lease)
        wait_until(lambda: len(source.running) == 1)
        assert pool.lease(SMALL) is not lease


def test_an_idle_container_that_died_is_not_lent():
    source = PretendSource(capacity=1)
    with pool_on(source) as pool:
        lease = pool.lease(SMALL)
        pool.give_back(lease)
        lease.container.alive = False  # pyright: ignore[reportAttributeAccessIssue]
        assert pool.lease(SMALL) is not lease


def test_an_engine_that_has_never_worked_fails_the_call_at_once():
    source = PretendSource()
    source.error = SandboxUnavailableError("no engine")
    with pool_on(source) as pool:
        for _ in range(2):
            with pytest.raises(SandboxUnavailableError, match="no engine"):
                pool.lease(SMALL)


def test_an_engine_that_comes_back_goes_on_serving():
    source = PretendSource(capacity=1)
    with pool_on(source) as pool:
        source.error = None
        lease = pool.lease(SMALL)
        source.error = SandboxUnavailableError("restarting")
        pool.give_back(lease, broken="lost")
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(pool.lease, SMALL)
            time.sleep(0.5)
            assert not waiting.done()
            source.error = None
            assert waiting.result(PATIENCE_S) is not lease


def test_an_engine_that_stays_away_fails_the_calls_when_patience_ends():
    source = PretendSource(capacity=1)
    with pool_on(source, patience_s=0.5) as pool:
        lease = pool.lease(SMALL)
        source.error = SandboxUnavailableError("gone")
        pool.give_back(lease, broken="lost")
        with pytest.raises(SandboxUnavailableError, match="gone"):
            pool.lease(SMALL)


def test_another_engine_serves_while_one_is_away():
    here, there = PretendSource("here"), PretendSource("there")
    here.error = SandboxUnavailableError("away")
    with pool_on(here, there) as pool:
        leases = [pool.lease(SMALL), pool.lease(SMALL)]
        assert {lease.engine.source.name for lease in leases} == {"there"}
        here.error = None
        more = [pool.lease(SMALL), pool.lease(SMALL)]
        assert {lease.engine.source.name for lease in more} == {"here"}


def test_programs_spread_over_the_engines():
    sources = [PretendSource(str(number), capacity=2) for number in range(3)]
    with pool_on(*sources) as pool:
        for _ in range(6):
            pool.lease(SMALL)
        assert [len(source.running) for source in sources] == [2, 2, 2]


def test_a_mistake_in_a_source_reaches_the_caller():
    source = PretendSource()
    source.error = KeyError("a bug")
    with pool_on(source) as pool, pytest.raises(KeyError, match="a bug"):
        pool.lease(SMALL)


def test_closing_wakes_the_waiting_and_refuses_the_later():
    source = PretendSource(capacity=1)
    with pool_on(source) as pool, ThreadPoolExecutor(1) as threads:
        pool.lease(SMALL)
        waiting = threads.submit(pool.lease, SMALL)
        wait_until(lambda: pool._waiting)
        pool.close()
        with pytest.raises(SandboxClosedError):
            waiting.result(PATIENCE_S)
        with pytest.raises(SandboxClosedError):
            pool.lease(SMALL)


def test_closing_during_a_start_leaves_no_container():
    source = PretendSource(start_s=0.2)
    with pool_on(source) as pool, ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(pool.lease, SMALL)
        wait_until(lambda: source.starting)
        pool.close()
        with pytest.raises(SandboxClosedError):
            waiting.result(PATIENCE_S)
        assert not source.running


def test_a_forked_child_starts_its_own_and_leaves_the_parents_alone():
    source = PretendSource()
    with pool_on(source) as pool:
        lease = pool.lease(SMALL)
        pool.give_back(lease)
        child = os.fork()
        if not child:
            own = pool.lease(SMALL)
            pool.close()
            right = own is not lease and lease.container.forgotten and lease.container.alive  # pyright: ignore
            os._exit(0 if right else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert pool.lease(SMALL) is lease


def test_nothing_is_lost_or_lent_twice_when_containers_die_at_random():
    source = PretendSource(capacity=3, start_s=0.002)
    stop = threading.Event()

    def unsettle() -> None:
        ticks = 0
        while not stop.is_set():
            time.sleep(0.004)
            with source.lock:
                victims = list(source.running)[:1]
                ticks += 1
                source.error = None if ticks % 4 else SandboxLostError("died in its start")
            for victim in victims:
                victim.alive = False

    def work(number: int) -> int:
        while True:
            try:
                lease = pool.lease((SMALL, LARGE)[number % 2])
            except SandboxError:
                continue
            time.sleep(0.001)
            if lease.container.is_alive():
                pool.give_back(lease, worn="slow" if number % 17 == 0 else "")
                return number
            pool.give_back(lease, broken="lost")

    with pool_on(source, recycle_after=5) as pool, ThreadPoolExecutor(7) as threads:
        killer = threads.submit(unsettle)
        assert list(threads.map(work, range(300))) == list(range(300))
        stop.set()
        killer.result(PATIENCE_S)
        source.error = None
