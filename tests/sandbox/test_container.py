import contextlib
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import docker.errors
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.docker_engine import CONFINEMENT, containers_of, require_docker, running_container, sandbox_image

import sandbox.hardening
from sandbox.container import Demultiplexer, start_container
from sandbox.engine import connect
from sandbox.errors import SandboxLostError, SandboxUnavailableError
from sandbox.hardening import Confinement
from sandbox.types import End, Limits, Program
from sandbox.wire import Done, read_done, run_request


@pytest.fixture(scope="module")
def container():
    with running_container() as started:
        yield started


def run(container, source: str, *, stdin: bytes = b"", limits: Limits = Limits()) -> Done:  # noqa: B008
    program = Program(argv=("python3", "main.py"), files={"main.py": source.encode()}, stdin=stdin)
    header, blobs = container.exchange(*run_request(1, program, limits, start="fork"), timeout_s=30)
    return read_done(header, blobs)


def is_gone(container_id: str, within_s: float = 10.0) -> bool:
    deadline_s = time.monotonic() + within_s
    while time.monotonic() < deadline_s:
        try:
            require_docker().client.containers.get(container_id)
        except docker.errors.NotFound:
            return True
        time.sleep(0.1)
    return False


@given(
    st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40)), max_size=6),
    st.lists(st.integers(1, 20), min_size=1),
)
def test_the_engine_s_stream_is_taken_apart_however_it_is_cut(pieces, cuts):
    data = b"".join(bytes([number, 0, 0, 0]) + len(piece).to_bytes(4, "big") + piece for number, piece in pieces)
    demultiplexer, found, position = Demultiplexer(), [], 0
    while position < len(data):
        size = cuts[position % len(cuts)]
        found += demultiplexer.feed(data[position : position + size])
        position += size

    assert found == pieces


def test_a_program_runs_and_its_output_comes_back(container):
    done = run(container, "print(int(input()) + 1)", stdin=b"41\n")

    assert (done.program.end, done.program.stdout) == (End.EXITED, b"42\n")


def test_many_megabytes_pass_in_both_directions(container):
    size = 8 << 20
    limits = Limits(output_bytes=size, wall_s=20, cpu_s=20)

    done = run(
        container,
        "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())",
        stdin=b"x" * size,
        limits=limits,
    )

    assert done.program.stdout == b"x" * size


def test_an_idle_container_is_alive_and_a_killed_one_is_gone_from_the_engine():
    with running_container() as started:
        assert started.is_alive()
        began = time.monotonic()
        started.kill()
        started.kill()

        assert time.monotonic() - began < 5
        assert not started.is_alive()
        assert is_gone(started.id)


def test_a_container_that_someone_kills_is_lost_with_its_exit_code():
    with running_container() as started:
        require_docker().client.api.kill(started.id)
        assert is_gone(started.id)

        assert not started.is_alive()
        with pytest.raises(SandboxLostError, match="exit code 137"):
            started.exchange({"op": "ping"}, [], timeout_s=5)


def test_a_container_that_does_not_reply_is_lost_at_the_deadline_and_can_be_killed():
    with running_container() as started:
        require_docker().client.api.pause(started.id)
        began = time.monotonic()
        with pytest.raises(SandboxLostError, match=r"within 0\.5 s"):
            started.exchange({"op": "ping"}, [], timeout_s=0.5)
        assert time.monotonic() - began < 2

        with pytest.raises(SandboxLostError, match=r"within 0\.5 s"):
            started.exchange({"op": "ping"}, [b"x" * (64 << 20)], timeout_s=0.5)
        started.kill()

        assert is_gone(started.id)


def test_killing_a_container_ends_the_exchange_of_another_thread():
    with running_container() as started:
        threading.Timer(0.5, started.kill).start()
        began = time.monotonic()
        with pytest.raises(SandboxLostError):
            run(started, "while True: pass", limits=Limits(wall_s=20, cpu_s=20))

        assert time.monotonic() - began < 5


def test_the_engine_tells_that_the_kernel_killed_for_memory():
    with running_container(Confinement(memory_mb=16, processes=64, disk_mb=16)) as started:
        assert not started.ran_out_of_memory()
        done = run(started, "x = bytearray(10**9)")

        assert (done.program.end, done.oom_kills) == (End.OUT_OF_MEMORY, 1)
        assert started.ran_out_of_memory()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("print('hello' * 10)", "header"),
        ("import sys; sys.exit('no such thing')", "exit code 1.*no such thing"),
        ("import time; time.sleep(60)", "did not reply within 1.5 s"),
        ("import os; os.write(1, bytes([0, 0, 0, 12]) + b'{\"blobs\":[]}'); input()", "'ready'"),
    ],
)
def test_a_container_that_is_no_supervisor_is_lost_in_its_start(monkeypatch, source, said):
    require_docker()
    monkeypatch.setattr(sandbox.hardening, "COMMAND", ("python3", "-c", source))
    sandbox_image()
    with pytest.raises(SandboxLostError, match=said), running_container(timeout_s=1.5):
        pass


def test_an_unknown_runtime_is_unavailable_in_one_line_and_leaves_no_container():
    require_docker()
    strange = Confinement(memory_mb=256, processes=64, disk_mb=64, runtime="no-such-runtime")
    refused = pytest.raises(SandboxUnavailableError, match="no-such-runtime")
    with refused as raised, running_container(strange, run="strange"):
        pass

    assert "\n" not in str(raised.value)
    assert containers_of("strange") == []


def test_an_unknown_image_is_unavailable():
    require_docker()
    with pytest.raises(SandboxUnavailableError, match="no-such-image"):
        start_container(require_docker(), "rlvr-sandbox:no-such-image", CONFINEMENT, {})


def test_a_container_on_an_engine_behind_tcp_runs_programs_and_dies_when_it_is_killed():
    require_docker()
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=forward_to_the_engine, args=(server,), daemon=True).start()
        engine = connect(f"tcp://127.0.0.1:{server.getsockname()[1]}")
        started = start_container(engine, sandbox_image().tag, CONFINEMENT, {})
        try:
            assert run(started, "print(input())", stdin=b"there and back").program.stdout == b"there and back\n"
            assert started.is_alive()
        finally:
            started.kill()
        assert is_gone(started.id)
        engine.close()


def forward_to_the_engine(server: socket.socket) -> None:
    """Be the engine of this machine on a TCP port, until that is closed."""

    def copy(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    with contextlib.suppress(OSError):
        while True:
            near, far = server.accept()[0], socket.socket(socket.AF_UNIX)
            far.connect(urlsplit(require_docker().url).path)
            for pair in ((near, far), (far, near)):
                threading.Thread(target=copy, args=pair, daemon=True).start()


def test_the_container_of_an_owner_that_is_killed_ends_with_its_stream():
    require_docker()
    sandbox_image()
    script = (
        "from support.docker_engine import running_container\nimport time\n"
        "with running_container() as c:\n    print(c.id, flush=True)\n    time.sleep(60)\n"
    )
    root = Path(__file__).parents[2]
    environment = {"PYTHONPATH": f"{root}:{root / 'tests'}", "PATH": "/usr/bin:/bin"}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment) as owner:
        assert owner.stdout is not None
        container_id = owner.stdout.readline().strip()
        owner.kill()

    assert container_id
    assert is_gone(container_id)
