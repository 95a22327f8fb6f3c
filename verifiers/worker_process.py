"""The program of a worker process: python -m verifiers.worker_process MODULE:NAME MEMORY_MB JOB_S.

Started by `verifiers.worker_pool` alone. Jobs come on descriptor 0 and replies go to descriptor 1, each as four bytes
of length (big-endian) and that much ASCII JSON. A reply is a pair: ["ready", ""] once, then for each job
["value", returned], ["error", traceback], ["memory", ""] or ["recursion", ""].
"""

import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_PARENT_CHECK_MS = 5000
_TRACEBACK_CHARACTERS = 8000
_MEMORY = json.dumps(["memory", ""]).encode("ascii")
_RECURSION = json.dumps(["recursion", ""]).encode("ascii")


def main() -> None:
    """Answer jobs until the parent closes the pipe or is gone."""
    function_name, memory_mb, job_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    jobs, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)  # what the function prints must not become a reply
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # masks and ignored signals outlive exec
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    function = _load(function_name)
    gc.collect()
    gc.freeze()  # what the import left is never garbage; without this every full collection would walk it again
    _limit_memory(memory_mb)
    os.dup2(null, 1)
    os.dup2(null, 2)
    _send(replies, json.dumps(["ready", ""]).encode("ascii"))
    for job in _jobs(jobs):
        # The parent ends a job that takes too long. This alarm is for the job whose parent was killed: its default
        # action is the kernel's, so that it also ends a loop in C that never gives up the interpreter lock.
        signal.setitimer(signal.ITIMER_REAL, job_s)
        reply = _reply(function, job)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _send(replies, reply)


def _load(function_name: str) -> Callable[[Any], Any]:
    module, _, name = function_name.partition(":")
    return getattr(importlib.import_module(module), name)


def _limit_memory(memory_mb: int) -> None:
    """Allow `memory_mb` beyond what the process has mapped now, where the system enforces such a limit (not macOS)."""
    if sys.platform != "linux":
        return
    mapped_pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = mapped_pages * resource.getpagesize() + memory_mb * 2**20
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _jobs(descriptor: int) -> Iterator[bytes]:
    """Yield each job's JSON until the pipe ends or the parent is gone.

    The pipe alone does not tell: a process forked from the parent may hold its other end open.
    """
    parent = os.getppid()
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    received = bytearray()
    while True:
        while not poll.poll(_PARENT_CHECK_MS):
            if os.getppid() != parent:
                return
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            return
        received += chunk
        end = 4 + int.from_bytes(received[:4], "big")
        if len(received) >= max(end, 4):
            yield bytes(received[4:end])
            received.clear()  # the parent sends the next job only after this one's reply


def _reply(function: Callable[[Any], Any], job: bytes) -> bytes:
    try:
        return json.dumps(["value", function(json.loads(job))]).encode("ascii")
    except MemoryError:
        return _MEMORY
    except RecursionError:
        return _RECURSION
    except Exception:
        return json.dumps(["error", traceback.format_exc()[-_TRACEBACK_CHARACTERS:]]).encode("ascii")


def _send(descriptor: int, payload: bytes) -> None:
    unsent = memoryview(len(payload).to_bytes(4, "big") + payload)
    while unsent:
        unsent = unsent[os.write(descriptor, unsent) :]


if __name__ == "__main__":
    main()
