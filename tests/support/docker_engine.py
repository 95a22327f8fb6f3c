"""The Docker engine of this machine, its sandbox image and containers, for tests that need real ones."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from sandbox.container import Container, start_container
from sandbox.engine import Engine, connect
from sandbox.errors import SandboxUnavailableError
from sandbox.hardening import OWNER_LABEL, RUN_LABEL, Confinement
from sandbox.image import Image, build_image
from sandbox.ownership import owner_label

CONFINEMENT = Confinement(memory_mb=256, processes=64, disk_mb=64)


@cache
def _engine_or_reason() -> Engine | str:
    try:
        return connect()
    except SandboxUnavailableError as error:
        return str(error)


def require_docker() -> Engine:
    """Return a connection to the engine, shared by all tests; without one skip, or fail where CI is set."""
    found = _engine_or_reason()
    if isinstance(found, str):
        if os.environ.get("CI"):
            pytest.fail(f"CI must have a Docker engine: {found}", pytrace=False)
        pytest.skip(f"needs a Docker engine: {found}")
    return found


@cache
def sandbox_image() -> Image:
    """Return the default image, built in the first test that needs it."""
    return build_image(require_docker())


@contextmanager
def running_container(
    confinement: Confinement = CONFINEMENT, *, run: str = "test", timeout_s: float = 60.0
) -> Iterator[Container]:
    """Start a container of the default image, labelled with `run`, and kill it in the end."""
    labels = {OWNER_LABEL: owner_label(), RUN_LABEL: run}
    container = start_container(require_docker(), sandbox_image().tag, confinement, labels, timeout_s=timeout_s)
    try:
        yield container
    finally:
        container.kill()


def containers_of(run: str) -> list[str]:
    """Return the ids of the containers labelled with `run`, in whatever state they are."""
    found = require_docker().client.api.containers(all=True, filters={"label": f"{RUN_LABEL}={run}"})
    return [container["Id"] for container in found]
