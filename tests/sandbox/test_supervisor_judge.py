"""A program and its judge: what passes between them, how it ends, and what the program can try."""

import pytest
from support.supervised import supervised_container

from sandbox.types import End

ASK = """
import os, sys
expected = sys.stdin.read()
os.write(4, b"question")
got = os.read(3, 1000).decode()
print("pass" if got == expected else f"fail {got!r}")
"""
ANSWER = "import os\nassert os.read(3, 100) == b'question'\nos.write(4, b'42')\n"
FIND_JUDGE = """
import os, signal
def others():
    return [int(n) for n in os.listdir("/proc") if n.isdigit() and int(n) not in (1, os.getpid())]
"""
LOOK_INTO = (
    FIND_JUDGE
    + """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
assert os.read(3, 100) == b"question"
assert others()
opened = []
for pid in [1, *others()]:
    for name in ("mem", "environ", "maps", "fd", "fdinfo", "cwd", "exe", "root", "auxv", "stack", "syscall", "pagemap",
                 "io", "map_files", "task", "personality", "timers", "oom_score_adj", "coredump_filter"):
        path = f"/proc/{pid}/{name}"
        try:
            if name == "task":
                opened += [path for t in os.listdir(path) if os.listdir(f"{path}/{t}/fd")]
            elif name in ("fd", "fdinfo", "map_files"):
                os.listdir(path); opened.append(path)
            elif name in ("cwd", "exe", "root"):
                os.readlink(path); opened.append(path)
            elif name in ("oom_score_adj", "coredump_filter"):
                open(path, "w").write("1"); opened.append(path)
            elif name == "mem":
                open(path, "rb"); opened.append(path)
            elif open(path, "rb").read(1):
                opened.append(path)
        except OSError:
            pass
    for number in range(8):
        try:
            os.open(f"/proc/{pid}/fd/{number}", os.O_RDONLY | os.O_NONBLOCK); opened.append(f"fd {number} of {pid}")
        except OSError:
            pass
    for request in (16, 0x4206):
        if libc.ptrace(request, pid, 0, 0) == 0:
            opened.append(f"ptrace {pid}")
    buffer = ctypes.create_string_buffer(64)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    remote = (ctypes.c_size_t * 2)(id(os), 8)  # the same addresses in a fork
    if libc.process_vm_readv(pid, vector, 1, remote, 1, 0) > 0:
        opened.append(f"process_vm_readv {pid}")
    if libc.process_vm_writev(pid, vector, 1, remote, 1, 0) > 0:
        opened.append(f"process_vm_writev {pid}")
    try:
        pidfd = os.pidfd_open(pid)
        for number in range(8):
            if libc.syscall(438, pidfd, number, 0) >= 0:
                opened.append(f"pidfd_getfd {number} of {pid}")
    except OSError:
        pass
print(opened, flush=True)
os.write(4, b"42")
"""
)


@pytest.fixture(scope="module")
def box():
    with supervised_container() as box:
        yield box


@pytest.mark.parametrize("start", ["fork", "exec"])
def test_a_judge_questions_a_program_and_its_verdict_comes_apart_from_the_programs_output(box, start):
    done = box.run(f"print('pass')\n{ANSWER}", judge=ASK, judge_stdin=b"42", start=start)
    assert (done.judge.end, done.judge.exit_code, done.judge.stdout) == (End.EXITED, 0, b"pass\n")
    assert box.run(ANSWER, judge=ASK, judge_stdin=b"43", start=start).judge.stdout == b"fail '42'\n"


def test_a_program_still_running_when_the_judge_ends_is_killed(box):
    done = box.run("import time; print('here', flush=True); time.sleep(60)", judge="import time; time.sleep(0.3)")
    assert (done.program.end, done.program.exit_code, done.program.stdout) == (End.KILLED, None, b"here\n")
    assert (done.judge.end, done.judge.exit_code) == (End.EXITED, 0)
    assert done.program.wall_s < 2


def test_a_program_that_exits_before_the_judge_is_reported_so_and_the_judge_sees_its_end(box):
    done = box.run("import sys; sys.exit(5)", judge="import os; print(os.read(3, 10))")
    assert (done.program.end, done.program.exit_code) == (End.EXITED, 5)
    assert done.judge.stdout == b"b''\n"


def test_a_large_judge_and_a_large_input_arrive_whole(box):
    judge = "import sys; data = sys.stdin.buffer.read(); print(len(data), data.count(b'x'), len(text))\n"
    done = box.run("pass", judge=f"text = '{'y' * 500_000}'\n{judge}", judge_stdin=b"x" * 1_000_000)
    assert done.judge.stdout == b"1000000 1000000 500000\n"


def test_the_wall_limit_holds_for_both(box):
    done = box.run("import time; time.sleep(60)", judge="import os; os.read(3, 1)", wall_s=0.3)
    assert (done.program.end, done.judge.end) == (End.TIMED_OUT, End.TIMED_OUT)
    assert done.judge.exit_code is None


def test_the_cpu_limit_holds_for_both_together(box):
    half = "import time\nuntil = time.process_time() + 0.4\nwhile time.process_time() < until: pass\n"
    done = box.run(half + "time.sleep(60)", judge=half + "time.sleep(60)", cpu_s=0.6, wall_s=20)
    assert (done.program.end, done.judge.end) == (End.TIMED_OUT, End.TIMED_OUT)


