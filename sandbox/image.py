"""The image that sandbox containers run: made from the running Python, a Dockerfile or an image that has Python."""

import hashlib
import io
import json
import re
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sandbox.engine import Engine, engine_errors
from sandbox.errors import SandboxUnavailableError
from sandbox.host_python import (
    can_use_host_python,
    host_python_fingerprint,
    install_packages,
    write_host_python,
)

if TYPE_CHECKING:
    pass

REPOSITORY = "rlvr-sandbox"
IMAGE_LABEL = "rlvr.image"
SUPERVISOR_PATH = "/supervisor.py"
BUILDER_VERSION = 1
"""Part of every tag: raise it when an image comes out different for the same Python and supervisor."""
BUILD_TIMEOUT_S = 900.0

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_PREPARE = """
import compileall, os, py_compile, stat, subprocess, sys, sysconfig
if PACKAGES:
    subprocess.run([sys.executable, "-m", "pip", "install", "--no-cache-dir", "--no-compile", *PACKAGES], check=True)
for folder, folders, files in os.walk("/"):
    if folder == "/":
        folders[:] = [name for name in folders if name not in ("proc", "sys", "dev")]
    for path in (os.path.join(folder, name) for name in files):
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
            os.chmod(path, stat.S_IMODE(mode) & ~(stat.S_ISUID | stat.S_ISGID))
for folder in {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}:
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(folder, quiet=2, force=True, invalidation_mode=unchecked)
os.remove("/prepare.py")
"""
"""Run in a base image: the containers' file system is read-only, so that what is not compiled now never is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """An image that containers can be made of."""

    tag: str
    """For instance "rlvr-sandbox:0123456789abcdef"."""
    id: str
    """Content digest, as the engine names it."""
    source: str
    """What it was made from, in words."""
    size_mb: float
    built_s: float | None
    """How long building took; None where it was there already."""


def build_image(
    engine: Engine,
    *,
    source: str = "auto",
    packages: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
) -> Image:
    """Return the image on `engine`, building it first where it is not there.

    Args:
        source: "host" copies the running Python (Linux, the engine's architecture); "dockerfile:PATH" builds that file
            with its folder as context; "image:NAME" takes an image that has python3, pulled where the engine lacks it;
            "auto" is "host" where that works, else the official slim image of this Python version.
        packages: requirements for pip, for instance "numpy".
        progress: given a line of text before and after a build; by default they go to stderr.

    Raises:
        SandboxUnavailableError: the engine refused, a package or an image could not be had; says what to do.
    """
    say = progress or _to_stderr
    chosen = _choose(source, engine)
    if chosen == "host":
        return _from_host_python(engine, packages, say)
    kind, _, name = chosen.partition(":")
    base = _built_dockerfile(engine, Path(name), say) if kind == "dockerfile" else _present(engine, name, say)
    return _from_base(engine, base, chosen, packages, say)


def remove_old_images(engine: Engine, *, keep: Sequence[str] = ()) -> list[str]:
    """Remove the images that `build_image` made, but the tags in `keep` and those that containers use.

    Returns:
        The tags removed, and ids of images that had none.
    """
    import docker.errors

    removed = []
    with engine_errors("remove old images", engine.url):
        for image in engine.client.images.list(filters={"label": f"{IMAGE_LABEL}=1"}):
            # One that has no tag any more was built twice at the same time, by two processes.
            ours = [tag for tag in image.tags if tag.startswith(f"{REPOSITORY}:")] if image.tags else [str(image.id)]
            for name in (name for name in ours if name not in keep):
                try:
                    engine.client.images.remove(name)
                    removed.append(name)
                except docker.errors.APIError as error:
                    # A container uses it, or another process has removed it.
                    if error.status_code not in (404, 409):
                        raise
    return removed


def _choose(source: str, engine: Engine) -> str:
    """Return "host", "dockerfile:PATH" or "image:NAME"."""
    host_works = can_use_host_python(engine.facts.architecture)
    if source == "auto":
        slim = f"image:python:{sys.version_info.major}.{sys.version_info.minor}-slim"
        return "host" if host_works else slim
    if source == "host" and not host_works:
        raise SandboxUnavailableError(
            f"the Python of this machine cannot run on the engine at {engine.url} ({engine.facts.architecture}, "
            'Linux, glibc); use "auto", "image:python:3.11-slim" or "dockerfile:PATH"'
        )
    if source == "host" or source.startswith(("dockerfile:", "image:")):
        return source
    raise SandboxUnavailableError(
        f'unknown source of the sandbox image {source!r}; use "auto", "host", "dockerfile:PATH" or "image:NAME"'
    )


def _supervisor() -> bytes:
    return Path(__file__).with_name("supervisor.py").read_bytes()


def _tag(*parts: object) -> str:
    digest = hashlib.sha256(repr((BUILDER_VERSION, *parts)).encode()).hexdigest()
    return f"{REPOSITORY}:{digest[:16]}"


def _find(engine: Engine, tag: str, source: str, built_s: float | None = None) -> Image | None:
    """Return the image of that tag, None where the engine has none."""
    import docker.errors

    with engine_errors(f"look for the image {tag}", engine.url):
        try:
            found = engine.client.images.get(tag)
        except docker.errors.ImageNotFound:
            return None
    return Image(tag=tag, id=str(found.id), source=source, size_mb=found.attrs.get("Size", 0) / 1e6, built_s=built_s)


def _found(engine: Engine, tag: str, source: str, started_s: float, say: Callable[[str], None]) -> Image:
    built_s = time.monotonic() - started_s
    image = _find(engine, tag, source, built_s)
    if image is None:
        raise SandboxUnavailableError(f"the engine at {engine.url} built {tag} but does not have it; is its disk full?")
    say(f"built {tag} in {built_s:.1f} s, {image.size_mb:.0f} MB")
    return image


def _from_host_python(engine: Engine, packages: Sequence[str], say: Callable[[str], None]) -> Image:
    supervisor = _supervisor()
    tag = _tag("host", host_python_fingerprint(), supervisor, sorted(packages))
    source = f"Python {sys.version.split()[0]} of this machine"
    if image := _find(engine, tag, source):
        return image
    started_s = time.monotonic()
    say(f"building the sandbox image {tag} from {source}{_with(packages)}")
    with tempfile.TemporaryFile() as tar, tempfile.TemporaryDirectory(prefix="rlvr-packages-") as folder:
        if packages:
            install_packages(packages, folder)
        write_host_python(tar, packages=Path(folder) if packages else None, extra_files={SUPERVISOR_PATH: supervisor})
        tar.seek(0)
        _import(engine, tar, tag)
    return _found(engine, tag, source, started_s, say)


def _import(engine: Engine, tar: BinaryIO, tag: str) -> None:
    changes = [
        "ENV PATH=/usr/local/bin:/usr/bin:/bin",
        f"LABEL {IMAGE_LABEL}=1",
        f'CMD ["python3", "-I", "-u", "{SUPERVISOR_PATH}"]',
    ]
    repository, _, name = tag.partition(":")
    client = engine.patient_client(BUILD_TIMEOUT_S)
    try:
        with engine_errors(f"import the image {tag}", engine.url):
            answer = client.api.import_image(src=tar, repository=repository, tag=name, changes=changes)
    finally:
        client.close()
    for line in str(answer).splitlines():
        if line.startswith("{") and "error" in (said := json.loads(line)):
            raise SandboxUnavailableError(f"could not import the image {tag}: the engine says: {said['error']}")


def _present(engine: Engine, name: str, say: Callable[[str], None]) -> str:
    """Return the id of the image `name`, pulled where the engine does not have it."""
    if image := _find(engine, name, name):
        return image.id
    say(f"pulling {name}, as the engine at {engine.url} does not have it")
    client = engine.patient_client(BUILD_TIMEOUT_S)
    try:
        with engine_errors(f"pull {name} (pull or load it yourself, or give a Dockerfile)", engine.url):
            return str(client.images.pull(name).id)
    finally:
        client.close()


def _built_dockerfile(engine: Engine, path: Path, say: Callable[[str], None]) -> str:
    """Return the id of the image that the user's Dockerfile gives; the engine keeps what it built before."""
    if not path.is_file():
        raise SandboxUnavailableError(f"no Dockerfile at {path}")
    say(f"building {path}")
    return _build(engine, f"build {path}", path=str(path.parent.resolve()), dockerfile=str(path.resolve()))


def _from_base(engine: Engine, base: str, source: str, packages: Sequence[str], say: Callable[[str], None]) -> Image:
    """Return the image that adds supervisor, packages and bytecode to `base`, and takes setuid away."""
    supervisor = _supervisor()
    prepare = f"PACKAGES = {sorted(packages)!r}\n{_PREPARE}"
    tag = _tag("base", base, supervisor, prepare)
    if image := _find(engine, tag, source):
        return image
    started_s = time.monotonic()
    say(f"building the sandbox image {tag} from {source}{_with(packages)}")
    lines = [
        f"FROM {base}",
        "USER 0:0",
        "COPY prepare.py supervisor.py /",
        'RUN ["python3", "-I", "/prepare.py"]',
        f"LABEL {IMAGE_LABEL}=1",
        "ENTRYPOINT []",
        f'CMD ["python3", "-I", "-u", "{SUPERVISOR_PATH}"]',
    ]
    files = {"Dockerfile": "\n".join(lines).encode(), "prepare.py": prepare.encode(), "supervisor.py": supervisor}
    with io.BytesIO() as context:
        with tarfile.open(fileobj=context, mode="w") as tar:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(content), 0o644
                tar.addfile(entry, io.BytesIO(content))
        context.seek(0)
        _build(engine, f"build {tag}", fileobj=context, custom_context=True, tag=tag)
    return _found(engine, tag, source, started_s, say)


def _build(engine: Engine, doing: str, **arguments: Any) -> str:
    import docker.errors

    client: docker.DockerClient = engine.patient_client(BUILD_TIMEOUT_S)
    try:
        with engine_errors(doing, engine.url):
            try:
                image, _ = client.images.build(rm=True, forcerm=True, **arguments)
            except docker.errors.BuildError as error:
                said = [str(line.get("stream") or line.get("error") or "") for line in error.build_log]
                lines = [" ".join(_COLOURS.sub("", line).split()) for line in said]
                tail = " | ".join([line for line in lines if line][-4:])
                raise SandboxUnavailableError(f"could not {doing}: {tail or error}") from error
    finally:
        client.close()
    return str(image.id)


def _with(packages: Sequence[str]) -> str:
    return f" with {', '.join(packages)}" if packages else ""


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
