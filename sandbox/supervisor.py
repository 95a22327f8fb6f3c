"""The program that is PID 1 of a sandbox container: python3 -I -X utf8 supervisor.py. It runs one program at a time.

Requests come on its stdin and replies go to its stdout, in the frames of sandbox/wire.py. It ends when its stdin does,
in the middle of a run too: the end of the stream is the end of the lease, and with PID 1 everything in the container.
Self-contained: it imports the standard library alone. Linux only; it refuses to be anything but PID 1.

What keeps a program from it and from a judge: they are not dumpable (no ptrace, no /proc/PID/{mem,fd,environ}); the
kernel drops signals from inside to PID 1; whatever crosses (stdin, files, judge, output) lies in memory that a fork
leaves out; and after each run everything else is killed and every writable place emptied before the reply.
"""

import atexit
import builtins
import contextlib
import ctypes
import errno
import functools
import gc
import importlib
import importlib.machinery
import io
import itertools
import json
import math
import mmap
import os
import resource
import select
import signal
import socket
import sys
import time
import types
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

VERSION = 1
PRELOADED = (
    "abc array ast bisect cmath collections collections.abc contextlib copy dataclasses datetime decimal enum fractions"
    " functools heapq inspect itertools json math numbers operator queue random re statistics string struct textwrap"
    " threading time traceback typing warnings"
).split()
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",
}
PYTHON_FLAGS = ("-I", "-X", "utf8")
OPEN_FILES = 256
TICK_S = 0.02
"""How often what a run has used is read, and orphans are reaped."""
PATIENCE_S = 5.0
"""How long processes may take to die, and files to go, before the container is given up."""
HEADER_BYTES_MAX, ARENA_BYTES, READ_BYTES = 1 << 20, 16 << 20, 1 << 16
PROGRAM_OOM_SCORE, JUDGE_OOM_SCORE = 1000, 500
PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, WALL, RLIMITS = 4, 38, 0x40000000, 16
LIBC = ctypes.CDLL(None, use_errno=True)
COUNTERS = {
    "oom": ("memory/memory.oom_control", "memory.events"),
    "memory_stat": ("memory/memory.stat", "memory.stat"),
    "memory_max": ("memory/memory.limit_in_bytes", "memory.max"),
    "memory_and_swap_max": ("memory/memory.memsw.limit_in_bytes",),
    "swap_max": ("memory.swap.max",),
    "processes": ("pids/pids.current", "pids.current"),
    "processes_max": ("pids/pids.max", "pids.max"),
    "cpu_ns": ("cpuacct/cpuacct.usage", "cpu,cpuacct/cpuacct.usage"),
    "cpu_stat": ("cpu.stat",),
    "cpu_quota": ("cpu/cpu.cfs_quota_us", "cpu,cpuacct/cpu.cfs_quota_us", "cpu.max"),
    "cpu_period": ("cpu/cpu.cfs_period_us", "cpu,cpuacct/cpu.cfs_period_us"),
}
"""Files below /sys/fs/cgroup, of version 1 and of version 2."""


class RefusedError(Exception):
    """A request that cannot be carried out, through no doing of the program in it."""


class ChildStart(BaseException):
    """Raised in a forked child, which so leaves the frames of the supervisor before it runs Python source."""

    def __init__(self, argv: list[str], path: str | None, source: bytes | None) -> None:
        self.argv, self.path, self.source = argv, path, source


# Frames, and the memory they lie in


class Arena:
    """Memory for what crosses: a fork leaves it out, so that no program finds another's there; wipe() zeroes it."""

    def __init__(self) -> None:
        self._maps: list[mmap.mmap] = []
        self._free = memoryview(b"")
        self._add(ARENA_BYTES)

    def _add(self, size: int) -> None:
        self._maps.append(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        self._maps[-1].madvise(mmap.MADV_DONTFORK)
        with contextlib.suppress(OSError):  # a kernel without huge pages
            self._maps[-1].madvise(mmap.MADV_NOHUGEPAGE)
        self._free = memoryview(self._maps[-1])

    def take(self, size: int) -> memoryview:
        """Return `size` bytes that nobody else has, good until wipe()."""
        if size > len(self._free):
            self._add(max(ARENA_BYTES, size))
        taken, self._free = self._free[:size], self._free[size:]
        return taken

    def wipe(self) -> None:
        """Give everything back to the kernel, which zeroes it."""
        del self._maps[1:]
        self._maps[0].madvise(mmap.MADV_DONTNEED)
        self._free = memoryview(self._maps[0])

    def abandon(self) -> None:
        """Keep a child from ever freeing the maps: by then other memory may lie at their addresses."""
        for memory in self._maps:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))


