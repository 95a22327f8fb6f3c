"""One container: started, proven, asked to run programs, killed. Every wait has a deadline."""

import contextlib
import json
import os
import select
import socket
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.engine import Engine, engine_errors
from sandbox.errors import SandboxLostError, SandboxUnavailableError
from sandbox.hardening import Confinement, container_options, host_options
from sandbox.proofs import judge_proof
from sandbox.wire import Frame, FrameReader, encode

START_TIMEOUT_S = 60.0
"""From the call to the proof: a start takes 0.3 s, and many times that on a machine that is busy."""
RECEIVE_BYTES = 1 << 16
"""At a time: a larger buffer would be mapped and unmapped anew for each piece."""
STDERR_TAIL_BYTES = 2000
OBITUARY_TIMEOUT_S = 5.0
_STDERR = 2
_HEADER_BYTES = 8


class Demultiplexer:
    """Takes Docker's stream apart: 8 bytes with the stream's number and a length, then that much of it."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Take in the next piece and return what is complete or has begun, as (number of the stream, bytes)."""
        self._buffer += data
        pieces = []
        while len(self._buffer) >= _HEADER_BYTES:
            if self._buffer[0] > _STDERR or any(self._buffer[1:4]):
                raise SandboxLostError(f"the engine's stream is out of step: {bytes(self._buffer[:40])!r}")
            end = _HEADER_BYTES + int.from_bytes(self._buffer[4:_HEADER_BYTES], "big")
            if len(self._buffer) < end:
                break
            pieces.append((self._buffer[0], bytes(self._buffer[_HEADER_BYTES:end])))
            del self._buffer[:end]
        return pieces


class Container:
    """A running container whose supervisor answers; made by `start_container`. One exchange at a time."""

    def __init__(self, engine: Engine, container_id: str, stream: socket.socket, keep: object, frame_bytes_max: int):
        self.id = container_id
        self._engine = engine
        self._stream = stream
        self._keep = keep  # the SDK's response: its collection would close the stream
        self._pieces = Demultiplexer()
        self._reader = FrameReader(frame_bytes_max)
        self._stderr = b""
        self._in_use = threading.Lock()
        self._kill_lock = threading.Lock()
        self._killed = False

    @property
    def name(self) -> str:
        """How the container is told from others in messages."""
        return f"container {self.id[:12]} on {self._engine.url}"

    def exchange(self, header: dict[str, Any], blobs: Sequence[bytes], *, timeout_s: float) -> Frame:
        """Send a request and return the reply.

        Raises:
            SandboxLostError: the container died, said something that is no reply, or did not reply in time; it must be
                killed.
        """
        deadline_s = time.monotonic() + timeout_s
        with self._in_use:
            try:
                for part in _joined(encode(header, blobs)):
                    self._stream.settimeout(max(deadline_s - time.monotonic(), 0.001))
                    self._stream.sendall(part)
            except TimeoutError as error:
                raise SandboxLostError(f"{self.name} did not take a request within {timeout_s:g} s") from error
            except OSError as error:
                raise self._lost(f"its stream broke ({error})") from error
            return self.receive(deadline_s, timeout_s)

    def receive(self, deadline_s: float, timeout_s: float) -> Frame:
        """Return the next frame that comes before `deadline_s` of the monotonic clock; raises as `exchange` does."""
        while True:
            try:
                self._stream.settimeout(max(deadline_s - time.monotonic(), 0.001))
                data = self._stream.recv(RECEIVE_BYTES)
            except TimeoutError as error:
                raise SandboxLostError(f"{self.name} did not reply within {timeout_s:g} s") from error
            except OSError as error:
                raise self._lost(f"its stream broke ({error})") from error
            if not data:
                raise self._lost("it ended")
            frames: list[Frame] = []
            try:
                for number, piece in self._pieces.feed(data):
                    if number == _STDERR:
                        self._stderr = (self._stderr + piece)[-STDERR_TAIL_BYTES:]
                    else:
                        frames += self._reader.feed(piece)
            except SandboxLostError as error:
                raise SandboxLostError(f"{self.name}: {error}") from error
            if len(frames) > 1:
                raise SandboxLostError(f"{self.name} sent {len(frames)} replies to one request")
            if frames:
                return frames[0]
            if time.monotonic() >= deadline_s:
                raise SandboxLostError(f"{self.name} did not reply within {timeout_s:g} s")

    def is_alive(self) -> bool:
        """Tell at no cost whether an idle container's stream is still open: silence is health."""
        if self._killed or self._stream.fileno() < 0:
            return False
        poll = select.poll()
        poll.register(self._stream, select.POLLIN | getattr(select, "POLLRDHUP", 0))
        return not poll.poll(0)

    def ran_out_of_memory(self) -> bool:
        """Ask the engine whether the kernel killed the container, or something in it, for memory; False if unknown."""
        return any(event.get("Action") == "oom" for event in self._events())

    def kill(self) -> None:
        """Kill and remove the container; raises nothing, whatever state it and its engine are in."""
        with self._kill_lock:
            if self._killed:
                return
            self._killed = True
        # Wakes a thread that waits in exchange(), and is the end of the supervisor, whatever the engine does.
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(SandboxUnavailableError), engine_errors("remove a container", self._engine.url):
            self._engine.client.api.remove_container(self.id, force=True)
        # A descriptor that is closed under a thread's poll() may be another connection's by the time it looks again.
        if self._in_use.acquire(timeout=2 * OBITUARY_TIMEOUT_S):
            self.forget()
            self._in_use.release()

    def forget(self) -> None:
        """Close this process's copy of the stream without a word to the container, after a fork."""
        descriptor = self._stream.detach()
        if descriptor >= 0:
            os.close(descriptor)

    def _lost(self, what: str) -> SandboxLostError:
        """Return the error that says what is known of the container's end."""
        details = [what]
        for event in self._events():
            if event.get("Action") == "oom":
                details.append("the kernel killed for memory in it")
            elif event.get("Action") == "die":
                details.append(f"exit code {event.get('Actor', {}).get('Attributes', {}).get('exitCode')}")
        said = " ".join(self._stderr.decode(errors="replace").split())
        details += [f"it said: {said[-300:]}"] if said else []
        return SandboxLostError(f"{self.name} was lost: {'; '.join(dict.fromkeys(details))}")

    def _events(self) -> list[dict[str, Any]]:
        """Return what the engine remembers of the container's end; it is removed by then, and cannot be inspected."""
        api = self._engine.client.api
        asked = {
            "since": "1",
            "until": f"{time.time() + 0.1:.3f}",
            "filters": json.dumps({"container": [self.id], "event": ["oom", "die"]}),
        }
        try:
            with engine_errors("ask for events", self._engine.url):
                answer = api.get(f"{api.base_url}/v{api.api_version}/events", params=asked, timeout=OBITUARY_TIMEOUT_S)
                return [json.loads(line) for line in answer.text.splitlines()] if answer.ok else []
        except (SandboxUnavailableError, ValueError):
            return []


