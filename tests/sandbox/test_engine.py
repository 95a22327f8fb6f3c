import contextlib
import hashlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time

import docker.errors
import pytest
from support.docker_engine import require_docker

from sandbox.engine import Engine, connect, engine_errors
from sandbox.errors import SandboxLostError, SandboxUnavailableError

FAKE_SSH = """#!{python} -S
import socket, sys, threading
words = sys.argv[1:]
local, _, remote = words[words.index("-L") + 1].partition(":")
if words[words.index("--") + 1] == "refused":
    sys.exit("nobody@refused: Permission denied (publickey).")
remote = "{socket}" if remote == "/var/run/docker.sock" else remote
def copy(source, target):
    while data := source.recv(65536):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)
def serve(server):
    while True:
        near = server.accept()[0]
        far = socket.socket(socket.AF_UNIX)
        far.connect(remote)
        for pair in ((near, far), (far, near)):
            threading.Thread(target=copy, args=pair, daemon=True).start()
server = socket.socket(socket.AF_UNIX)
server.bind(local)
server.listen()
threading.Thread(target=serve, args=(server,), daemon=True).start()
sys.stdin.read()
"""


@pytest.fixture
def fake_ssh(tmp_path, monkeypatch):
    """Puts an `ssh` first on the PATH that forwards to the engine of this machine, and logs in nowhere else."""
    script = tmp_path / "bin" / "ssh"
    script.parent.mkdir()
    script.write_text(FAKE_SSH.format(python=sys.executable, socket="/var/run/docker.sock"))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")


def message_of(url: str, **options) -> str:
    with pytest.raises(SandboxUnavailableError) as raised:
        connect(url, **options)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_the_engine_says_what_it_can_do():
    facts = require_docker().facts

    assert facts.os_type == "linux"
    assert facts.cpus >= 1
    assert facts.memory_mb > 100
    assert facts.cgroup_version in (1, 2)


@pytest.mark.parametrize(
    ("installed", "said"),
    [(("docker", "dockerd"), "not running; start it"), (("docker",), "install an engine too"), ((), "not installed")],
)
@pytest.mark.skipif(sys.platform != "linux", reason="another advice is given elsewhere")
def test_a_missing_socket_is_told_apart_by_what_is_installed(tmp_path, monkeypatch, installed, said):
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}" if name in installed else None)

    assert said in message_of(f"unix://{tmp_path}/docker.sock")


def test_a_socket_that_nobody_listens_on_is_an_engine_that_is_not_running(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(sys, "platform", "linux")
    with socket.socket(socket.AF_UNIX) as left_over:
        left_over.bind(f"{tmp_path}/docker.sock")

    assert "not running; start it" in message_of(f"unix://{tmp_path}/docker.sock")


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can become a user without rights")
def test_a_socket_that_the_user_may_not_use_is_answered_with_the_group_to_join(tmp_path):
    read, write = os.pipe()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{tmp_path}/docker.sock")
        listening.listen()
        os.chmod(f"{tmp_path}/docker.sock", stat.S_IRWXU)
        for folder in (tmp_path, *tmp_path.parents[:3]):
            os.chmod(folder, 0o755)
        if (child := os.fork()) == 0:
            try:
                os.setuid(65534)
                connect(f"unix://{tmp_path}/docker.sock")
            except SandboxUnavailableError as error:
                os.write(write, str(error).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        os.close(write)

    with open(read) as said:
        assert "usermod -aG docker" in said.read()


@pytest.mark.parametrize("url", ["tcp://127.0.0.1:1", "http://127.0.0.1:1", "tcp://127.0.0.1:99999"])
def test_a_remote_engine_that_does_not_answer_is_named(url):
    assert url in message_of(url)


@pytest.mark.parametrize("url", ["carrier-pigeon://x", "/var/run/docker.sock", "ssh://", "ssh://-oProxyCommand=x"])
def test_an_address_of_no_known_kind_is_answered_with_the_kinds_there_are(url):
    assert "give " in message_of(url)


def test_an_engine_that_takes_calls_and_never_answers_is_given_up_in_time(tmp_path):
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(f"{tmp_path}/docker.sock")
        mute.listen()
        began = time.monotonic()

        assert "in time" in message_of(f"unix://{tmp_path}/docker.sock", timeout_s=0.5)
        assert time.monotonic() - began < 5


def test_something_else_that_answers_on_the_socket_is_no_engine(tmp_path):
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(f"{tmp_path}/docker.sock")
        other.listen()

        def answer() -> None:
            while True:
                try:
                    connection, _ = other.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    connection.recv(4096)
                    connection.sendall(b"220 mail.example ESMTP\r\n")

        threading.Thread(target=answer, daemon=True).start()

        assert "could not connect" in message_of(f"unix://{tmp_path}/docker.sock", timeout_s=2)


def test_the_environment_names_the_engine_before_anything_else(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nowhere.sock")
    with pytest.raises(SandboxUnavailableError, match=r"nowhere\.sock"):
        connect()


def test_the_current_docker_context_names_the_engine(tmp_path, monkeypatch):
    meta = tmp_path / "contexts" / "meta" / hashlib.sha256(b"mine").hexdigest()
    meta.mkdir(parents=True)
    (tmp_path / "config.json").write_text(json.dumps({"currentContext": "mine"}))
    host = {"Host": f"unix://{tmp_path}/context.sock", "SkipTLSVerify": False}
    (meta / "meta.json").write_text(json.dumps({"Name": "mine", "Metadata": {}, "Endpoints": {"docker": host}}))
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with pytest.raises(SandboxUnavailableError, match=r"context\.sock"):
        connect()


def test_an_engine_behind_ssh_is_reached_and_ssh_ends_with_the_connection(fake_ssh):
    require_docker()
    engine = connect("ssh://somebody@somewhere:2222")
    try:
        assert engine.client.ping()
        assert engine.facts == require_docker().facts
        assert engine.forward is not None
        pid = engine.forward.pid
        assert isinstance(engine, Engine)
    finally:
        engine.close()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_what_ssh_says_is_passed_on(fake_ssh):
    assert "Permission denied (publickey)" in message_of("ssh://nobody@refused")


def test_ssh_ends_when_its_owner_is_killed(fake_ssh):
    require_docker()
    script = (
        "import time; from sandbox.engine import connect\nprint(connect('ssh://a@b').forward.pid, flush=True)\ninput()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    ) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        os.kill(pid, 0)
        owner.kill()

    deadline_s = time.monotonic() + 10
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{pid}")


def test_what_the_sdk_raises_becomes_the_error_that_was_asked_for():
    lost = pytest.raises(SandboxLostError, match="could not do this: lost the engine at here")
    with lost, engine_errors("do this", "here", SandboxLostError):
        raise docker.errors.DockerException("broken")
    with pytest.raises(KeyError), engine_errors("do this", "here"):
        raise KeyError("a bug of ours")