def fill(view: memoryview) -> None:
    """Read from the host until `view` is full; end the container when the host has let go."""
    while view:
        if not (count := os.readv(0, [view[: 1 << 20]])):
            os._exit(0)
        view = view[count:]


def read_header() -> dict[str, Any]:
    """Read a frame up to its blobs."""
    prefix = bytearray(4)
    fill(memoryview(prefix))
    size = int.from_bytes(prefix, "big")
    if size > HEADER_BYTES_MAX:
        sys.exit(f"the host announced a header of {size} bytes: the stream is out of step")
    header = bytearray(size)
    fill(memoryview(header))
    return json.loads(header)


def send(header: dict[str, Any], blobs: tuple[memoryview, ...] = ()) -> None:
    """Send a frame to the host; end the container when the host has let go."""
    text = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    parts = [memoryview(len(text).to_bytes(4, "big") + text), *blobs]
    while parts:
        try:
            # At once, since each write wakes the engine; and never joined outside of the arena.
            count = os.writev(1, parts)
        except BrokenPipeError:
            os._exit(0)
        while parts and count >= len(parts[0]):
            count -= len(parts.pop(0))
        if parts:
            parts[0] = parts[0][count:]


# The container around the run


class Usage:
    """Reads the counters of the container's control group; what the kernel does not show reads as None."""

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        for name, paths in COUNTERS.items():
            for path in paths:
                if name not in self._files and os.access(f"/sys/fs/cgroup/{path}", os.R_OK):
                    self._files[name] = os.open(f"/sys/fs/cgroup/{path}", os.O_RDONLY)

    def text(self, name: str) -> str | None:
        """What a counter's file says."""
        return os.pread(self._files[name], 4096, 0).decode().strip() if name in self._files else None

    def number(self, name: str, key: str = "") -> int | None:
        """A counter, or the line `key` of one that has several; None where there is no limit."""
        for line in (self.text(name) or "").splitlines():
            label, _, value = line.rpartition(" ")
            if label == key and value.isdigit():
                return int(value)
        return None

    def oom_kills(self) -> int:
        """How many processes the kernel has killed for memory."""
        return self.number("oom", "oom_kill") or 0

    def memory_bytes(self) -> int | None:
        """Memory in use that the kernel cannot take back: not what it caches of files, but files in memory."""
        private = self.number("memory_stat", "rss") or self.number("memory_stat", "anon")
        return None if private is None else private + (self.number("memory_stat", "shmem") or 0)

    def cpu_s(self) -> float:
        """CPU time of everything in the container but the supervisor; only differences mean something."""
        own_s = time.process_time()
        if (nanoseconds := self.number("cpu_ns")) is not None:
            return nanoseconds / 1e9 - own_s
        if (microseconds := self.number("cpu_stat", "usage_usec")) is not None:
            return microseconds / 1e6 - own_s
        reaped = resource.getrusage(resource.RUSAGE_CHILDREN)
        ticks = 0
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat") as file:
                ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:15])) if name != "1" else 0
        return reaped.ru_utime + reaped.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def writable_places() -> list[str]:
    """The folders in which a program can leave something."""
    places = {"/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue"}
    with open("/proc/self/mounts") as mounts:
        places |= {fields[1] for fields in map(str.split, mounts) if fields[2] in ("tmpfs", "mqueue")}
    kept_out = ("/", "/dev", "/proc", "/sys")
    return sorted(
        place
        for place in places
        if place not in kept_out
        and not place.startswith(("/proc/", "/sys/"))
        and os.path.isdir(place)
        and os.access(place, os.W_OK)
    )


