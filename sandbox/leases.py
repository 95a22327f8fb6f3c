"""The records a pool keeps: containers that are lent, calls that wait for one, engines and what they hold."""

import threading
import time
from collections import Counter

from sandbox.errors import SandboxError, SandboxUnavailableError
from sandbox.warm_container import ContainerSource, Shape, WarmContainer

STARTS_AT_ONCE = 2
"""Per engine: starting is bound by the processor in dockerd and runc, so that more at once only slow each other."""
SHAPES_KEPT = 4
"""An engine holds up to this many times the containers that may work at once: idle ones of other shapes cost little."""
_RETRY_S = (0.1, 2.0)
"""First and longest pause before an engine that failed is tried again; each is twice the one before."""
_STARTS_FAILED = 3
"""How often in a row containers may die in their start on an engine that has never started one."""


class Lease:
    """A container at the disposal of one run, until Pool.give_back()."""

    def __init__(self, container: WarmContainer, shape: Shape, engine: "EngineState") -> None:
        self.container = container
        self.shape = shape
        self.engine = engine
        self.runs = 0
        self.successor_ordered = False
        self.replaced = False
        """Whether its successor is there."""


class Waiting:
    """A call in the queue."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.lease: Lease | None = None
        self.error: BaseException | None = None
        self._served = threading.Lock()
        self._served.acquire()

    def wait(self) -> None:
        """Wait for serve() or refuse(), in another thread."""
        self._served.acquire()

    def serve(self, lease: Lease) -> None:
        """Let the call go on with a container."""
        self.lease = lease
        self._served.release()

    def refuse(self, error: BaseException) -> None:
        """Let the call go on with an error."""
        self.error = error
        self._served.release()


class EngineState:
    """A source of containers, and what the pool has of it. The pool's lock guards it."""

    def __init__(self, source: ContainerSource) -> None:
        self.source = source
        self.starts = threading.BoundedSemaphore(STARTS_AT_ONCE)
        self.held: Counter[Shape] = Counter()
        """Containers that run or start there, by shape."""
        self.lent = 0
        self.retry_at = 0.0
        """It is put aside until then."""
        self.capacity = 1
        """How many containers may work at once; known after ask_capacity()."""
        self._asked = self._worked = self._unavailable = False
        self._failures = 0
        self._failing_since = 0.0

    def ask_capacity(self) -> None:
        """Ask the engine for its capacity, once; not under the lock."""
        if not self._asked:
            self.capacity = self.source.capacity()
            self._asked = True

    def has_turn(self) -> bool:
        """Tell whether one more container may work now."""
        return self.lent < self.capacity

    def may_hold(self, shape: Shape) -> bool:
        """Tell whether one more container of this shape would be of use."""
        return self.held[shape] < self.capacity

    def is_full(self) -> bool:
        """Tell whether a container must go before another may come."""
        return self.held.total() >= SHAPES_KEPT * self.capacity

    def works(self) -> None:
        """Note that a container has started."""
        self._worked = True
        self._failures = 0
        self.retry_at = 0.0

    def fails(self, error: SandboxError) -> None:
        """Note that one has not, and put the engine aside for a while."""
        now = time.monotonic()
        if not self._failures:
            self._failing_since = now
        self._unavailable = isinstance(error, SandboxUnavailableError)
        first_s, longest_s = _RETRY_S
        self.retry_at = now + min(first_s * 2**self._failures, longest_s)
        self._failures += 1

    def is_hopeless(self, patience_s: float) -> bool:
        """Tell whether calls should not wait for it any longer."""
        if not self._failures:
            return False
        if not self._worked:
            return self._unavailable or self._failures >= _STARTS_FAILED
        return time.monotonic() - self._failing_since > patience_s
