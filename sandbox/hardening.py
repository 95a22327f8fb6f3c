"""What a sandbox container is created with: no network, no rights, no host paths, and every limit."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.image import SUPERVISOR_PATH
from sandbox.seccomp import seccomp_profile

USER_ID = 65534
HOSTNAME = "sandbox"
SANDBOX_LABEL, OWNER_LABEL, RUN_LABEL = "rlvr.sandbox", "rlvr.owner", "rlvr.run"
COMMAND = ("python3", "-I", "-X", "utf8", "-u", SUPERVISOR_PATH)

SUPERVISOR_MEMORY_MB = 64
"""On top of the programs' memory: for the supervisor, what it carries to and fro, and a judge."""
SUPERVISOR_PROCESSES = 2
"""On top of the programs' processes: the supervisor and a judge."""
OPEN_FILES = 1024
TMP_INODES, SHM_INODES = 8192, 1024
"""A program may leave as many files as there are, and deleting 20,000 takes 173 ms."""
TMPFS = {"/tmp": TMP_INODES, "/dev/shm": SHM_INODES}
"""The only places that a program can write to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Confinement:
    """What the programs in a container are held to, the supervisor's own needs not counted."""

    memory_mb: int
    processes: int
    disk_mb: int
    """Of /tmp; /dev/shm has as much again. Both count as memory too."""
    cpus: float | None = None
    """Processors' worth of time that all in the container may use together; None for no limit."""
    runtime: str | None = None
    """The OCI runtime, for instance "runsc"; None for the engine's default."""

    @property
    def container_memory_bytes(self) -> int:
        """The limit of the container's control group."""
        return (self.memory_mb + SUPERVISOR_MEMORY_MB) << 20

    @property
    def container_processes(self) -> int:
        """The limit of the container's control group."""
        return self.processes + SUPERVISOR_PROCESSES


def container_options(image: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of the SDK's `create_container`, host_config excepted."""
    return {
        "image": image,
        "name": f"rlvr-sandbox-{uuid.uuid4().hex[:12]}",
        "command": list(COMMAND),
        "entrypoint": [],
        "user": f"{USER_ID}:{USER_ID}",
        "hostname": HOSTNAME,
        "working_dir": "/",
        "stdin_open": True,
        "stop_signal": "SIGKILL",
        "labels": {SANDBOX_LABEL: "1", **labels},
        # Or the user's proxies, with their passwords, are in every program's environment.
        "use_config_proxy": False,
    }


def host_options(confinement: Confinement) -> dict[str, Any]:
    """Return the arguments of the SDK's `create_host_config`."""
    options: dict[str, Any] = {
        "network_mode": "none",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges", f"seccomp={seccomp_profile()}"],
        "read_only": True,
        "tmpfs": {
            place: f"rw,nosuid,nodev,noexec,size={confinement.disk_mb}m,nr_inodes={inodes},mode=1777"
            for place, inodes in TMPFS.items()
        },
        "ipc_mode": "private",
        "pids_limit": confinement.container_processes,
        "mem_limit": confinement.container_memory_bytes,
        "memswap_limit": confinement.container_memory_bytes,
        "ulimits": [
            {"Name": "core", "Soft": 0, "Hard": 0},
            {"Name": "nofile", "Soft": OPEN_FILES, "Hard": OPEN_FILES},
        ],
        "log_config": {"Type": "none", "Config": {}},
        "auto_remove": True,
        "init": False,
    }
    if confinement.cpus is not None:
        options["nano_cpus"] = int(confinement.cpus * 1e9)
    if confinement.runtime is not None:
        options["runtime"] = confinement.runtime
    return options