def own_attributes() -> tuple[object, ...]:
    """What a program may change of PID 1, being of the same user: prlimit(), setpriority() and their like."""
    return (
        [resource.getrlimit(kind) for kind in range(RLIMITS)],
        os.getpriority(os.PRIO_PROCESS, 0),
        os.sched_getscheduler(0),
        os.sched_getaffinity(0),
    )


def empty(place: str, deadline_s: float) -> bool:
    """Delete everything in the folder `place`, however deep; False when that fails or takes too long."""
    try:
        os.chdir(place)
        names: list[str] = []
        waiting = [unlink_files()]
        while waiting:
            if time.monotonic() > deadline_s:
                return False
            if waiting[-1]:
                name = waiting[-1].pop()
                os.chmod(name, 0o700)
                os.chdir(name)
                names.append(name)
                waiting.append(unlink_files())
            else:
                waiting.pop()
                if names:
                    os.chdir("..")
                    os.rmdir(names.pop())
    except OSError:
        return False
    finally:
        os.chdir("/")
    return True


def unlink_files() -> list[str]:
    """Delete the files of the current folder and return the names of the folders in it."""
    with os.scandir(".") as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            os.unlink(name)
    return [name for name, is_folder in found if is_folder]


def remove_ipc(tables: dict[str, int]) -> None:
    """Remove the System V shared memory, queues and semaphores that `tables` (of /proc/sysvipc) list."""
    for kind, table in tables.items():
        while lines := os.pread(table, READ_BYTES, 0).splitlines()[1:]:
            for line in lines[:-1] or lines:  # the last one may be cut
                # shmctl(id, IPC_RMID, NULL) and semctl(id, 0, IPC_RMID) are the same numbers: IPC_RMID is 0.
                if getattr(LIBC, f"{kind}ctl")(int(line.split()[1]), 0, 0, 0):
                    raise OSError(ctypes.get_errno(), f"cannot remove {kind} {line.decode()}")


