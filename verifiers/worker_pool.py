"""Run one function of plain data in processes that can be killed, so that limits on time and memory always hold."""

import contextlib
import json
import os
import threading
import weakref
from collections.abc import Iterator
from queue import SimpleQueue

from verifiers.worker import (
    JsonValue,
    LimitReachedError,
    Worker,
    WorkerDiedError,
    WorkerJobError,
    WorkerLostError,
    WorkerSettings,
)

__all__ = ["JsonValue", "LimitReachedError", "WorkerJobError", "WorkerLostError", "WorkerPool"]


class WorkerPool:
    """Calls one function in worker processes. Thread-safe; usable after a fork and picklable.

    Nothing is started before the first call. A forked process and a pickled copy start workers of their own. One
    process more than there are calls at work stands by, so that a call rarely waits for a killed worker's successor.

    Args:
        function: "module:name", imported in the workers; takes one JSON value and returns one.
        workers: how many jobs run at once; further calls wait, and their waiting does not count as job time.
        wall_s: how long a job may run.
        memory_mb: what a job may allocate, above what the import of the module took (not enforced on macOS).
        recycle_after: how many jobs a process does before it is replaced, because caches grow.
        startup_s: how long a process may take to import the module.
    """

    def __init__(
        self,
        function: str,
        *,
        workers: int = 2,
        wall_s: float = 1.5,
        memory_mb: int = 1024,
        recycle_after: int = 2000,
        startup_s: float = 60.0,
    ) -> None:
        if ":" not in function:
            raise ValueError(f'function: must be "module:name", got {function!r}')
        if workers < 1 or wall_s <= 0 or memory_mb < 1 or recycle_after < 1 or startup_s <= 0:
            raise ValueError("workers, wall_s, memory_mb, recycle_after and startup_s: each must be above 0")
        self.__setstate__(
            WorkerSettings(
                function=function,
                workers=workers,
                wall_s=wall_s,
                memory_mb=memory_mb,
                recycle_after=recycle_after,
                startup_s=startup_s,
            )
        )

    def __getstate__(self) -> WorkerSettings:
        return self._settings

    def __setstate__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._crew = _Crew(settings)
        self._finalizer = weakref.finalize(self, self._crew.close)

    def call(self, job: JsonValue) -> JsonValue:
        """Return what the function makes of `job`; blocks until a worker is free and has answered.

        Raises:
            LimitReachedError: the job ran too long, took too much memory or recursion, or killed two workers.
            WorkerJobError: the function raised anything else.
            WorkerLostError: a worker cannot be started, or the pool is closed.
        """
        frame = json.dumps(job).encode("ascii")
        frame = len(frame).to_bytes(4, "big") + frame
        wall_s = self._settings.wall_s
        try:
            return self._attempt(frame, wall_s)
        except WorkerDiedError as death:
            # Perhaps not the job's fault: an old process full of caches, or the system short of memory.
            wall_s -= death.ran_s
        try:
            return self._attempt(frame, wall_s, fresh=True)
        except WorkerDiedError as death:
            if self._crew.closed:
                raise WorkerLostError("the worker pool was closed during the call") from None
            raise LimitReachedError("crash", f"two worker processes died at this job: {death}") from None

    def warm_up(self) -> None:
        """Start the workers and wait until they are ready.

        Raises:
            WorkerLostError: a worker cannot be started, or the pool is closed.
        """
        self._crew.hire_all()
        while (worker := self._crew.take_starting()) is not None:
            with self._crew.discarding_on_error(worker):
                worker.wait_until_ready()
            self._crew.give_back(worker)

    def close(self) -> None:
        """Kill the workers. Calls still at work in other threads raise WorkerLostError, and so do later ones."""
        self._finalizer()

    def _attempt(self, frame: bytes, wall_s: float, *, fresh: bool = False) -> JsonValue:
        worker = self._crew.take(fresh=fresh)
        with self._crew.discarding_on_error(worker):
            worker.wait_until_ready()
            self._crew.keep_standby()
            kind, content = worker.run(frame, wall_s)
        self._crew.give_back(worker)
        if kind == "recursion":
            raise LimitReachedError("crash", "the job exceeded Python's recursion limit")
        if kind == "error":
            cause = content.rstrip().rpartition("\n")[2]
            raise WorkerJobError(f"{self._settings.function} raised {cause}\nIn the worker process:\n{content}")
        return content