def start_container(
    engine: Engine,
    image: str,
    confinement: Confinement,
    labels: Mapping[str, str],
    *,
    timeout_s: float = START_TIMEOUT_S,
) -> Container:
    """Create and start a container, and see its limits proven.

    Raises:
        SandboxUnavailableError: the engine does not answer or refuses, or the container is not confined as asked.
        SandboxLostError: the container died while it started.
    """
    deadline_s = time.monotonic() + timeout_s
    api = engine.client.api
    with engine_errors("start a container", engine.url):
        host_config = api.create_host_config(**host_options(confinement))
        created = api.create_container(**container_options(image, labels), host_config=host_config)
    container_id = created["Id"]
    container = None
    try:
        with engine_errors("start a container", engine.url):
            attached = api.attach_socket(container_id, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
            stream = getattr(attached, "_sock", attached)
            container = Container(engine, container_id, stream, attached, confinement.container_memory_bytes)
            api.start(container_id)
        _prove(container, confinement, engine, deadline_s, timeout_s)
    except BaseException:
        if container is not None:
            container.kill()
        else:
            with contextlib.suppress(SandboxUnavailableError), engine_errors("remove a container", engine.url):
                api.remove_container(container_id, force=True)
        raise
    return container


def _prove(container: Container, confinement: Confinement, engine: Engine, deadline_s: float, timeout_s: float) -> None:
    ready, _ = container.receive(deadline_s, timeout_s)
    if ready.get("op") != "ready":
        raise SandboxLostError(f"{container.name} began with {ready.get('op')!r}, not with 'ready'")
    reply, _ = container.exchange({"op": "proof"}, [], timeout_s=max(deadline_s - time.monotonic(), 1.0))
    proof = judge_proof(reply.get("facts") or {}, confinement, engine.facts)
    if proof.failures:
        raise SandboxUnavailableError(
            f"the engine at {engine.url} does not confine containers as asked, so no program is run: "
            + "; ".join(proof.failures)
        )
    for remark in proof.remarks:
        warnings.warn(f"sandbox on {engine.url}: {remark}", RuntimeWarning, stacklevel=2)


def _joined(parts: Sequence[bytes]) -> list[bytes]:
    """Join small parts, so that a small request is one write."""
    return [b"".join(parts)] if sum(map(len, parts)) <= RECEIVE_BYTES else list(parts)
