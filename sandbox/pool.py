"""Keeps warm containers on one or more engines and lends each to one run at a time."""

import os
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable, Sequence

from sandbox.errors import SandboxClosedError, SandboxError
from sandbox.leases import EngineState, Lease, Waiting
from sandbox.metrics import Counters
from sandbox.warm_container import ContainerSource, Shape

_CLOSE_S = 15.0
"""How long close() waits for containers to be gone."""


class Pool:
    """Lends containers to threads, starts what they wait for, and replaces what is worn, all in the background.

    Calls are served in the order of their arrival; while a container of the shape that one needs is being started,
    later ones that find theirs may go first. The queue holds the calling threads themselves, so that there are never
    more programs waiting than threads that brought them.

    Args:
        sources: the engines; a container starts on the one with the most turns free.
        recycle_after: how many runs a container is used for.
        patience_s: how long calls wait for an engine that has worked before and fails now, as during its restart. One
            that has never worked fails at once.
        counters: where starts, losses and replacements are counted.
    """

    def __init__(
        self, sources: Sequence[ContainerSource], *, recycle_after: int, patience_s: float, counters: Counters
    ) -> None:
        self._sources = tuple(sources)
        self._recycle_after = recycle_after
        self._patience_s = patience_s
        self._counters = counters
        self.closed = False
        self._start_empty()
        _POOLS.add(self)

    def _start_empty(self) -> None:
        # Reentrant, since the garbage collector may call close() in a thread that holds it.
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._engines = [EngineState(source) for source in self._sources]
        self._idle: list[Lease] = []  # the one used last at the end
        self._lent: set[Lease] = set()
        self._waiting: deque[Waiting] = deque()
        self._starting: Counter[Shape] = Counter()
        self._threads: set[threading.Thread] = set()
        self._will_wake = False

    def forget(self) -> None:
        """Start anew in a forked process: containers and streams are the parent's, and so may be the lock's holder."""
        for lease in (*self._idle, *self._lent):
            lease.container.forget()
        for source in self._sources:
            source.forget()
        self._start_empty()

    def lease(self, shape: Shape) -> Lease:
        """Wait for a container of this shape and return it.

        Raises:
            SandboxUnavailableError, SandboxLostError: no engine starts one, and none did for `patience_s`.
            SandboxClosedError: the pool is closed.
        """
        with self._lock:
            if self.closed:
                raise SandboxClosedError("the sandbox is closed; make a new one")
            waiting = Waiting(shape)
            self._waiting.append(waiting)
            self._serve()
        try:
            waiting.wait()
        except BaseException:
            # A KeyboardInterrupt; the container may have come at the same moment.
            with self._lock:
                if waiting in self._waiting:
                    self._waiting.remove(waiting)
            if waiting.lease is not None:
                self.give_back(waiting.lease)
            raise
        if waiting.error is not None:
            raise waiting.error
        assert waiting.lease is not None
        return waiting.lease

    def give_back(self, lease: Lease, *, broken: str = "", worn: str = "") -> None:
        """End a lease.

        Args:
            broken: why the container must not run another program, if so; it is killed at once and replaced.
            worn: why it had better be replaced, if so; it serves on until its successor is there.
        """
        lease.runs += 1
        if not worn and lease.runs >= self._recycle_after:
            worn = "runs"
        with self._lock:
            self._lent.discard(lease)
            lease.engine.lent -= 1
            if broken or lease.replaced or self.closed:
                self._dismiss(lease)
            else:
                self._idle.append(lease)
            if self.closed:
                return
            if broken and not lease.replaced:
                self._counters.count_recycled(broken)
            elif worn and not lease.successor_ordered:
                self._counters.count_recycled(worn)
            if (broken or worn) and not lease.successor_ordered:
                lease.successor_ordered = True
                self._start(lease.engine, lease.shape, replaces=lease)
            self._serve()

    def close(self) -> None:
        """Kill all containers. Waiting calls raise SandboxClosedError, as later ones do; those at work lose theirs."""
        with self._lock:
            self.closed = True
            self._closing.set()
            self._refuse_all(SandboxClosedError("the sandbox was closed during the call"))
            containers = [lease.container for lease in (*self._idle, *self._lent)]
            self._idle.clear()
        for container in containers:
            try:
                with self._lock:
                    self._in_background(container.kill)
            except RuntimeError:  # at the interpreter's end, some versions start no thread any more
                container.kill()
        give_up = time.monotonic() + _CLOSE_S
        # A container that was starting is killed by a thread that does not exist yet.
        while (threads := self._running_threads()) and time.monotonic() < give_up:
            threads[0].join(max(0.0, give_up - time.monotonic()))
        for source in self._sources:
            source.close()

    def _running_threads(self) -> list[threading.Thread]:
        with self._lock:
            return [
                thread for thread in self._threads if thread.is_alive() and thread is not threading.current_thread()
            ]

    # What follows is called with the lock held, but for the bodies of background threads.

    def _serve(self) -> None:
        """Give the waiting calls what there is, and start what there is not."""
        under_way = self._starting.copy()
        for waiting in list(self._waiting):
            if (lease := self._take_idle(waiting.shape)) is not None:
                self._waiting.remove(waiting)
                self._lent.add(lease)
                lease.engine.lent += 1
                waiting.serve(lease)
            elif under_way[waiting.shape]:
                under_way[waiting.shape] -= 1
            elif (engine := self._engine_with_room(waiting.shape)) is not None:
                self._start(engine, waiting.shape, replaces=None)

    def _take_idle(self, shape: Shape) -> Lease | None:
        """Take the idle container of this shape that was used last, and so has the warmest caches."""
        for lease in reversed(self._idle):
            if lease.shape == shape and lease.engine.has_turn():
                self._idle.remove(lease)
                if lease.container.is_alive():
                    return lease
                self._counters.count("lost")
                self._dismiss(lease)
                return self._take_idle(shape)
        return None

    def _engine_with_room(self, shape: Shape) -> EngineState | None:
        """Return the engine to start a container on, after making room there at the cost of the least used one."""
        now = time.monotonic()
        aside = [engine.retry_at for engine in self._engines if engine.retry_at > now]
        if aside and not self._will_wake:
            self._will_wake = True
            pause_s = min(aside) - now
            self._in_background(lambda: self._wake_after(pause_s))
        roomy = [engine for engine in self._engines if engine.retry_at <= now and engine.may_hold(shape)]
        engine = max(roomy, key=lambda engine: engine.capacity - engine.held[shape] - engine.lent, default=None)
        if engine is not None and engine.is_full():
            spare = next((lease for lease in self._idle if lease.engine is engine), None)
            if spare is None:
                return None
            self._idle.remove(spare)
            self._counters.count_recycled("room")
            self._dismiss(spare)
        return engine

    def _dismiss(self, lease: Lease) -> None:
        lease.engine.held[lease.shape] -= 1
        self._in_background(lease.container.kill)

    def _start(self, engine: EngineState, shape: Shape, *, replaces: Lease | None) -> None:
        engine.held[shape] += 1
        self._starting[shape] += 1
        self._in_background(lambda: self._start_now(engine, shape, replaces))

    def _start_now(self, engine: EngineState, shape: Shape, replaces: Lease | None) -> None:
        error: BaseException | None = None
        lease = None
        try:
            engine.ask_capacity()
            with self._lock:
                self._serve()  # now that it is known how many may start beside this one
            with engine.starts:
                if not self.closed:
                    lease = Lease(engine.source.start(shape), shape, engine)
        except BaseException as raised:
            error = raised
        with self._lock:
            self._starting[shape] -= 1
            if lease is None:
                engine.held[shape] -= 1
            elif self.closed:
                self._dismiss(lease)
            else:
                self._has_started(lease, replaces)
            if isinstance(error, SandboxError):
                self._has_failed(engine, error, replaces)
            elif error is not None:
                # A mistake in the source: whoever waits sees its traceback.
                self._refuse_all(error)

    def _has_started(self, lease: Lease, replaces: Lease | None) -> None:
        self._counters.count("started")
        lease.engine.works()
        self._idle.insert(0, lease)
        if replaces is not None:
            replaces.replaced = True
            if replaces in self._idle:
                self._idle.remove(replaces)
                self._dismiss(replaces)
        self._serve()

    def _has_failed(self, engine: EngineState, error: SandboxError, replaces: Lease | None) -> None:
        """Put the engine aside, and give the waiting calls up where no engine gives hope."""
        if self.closed:
            return
        self._counters.count("failed_starts")
        engine.fails(error)
        if replaces is not None:
            replaces.successor_ordered = False
        if all(other.is_hopeless(self._patience_s) for other in self._engines):
            self._refuse_all(error)
        self._serve()

    def _wake_after(self, pause_s: float) -> None:
        self._closing.wait(pause_s)
        with self._lock:
            self._will_wake = False
            if not self.closed:
                self._serve()

    def _refuse_all(self, error: BaseException) -> None:
        for waiting in self._waiting:
            waiting.refuse(error)
        self._waiting.clear()

    def _in_background(self, work: Callable[[], None]) -> None:
        # Daemons: an engine that never answers must not keep the interpreter from ending.
        thread = threading.Thread(target=work, daemon=True, name="rlvr-sandbox-pool")
        self._threads = {other for other in self._threads if other.is_alive()} | {thread}
        thread.start()


_POOLS: weakref.WeakSet[Pool] = weakref.WeakSet()


def _forget_in_child() -> None:
    for pool in list(_POOLS):
        pool.forget()


os.register_at_fork(after_in_child=_forget_in_child)
