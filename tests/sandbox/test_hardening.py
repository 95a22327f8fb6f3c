import copy
import dataclasses
import json

import pytest
from support.docker_engine import CONFINEMENT, containers_of, require_docker, running_container, sandbox_image

import sandbox.container
from sandbox.engine import EngineFacts
from sandbox.errors import SandboxUnavailableError
from sandbox.hardening import host_options
from sandbox.proofs import judge_proof
from sandbox.seccomp import REFUSED, seccomp_profile
from sandbox.types import End, Limits, Program
from sandbox.wire import read_done, run_request

ENGINE = EngineFacts(
    version="28.0",
    os_type="linux",
    architecture="x86_64",
    cpus=2,
    memory_mb=16000,
    cgroup_version=2,
    cgroup_driver="systemd",
    swap_limit=True,
    rootless=False,
    desktop=False,
    runtimes=("runc",),
)
TMPFS = "rw,nosuid,nodev,noexec,relatime,size=65536k"
FACTS = {
    "cgroup": {
        "memory_max": str(320 << 20),
        "swap_max": "0",
        "memory_and_swap_max": None,
        "processes_max": "66",
        "cpu_quota": "max 100000",
    },
    "status": {
        "Uid": "65534\t65534\t65534\t65534",
        "Gid": "65534\t65534\t65534\t65534",
        "Groups": "65534 ",
        **dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), "0000000000000000"),
        "NoNewPrivs": "1",
        "Seccomp": "2",
    },
    "mounts": [
        "overlay / overlay ro,relatime,lowerdir=/a:/b 0 0",
        "proc /proc proc rw,nosuid 0 0",
        f"tmpfs /tmp tmpfs {TMPFS},nr_inodes=8192 0 0",
        f"tmpfs /dev/shm tmpfs {TMPFS},nr_inodes=1024 0 0",
        "/dev/sda1 /etc/hosts ext4 rw,relatime 0 0",
    ],
    "interfaces": ["lo", "tunl0"],
    "writable": ["/tmp"],
    "rlimits": {"RLIMIT_CORE": [0, 0]},
    "hostname": "sandbox",
}


@pytest.fixture(scope="module")
def container():
    with running_container() as started:
        yield started


def run(container, source: str) -> str:
    program = Program(argv=("python3", "main.py"), files={"main.py": source.encode()})
    header, blobs = container.exchange(*run_request(1, program, Limits(wall_s=20), start="fork"), timeout_s=30)
    done = read_done(header, blobs)
    assert done.program.end is End.EXITED
    assert done.program.exit_code == 0, done.program.stderr.decode()
    return done.program.stdout.decode()


def test_a_container_on_this_engine_is_confined_as_asked(container):
    reply, _ = container.exchange({"op": "proof"}, [], timeout_s=10)

    assert judge_proof(reply["facts"], CONFINEMENT, require_docker().facts).failures == []


