"""Which system calls a program in a sandbox may make, as data for the engine.

An allowlist, shorter than Docker's own: what a Python program with threads, subprocesses, multiprocessing and asyncio
needs. What attacks are made of answers "not permitted", and whatever else exists "not implemented", for which the C
library has a fallback. Only the engine's native instruction set may be used: no 32-bit entry.
"""

import json
from typing import Any

FILES = (
    "access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64 "
    "fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock "
    "fremovexattr fsetxattr fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 getxattr "
    "inotify_add_watch inotify_init inotify_init1 inotify_rm_watch ioctl lchown lgetxattr link linkat listxattr "
    "llistxattr lremovexattr lseek lsetxattr lstat mkdir mkdirat mknod mknodat newfstatat open openat openat2 "
    "pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv removexattr rename "
    "renameat renameat2 rmdir sendfile setxattr stat statfs statx symlink symlinkat truncate umask unlink unlinkat "
    "utime utimensat utimes write writev"
)
MEMORY = "brk madvise membarrier mincore mlock mlock2 mmap mprotect mremap msync munlock munmap"
PROCESSES = (
    "arch_prctl capget execve execveat exit exit_group fork get_robust_list get_thread_area getegid geteuid getgid "
    "getgroups getpgid getpgrp getpid getppid getresgid getresuid getsid gettid getuid kill pidfd_open "
    "pidfd_send_signal prctl set_robust_list set_thread_area set_tid_address setfsgid setfsuid setgid setgroups "
    "setpgid setregid setresgid setresuid setreuid setsid setuid tgkill tkill vfork wait4 waitid"
)
SCHEDULING = (
    "futex futex_waitv getcpu getpriority getrlimit getrusage ioprio_get rseq sched_get_priority_max "
    "sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval "
    "sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield setpriority setrlimit sysinfo "
    "uname"
)
TIME_AND_SIGNALS = (
    "alarm clock_getres clock_gettime clock_nanosleep eventfd eventfd2 getitimer getrandom gettimeofday nanosleep "
    "pause restart_syscall rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend "
    "rt_sigtimedwait rt_tgsigqueueinfo setitimer sigaltstack signalfd signalfd4 time timer_create timer_delete "
    "timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times"
)
COMMUNICATION = (
    "accept accept4 bind connect epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait "
    "getpeername getsockname getsockopt listen msgctl msgget msgrcv msgsnd pipe pipe2 poll ppoll pselect6 recvfrom "
    "recvmmsg recvmsg select semctl semget semop semtimedop sendmmsg sendmsg sendto setsockopt shmat shmctl shmdt "
    "shmget shutdown"
)
REFUSED = (
    "acct add_key bpf chroot delete_module fanotify_init finit_module fsconfig fsmount fsopen fspick init_module "
    "io_setup io_submit io_uring_enter io_uring_register io_uring_setup kcmp kexec_file_load kexec_load keyctl "
    "lookup_dcookie mbind memfd_create memfd_secret migrate_pages modify_ldt mount mount_setattr move_mount "
    "move_pages name_to_handle_at open_by_handle_at open_tree perf_event_open personality pidfd_getfd pivot_root "
    "process_madvise process_mrelease process_vm_readv process_vm_writev ptrace quotactl reboot request_key "
    "set_mempolicy setns splice swapoff swapon sync syncfs syslog tee umount2 unshare userfaultfd vmsplice"
)
NOT_IMPLEMENTED = (
    "cachestat clone3 futex_requeue futex_wait futex_wake landlock_add_rule landlock_create_ruleset "
    "landlock_restrict_self map_shadow_stack mseal pkey_alloc pkey_free pkey_mprotect seccomp"
)
"""What libraries try first and replace; older engines know no default but EPERM, which they would not understand.

The flags of clone3 lie in memory, where no filter sees them: it has to look as if it were not there.
"""

_EPERM, _ENOSYS = 1, 38
_NEW_NAMESPACES = 0x7E020000
"""All CLONE_NEW* flags but CLONE_NEWTIME, which clone() cannot take: its bit is part of the signal's number there."""
_UNIX, _INET, _INET6, _NETLINK, _NETLINK_ROUTE = 1, 2, 10, 16, 0
"""Address families of Linux; the host's own socket module may be another system's."""
_ARCHITECTURES = ("SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64", "SCMP_ARCH_RISCV64", "SCMP_ARCH_PPC64LE")


def seccomp_profile() -> str:
    """Return the profile as JSON, as the engine's security option seccomp= takes it."""
    allowed = " ".join((FILES, MEMORY, PROCESSES, SCHEDULING, TIME_AND_SIGNALS, COMMUNICATION)).split()
    rules: list[dict[str, Any]] = [
        {"names": allowed, "action": "SCMP_ACT_ALLOW"},
        {"names": REFUSED.split(), "action": "SCMP_ACT_ERRNO", "errnoRet": _EPERM},
        {"names": NOT_IMPLEMENTED.split(), "action": "SCMP_ACT_ERRNO", "errnoRet": _ENOSYS},
        _allow_where("clone", _argument(0, _NEW_NAMESPACES, "SCMP_CMP_MASKED_EQ")),
        _allow_where("prlimit64", _argument(0, 0)),  # its own limits; those of PID 1 would bring the container down
        *(_allow_where("socket", _argument(0, family)) for family in (_UNIX, _INET, _INET6)),
        _allow_where("socket", _argument(0, _NETLINK), _argument(2, _NETLINK_ROUTE)),
        _allow_where("socketpair", _argument(0, _UNIX)),
    ]
    profile = {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": _ENOSYS,
        "archMap": [{"architecture": name, "subArchitectures": []} for name in _ARCHITECTURES],
        "syscalls": rules,
    }
    return json.dumps(profile)


def _argument(index: int, value: int, comparison: str = "SCMP_CMP_EQ") -> dict[str, Any]:
    return {"index": index, "value": value, "valueTwo": 0, "op": comparison}


def _allow_where(name: str, *arguments: dict[str, Any]) -> dict[str, Any]:
    return {"names": [name], "action": "SCMP_ACT_ALLOW", "args": list(arguments)}
