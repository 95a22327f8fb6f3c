"""The program that LocalSandbox starts for each run: python -I -S local_launcher.py SPEC.

It shuts itself off from the machine as far as the system lets it, runs the command of SPEC, watches what its process
tree uses, kills the tree at the first limit, when the command ends and when the host lets go, and says how it ended.

SPEC is JSON: argv, folder, environment, cpu_s, memory_mb, processes, disk_mb, isolate (try for namespaces, and be
nobody where this is root), control (descriptor that the report is written to), lease (descriptor whose end or first
byte means "kill it") and pipes (descriptors that become 3 and 4 of the command, or none).
"""

import contextlib
import ctypes
import fcntl
import json
import math
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

LINUX = sys.platform == "linux"
SAMPLE_S = 0.02
KILL_S = 5.0
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = (
    0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 2, 4, 0x1000, 0x4000, 0x40000
_SYS_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
NOBODY = 65534
_HIGH = 100
"""Descriptors are moved here before two of them become 3 and 4."""


def main() -> None:
    """Run the command; say "s" on the control descriptor when it starts and {"end", "exit_code"} when it has ended."""
    spec = json.loads(sys.argv[1])
    control, lease = spec["control"], spec["lease"]
    if LINUX:
        _prctl(_PR_SET_DUMPABLE, 0)
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if spec["isolate"] and os.geteuid() == 0:
        _become_nobody()
    isolated = spec["isolate"] and _enter_namespaces(spec["folder"])
    status_read, status_write = os.pipe()
    os.write(control, b"s")
    init = os.fork()
    if not init:
        os.close(status_read)
        _be_init(spec, status_write, isolated)
    os.close(status_write)
    _let_go_of_streams()
    for descriptor in spec["pipes"] or ():
        os.close(descriptor)
    end = _watch(init, lease, spec)
    _kill_descendants(init)
    status = json.loads(os.read(status_read, 4096) or b"null")
    report: dict[str, Any] = {"end": end or "killed", "exit_code": None}
    # A command may have ended by itself at the moment when the host let go.
    if status and (end is None or (end == "killed" and status["exit_code"] != -signal.SIGKILL)):
        report = _judged_by_usage(status, spec)
    with contextlib.suppress(BrokenPipeError):
        os.write(control, json.dumps(report).encode() + b"\n")


def _judged_by_usage(status: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """Return the report on a command that ended by itself, unless it went past a limit between two samples."""
    if status["cpu_s"] >= spec["cpu_s"]:
        return {"end": "timed_out", "exit_code": None}
    if status["peak_mb"] > spec["memory_mb"]:
        return {"end": "out_of_memory", "exit_code": None}
    return {"end": "exited", "exit_code": status["exit_code"]}


def _be_init(spec: dict[str, Any], status: int, isolated: bool) -> NoReturn:
    """Start the command, reap whatever is orphaned, report the command's status and end; with it its namespace does."""
    if LINUX:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _prctl(_PR_SET_DUMPABLE, 0)
    try:
        os.setpgid(0, 0)
        if isolated:
            _hide_other_processes()
        command = os.fork()
        if not command:
            _be_command(spec, isolated)
        _let_go_of_streams()
        while True:
            ended, wait_status, usage = os.wait4(-1, 0)
            if ended == command:
                break
        unit = 1024 if LINUX else 1024 * 1024  # ru_maxrss is in KiB on Linux, in bytes on macOS
        exit_code = os.waitstatus_to_exitcode(wait_status)
        used = {"cpu_s": usage.ru_utime + usage.ru_stime, "peak_mb": usage.ru_maxrss / unit, "exit_code": exit_code}
        os.write(status, json.dumps(used).encode())
    finally:
        os._exit(0)


def _be_command(spec: dict[str, Any], isolated: bool) -> NoReturn:
    try:
        if LINUX:
            os.setsid()  # elsewhere the process group of init is all there is to find the tree by
        os.chdir(spec["folder"])
        if spec["pipes"]:
            high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _HIGH) for descriptor in spec["pipes"]]
            os.dup2(high[0], 3, inheritable=True)
            os.dup2(high[1], 4, inheritable=True)
        os.closerange(5 if spec["pipes"] else 3, 65536)
        _set_limits(spec, isolated)
        if LINUX:
            _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(spec["argv"][0], spec["argv"], spec["environment"])
    except OSError as error:
        os.write(2, f"{spec['argv'][0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _set_limits(spec: dict[str, Any], isolated: bool) -> None:
    """Set what the kernel holds by itself: backstops for what the samples may miss, per process, not per tree."""
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: math.ceil(spec["cpu_s"]) + 1,
        resource.RLIMIT_FSIZE: int(spec["disk_mb"] * 2**20),
        resource.RLIMIT_NOFILE: 256,
    }
    if LINUX:
        # Address space, not memory: threads and allocators reserve far more than they touch.
        limits[resource.RLIMIT_AS] = int(spec["memory_mb"] * 2**20 * 4)
    # What stops a fork bomb, which starves the samples. Counted by user and user namespace: in a new one there are init
    # and the launcher besides, outside of one everything that this user runs. The kernel exempts root.
    others = 2 if isolated else _processes_of_this_user() if LINUX else 0
    limits[resource.RLIMIT_NPROC] = spec["processes"] + others
    for which, limit in limits.items():
        _, hard = resource.getrlimit(which)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(which, (limit, limit))


