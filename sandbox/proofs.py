"""Whether a container is confined as it was asked to be, judged by what its supervisor sees from inside."""

from dataclasses import dataclass, field
from typing import Any

from sandbox.engine import EngineFacts
from sandbox.hardening import HOSTNAME, TMPFS, USER_ID, Confinement

HARMLESS_INTERFACES = frozenset("lo tunl0 sit0 ip6tnl0 gre0 gretap0 erspan0 ip_vti0 ip6_vti0 ip6gre0".split())
"""The loopback, and what some kernels put into every new network: ends of tunnels that lead nowhere."""
_OWN_FILE_SYSTEMS = frozenset("proc sysfs cgroup cgroup2 devpts mqueue tmpfs devtmpfs overlay".split())
_FILES_OF_THE_ENGINE = frozenset(("/etc/hosts", "/etc/hostname", "/etc/resolv.conf"))


@dataclass(kw_only=True, slots=True)
class Proof:
    """What was found; without `failures` the container is confined."""

    failures: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """What could not be seen, or is weaker than asked for, and is no reason to refuse."""


def judge_proof(facts: dict[str, Any], confinement: Confinement, engine: EngineFacts) -> Proof:
    """Compare the facts of the supervisor's reply "proof" with what the container was created with."""
    proof = Proof()
    # Other runtimes have kernels of their own, which show less of what they enforce.
    is_shown = confinement.runtime in (None, "runc", "crun")
    _judge_control_group(facts.get("cgroup") or {}, confinement, engine, is_shown, proof)
    _judge_rights(facts.get("status") or {}, is_shown, proof)
    _judge_mounts(facts.get("mounts") or [], confinement, proof)
    elsewhere = [path for path in facts.get("writable") or [] if not f"{path}/".startswith(("/tmp/", "/dev/shm/"))]
    if elsewhere:
        proof.failures.append(f"programs can write to {', '.join(elsewhere[:5])}")
    interfaces = set(facts.get("interfaces") or []) - HARMLESS_INTERFACES
    if interfaces:
        proof.failures.append(f"the network is not cut off: it has {', '.join(sorted(interfaces))}")
    core = (facts.get("rlimits") or {}).get("RLIMIT_CORE")
    if core is None or any(core):
        proof.failures.append(f"core dumps are not off (RLIMIT_CORE is {core})")
    if facts.get("hostname") != HOSTNAME:
        proof.failures.append(f"the host name is {facts.get('hostname')!r}, not {HOSTNAME!r}")
    return proof


def _judge_control_group(
    seen: dict[str, Any], confinement: Confinement, engine: EngineFacts, is_shown: bool, proof: Proof
) -> None:
    memory = confinement.container_memory_bytes
    for name, what, limit in (
        ("memory_max", "memory", memory),
        ("processes_max", "processes", confinement.container_processes),
    ):
        value = _number(seen.get(name))
        if seen.get(name) is None and not is_shown:
            proof.remarks.append(f"the runtime {confinement.runtime} does not show its limit of {what}")
        elif value is None or value > limit:
            proof.failures.append(f"the limit of {what} is {seen.get(name)}, not {limit}{_limits_cause(engine)}")
    together, swap = seen.get("memory_and_swap_max"), seen.get("swap_max")
    if together is None and swap is None:
        if is_shown:
            proof.remarks.append(
                "swap is not limited, as this kernel does not account for it (boot option swapaccount=1): "
                "a program may use swap beyond its memory"
            )
    elif swap != "0" and not 0 < (_number(together) or 0) <= memory:
        proof.failures.append(f"swap is not cut off: its limit is {together or swap}{_limits_cause(engine)}")
    if confinement.cpus is not None and is_shown and not _has_quota(seen, confinement.cpus):
        proof.failures.append(f"the limit of {confinement.cpus} CPUs did not take effect{_limits_cause(engine)}")


def _judge_rights(status: dict[str, Any], is_shown: bool, proof: Proof) -> None:
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        value = status.get(kind)
        if value is None and not is_shown:
            proof.remarks.append(f"the runtime does not show {kind}")
        elif value is None or int(value, 16):
            proof.failures.append(f"capabilities are left: {kind} is {value}")
    users = {*str(status.get("Uid") or "").split(), *str(status.get("Gid") or "").split()}
    groups = set(str(status.get("Groups") or "").split())
    if users != {str(USER_ID)} or not groups <= users:
        proof.failures.append(f"it runs as {' '.join(sorted(users | groups))}, not as {USER_ID} alone")
    for name, wanted, what in (("NoNewPrivs", "1", "no-new-privileges"), ("Seccomp", "2", "the seccomp filter")):
        if status.get(name) != wanted:
            message = f"{what} did not take effect: {name} is {status.get(name)}"
            (proof.failures if is_shown else proof.remarks).append(message)


def _judge_mounts(mounts: list[str], confinement: Confinement, proof: Proof) -> None:
    seen: dict[str, tuple[str, dict[str, str]]] = {}
    for line in mounts:
        _, place, kind, options, *_ = line.split()
        pairs = (option.partition("=") for option in options.split(","))
        seen[place] = (kind, {name: value for name, _, value in pairs})
    if "ro" not in seen.get("/", ("", {}))[1]:
        proof.failures.append("the root file system is not read-only")
    for place, inodes in TMPFS.items():
        kind, options = seen.get(place, ("nothing", {}))
        if kind != "tmpfs" or not {"nosuid", "nodev", "noexec"} <= set(options):
            proof.failures.append(f"{place} is {kind} with {', '.join(options)}: not a tmpfs with nosuid,nodev,noexec")
        elif _bytes(options.get("size", "")) != confinement.disk_mb << 20 or options.get("nr_inodes") != str(inodes):
            proof.failures.append(
                f"{place} has size={options.get('size')}, nr_inodes={options.get('nr_inodes')}, "
                f"not {confinement.disk_mb}m and {inodes}"
            )
    for place, (kind, options) in seen.items():
        is_own = kind in _OWN_FILE_SYSTEMS or place in _FILES_OF_THE_ENGINE or place == "/"
        if not is_own and "ro" not in options:
            proof.failures.append(f"{place} is a {kind} mount that can be written to")


def _limits_cause(engine: EngineFacts) -> str:
    """Return the likely reason why an engine keeps to no limits, and the cure."""
    if engine.rootless and engine.cgroup_version == 1:
        return "; a rootless engine cannot set limits on cgroup v1: use cgroup v2 with systemd, or a rootful engine"
    if engine.rootless:
        return "; a rootless engine needs the systemd cgroup driver and Delegate=yes to set limits"
    if engine.cgroup_driver == "none":
        return "; the engine has no cgroup driver"
    if engine.desktop:
        return "; update or restart the engine's virtual machine"
    return f"; cgroup v{engine.cgroup_version}, driver {engine.cgroup_driver}: see the warnings of `docker info`"


def _has_quota(seen: dict[str, Any], cpus: float) -> bool:
    quota, _, period = str(seen.get("cpu_quota") or "").partition(" ")
    period = period or str(seen.get("cpu_period") or "")
    return quota.isdigit() and period.isdigit() and int(period) > 0 and int(quota) / int(period) <= cpus * 1.01


def _number(text: object) -> int | None:
    return int(text) if isinstance(text, str) and text.isdigit() else None


def _bytes(text: str) -> int:
    """Read a size among a mount's options, for instance "65536k"; 0 for what is none."""
    units = {"k": 10, "m": 20, "g": 30}
    digits, shift = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 0)
    return int(digits) << shift if digits.isdigit() else 0