def test_a_flood_of_either_ends_both_and_names_who(box):
    flood = "while True: print('x' * 1000)"
    wait = "import time; time.sleep(60)"
    done = box.run(flood, judge=wait, output_bytes=10_000)
    assert (done.program.end, done.judge.end) == (End.OUTPUT_LIMIT, End.KILLED)
    done = box.run(wait, judge=flood, output_bytes=10_000)
    assert (done.program.end, done.judge.end, len(done.judge.stdout)) == (End.KILLED, End.OUTPUT_LIMIT, 10_000)


def test_a_judge_that_fails_says_so_on_its_own_stderr(box):
    done = box.run("pass", judge="1/0")
    assert (done.judge.end, done.judge.exit_code) == (End.EXITED, 1)
    assert b"ZeroDivisionError" in done.judge.stderr
    assert box.run("pass", judge="not python").judge.exit_code == 1


def test_memory_of_the_program_ends_the_program_and_not_the_judge(box):
    hog = "import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1"
    done = box.run(hog, judge="import os; os.read(3, 1); print('judged')", memory_mb=4000)
    assert done.program.end == End.OUT_OF_MEMORY
    assert (done.judge.end, done.judge.stdout) == (End.EXITED, b"judged\n")


def test_a_killed_judge_is_killed_never_exited(box):
    source = FIND_JUDGE + "for pid in others(): os.kill(pid, signal.SIGKILL)\nsignal.pause()"
    done = box.run(source, judge="import time; print('pass', flush=True); time.sleep(60)")
    assert (done.judge.end, done.judge.exit_code) == (End.KILLED, None)


def test_a_judge_killed_before_it_could_begin_is_killed_too(box):
    for _ in range(20):
        done = box.run("import os; os.kill(os.getpid() - 1, 9)", judge="print('pass')" + " " * 300_000)
        assert (done.judge.end, done.judge.exit_code) in ((End.KILLED, None), (End.EXITED, 0))


def test_a_signal_that_python_would_catch_kills_the_judge(box):
    source = FIND_JUDGE + "os.read(3, 1)\nfor pid in others(): os.kill(pid, signal.SIGINT)\nsignal.pause()"
    judge = """
import os, time
os.write(4, b"x")
try:
    time.sleep(60)
except BaseException:
    print("pass")
"""
    done = box.run(source, judge=judge)
    assert (done.judge.end, done.judge.stdout) == (End.KILLED, b"")


def test_a_stopped_judge_runs_into_the_wall_limit(box):
    source = FIND_JUDGE + "for pid in others(): os.kill(pid, signal.SIGSTOP)\nsignal.pause()"
    done = box.run(source, judge="import time; time.sleep(0.1); print('pass')", wall_s=0.5)
    assert done.judge.end == End.TIMED_OUT


def test_a_program_that_floods_the_judge_cannot_hold_it_beyond_the_limit(box):
    done = box.run("import os\nwhile True: os.write(4, b'x' * 65536)", judge="import os; print(len(os.read(3, 10)))")
    assert done.judge.stdout == b"10\n"


@pytest.mark.parametrize("filters_system_calls", [True, False], ids=["with the filter", "without it"])
def test_neither_the_judge_nor_the_supervisor_can_be_looked_into(filters_system_calls):
    with supervised_container(filters_system_calls=filters_system_calls) as box:
        for start in ("fork", "exec"):
            done = box.run(LOOK_INTO, judge=ASK, judge_stdin=b"42", start=start, wall_s=20)
            assert (done.program.stderr, done.program.stdout) == (b"", b"[]\n")
            assert done.judge.stdout == b"pass\n"


def test_looking_into_a_process_of_its_own_works_so_that_the_test_above_means_something():
    with supervised_container(filters_system_calls=False) as box:
        source = LOOK_INTO.replace('assert os.read(3, 100) == b"question"', "os.fork() or signal.pause()")
        found = box.run(source.replace('os.write(4, b"42")', ""), wall_s=20).program.stdout.decode()
        for way in ("mem", "environ", "fd", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd"):
            assert way in found


def test_descriptors_of_a_run_are_its_own_alone(box):
    listing = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:-1])"
    assert box.run(listing).program.stdout == b"[0, 1, 2]\n"
    judge = (
        "import os\nfor n in range(64):\n  try: os.fstat(n); print(n, end=' ')\n  except OSError: pass\nos.read(3, 1)"
    )
    done = box.run(listing, judge=judge)
    assert done.program.stdout == b"[0, 1, 2, 3, 4]\n"
    assert done.judge.stdout == b"0 1 2 3 4 "


def test_the_judge_dies_for_memory_after_the_program_and_the_supervisor_after_both(box):
    source = "import os\nfor pid in sorted(map(int, filter(str.isdigit, os.listdir('/proc')))):\n"
    source += "  print(open(f'/proc/{pid}/oom_score_adj').read().strip())"
    assert box.run(source, judge="import os; os.read(3, 1)").program.stdout == b"0\n500\n1000\n"


def test_the_judges_folder_holds_nothing_of_the_program(box):
    judge = "import os, sys; print(os.getcwd(), sys.argv, sorted(os.environ), __name__, '' in sys.path)"
    out = box.run("pass", judge=judge, files={"json.py": b"1/0"}).judge.stdout.decode()
    assert out == "/ ['judge'] ['HOME', 'LANG', 'PATH', 'TMPDIR'] __main__ False\n"