def _processes_of_this_user() -> int:
    count = 0
    for path in Path("/proc").glob("[0-9]*/task/[0-9]*"):
        with contextlib.suppress(OSError):
            count += path.stat().st_uid == os.getuid()
    return count


def _watch(init: int, lease: int, spec: dict[str, Any]) -> str | None:
    """Wait for the end of init, of the host's patience, or of a limit, and return the name of the limit."""
    if not LINUX:
        return _watch_init_alone(init, lease)
    pidfd = os.pidfd_open(init)
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.register(lease, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll(SAMPLE_S * 1000)]
        if pidfd in ready:
            return None
        if lease in ready:
            return "killed"
        if end := _limit_passed(spec):
            return end


def _watch_init_alone(init: int, lease: int) -> str | None:
    while not os.waitpid(init, os.WNOHANG)[0]:
        if select.select([lease], [], [], SAMPLE_S)[0]:
            return "killed"
    return None


def _limit_passed(spec: dict[str, Any]) -> str | None:
    tree = [usage for pid in _descendants() if (usage := _usage(pid))]
    if sum(cpu_s for cpu_s, _ in tree) >= spec["cpu_s"]:
        return "timed_out"
    if sum(resident for _, resident in tree) > spec["memory_mb"] * 2**20 and _proportional_mb() > spec["memory_mb"]:
        return "out_of_memory"
    return None


def _descendants() -> list[int]:
    """Return the processes below this one, orphans among them: init adopts those, or this process does."""
    found, unseen = [], [os.getpid()]
    while unseen:
        parent = unseen.pop()
        children: list[int] = []
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                children += map(int, (task / "children").read_text().split())
        found += children
        unseen += children
    return found


def _usage(pid: int) -> tuple[float, int] | None:
    """Return CPU seconds (those of waited-for children included) and resident bytes, None if the process has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    cpu_s = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return cpu_s, int(fields[21]) * resource.getpagesize()


def _proportional_mb() -> float:
    """Return the tree's memory with shared pages counted once, which costs more than adding up what is resident."""
    total_kb = 0
    for pid in _descendants():
        with contextlib.suppress(OSError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total_kb += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return total_kb / 1024


def _kill_descendants(init: int) -> None:
    """Kill everything below this process, again and again until nothing is left: a tree may grow while it is killed."""
    deadline = time.monotonic() + KILL_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            os.killpg(init, signal.SIGKILL)
        for pid in _descendants() if LINUX else ():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def _become_nobody() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def _enter_namespaces(folder: str) -> bool:
    """Take new user, process, network, IPC and mount namespaces if the system lets this user, and say whether."""
    if not LINUX:
        return False
    user, group = os.geteuid(), os.getegid()
    _prctl(_PR_SET_DUMPABLE, 1)  # or /proc/self/uid_map would not be ours to write
    libc = ctypes.CDLL(None, use_errno=True)
    kinds = _CLONE_NEWUSER | _CLONE_NEWPID | _CLONE_NEWNET | _CLONE_NEWIPC | _CLONE_NEWNS
    entered = libc.unshare(kinds) == 0
    if entered:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{NOBODY} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{NOBODY} {group} 1")
        _make_files_read_only(libc, folder)
    _prctl(_PR_SET_DUMPABLE, 0)
    return entered


def _make_files_read_only(libc: ctypes.CDLL, folder: str) -> None:
    """Leave `folder` and a new /dev/shm the only places to write to, where the kernel knows how (5.12 and later)."""
    here = os.fsencode(folder)
    libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    libc.mount(here, here, None, _MS_BIND, None)
    libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", _MS_NOSUID | _MS_NODEV, b"size=64m")
    for path, flags, add, remove in (
        (b"/", _AT_RECURSIVE, _MOUNT_ATTR_RDONLY, 0),
        (here, 0, 0, _MOUNT_ATTR_RDONLY),
        (b"/dev/shm", 0, 0, _MOUNT_ATTR_RDONLY),
    ):
        attributes = (ctypes.c_uint64 * 4)(add, remove, 0, 0)
        libc.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, path, flags, attributes, ctypes.sizeof(attributes))


def _hide_other_processes() -> None:
    """Mount a /proc of the new process namespace; refused inside some containers, and the host's stays visible then."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.unshare(_CLONE_NEWNS)
    libc.mount(b"proc", b"/proc", b"proc", _MS_RDONLY | _MS_NOSUID | _MS_NODEV, None)


def _let_go_of_streams() -> None:
    """Leave stdin, stdout and stderr to the command alone."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main()
