"""Reaching a remote engine's socket through ssh, as a local socket that ordinary timeouts hold for."""

import os
import shutil
import subprocess
import tempfile
import time
from urllib.parse import urlsplit

from sandbox.errors import SandboxUnavailableError

REMOTE_SOCKET = "/var/run/docker.sock"


class SshForward:
    """An ssh process that forwards a local socket to an engine; ends with `close()`, or with this process.

    The docker SDK's own ssh transport reads from a pipe without a timeout, so that one lost network hangs the caller.

    Args:
        url: ssh://[user@]host[:port][/path of the socket there].
        timeout_s: for ssh to log in, without a password prompt.

    Raises:
        SandboxUnavailableError: ssh is missing or could not log in; the message carries what ssh said.
    """

    def __init__(self, url: str, *, timeout_s: float) -> None:
        parts = urlsplit(url)
        if not parts.hostname or parts.hostname.startswith("-") or (parts.username or "").startswith("-"):
            raise SandboxUnavailableError(f"cannot use the Docker host {url!r}; give ssh://user@host")
        if shutil.which("ssh") is None:
            raise SandboxUnavailableError(f"cannot reach the Docker host {url!r}: the ssh command is not installed")
        self._folder = tempfile.mkdtemp(prefix="rlvr-ssh-")
        self._socket = os.path.join(self._folder, "docker.sock")
        options = ["BatchMode=yes", "ExitOnForwardFailure=yes", "ServerAliveInterval=15", "ServerAliveCountMax=3"]
        options.append(f"ConnectTimeout={max(1, int(timeout_s))}")
        command = ["ssh", "-T", "-a", "-x", *(word for option in options for word in ("-o", option))]
        command += ["-l", parts.username] if parts.username else []
        command += ["-p", str(parts.port)] if parts.port else []
        command += ["-L", f"{self._socket}:{parts.path if parts.path not in ('', '/') else REMOTE_SOCKET}"]
        self._log = os.path.join(self._folder, "ssh.log")
        # `cat` ends when our end of its pipe is closed, by close() or by this process's death, and ssh with it.
        # A pipe for stderr that nobody reads would stop ssh once it is full; a file does not.
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [*command, "--", parts.hostname, "cat"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        self._wait(url, timeout_s)

    @property
    def url(self) -> str:
        """The local address that leads to the engine."""
        return f"unix://{self._socket}"

    @property
    def pid(self) -> int:
        """Of the ssh process."""
        return self._process.pid

    def close(self) -> None:
        """End ssh and remove the local socket; a second call does nothing."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _wait(self, url: str, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s + 1
        while not os.path.exists(self._socket):
            ended = self._process.poll() is not None
            if ended or time.monotonic() > deadline:
                with open(self._log, errors="replace") as log:
                    lines = [line.strip() for line in log if line.strip()]
                said = lines[-1] if ended and lines else "no answer in time"
                self.close()
                raise SandboxUnavailableError(
                    f"cannot reach the Docker host {url}: ssh says: {said}; check that `ssh` logs in without a password"
                )
            time.sleep(0.02)
