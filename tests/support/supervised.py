"""A container with the supervisor in it and nothing of the pool around it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from support.docker_engine import require_docker

from sandbox.container import Container, start_container
from sandbox.hardening import Confinement, container_options, host_options
from sandbox.image import build_image
from sandbox.types import Judge, Limits, Program
from sandbox.wire import Done, Start, read_done, run_request


class Supervised:
    """Runs programs in one container, one after the other."""

    def __init__(self, container: Container) -> None:
        self.container = container
        self._number = 0

    def ask(
        self,
        source: str | bytes = b"",
        *,
        stdin: bytes = b"",
        argv: tuple[str, ...] = ("python3", "main.py"),
        files: dict[str, bytes] | None = None,
        judge: str | None = None,
        judge_stdin: bytes = b"",
        start: Start = "fork",
        **limits: Any,
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Return the supervisor's reply to the request to run `source` as main.py beside `files`."""
        self._number += 1
        main = source.encode() if isinstance(source, str) else source
        header, blobs = run_request(
            self._number,
            Program(argv=argv, files={"main.py": main, **(files or {})}, stdin=stdin),
            Limits(**limits),
            start=start,
            judge=None if judge is None else Judge(source=judge.encode(), stdin=judge_stdin),
        )
        reply, reply_blobs = self.container.exchange(header, blobs, timeout_s=60)
        assert reply["id"] == self._number
        return reply, reply_blobs

    def run(self, source: str | bytes = b"", **request: Any) -> Done:
        """Run a program as `ask` does, and see that the container is clean afterwards."""
        reply, blobs = self.ask(source, **request)
        assert reply["op"] == "done", reply
        done = read_done(reply, blobs)
        assert done.clean
        return done


@contextmanager
def supervised_container(
    *, processes: int = 64, memory_mb: int = 256, filters_system_calls: bool = True
) -> Iterator[Supervised]:
    """Start a container and kill it at the end of the block; without the filter, as engines are that have none."""
    engine = require_docker()
    image = build_image(engine)
    confinement = Confinement(memory_mb=memory_mb, processes=processes, disk_mb=64)
    labels = {"rlvr.test": "supervisor"}
    if filters_system_calls:
        container = start_container(engine, image.tag, confinement, labels)
    else:
        options = {**host_options(confinement), "security_opt": ["no-new-privileges", "seccomp=unconfined"]}
        api = engine.client.api
        created = api.create_container(
            **container_options(image.tag, labels), host_config=api.create_host_config(**options)
        )
        attached = api.attach_socket(created["Id"], params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
        container = Container(engine, created["Id"], getattr(attached, "_sock", attached), attached, 1 << 28)
        api.start(created["Id"])
        container.receive(time.monotonic() + 30, 30)
    try:
        yield Supervised(container)
    finally:
        container.kill()
