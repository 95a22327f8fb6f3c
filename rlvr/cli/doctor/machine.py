"""What this machine has free: memory and disk."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """Room for a run."""

    memory_bytes: int | None
    """That the run may take, of the device it runs on; None where it cannot be known."""
    free_disk_bytes: Callable[[Path], int]
    """Of the disk that holds a folder which exists."""


def this_machine(device: str) -> Machine:
    """Return the room there is now, before a model is loaded."""
    return Machine(memory_bytes=_free_memory(device), free_disk_bytes=lambda folder: shutil.disk_usage(folder).free)


def _free_memory(device: str) -> int | None:
    if device.startswith("cuda"):
        return torch.cuda.mem_get_info(device)[0]
    limits = [room for room in (_available(), _cgroup_room()) if room is not None]
    return min(limits, default=None)


def _available() -> int | None:
    if _MEMINFO.exists():
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def _cgroup_room() -> int | None:
    """Return what a container's memory limit leaves; None without one."""
    try:
        limit = (_CGROUP / "memory.max").read_text(encoding="ascii").strip()
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        parts = dict(line.split() for line in (_CGROUP / "memory.stat").read_text(encoding="ascii").splitlines())
        # Files that were read, such as a model's, are counted as used and given up on demand.
        cached = int(parts["inactive_file"]) + int(parts["active_file"])
    except (OSError, ValueError, KeyError):
        return None
    return max(0, int(limit) - used + cached) if limit.isdigit() else None