def test_facts_of_a_confined_container_have_no_failures_and_no_remarks():
    proof = judge_proof(FACTS, CONFINEMENT, ENGINE)

    assert (proof.failures, proof.remarks) == ([], [])


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("cgroup", "memory_max"), "max", "limit of memory is max"),
        (("cgroup", "memory_max"), None, "limit of memory"),
        (("cgroup", "memory_max"), str(512 << 20), "limit of memory"),
        (("cgroup", "processes_max"), "max", "limit of processes"),
        (("cgroup", "swap_max"), "max", "swap is not cut off"),
        (("status", "Uid"), "0\t0\t0\t0", "it runs as 0"),
        (("status", "Uid"), "65534\t0\t65534\t65534", "it runs as 0"),
        (("status", "Groups"), "0 65534", "it runs as 0"),
        (("status", "CapBnd"), "00000000a80425fb", "CapBnd is 00000000a80425fb"),
        (("status", "CapEff"), None, "CapEff"),
        (("status", "NoNewPrivs"), "0", "no-new-privileges"),
        (("status", "Seccomp"), "0", "seccomp"),
        (("mounts", 0), "overlay / overlay rw 0 0", "root file system"),
        (("mounts", 1), "/dev/sda1 /data ext4 rw 0 0", "/data"),
        (("mounts", 2), "proc /proc proc rw 0 0", "/tmp is nothing"),
        (("mounts", 2), "tmpfs /tmp tmpfs rw,nosuid,nodev,size=65536k,nr_inodes=8192 0 0", "/tmp"),
        (("mounts", 2), f"tmpfs /tmp tmpfs {TMPFS},nr_inodes=99999 0 0", "nr_inodes=99999"),
        (("mounts", 3), f"tmpfs /dev/shm tmpfs {TMPFS}0,nr_inodes=1024 0 0", "/dev/shm"),
        (("interfaces",), ["lo", "eth0"], "eth0"),
        (("writable",), ["/tmp", "/tmpx"], "/tmpx"),
        (("rlimits", "RLIMIT_CORE"), [0, -1], "core dumps"),
        (("hostname",), "0123456789ab", "host name"),
    ],
)
def test_whatever_did_not_take_effect_is_a_failure_that_names_it(path, value, said):
    facts = copy.deepcopy(FACTS)
    inner = facts
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value

    (failure,) = judge_proof(facts, CONFINEMENT, ENGINE).failures

    assert said in failure


def test_an_empty_reply_proves_nothing():
    assert len(judge_proof({}, CONFINEMENT, ENGINE).failures) > 8


def test_swap_that_the_kernel_does_not_account_for_is_a_remark():
    facts = copy.deepcopy(FACTS)
    facts["cgroup"] |= {"swap_max": None, "memory_and_swap_max": None}

    proof = judge_proof(facts, CONFINEMENT, ENGINE)

    assert proof.failures == []
    assert "swapaccount=1" in proof.remarks[0]


def test_a_rootless_engine_on_the_old_control_groups_is_told_why_it_has_no_limits():
    facts = copy.deepcopy(FACTS)
    facts["cgroup"]["memory_max"] = "9223372036854771712"
    engine = dataclasses.replace(ENGINE, rootless=True, cgroup_version=1)

    (failure,) = judge_proof(facts, CONFINEMENT, engine).failures

    assert "cgroup v1" in failure


def test_a_runtime_with_a_kernel_of_its_own_may_show_less_but_not_contradict():
    gvisor = dataclasses.replace(CONFINEMENT, runtime="runsc")
    facts = copy.deepcopy(FACTS)
    facts["cgroup"] = {}
    facts["status"]["Seccomp"] = "0"
    assert judge_proof(facts, gvisor, ENGINE).failures == []
    assert judge_proof(facts, gvisor, ENGINE).remarks

    facts["status"]["CapEff"] = "00000000a80425fb"
    assert judge_proof(facts, gvisor, ENGINE).failures


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("pids_limit", None, "processes"),
        ("mem_limit", None, "memory"),
        ("cap_drop", None, "capabilities"),
        ("security_opt", ["seccomp=unconfined"], "seccomp"),
        ("read_only", False, "root file system"),
        ("tmpfs", None, "/tmp"),
        ("network_mode", "host", "network"),
    ],
)
def test_a_container_that_is_not_confined_is_refused_and_removed(monkeypatch, option, value, said):
    sandbox_image()
    weak = host_options(CONFINEMENT) | {option: value}
    if option == "mem_limit":
        weak["memswap_limit"] = None
    monkeypatch.setattr(sandbox.container, "host_options", lambda confinement: weak)
    with pytest.raises(SandboxUnavailableError, match=said), running_container(run=f"weak-{option}"):
        pass

    assert containers_of(f"weak-{option}") == []


