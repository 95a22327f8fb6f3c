"""The sandbox that contains: programs run in hardened, warm Docker containers."""

import random
import time
import uuid
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import Any

from sandbox.docker_source import DockerSource
from sandbox.errors import SandboxClosedError, SandboxError, SandboxLostError
from sandbox.leases import Lease
from sandbox.metrics import Counters, SandboxMetrics
from sandbox.pool import Pool
from sandbox.types import End, Execution, Judge, Limits, Program
from sandbox.warm_container import Shape
from sandbox.wire import Done, Start, read_done, run_request

_BACKSTOP_S = 15.0
"""How long after its wall limit a run's reply may come, the transfer and the clean-up included; then the container is
given up. The supervisor keeps the limit itself."""
_SLOW_CLEAN_MS = 200.0
_PING_EVERY = 50
_SLOW_PING_S = 1.0
_BACKOFF_S = (0.05, 2.0)
_OUT_OF_MEMORY_LOSSES = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class DockerSettings:
    """What a DockerSandbox was made with; see there."""

    containers: int | None
    docker_hosts: tuple[str, ...]
    image: str
    packages: tuple[str, ...]
    cpus: float | None
    runtime: str | None
    start: Start
    recycle_after: int
    tries: int
    patience_s: float


class DockerSandbox:
    """Runs programs in Docker containers that are started once, kept warm, and cleaned after every program.

    Nothing is started before the first run, which builds the image if need be (a line on stderr says so). Many threads
    may call at once; those beyond `containers` wait their turn, and waiting is not charged to the program. Use it as a
    context manager or close() it; at the interpreter's end it closes itself, and containers whose owner is killed end
    with the stream that they are fed by. A forked process and a pickled copy start containers of their own.

    A failure of ours is never an Execution. A run whose container is lost is tried again, in another container or on
    another engine; an engine that goes away after it has worked is waited for. What cannot be run then raises. A lost
    container says nothing about the program, with one exception: when two of them were lost while the kernel killed
    for memory inside, it was this program's doing twice, and its end is OUT_OF_MEMORY.

    Args:
        containers: how many programs run at once on each engine; default: the engine's processors. More only makes
            wall limits lie. Idle containers of other limits are kept up to four times as many.
        docker_hosts: engines to spread over, as in DOCKER_HOST; default: the one that the docker command uses.
        image: "auto", "host", "dockerfile:PATH" or "image:NAME"; see `sandbox.image.build_image`.
        packages: what pip installs into the image, for instance ["numpy"].
        cpus: processors' worth of time that a container may use; None for no limit but the programs' own.
        runtime: the OCI runtime, for instance "runsc".
        start: "fork" runs `python3 FILE` in a fork of a preloaded interpreter, 3 times as fast as "exec", which starts
            a fresh one.
        recycle_after: how many programs a container runs before it is replaced.
        tries: how many containers a run may lose before it raises SandboxLostError.
        patience_s: how long to wait for an engine that has worked and is gone, as in its restart.
    """

    def __init__(
        self,
        *,
        containers: int | None = None,
        docker_hosts: Sequence[str] = (),
        image: str = "auto",
        packages: Sequence[str] = (),
        cpus: float | None = None,
        runtime: str | None = None,
        start: Start = "fork",
        recycle_after: int = 500,
        tries: int = 8,
        patience_s: float = 60.0,
    ) -> None:
        for name, value in (("containers", containers), ("recycle_after", recycle_after), ("tries", tries)):
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.__setstate__(
            DockerSettings(
                containers=containers,
                docker_hosts=tuple(docker_hosts),
                image=image,
                packages=tuple(packages),
                cpus=cpus,
                runtime=runtime,
                start=start,
                recycle_after=recycle_after,
                tries=tries,
                patience_s=patience_s,
            )
        )

    def __getstate__(self) -> DockerSettings:
        return self._settings

    def __setstate__(self, settings: DockerSettings) -> None:
        self._settings = settings
        self.run_label = uuid.uuid4().hex
        """The label rlvr.run of this sandbox's containers."""
        self._counters = Counters()
        self._numbers = count(1)
        sources = [
            DockerSource(
                host,
                containers=settings.containers,
                image=settings.image,
                packages=settings.packages,
                cpus=settings.cpus,
                runtime=settings.runtime,
                run=self.run_label,
            )
            for host in settings.docker_hosts or (None,)
        ]
        self._pool = Pool(
            sources,
            recycle_after=settings.recycle_after,
            patience_s=settings.patience_s,
            counters=self._counters,
        )
        self._finalizer = weakref.finalize(self, self._pool.close)

    def __enter__(self) -> "DockerSandbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def metrics(self) -> SandboxMetrics:
        """What was done so far."""
        return self._counters.snapshot()

    def run(self, program: Program, limits: Limits) -> Execution:
        """Run `program` as Sandbox.run does.

        Raises:
            SandboxUnavailableError: no engine answers, or none confines containers as asked; says what to do.
            SandboxLostError: `tries` containers were lost, one after the other.
            SandboxClosedError: the sandbox is closed.
            SandboxError: the request cannot be carried out, for instance because of a file's path.
        """
        return self._run(program, None, limits)[0]

    def run_judged(self, program: Program, judge: Judge, limits: Limits) -> tuple[Execution, Execution]:
        """Run `program` and `judge` as Sandbox.run_judged does; raises what run() raises.

        A program that outlives its judge is KILLED.
        """
        execution, judging = self._run(program, judge, limits)
        assert judging is not None
        return execution, judging

    def close(self) -> None:
        """Kill and remove the containers; programs that still run raise SandboxClosedError, as later calls do."""
        self._finalizer()

    def _run(self, program: Program, judge: Judge | None, limits: Limits) -> tuple[Execution, Execution | None]:
        header, blobs = run_request(next(self._numbers), program, limits, start=self._settings.start, judge=judge)
        shape = Shape.of(limits)
        out_of_memory = 0
        try:
            for attempt in range(1, self._settings.tries + 1):
                try:
                    done = self._attempt(header, blobs, shape, limits.wall_s + _BACKSTOP_S)
                    return done.program, done.judge
                except _AttemptFailedError as failure:
                    out_of_memory += failure.out_of_memory
                    if out_of_memory == _OUT_OF_MEMORY_LOSSES:
                        return _killed_for_memory(judge)
                    if attempt == self._settings.tries:
                        raise SandboxLostError(
                            f"{attempt} containers were lost under a program: {failure}"
                        ) from failure
                self._counters.count("retries")
                first_s, longest_s = _BACKOFF_S
                time.sleep(min(first_s * 2 ** (attempt - 1), longest_s) * random.uniform(0.5, 1.0))
            raise AssertionError("the last attempt returns or raises")
        except SandboxError:
            self._counters.count("failures")
            raise

    def _attempt(self, header: dict[str, Any], blobs: list[bytes], shape: Shape, timeout_s: float) -> Done:
        """Run once.

        Raises:
            _AttemptFailedError: the container was lost.
        """
        queued = time.monotonic()
        lease = self._pool.lease(shape)
        started = time.monotonic()
        broken = "interrupted"
        worn = ""
        try:
            reply, outputs = lease.container.exchange(header, blobs, timeout_s=timeout_s)
            if reply.get("op") == "error":
                broken = "" if reply.get("clean") is True else "unclean"
                raise SandboxError(f"the sandbox could not run {header['argv']}: {reply.get('message')}")
            if reply.get("id") != header["id"]:
                raise SandboxLostError(f"a container answered request {reply.get('id')} in place of {header['id']}")
            done = read_done(reply, outputs)
            broken = "out_of_memory" if done.oom_kills else "" if done.clean else "unclean"
            if not broken:
                broken, worn = _wear(lease, done)
        except SandboxLostError as error:
            broken = "lost"
            self._counters.count("lost")
            if self._pool.closed:
                raise SandboxClosedError("the sandbox was closed while the program ran") from error
            raise _AttemptFailedError(error, out_of_memory=lease.container.ran_out_of_memory()) from error
        finally:
            self._pool.give_back(lease, broken=broken, worn=worn)
        self._counters.count_run(
            str(done.program.end),
            queue_s=started - queued,
            run_s=time.monotonic() - started,
            program_s=done.program.wall_s,
            clean_ms=done.clean_ms,
        )
        return done


class _AttemptFailedError(Exception):
    """A container was lost."""

    def __init__(self, error: SandboxLostError, *, out_of_memory: bool) -> None:
        super().__init__(str(error))
        self.out_of_memory = out_of_memory


def _wear(lease: Lease, done: Done) -> tuple[str, str]:
    """Return why a container is broken and why it is worn, each "" if it is not; pings it now and then to find out."""
    if done.clean_ms > _SLOW_CLEAN_MS:
        return "", "slow_clean"
    if (lease.runs + 1) % _PING_EVERY:
        return "", ""
    asked = time.monotonic()
    try:
        lease.container.exchange({"op": "ping"}, [], timeout_s=_BACKSTOP_S)
    except SandboxLostError:
        return "lost", ""
    return "", "slow_ping" if time.monotonic() - asked > _SLOW_PING_S else ""


def _killed_for_memory(judge: Judge | None) -> tuple[Execution, Execution | None]:
    judging = None if judge is None else Execution(end=End.KILLED)
    return Execution(end=End.OUT_OF_MEMORY), judging
