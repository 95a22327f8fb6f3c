"""Programs in a container: what goes in and comes out, and the limits."""

import hashlib
import os

import pytest
from support.supervised import supervised_container

from sandbox.types import End

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


@pytest.fixture(scope="module")
def box():
    with supervised_container() as box:
        yield box


@pytest.mark.parametrize("start", ["fork", "exec"])
def test_a_program_gets_its_stdin_and_its_output_comes_back(box, start):
    done = box.run("import sys; print(input()[::-1]); sys.exit(3)", stdin=b"abc\n", start=start)
    assert (done.program.end, done.program.exit_code, done.program.stdout) == (End.EXITED, 3, b"cba\n")
    assert done.judge is None
    assert 0 < done.program.wall_s < 5
    assert 0 < done.cpu_s < 5


def test_any_command_can_be_run(box):
    done = box.run(argv=("python3", "-c", "import sys; print(sys.argv[1:])", "a b"))
    assert done.program.stdout == b"['a b']\n"


def test_a_command_that_is_not_there_exits_with_127(box):
    done = box.run(argv=("no-such-command",))
    assert (done.program.end, done.program.exit_code) == (End.EXITED, 127)
    assert b"no-such-command: No such file" in done.program.stderr


def test_a_large_stdin_goes_through_to_a_program_that_answers_as_it_reads(box):
    data = os.urandom(3_000_000)
    source = """
import sys, hashlib
total = hashlib.sha256()
while data := sys.stdin.buffer.read(65536):
    total.update(data)
    sys.stdout.write("x" * 1000)
sys.stdout.write(total.hexdigest())
"""
    assert box.run(source, stdin=data).program.stdout.endswith(hashlib.sha256(data).hexdigest().encode())


def test_a_program_that_does_not_read_its_stdin_ends_all_the_same(box):
    done = box.run("print('no need')", stdin=b"x" * 3_000_000)
    assert done.program.stdout == b"no need\n"


def test_a_program_larger_than_an_argument_runs(box):
    source = b"x = '''" + b"y" * 2_000_000 + b"'''\nprint(len(x))"
    assert box.run(source).program.stdout == b"2000000\n"


def test_more_than_the_arena_holds_crosses_again_and_again_and_is_given_back(box):
    for size in (15_500_000, 30_000_000) * 8:
        done = box.run("import os; print(os.path.getsize('big'))", files={"big": bytes(size)})
        assert done.program.stdout == f"{size}\n".encode()
    resident = box.run("print(open('/proc/1/statm').read().split()[1])").program.stdout
    assert int(resident) * 4096 < 40_000_000


def test_output_up_to_the_limit_is_whole_and_above_it_is_cut_and_named(box):
    assert len(box.run("print('x' * 999, end='\\n')", output_bytes=1000).program.stdout) == 1000
    for stream in ("stdout", "stderr"):
        done = box.run(f"import sys\nwhile True: sys.{stream}.write('x' * 100)", output_bytes=100_000)
        assert (done.program.end, done.program.exit_code) == (End.OUTPUT_LIMIT, None)
        assert getattr(done.program, stream) == b"x" * 100_000
        assert done.program.wall_s < 2


def test_output_left_in_the_pipe_above_the_limit_is_the_output_limit_too(box):
    done = box.run("import os; os.write(1, b'x' * 60000)", output_bytes=50_000)
    assert (done.program.end, len(done.program.stdout)) == (End.OUTPUT_LIMIT, 50_000)


def test_output_before_the_wall_limit_is_kept(box):
    done = box.run("import time; print('so far', flush=True); time.sleep(60)", wall_s=0.3)
    assert (done.program.end, done.program.exit_code, done.program.stdout) == (End.TIMED_OUT, None, b"so far\n")
    assert 0.3 <= done.program.wall_s < 1.5


def test_a_stopped_program_runs_into_the_wall_limit(box):
    done = box.run("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", wall_s=0.3)
    assert done.program.end == End.TIMED_OUT


def test_cpu_time_is_limited_apart_from_wall_time(box):
    done = box.run("while True: pass", wall_s=30, cpu_s=0.3)
    assert done.program.end == End.TIMED_OUT
    assert 0.3 <= done.cpu_s < 0.8


def test_cpu_time_of_many_children_is_added_up_the_reaped_and_the_orphaned_too(box):
    source = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        until = time.process_time() + 0.05
        while time.process_time() < until: pass
        os._exit(0)
    time.sleep(0.05)
"""
    done = box.run(source, wall_s=30, cpu_s=0.5)
    assert done.program.end == End.TIMED_OUT
    assert 0.5 <= done.cpu_s < 1.2


def test_memory_beyond_the_limit_ends_the_program_whoever_took_it(box):
    hog = "x = []\nwhile True: x.append(bytearray(1 << 20))"
    in_a_child = f"import os\nif os.fork() == 0:\n  exec({hog!r})\nos.wait()\nprint('survived', flush=True)"
    in_a_file = "f = open('/dev/shm/f', 'wb')\nwhile True: f.write(bytes(1 << 20))"
    for source in (hog, in_a_child):
        done = box.run(source, memory_mb=100)
        assert (done.program.end, done.program.exit_code) == (End.OUT_OF_MEMORY, None)
    assert box.run(in_a_file, memory_mb=20).program.end == End.OUT_OF_MEMORY


def test_a_kernel_out_of_memory_kill_is_counted_and_the_supervisor_lives():
    with supervised_container(memory_mb=100) as box:
        source = "import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1"
        done = box.run(f"import os\nos.fork(); os.fork()\n{source}", memory_mb=4000)
        assert (done.program.end, done.oom_kills > 0) == (End.OUT_OF_MEMORY, True)
        assert box.run("print(1)").program.stdout == b"1\n"


def test_a_limit_of_processes_below_the_containers_kills(box):
    assert box.run(FORK_BOMB, processes=10).program.end == End.KILLED


def test_a_limit_of_disk_below_the_containers_kills(box):
    source = "for i in range(60): open(f'/tmp/{i}', 'wb').write(bytes(1 << 20))\nimport time; time.sleep(1)"
    assert box.run(source, disk_mb=10).program.end == End.KILLED


@pytest.mark.parametrize(
    "path", ["../x", "/tmp/x", "a/../../x", "", "a//b", "./a", "a/", "a\0b", "main.py/x", "y" * 300]
)
def test_a_file_path_that_leaves_the_folder_or_cannot_be_is_an_error_of_the_request(box, path):
    reply, _ = box.ask("print(1)", files={path: b""})
    assert (reply["op"], reply["clean"]) == ("error", True)
    assert "file" in reply["message"]
    assert box.run("print(1)").program.stdout == b"1\n"


def test_a_command_that_no_system_could_run_is_an_error_of_the_request(box):
    assert box.ask(argv=())[0]["op"] == "error"
    assert box.ask(argv=("a\0b",))[0]["op"] == "error"
    assert box.ask(argv=("python3", "\ud800"))[0]["op"] == "error"


def test_files_in_folders_are_written(box):
    source = "print(open('data/deep/x.bin', 'rb').read())"
    assert box.run(source, files={"data/deep/x.bin": b"\0\xff"}).program.stdout == b"b'\\x00\\xff'\n"


def test_what_the_container_sees_of_its_limits_can_be_asked_for(box):
    assert box.container.exchange({"op": "ping"}, [], timeout_s=10)[0]["op"] == "pong"
    facts = box.container.exchange({"op": "proof"}, [], timeout_s=10)[0]["facts"]
    assert facts["status"]["NoNewPrivs"] == "1"
    assert facts["writable"] == ["/tmp"]
