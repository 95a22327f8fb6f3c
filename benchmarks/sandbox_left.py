"""What a sandbox leaves on its machine: memory of processes, containers, processes without a container. Linux."""

import re
import socket
import struct
from pathlib import Path
from typing import Any

from sandbox.engine import Engine, engine_errors
from sandbox.hardening import RUN_LABEL, USER_ID

_CONTAINER = re.compile(r"\b[0-9a-f]{64}\b")


def resident_mb(pid: int | None) -> float | None:
    """Return the resident memory of a process, of this one for None; None where it is gone or not shown."""
    try:
        status = Path(f"/proc/{pid or 'self'}/status").read_text()
    except OSError:
        return None
    found = re.search(r"^VmRSS:\s*(\d+) kB", status, re.MULTILINE)
    return None if found is None else round(int(found[1]) / 1024, 1)


def engine_process(url: str) -> int | None:
    """Return the process that listens at a unix URL, if it is a dockerd: not where systemd listens in its place."""
    if not url.startswith("unix://"):
        return None
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(url.removeprefix("unix://"))
        pid, _, _ = struct.unpack("3i", stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    try:
        return pid if Path(f"/proc/{pid}/comm").read_text().strip() == "dockerd" else None
    except OSError:
        return None


def containers_of(engine: Engine, run: str) -> list[dict[str, Any]]:
    """Return the containers, dead ones included, that the sandbox of that run label has."""
    with engine_errors("list containers", engine.url):
        return engine.client.api.containers(all=True, filters={"label": f"{RUN_LABEL}={run}"})


def orphans(engine: Engine) -> list[int]:
    """Return the processes of the programs' user that are in the control group of a container that is no more.

    Those of another engine on this machine count too: `engine` does not know its containers.
    """
    suspects = {pid: names for pid in _processes() if (names := _container_names(pid))}
    with engine_errors("list containers", engine.url):
        # Asked after the processes were listed: a container that starts meanwhile is known by now.
        known = {str(found["Id"]) for found in engine.client.api.containers(all=True)}
    return [pid for pid, names in suspects.items() if not names & known and _container_names(pid)]


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _container_names(pid: int) -> set[str]:
    """Return the container ids in the control groups of a process of the programs' user; none for any other."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        groups = Path(f"/proc/{pid}/cgroup").read_text()
    except OSError:  # it has ended
        return set()
    user = re.search(r"^Uid:\s*(\d+)", status, re.MULTILINE)
    return set(_CONTAINER.findall(groups)) if user and int(user[1]) == USER_ID else set()
