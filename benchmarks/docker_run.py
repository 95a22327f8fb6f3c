"""A program in a container of its own, by the docker command: what a warm pool is compared with."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox.engine import connect
from sandbox.hardening import HOSTNAME, USER_ID, Confinement, host_options
from sandbox.image import build_image
from sandbox.types import End, Execution, Limits, Program

PYTHON = ("python3", "-I", "-X", "utf8", "-c")


def own_image(docker_host: str | None = None) -> str:
    """Return the tag of the image that DockerSandbox runs, built where it is not there."""
    engine = connect(docker_host)
    try:
        return build_image(engine).tag
    finally:
        engine.close()


def confinement_of(limits: Limits) -> Confinement:
    """Return what DockerSandbox would confine a program of these limits to."""
    return Confinement(memory_mb=limits.memory_mb, processes=limits.processes, disk_mb=limits.disk_mb)


def docker_run_command(image: str, confinement: Confinement, seccomp: Path) -> list[str]:
    """Return the `docker run` command, without the program's own, that confines as DockerSandbox does.

    Args:
        seccomp: where the profile of `host_options` is, or is to be, written to: the command takes a file.
    """
    options = host_options(confinement)
    words = ["docker", "run", "--rm", "--interactive", "--user", f"{USER_ID}:{USER_ID}", "--hostname", HOSTNAME]
    words += [f"--network={options['network_mode']}", f"--ipc={options['ipc_mode']}"]
    words += [f"--cap-drop={name}" for name in options["cap_drop"]]
    words += [f"--security-opt={_security(option, seccomp)}" for option in options["security_opt"]]
    words += ["--read-only"] if options["read_only"] else []
    words += [f"--tmpfs={place}:{how}" for place, how in options["tmpfs"].items()]
    words += [f"--pids-limit={options['pids_limit']}"]
    words += [f"--memory={options['mem_limit']}", f"--memory-swap={options['memswap_limit']}"]
    words += [f"--ulimit={_ulimit(limit)}" for limit in options["ulimits"]]
    return [*words, f"--log-driver={options['log_config']['Type']}", image]


def write_seccomp(file: Path, confinement: Confinement) -> None:
    """Write the profile that `docker_run_command` names."""
    (profile,) = (option for option in host_options(confinement)["security_opt"] if option.startswith("seccomp="))
    file.write_text(profile.removeprefix("seccomp="))


def run_once(command: Sequence[str], program: Program) -> Execution:
    """Run a program whose only file is main.py in a container that is made for it and removed after it."""
    source = program.files["main.py"].decode()
    done = subprocess.run([*command, *PYTHON, source], input=program.stdin, capture_output=True, timeout=60)
    return Execution(end=End.EXITED, exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)


def _security(option: str, seccomp: Path) -> str:
    return f"seccomp={seccomp}" if option.startswith("seccomp=") else option


def _ulimit(limit: Mapping[str, Any]) -> str:
    return f"{limit['Name']}={limit['Soft']}:{limit['Hard']}"
