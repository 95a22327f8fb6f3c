import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sandbox.local_sandbox
from sandbox import End, Execution, Judge, Limits, Program, Sandbox, SandboxClosedError
from sandbox.conformance import CheckKind, self_check
from sandbox.contract_checks import python
from sandbox.local_sandbox import NOT_CONTAINED, LocalSandbox, UncontainedWarning

ASKS = b"import os; os.write(4, b'?'); print(os.read(3, 9))"


@pytest.fixture
def local() -> Iterator[LocalSandbox]:
    made = LocalSandbox(warn=False)
    yield made
    made.close()


def run(local: LocalSandbox, source: str) -> Execution:
    return local.run(python(source), Limits(wall_s=30.0))


def test_it_keeps_the_contract_of_a_sandbox(local: LocalSandbox):
    assert isinstance(local, Sandbox)
    failed = [check for check in self_check(local) if not check.passed and check.kind is CheckKind.CONTRACT]
    assert not failed, "\n".join(map(str, failed))


def test_it_says_once_what_it_does_not_contain(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sandbox.local_sandbox, "_warned", threading.Event())
    with pytest.warns(UncontainedWarning, match="does NOT contain"):
        LocalSandbox()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LocalSandbox()


def test_what_is_not_contained_is_found_by_the_checks(local: LocalSandbox):
    (check,) = self_check(local, only=["host_files"])
    assert not check.passed
    assert "files" in NOT_CONTAINED
    assert str(check).startswith("not contained")


def test_the_folder_of_a_program_is_deleted_whatever_it_made_of_it(local: LocalSandbox, tmp_path: Path):
    deep = (
        "import os\nprint(os.getcwd())\nos.mkdir('closed')\nopen('closed/file', 'w')\nos.chmod('closed', 0)\n"
        "for _ in range(1500):\n  os.mkdir('d')\n  os.chdir('d')\n"
    )
    execution = run(local, deep)
    assert execution.exit_code == 0
    assert not os.path.exists(execution.stdout.strip())


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../b", "", "a\0b"])
def test_files_that_would_lie_outside_the_folder_are_refused(local: LocalSandbox, path: str):
    with pytest.raises(ValueError, match="relative path"):
        local.run(Program(argv=("python3", "main.py"), files={path: b""}), Limits())


def test_a_command_that_does_not_exist_is_the_programs_mistake(local: LocalSandbox):
    execution = local.run(Program(argv=("no-such-command",)), Limits())
    assert (execution.end, execution.exit_code) == (End.EXITED, 127)


def test_closing_ends_what_runs_and_refuses_the_rest(local: LocalSandbox):
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(local.run, python("import time; time.sleep(60)"), Limits(wall_s=60.0))
        time.sleep(0.3)
        started = time.monotonic()
        local.close()
        with pytest.raises(SandboxClosedError):
            running.result()
    assert time.monotonic() - started < 10
    with pytest.raises(SandboxClosedError):
        run(local, "")


def test_a_pickled_copy_works(local: LocalSandbox):
    assert run(pickle.loads(pickle.dumps(local)), "print('copied')").stdout == b"copied\n"


def test_programs_die_with_the_process_that_ran_them():
    source = """
import sandbox.local_sandbox as local
from sandbox import Limits
from sandbox.contract_checks import python
local.LocalSandbox(warn=False).run(python("import time; time.sleep(61.5)"), Limits(wall_s=60.0))
"""
    home = Path(sandbox.local_sandbox.__file__).parent.parent
    owner = subprocess.Popen([sys.executable, "-c", source], cwd=home)

    def launchers() -> list[str]:
        found = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
        ).stdout
        lines = [line.split(None, 2) for line in found.splitlines() if "local_launcher.py" in line]
        return [pid for pid, parent, _ in lines if parent == str(owner.pid)]

    def running(pids: list[str]) -> bool:
        return any(os.path.exists(f"/proc/{pid}") for pid in pids) if os.path.exists("/proc/self") else False

    started: list[str] = []
    give_up = time.monotonic() + 30
    while not started and time.monotonic() < give_up:
        started = launchers()
        time.sleep(0.05)
    owner.kill()
    owner.wait()
    assert started
    while running(started) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert not running(started)


def test_the_judge_reads_its_input_behind_its_source(local: LocalSandbox):
    judge = Judge(source=b"import sys; print(sys.stdin.buffer.read(), __name__)", stdin=b"\x00\xff" * 3)
    _, judging = local.run_judged(python("import time; time.sleep(60)"), judge, Limits())
    assert judging.stdout == b"b'\\x00\\xff\\x00\\xff\\x00\\xff' __main__\n"


def test_a_program_that_closes_its_pipes_is_an_end_of_file_to_the_judge(local: LocalSandbox):
    _, judging = local.run_judged(python("import os; os.close(3); os.close(4)"), Judge(source=ASKS), Limits())
    assert judging.stdout == b"b''\n" or b"BrokenPipe" in judging.stderr