class _Crew:
    """The live workers of one pool, and who uses which."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self.closed = False
        self._start_empty()
        _CREWS.add(self)

    def _start_empty(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Worker] = []  # those still starting first, the one used last at the end
        self._all: set[Worker] = set()
        # One token for each call that may run. A queue, since its wait can be interrupted without losing a wake-up.
        self._turns: SimpleQueue[None] = SimpleQueue()
        for _ in range(self._settings.workers):
            self._turns.put(None)

    def forget(self) -> None:
        """Start anew in a forked process: the workers are the parent's, and so may be the lock's holder."""
        for worker in self._all:
            worker.forget()
        self._start_empty()

    def take(self, *, fresh: bool) -> Worker:
        """Wait for a turn and return a worker, one that is ready if there is any; `fresh` asks for an unused one."""
        with self._turn(), self._lock:
            while True:
                self._check_open()
                # The last used one has the warmest caches.
                candidates = [worker for worker in reversed(self._idle) if not (fresh and worker.jobs)]
                if not candidates:
                    return self._started()
                worker = max(candidates, key=Worker.is_at_hand)
                self._idle.remove(worker)
                if not worker.has_died_idle():
                    return worker
                self._all.remove(worker)
                worker.dismiss()

    def take_starting(self) -> Worker | None:
        """Wait for a turn and return a worker that is not ready yet, None if there is none."""
        with self._turn(), self._lock:
            self._check_open()
            for worker in self._idle:
                if not worker.ready:
                    self._idle.remove(worker)
                    return worker
        self._turns.put(None)
        return None

    def give_back(self, worker: Worker) -> None:
        with self._lock:
            due = worker.jobs >= self._settings.recycle_after and any(other.is_at_hand() for other in self._idle)
            keep = not (due or self.closed)
            if keep:
                self._idle.append(worker)
        if keep:
            self._turns.put(None)
        else:
            self._discard(worker)

    @contextlib.contextmanager
    def discarding_on_error(self, worker: Worker) -> Iterator[None]:
        """Kill and replace `worker` if anything is raised: KeyboardInterrupt, too, leaves it in the middle of a job."""
        try:
            yield
        except BaseException:
            self._discard(worker)
            raise

    def _discard(self, worker: Worker) -> None:
        worker.dismiss()
        with self._lock:
            self._all.discard(worker)
        self.keep_standby()
        self._turns.put(None)

    def keep_standby(self) -> None:
        """Start a worker beyond those at work, unless there is one. It imports while nobody waits for it."""
        # Where it cannot be started, the call that needs it will try again and say so.
        with self._lock, contextlib.suppress(WorkerLostError):
            if not self._idle and not self.closed and len(self._all) <= self._settings.workers:
                self._idle.append(self._started())

    def hire_all(self) -> None:
        with self._lock:
            self._check_open()
            while len(self._all) <= self._settings.workers:
                self._idle.insert(0, self._started())

    def close(self) -> None:
        with self._lock:
            self.closed = True
            idle, self._idle = self._idle, []
            at_work = self._all.difference(idle)
        for worker in idle:
            worker.dismiss()
        for worker in at_work:
            worker.kill()  # the thread that waits for it closes the pipes: their numbers may be reused at once
        self._turns.put(None)  # wakes a waiting call, which wakes the next

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for a turn, which ends here only if no worker could be had."""
        self._turns.get()
        try:
            yield
        except BaseException:
            self._turns.put(None)
            raise

    def _check_open(self) -> None:
        if self.closed:
            raise WorkerLostError("the worker pool is closed")

    def _started(self) -> Worker:
        worker = Worker(self._settings)
        self._all.add(worker)
        return worker


_CREWS: weakref.WeakSet[_Crew] = weakref.WeakSet()


def _forget_inherited_workers() -> None:
    for crew in list(_CREWS):
        crew.forget()


os.register_at_fork(after_in_child=_forget_inherited_workers)