def proof(usage: Usage) -> dict[str, Any]:
    """What the container sees of its limits: raw facts, judged on the host."""
    with open("/proc/self/status") as status, open("/proc/self/mounts") as mounts:
        fields = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
        mounted = mounts.read().splitlines()
    kept = ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")
    limits = {name: getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")}
    return {
        "cgroup": {name: usage.text(name) for name in COUNTERS},
        "status": {name: fields.get(name) for name in kept},
        "mounts": mounted,
        "interfaces": [name for _, name in socket.if_nameindex()],
        "writable": writable_paths(),
        "rlimits": {name: resource.getrlimit(kind) for name, kind in limits.items()},
        "hostname": os.uname().nodename,
        "kernel": os.uname().release,
        "environment": sorted(os.environ),
    }


def writable_paths() -> list[str]:
    """Files and folders that this user may write, outside /proc, /sys and /dev; the first hundred."""
    found: list[str] = []
    for folder, folders, files in os.walk("/"):
        if folder == "/":
            folders[:] = [name for name in folders if name not in ("proc", "sys", "dev")]
        found += [path for name in files if os.access(path := f"{folder}/{name}", os.W_OK)]
        found += [folder] if os.access(folder, os.W_OK) else []
        if len(found) > 100:
            break
    return found[:100]


# The two processes of a run


class Party:
    """One of the two processes of a run, and the supervisor's ends of its pipes."""

    def __init__(self, stdin: memoryview, arena: Arena, output_bytes: int) -> None:
        self.pid, self.pidfd = 0, -1
        self.started_s = self.wall_s = 0.0
        self.exit_code: int | None = None
        self.is_over = self.is_stopped = self.is_over_output = False
        self.unsent = stdin
        self.outputs = [arena.take(output_bytes + 1), arena.take(output_bytes + 1)]
        self.filled = [0, 0]
        stdin_read, self.feed = os.pipe()
        stdout_read, stdout_write = os.pipe()
        stderr_read, stderr_write = os.pipe()
        self.theirs = [stdin_read, stdout_write, stderr_write]
        self.reads = [stdout_read, stderr_read]
        for descriptor in (self.feed, *self.reads):
            os.set_blocking(descriptor, False)

    def write(self) -> bool:
        """Feed what the process takes of its stdin now; False once there is no more to feed."""
        try:
            self.unsent = self.unsent[os.write(self.feed, self.unsent[:READ_BYTES]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            self.unsent = self.unsent[:0]
        if not self.unsent:
            os.close(self.feed)
            self.feed = -1
        return bool(self.unsent)

    def read(self, index: int) -> int | None:
        """Take what the process has written on stdout (0) or stderr (1): the count, 0 at the end, None for not now."""
        output, filled = self.outputs[index], self.filled[index]
        if filled == len(output):
            return 0
        try:
            count = os.readv(self.reads[index], [output[filled : filled + READ_BYTES]])
        except BlockingIOError:
            return None
        self.filled[index] += count
        self.is_over_output |= self.filled[index] == len(output)
        return count

    def drain(self) -> None:
        """Take what is left in the pipes once the process is dead, and let go of them."""
        for index in (0, 1):
            while self.read(index):
                pass
        for descriptor in (self.pidfd, self.feed, *self.reads):
            if descriptor >= 0:
                os.close(descriptor)

    def captured(self) -> list[memoryview]:
        """Stdout and stderr, each up to the limit."""
        return [view[: min(count, len(view) - 1)] for view, count in zip(self.outputs, self.filled, strict=True)]


def write_files(folder: str, files: list[str], contents: list[memoryview]) -> None:
    """Write the files of a program.

    Raises:
        RefusedError: a path is not relative and plain, or there is no room.
    """
    for path, content in zip(files, contents, strict=True):
        parts = path.split("/")
        if "\0" in path or not all(parts) or {".", ".."} & set(parts):
            raise RefusedError(f"a program's file cannot be named {path!r}; give a relative path without '.' and '..'")
        try:
            for count in range(1, len(parts)):
                with contextlib.suppress(FileExistsError):
                    os.mkdir("/".join([folder, *parts[:count]]))
            descriptor = os.open(f"{folder}/{path}", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
            while content:
                content = content[os.write(descriptor, content) :]
            os.close(descriptor)
        except (OSError, UnicodeError) as error:
            raise RefusedError(f"a program's file {path!r} cannot be written: {error}") from error


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process."""
    if LIBC.prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl({option}, {value}) failed")


def lower_limit(kind: int, value: int, slack: int = 0) -> None:
    """Set a resource limit of this process, and `slack` above it as its ceiling, unless it is lower already."""
    ceiling = resource.getrlimit(kind)[1]
    soft, hard = (
        bound if ceiling == resource.RLIM_INFINITY else min(bound, ceiling) for bound in (value, value + slack)
    )
    resource.setrlimit(kind, (soft, hard))


def set_up(descriptors: list[int], folder: str, limits: dict[str, Any]) -> None:
    """Make a fresh fork a process of its own: `descriptors` as 0, 1, 2 and so on, session, folder and limits."""
    high = [os.dup2(descriptor, 100 + index, inheritable=False) for index, descriptor in enumerate(descriptors)]
    for index, descriptor in enumerate(high):
        os.dup2(descriptor, index)
    os.closerange(len(descriptors), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    os.setsid()
    os.chdir(folder)
    lower_limit(resource.RLIMIT_CPU, math.ceil(limits["cpu_s"]) + 1, 1)
    lower_limit(resource.RLIMIT_CORE, 0)
    lower_limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    lower_limit(resource.RLIMIT_FSIZE, limits["disk_mb"] << 20)


def execute(argv: list[str]) -> NoReturn:
    """Become the command; python3 runs a file with the same flags as a fork of this interpreter does."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        if argv[0] == "python3":
            flags = () if argv[1:2] and argv[1].startswith("-") else PYTHON_FLAGS
            os.execve(sys.executable, ["python3", *flags, *argv[1:]], ENVIRONMENT)
        os.execvpe(argv[0], argv, ENVIRONMENT)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode(errors="surrogateescape"))
        os._exit(127 if error.errno == errno.ENOENT else 126)


# Requests


class Supervisor:
    """Carries out requests, and keeps between them what is known of the container, nothing of a program."""

    def __init__(self) -> None:
        self.oom_file = os.open("/proc/self/oom_score_adj", os.O_RDWR)
        self.own_oom_score = int(os.pread(self.oom_file, 16, 0))
        prctl(PR_SET_DUMPABLE, 0)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        self.arena = Arena()
        self.usage = Usage()
        self.is_set_up = mmap.mmap(-1, 2)
        """Shared with a child until it has set itself up, which its byte then says."""
        self.places = writable_places()
        self.ipc = {
            kind: os.open(f"/proc/sysvipc/{kind}", os.O_RDONLY)
            for kind in ("shm", "msg", "sem")
            if os.access(f"/proc/sysvipc/{kind}", os.R_OK)
        }
        self.attributes = own_attributes()

    def serve(self) -> NoReturn:
        """Answer requests until the host lets go."""
        send({"op": "ready", "version": VERSION, "python": sys.version.split()[0]})
        while True:
            request = read_header()
            sizes = request.get("blobs", [])
            payload = self.arena.take(sum(sizes))
            fill(payload)
            if request["op"] == "run":
                self.run(request, payload)
            elif request["op"] == "proof":
                send({"op": "proof", "facts": proof(self.usage)})
            else:
                send({"op": "pong"})
            del payload
            self.arena.wipe()

    def run(self, request: dict[str, Any], payload: memoryview) -> None:
        """Run a program, with its judge if it has one, clean up, and say how it went."""
        parties: list[Party] = []
        cpu_before_s, kills_before = self.usage.cpu_s(), self.usage.oom_kills()
        stop, failure, is_clean = None, None, True
        try:
            self.start(parties, request, payload)
            stop = self.attend(parties, request["limits"])
        except RefusedError as error:
            failure = str(error)
        except OSError as error:
            failure, is_clean = f"the supervisor failed: {error}", False
        began_s = time.monotonic()
        self.reap(parties)
        running = [party for party in parties if not party.is_over]
        left = self.end_everyone(parties)
        for index, party in enumerate(parties):
            # One that was about to exit when it was killed keeps its own exit code.
            party.is_stopped = party in running and party.exit_code in (None, -signal.SIGKILL)
            party.drain()
            if party.exit_code == 1 and not self.is_set_up[index]:
                failure = failure or f"a process was not set up: {bytes(party.captured()[1]).decode(errors='replace')}"
        # What a program does to this process, which is of the same user, is its own doing, and the container's end.
        is_tampered = own_attributes() != self.attributes
        is_clean = left is not None and self.clean() and is_clean and not is_tampered
        reply = {"id": request["id"], "left": left or 0, "clean": is_clean}
        reply["clean_ms"] = (time.monotonic() - began_s) * 1e3
        if failure is not None and not (is_tampered and parties):
            return send({**reply, "op": "error", "message": failure})
        cpu_s, oom_kills = self.usage.cpu_s() - cpu_before_s, self.usage.oom_kills() - kills_before
        ends = [how_ended(party, stop) for party in parties]
        if ends[1:] == ["out_of_memory"] or (ends[1:] == ["exited"] and (parties[1].exit_code or 0) < 0):
            ends[1] = "killed"  # a judge does not end by a signal unless somebody sends it one
        if oom_kills:
            ends[0] = "out_of_memory"
        elif is_tampered:
            ends[0] = "killed"
        elif ends[0] == "exited" and cpu_s > request["limits"]["cpu_s"]:
            ends[0] = "timed_out"
        told = [
            {"end": end, "exit_code": party.exit_code if end == "exited" else None, "wall_s": party.wall_s}
            for end, party in zip(ends, parties, strict=True)
        ]
        reply |= {"op": "done", "cpu_s": cpu_s, "oom_kills": oom_kills, "judge": told[1] if told[1:] else None}
        return send({**reply, **told[0]}, tuple(view for party in parties for view in party.captured()))

    def start(self, parties: list[Party], request: dict[str, Any], payload: memoryview) -> None:
        """Write the files and fork the program, after its judge if it has one; raises ChildStart in the children."""
        argv, files, sizes, limits = request["argv"], request["files"], request["blobs"], request["limits"]
        try:
            if not argv or not argv[0] or b"\0" in b"".join(map(os.fsencode, argv)):
                raise RefusedError(f"the command {argv!r} is empty or has a NUL in it")
        except UnicodeError as error:
            raise RefusedError(f"the command {argv!r} cannot be encoded: {error}") from error
        cuts = list(itertools.accumulate(sizes, initial=0))
        blobs = [payload[begin:end] for begin, end in itertools.pairwise(cuts)]
        folder = f"/tmp/{os.urandom(8).hex()}"
        os.mkdir(folder)
        write_files(folder, files, blobs[1 : 1 + len(files)])
        self.is_set_up[:] = bytes(2)
        parties.append(Party(blobs[0], self.arena, limits["output_bytes"]))
        program_pipes, judge_pipes = [], []
        if request["judge"]:
            # Source and stdin in one stream: the child takes the source off before the judge can read the rest.
            parties.append(Party(payload[cuts[1 + len(files)] :], self.arena, limits["output_bytes"]))
            (judge_read, program_write), (program_read, judge_write) = os.pipe(), os.pipe()
            program_pipes, judge_pipes = [program_read, program_write], [judge_read, judge_write]
            if self.fork(parties[1], JUDGE_OOM_SCORE):
                self.enter(1, parties[1].theirs + judge_pipes, "/", limits)
                raise ChildStart(["judge"], None, read_source(sizes[-2]))
        if self.fork(parties[0], PROGRAM_OOM_SCORE):
            self.enter(0, parties[0].theirs + program_pipes, folder, limits)
            if request["start"] == "fork" and argv[0] == "python3" and argv[1:2] and is_source(argv[1], files):
                raise ChildStart(argv, f"{folder}/{argv[1]}", None)
            execute(argv)
        for descriptor in (*program_pipes, *judge_pipes, *(end for party in parties for end in party.theirs)):
            os.close(descriptor)
        for party in parties:
            with contextlib.suppress(OSError):  # a kernel without pidfds: attend() looks at every tick
                party.pidfd = os.pidfd_open(party.pid)

    def fork(self, party: Party, oom_score: int) -> bool:
        """Start the process of `party`; True in it. The kernel kills for memory what has the highest score first."""
        party.started_s = time.monotonic()
        # To be inherited: a process that is not dumpable cannot set its own.
        self.set_oom_score(max(oom_score, self.own_oom_score))
        try:
            party.pid = os.fork()
        except OSError:
            self.set_oom_score(self.own_oom_score)
            raise
        if party.pid:
            self.set_oom_score(self.own_oom_score)
        return not party.pid

    def set_oom_score(self, score: int) -> None:
        """Set how early the kernel kills this process for memory, 1000 being first."""
        os.pwrite(self.oom_file, str(score).encode(), 0)

    def enter(self, index: int, descriptors: list[int], folder: str, limits: dict[str, Any]) -> None:
        """Make this fork the program (index 0) or the judge (1): only a program may be looked into."""
        try:
            self.arena.abandon()
            set_up(descriptors, folder, limits)
            if index == 0:
                prctl(PR_SET_DUMPABLE, 1)  # or its own /proc/self and /dev/stdin are closed to it
            self.is_set_up[index] = 1
            self.is_set_up.close()
        except BaseException as error:  # must not get back into the supervisor's loop: this is a child
            os.write(2, f"{type(error).__name__}: {error}".encode(errors="replace"))
            os._exit(1)

    def attend(self, parties: list[Party], limits: dict[str, Any]) -> str | None:
        """Feed and read until the last of `parties` is over; return the end of those that a limit stops before."""
        last, deadline_s = parties[-1], parties[0].started_s + limits["wall_s"]
        actions: dict[int, Callable[[], object]] = {}
        poll = select.poll()
        poll.register(0, select.POLLRDHUP)
        for party in parties:
            actions |= {party.feed: party.write}
            actions |= {party.reads[index]: functools.partial(party.read, index) for index in (0, 1)}
            poll.register(party.feed, select.POLLOUT)
            for descriptor in (*party.reads, *([party.pidfd] if party.pidfd >= 0 else [])):
                poll.register(descriptor, select.POLLIN)
        tick_s = TICK_S if last.pidfd >= 0 else TICK_S / 10
        gauges = self.gauges(limits, len(parties))
        next_tick_s = time.monotonic() + tick_s
        while not last.is_over:
            now_s = time.monotonic()
            if now_s >= deadline_s:
                return "timed_out"
            if now_s >= next_tick_s:
                self.reap(parties)
                next_tick_s = now_s + tick_s
                for measure, limit, end in gauges:
                    if measure() > limit:
                        return end
            for descriptor, _ in poll.poll(math.ceil(1e3 * (min(deadline_s, next_tick_s) - now_s))):
                if descriptor == 0:
                    os._exit(0)
                elif descriptor not in actions:
                    self.reap(parties)
                    poll.unregister(descriptor)
                elif actions[descriptor]() in (0, False):
                    poll.unregister(descriptor)
            if any(party.is_over_output for party in parties):
                return "output_limit"
        return None

    def gauges(self, limits: dict[str, Any], count: int) -> list[tuple[Callable[[], float], float, str]]:
        """What to measure at each tick, its limit, and what passing it is called.

        A limit as tight as the container's own is left to the kernel. `count` is how many processes the run began with.
        """
        usage, memory, disk = self.usage, self.usage.memory_bytes(), os.statvfs("/tmp")
        cpu_before_s, memory_bytes, disk_bytes = usage.cpu_s(), limits["memory_mb"] << 20, limits["disk_mb"] << 20
        found: list[tuple[Callable[[], float], float, str]] = [
            (lambda: usage.cpu_s() - cpu_before_s, limits["cpu_s"], "timed_out")
        ]
        if memory is not None and memory_bytes < (usage.number("memory_max") or math.inf):
            found += [(lambda: (usage.memory_bytes() or 0) - memory, memory_bytes, "out_of_memory")]
        if limits["processes"] + 2 < (usage.number("processes_max") or math.inf):  # room for this process and a judge
            found += [(lambda: usage.number("processes") or 0, limits["processes"] + count, "killed")]
        if disk_bytes < disk.f_blocks * disk.f_frsize:
            free = disk.f_bfree
            found += [(lambda: (free - os.statvfs("/tmp").f_bfree) * disk.f_frsize, disk_bytes, "killed")]
        return found

    def reap(self, parties: list[Party]) -> tuple[int, bool]:
        """Take in what has died: how many besides `parties`, and whether any process is alive."""
        count = 0
        while True:
            try:
                pid, status, _ = os.wait4(-1, os.WNOHANG | WALL)
            except ChildProcessError:
                return count, False  # PID 1 is every orphan's parent: without a child there is nobody
            if not pid:
                return count, True
            party = next((party for party in parties if party.pid == pid and not party.is_over), None)
            if party is None:
                count += 1
            else:
                party.is_over, party.exit_code = True, os.waitstatus_to_exitcode(status)
                party.wall_s = time.monotonic() - party.started_s

    def end_everyone(self, parties: list[Party]) -> int | None:
        """Kill and reap all others; return how many there were besides `parties`, None where some would not die."""
        deadline_s, left = time.monotonic() + PATIENCE_S, 0
        count, is_alive = self.reap(parties)
        while is_alive:
            if time.monotonic() > deadline_s:
                return None
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            count, is_alive = self.reap(parties)
            left += count
            if is_alive:
                time.sleep(0.0002)
        return left

    def clean(self) -> bool:
        """Empty every writable place; False when something of the program may be left in the container."""
        deadline_s = time.monotonic() + PATIENCE_S
        try:
            remove_ipc(self.ipc)
        except OSError:
            return False
        return all(empty(place, deadline_s) for place in self.places)


def is_source(path: str, files: list[str]) -> bool:
    """Whether this interpreter can run the file itself."""
    return path in files and path.endswith(".py")


def how_ended(party: Party, stop: str | None) -> str:
    """The end of a process, where `stop` is what ended the run before its time."""
    if party.is_over_output:
        return "output_limit"
    if not party.is_stopped:
        return "exited"
    return stop if stop in ("timed_out", "out_of_memory") else "killed"


def read_source(size: int) -> bytes:
    """Take the source of a judge off its stdin."""
    parts: list[bytes] = []
    while size and (part := os.read(0, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


# Python source in a forked child, as python3 -I -X utf8 FILE runs it


def become_main(argv: list[str], path: str | None, streams: list[io.TextIOWrapper]) -> None:
    """Make this process look like a fresh interpreter: __main__, sys.argv, standard streams, environment, signals."""
    module = types.ModuleType("__main__")
    born_with = globals()  # what a __main__ has differs between versions of Python
    names: dict[str, object] = {"__annotations__": {}} if "__annotations__" in born_with else {}
    names["__builtins__"] = builtins
    if path is not None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        names |= {"__file__": path, "__loader__": importlib.machinery.SourceFileLoader("__main__", path)}
        names |= {"__cached__": None} if "__cached__" in born_with else {}
    module.__dict__.update(names)
    sys.modules["__main__"] = module
    sys.argv, sys.orig_argv = list(argv[1:] or argv), ["python3", *PYTHON_FLAGS, *argv[1:]]
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = streams


def standard_streams() -> list[io.TextIOWrapper]:
    """Return streams on descriptors 0, 1 and 2 as the interpreter makes them for pipes."""
    made = []
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        buffer: Any = open(descriptor, f"{mode}b", closefd=False)  # noqa: SIM115
        buffer.raw.name = f"<{name}>"
        errors = "backslashreplace" if name == "stderr" else "surrogateescape"
        stream: Any = io.TextIOWrapper(buffer, "utf-8", errors, newline="\n", line_buffering=name == "stderr")
        stream.mode = mode
        made.append(stream)
    return made


def exit_code_of(error: BaseException) -> int:
    """Report what ended the program as the interpreter does, and return its exit code; -2 means by SIGINT."""
    if isinstance(error, SystemExit):
        code = error.code
        if code is None or isinstance(code, int):
            return (code or 0) & 0xFF if abs(code or 0) < 1 << 63 else 0xFF
        with contextlib.suppress(Exception):
            print(code, file=sys.stderr)
        return 1
    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # without the frame that ran it
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException as second:
        if isinstance(second, SystemExit):
            return exit_code_of(second)
        print("Error in sys.excepthook:", file=sys.stderr)
        second.__context__, second.__traceback__ = None, second.__traceback__ and second.__traceback__.tb_next
        sys.__excepthook__(type(second), second, second.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, error.__traceback__)
    return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1


def leave(exit_code: int) -> NoReturn:
    """End a child as the interpreter would, but for taking every module down, which costs milliseconds for nothing.

    What does not go as usual is left to the interpreter.
    """
    getattr(sys.modules.get("threading"), "_shutdown", bool)()
    atexit._run_exitfuncs()
    main = sys.modules.pop("__main__", None)
    if isinstance(main, types.ModuleType):
        reference = weakref.ref(main)
        del main
        gc.collect()
        if (main := reference()) is not None and exit_code >= 0:
            sys.modules["__main__"] = main
            sys.exit(exit_code)
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    except BaseException:  # the interpreter will fail likewise, and say so
        sys.exit(exit_code & 0xFF)
    if exit_code < 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(exit_code)


def main() -> NoReturn:
    """Be PID 1: set up what all programs will share, and serve."""
    if os.getpid() != 1 or sys.platform != "linux":
        sys.exit("the supervisor kills every process and empties /tmp: it runs as PID 1 of a container alone")
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE, signal.SIGXFSZ}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)
    os.chdir("/")
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    supervisor = Supervisor()
    for name in PRELOADED:
        with contextlib.suppress(ImportError):  # an image may have a smaller standard library
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    supervisor.serve()


if __name__ == "__main__":
    STREAMS = standard_streams()  # of the children: made once, as every child has its pipes under the same numbers
    try:
        main()
    except ChildStart as child:
        argv, path, source = child.argv, child.path, child.source
    become_main(argv, path, STREAMS)
    exit_code = 0
    try:
        if path is not None:
            with open(path, "rb") as file:
                source = file.read()
        exec(compile(source or b"", path or "<judge>", "exec", dont_inherit=True), sys.modules["__main__"].__dict__)
    except BaseException as error:
        exit_code = exit_code_of(error)
    leave(exit_code)
