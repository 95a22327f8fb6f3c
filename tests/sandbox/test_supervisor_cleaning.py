"""What a program leaves, and what it does to the supervisor: nothing of it reaches the next."""

import os
import subprocess
import sys
import time

import pytest
from support.docker_engine import require_docker
from support.supervised import supervised_container

from sandbox import supervisor
from sandbox.errors import SandboxLostError
from sandbox.types import End, Limits, Program
from sandbox.wire import run_request

FORK_BOMB = """
import os, time
for _ in range(200):
    try:
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
    except OSError:
        pass
"""
DAEMON = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
print("done", flush=True)
os._exit(0)
"""
WHAT_IS_LEFT = """
import os
print(sorted(int(n) for n in os.listdir("/proc") if n.isdigit() and int(n) not in (1, os.getpid())))
print(sorted(n for place in ("/tmp", "/dev/shm", "/dev/mqueue") for n in os.listdir(place) if n != os.getcwd()[5:]))
print(sum(len(open(f"/proc/sysvipc/{kind}").readlines()) - 1 for kind in ("shm", "msg", "sem")))
"""


@pytest.fixture(scope="module")
def box():
    with supervised_container() as box:
        yield box


@pytest.fixture(autouse=True)
def nothing_is_left(request):
    yield
    if "box" in request.fixturenames:
        done = request.getfixturevalue("box").run(WHAT_IS_LEFT)
        assert done.program.stdout == b"[]\n[]\n0\n"


def test_a_full_disk_and_used_up_inodes_are_the_programs_affair_and_gone_afterwards(box):
    full = box.run("f = open('f', 'wb')\nfor _ in range(100): f.write(bytes(1 << 20))")
    assert b"OSError" in full.program.stderr
    many = box.run("try:\n  for i in range(30000): open(f'/tmp/{i}', 'w').close()\nexcept OSError: print('full')")
    assert many.program.stdout in (b"full\n", b"")


@pytest.mark.parametrize("source", [FORK_BOMB, DAEMON], ids=["fork bomb", "daemon"])
def test_whatever_a_program_leaves_running_is_killed_and_counted(box, source):
    done = box.run(source, wall_s=5)
    assert done.program.end == End.EXITED
    assert done.left > 0


def test_orphans_are_reaped_while_the_program_runs(box):
    source = """
import os, time
for _ in range(150):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
    time.sleep(0.001)
print("none too many")
"""
    assert box.run(source, wall_s=20).program.stdout == b"none too many\n"


def test_a_child_that_holds_stdout_does_not_hold_up_the_result(box):
    done = box.run("import os, time\nprint('ok', flush=True)\nif os.fork() == 0: time.sleep(60)\nos._exit(0)")
    assert (done.program.stdout, done.program.wall_s < 2, done.left) == (b"ok\n", True, 1)


def test_a_tree_too_deep_for_a_path_and_folders_without_rights_are_deleted(box):
    source = """
import os
for _ in range(3000):
    os.mkdir("d"); os.chdir("d")
os.chdir("/tmp")
os.mkdir("locked"); open("locked/f", "w").close(); os.symlink("/usr", "locked/link"); os.chmod("locked", 0)
"""
    assert box.run(source).program.exit_code == 0


def test_ipc_that_outlives_processes_is_removed(box):
    source = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for i in range(40):
    assert libc.shmget(i + 1, 4096, 0o1600) >= 0, ctypes.get_errno()
    assert libc.msgget(i + 1, 0o1600) >= 0 and libc.semget(i + 1, 1, 0o1600) >= 0
try:
    ctypes.CDLL("librt.so.1").mq_open(b"/queue", 0o102, 0o600, None)
except OSError:
    pass
"""
    done = box.run(source)
    assert (done.program.exit_code, done.program.stderr) == (0, b"")


def test_signals_to_the_supervisor_are_lost(box):
    source = """
import os, signal
for number in signal.valid_signals():
    os.kill(1, number)
if os.fork() == 0:
    signal.pause()
os.kill(-1, signal.SIGKILL)
print("sent", os.wait()[1])
"""
    assert box.run(source).program.stdout == b"sent 9\n"


@pytest.mark.parametrize(
    "source",
    [
        "os.setpriority(os.PRIO_PROCESS, 1, 19)",
        "os.sched_setaffinity(1, [min(os.sched_getaffinity(0))])",
        "os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))",
    ],
)
def test_a_program_that_slows_the_supervisor_is_killed_and_the_container_asks_to_be_replaced(source):
    with supervised_container() as box:
        reply, _ = box.ask(f"import os; {source}")
        assert (reply["op"], reply["end"], reply["clean"]) == ("done", "killed", False)


def test_a_sealed_answer_does_not_outlive_its_run_in_memory_a_program_can_read(box):
    secret = os.urandom(16).hex()
    judge = "import sys; print(sys.stdin.read())"
    noted = box.run(f"#{secret}\nprint(input())", stdin=secret.encode(), files={"f": secret.encode()}, start="fork")
    assert noted.program.stdout.decode().strip() == secret
    judged = box.run("import time; time.sleep(60)", judge=judge + f"#{secret}", judge_stdin=secret.encode())
    assert judged.judge.stdout.decode().strip() == secret
    search = """
import re
one, two = (half.encode() for half in input().split())  # never one after the other in this process
found = 0
for line in open("/proc/self/maps"):
    begin, end, rights = re.match(r"(\\w+)-(\\w+) (\\S+)", line).groups()
    if rights[0] == "r" and "[v" not in line:
        try:
            with open("/proc/self/mem", "rb", buffering=0) as memory:
                memory.seek(int(begin, 16))
                data = memory.read(int(end, 16) - int(begin, 16))
        except (OSError, OverflowError):
            continue
        found += sum(data[match.end() : match.end() + 16] == two for match in re.finditer(one, data))
        del data
print(found)
"""
    halves = f"{secret[:16]} {secret[16:]}\n".encode()
    assert box.run(search, stdin=halves).program.stdout == b"0\n"
    control = f"kept = bytes.fromhex({secret.encode().hex()!r})\n" + search
    assert int(box.run(control, stdin=halves).program.stdout) > 0


@pytest.mark.parametrize("source", [None, "while True: pass"], ids=["between runs", "in the middle of a run"])
def test_the_end_of_the_stream_ends_the_container(source):
    with supervised_container() as box:
        container = box.container
        if source is not None:
            program = Program(argv=("python3", "main.py"), files={"main.py": source.encode()})
            request = run_request(1, program, Limits(wall_s=60, cpu_s=60), start="fork")
            with pytest.raises(SandboxLostError, match="did not reply"):
                container.exchange(*request, timeout_s=1)
        api = require_docker().client.api
        assert api.inspect_container(container.id)["State"]["Running"]
        container.forget()
        until_s = time.monotonic() + 10
        while api.containers(filters={"id": container.id}):
            assert time.monotonic() < until_s, "the container outlives its lease"
            time.sleep(0.05)


def test_the_supervisor_refuses_to_run_anywhere_but_as_pid_1():
    done = subprocess.run([sys.executable, "-I", supervisor.__file__], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "PID 1 of a container" in done.stderr
