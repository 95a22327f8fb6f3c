"""Whose a container is, so that what a killed owner left behind can be found and removed."""

import functools
import os
import socket
import subprocess
import sys
from pathlib import Path

from sandbox.engine import Engine, engine_errors
from sandbox.hardening import OWNER_LABEL, SANDBOX_LABEL


def owner_label() -> str:
    """Return what names this process among all that use an engine: machine, boot, process id, start time."""
    pid = os.getpid()
    return "/".join((*_machine_and_boot(), str(pid), _start_time(pid)))


def is_gone(owner: str) -> bool:
    """Whether the process that `owner_label` named has ended; False where that is not known, as on other machines."""
    parts = owner.split("/")
    machine, boot = _machine_and_boot()
    if len(parts) != 4 or parts[0] != machine or not parts[2].isdigit():
        return False
    return parts[1] != boot or parts[3] != _start_time(int(parts[2]))


def remove_orphans(engine: Engine) -> int:
    """Remove the sandbox containers on `engine` whose owners have ended; return how many there were.

    Raises:
        SandboxUnavailableError: the engine does not answer.
    """
    import docker.errors

    count = 0
    with engine_errors("remove containers left behind", engine.url):
        for found in engine.client.api.containers(all=True, filters={"label": f"{SANDBOX_LABEL}=1"}):
            if not is_gone((found.get("Labels") or {}).get(OWNER_LABEL, "")):
                continue
            try:
                engine.client.api.remove_container(found["Id"], force=True)
                count += 1
            except docker.errors.APIError as error:
                # The engine, or another process, removes it already.
                if error.status_code not in (404, 409):
                    raise
    return count


@functools.cache
def _machine_and_boot() -> tuple[str, str]:
    """Return what process ids are numbered within: the machine (a container has its own numbers) and its boot."""
    host = socket.gethostname().replace("/", "-")
    if sys.platform == "linux":
        namespace = os.stat("/proc/self/ns/pid").st_ino
        return f"{host}-{namespace}", Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    boot = subprocess.run(["sysctl", "-n", "kern.bootsessionuuid"], capture_output=True, text=True).stdout
    return host, boot.strip()


def _start_time(pid: int) -> str:
    """Return when a process started, "" for one that has ended."""
    if sys.platform == "linux":
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return ""
        return "" if fields[0] in "ZX" else fields[19]
    shown = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True).stdout
    return "-".join(shown.split())
