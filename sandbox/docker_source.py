"""Where the pool's containers come from: one Docker engine, connected to and given its image when first needed."""

import contextlib
import threading
from collections.abc import Sequence

from sandbox.container import Container, start_container
from sandbox.engine import Engine, connect
from sandbox.errors import SandboxError
from sandbox.hardening import OWNER_LABEL, RUN_LABEL, Confinement
from sandbox.image import build_image
from sandbox.ownership import owner_label, remove_orphans
from sandbox.warm_container import Shape


class DockerSource:
    """Starts containers on one engine. Thread-safe.

    After a failure it connects anew and looks for the image again: an engine that was restarted may have lost it.

    Args:
        url: as in DOCKER_HOST; None for the engine that the docker command would use.
        containers: how many may work at once; None for as many as the engine has processors.
        image: see `sandbox.image.build_image`.
        packages: what pip installs into the image.
        cpus: processors' worth of time that a container may use; None for no limit.
        runtime: the OCI runtime; None for the engine's default.
        run: labels the containers, as rlvr.run.
    """

    def __init__(
        self,
        url: str | None,
        *,
        containers: int | None,
        image: str,
        packages: Sequence[str],
        cpus: float | None,
        runtime: str | None,
        run: str,
    ) -> None:
        self.name = url or "the local engine"
        self._url = url
        self._containers = containers
        self._image = image
        self._packages = tuple(packages)
        self._cpus = cpus
        self._runtime = runtime
        self._run = run
        self._past: list[Engine] = []
        self.forget()

    def forget(self) -> None:
        """Drop the connection that a forked child has inherited, without a word to the engine."""
        self._lock = threading.Lock()
        self._connected: tuple[Engine, str] | None = None
        self._past.clear()
        self._has_swept = False

    def capacity(self) -> int:
        """Return how many containers may work at once."""
        return self._containers or self._engine_and_image()[0].facts.cpus

    def start(self, shape: Shape) -> Container:
        """Start a container and see its limits proven; raises as `sandbox.container.start_container` does."""
        engine, image = self._engine_and_image()
        confinement = Confinement(
            memory_mb=shape.memory_mb,
            processes=shape.processes,
            disk_mb=shape.disk_mb,
            cpus=self._cpus,
            runtime=self._runtime,
        )
        try:
            return start_container(engine, image, confinement, {OWNER_LABEL: owner_label(), RUN_LABEL: self._run})
        except SandboxError:
            with self._lock:
                if self._connected is not None and self._connected[0] is engine:
                    # Not closed yet: containers that live use it.
                    self._past.append(engine)
                    self._connected = None
            raise

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            engines = [*self._past, *([self._connected[0]] if self._connected else [])]
            self._past.clear()
            self._connected = None
        for engine in engines:
            engine.close()

    def _engine_and_image(self) -> tuple[Engine, str]:
        with self._lock:
            if self._connected is None:
                engine = connect(self._url)
                try:
                    image = build_image(engine, source=self._image, packages=self._packages)
                except BaseException:
                    engine.close()
                    raise
                self._connected = engine, image.tag
                if not self._has_swept:
                    self._has_swept = True
                    # Never waited for: an engine may take minutes to remove a container.
                    threading.Thread(target=_sweep, args=(self._url,), daemon=True, name="rlvr-sandbox-sweep").start()
            return self._connected


def _sweep(url: str | None) -> None:
    """Remove what owners that were killed have left; whatever fails is left to the next one that starts."""
    with contextlib.suppress(SandboxError):
        engine = connect(url)
        try:
            remove_orphans(engine)
        finally:
            engine.close()