def test_a_limit_of_processor_time_takes_effect():
    with running_container(dataclasses.replace(CONFINEMENT, cpus=0.5)) as started:
        reply, _ = started.exchange({"op": "proof"}, [], timeout_s=10)

    assert reply["facts"]["cgroup"]["cpu_quota"] in ("50000", "50000 100000")


def test_nothing_of_the_host_is_in_the_container(container, monkeypatch):
    found = require_docker().client.api.inspect_container(container.id)

    assert found["Mounts"] == []
    assert found["Config"]["Env"] == ["PATH=/usr/local/bin:/usr/bin:/bin"]
    assert found["HostConfig"]["Binds"] in (None, [])
    assert found["HostConfig"]["NetworkMode"] == "none"
    assert found["HostConfig"]["LogConfig"]["Type"] == "none"


def test_what_a_python_program_uses_works_under_the_seccomp_profile(container):
    source = """
import asyncio, ctypes, multiprocessing, os, shutil, socket, sqlite3, ssl, subprocess, sys, tempfile, threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import shared_memory

def square(number):
    return number * number

async def echo():
    process = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    return (await process.communicate(b"hello"))[0]

if __name__ == "__main__":
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(square, range(3))) == [0, 1, 4]
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            assert pool.map(square, range(3)) == [0, 1, 4]
    block = shared_memory.SharedMemory(create=True, size=100)
    block.close()
    block.unlink()
    assert subprocess.run([sys.executable, "-c", "print(7)"], capture_output=True).stdout == b"7\\n"
    assert subprocess.run("sleep 0; echo $((3 + 4))", shell=True, capture_output=True).stdout == b"7\\n"
    one, other = socket.socketpair()
    one.send(b"x")
    assert other.recv(1) == b"x"
    server = socket.create_server(("127.0.0.1", 0))
    socket.create_connection(server.getsockname()).close()
    assert asyncio.run(echo()) == b"hello"
    folder = tempfile.mkdtemp()
    shutil.copy2(__file__, folder + "/copy")
    os.mkfifo(folder + "/fifo")
    shutil.rmtree(folder)
    assert sqlite3.connect(":memory:").execute("select 1").fetchall() == [(1,)]
    assert os.path.expanduser("~nobody") == "/tmp"
    print("all")
"""
    assert run(container, source) == "all\n"


def test_system_calls_that_attacks_are_made_of_are_refused(container):
    source = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(call):
    return call() == -1 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS)
names = {"ptrace": (0, 0, 0, 0), "unshare": (0x10000000,), "mount": (b"none", b"/tmp", b"tmpfs", 0, None),
         "setns": (0, 0), "memfd_create": (b"x", 0), "chroot": (b"/tmp",), "personality": (0xffffffff,),
         "process_vm_readv": (1, 0, 0, 0, 0, 0), "fanotify_init": (0, 0)}
allowed = [name for name, arguments in names.items() if not refused(lambda: getattr(libc, name)(*arguments))]
x86 = [425, 321, 298, 323, 250, 248, 312, 438, 304]
arm = [425, 280, 241, 282, 219, 217, 272, 438, 265]
for number in {"x86_64": x86, "aarch64": arm}[os.uname().machine]:
    if not refused(lambda: libc.syscall(number, 0, 0, 0, 0, 0)):
        allowed.append(number)
import socket
for family, kind, protocol in ((38, 5, 0), (40, 1, 0), (17, 3, 0), (16, 3, 9), (44, 3, 0)):
    try:
        socket.socket(family, kind, protocol)
        allowed.append(("socket", family, protocol))
    except OSError:
        pass
print(allowed)
"""
    assert run(container, source) == "[]\n"


def test_the_profile_never_both_allows_and_refuses_a_call_and_opens_no_second_instruction_set():
    profile = json.loads(seccomp_profile())
    always = {name for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]}
    never = {name for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ERRNO" for name in rule["names"]}

    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    assert not always & never
    assert set(REFUSED.split()) <= never
    assert all(entry["subArchitectures"] == [] for entry in profile["archMap"])
