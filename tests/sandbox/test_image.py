import dataclasses
import io
import platform
import sys
import tarfile
import zipfile

import docker.errors
import pytest
from support.docker_engine import CONFINEMENT, require_docker, sandbox_image

import sandbox.image
from sandbox.container import start_container
from sandbox.engine import Engine
from sandbox.errors import SandboxUnavailableError
from sandbox.host_python import write_host_python
from sandbox.image import build_image, remove_old_images
from sandbox.types import Limits, Program
from sandbox.wire import read_done, run_request

REPOSITORY = "rlvr-sandbox-test"
"""Not the real one: others may be using its images while these tests prune."""


@pytest.fixture
def engine(monkeypatch):
    """The engine; what is built on it during the test is removed in the end."""
    engine = require_docker()
    sandbox_image()  # under its own name, before that is changed
    monkeypatch.setattr(sandbox.image, "REPOSITORY", REPOSITORY)
    yield engine
    remove_old_images(engine)


@pytest.fixture
def lines():
    return []


@pytest.fixture(scope="module")
def members():
    """The tar of this Python, by name."""
    if sys.platform != "linux":
        pytest.skip("only a Linux Python can be copied into an image")
    out = io.BytesIO()
    write_host_python(out, packages=None, extra_files={"/supervisor.py": b"pass"})
    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        return {member.name: (member, _content(tar, member)) for member in tar.getmembers()}


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member) if member.isfile() else None
    return file.read() if file is not None else b""


def run(engine: Engine, tag: str, source: str) -> str:
    container = start_container(engine, tag, CONFINEMENT, {})
    try:
        program = Program(argv=("python3", "main.py"), files={"main.py": source.encode()})
        header, blobs = container.exchange(*run_request(1, program, Limits(wall_s=20), start="exec"), timeout_s=30)
        done = read_done(header, blobs)
        assert done.program.exit_code == 0, done.program.stderr.decode()
        return done.program.stdout.decode()
    finally:
        container.kill()


def wheel(folder, name: str) -> str:
    """Write a wheel with one module, NAME, and return its path: nothing has to be downloaded."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    description = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", "ANSWER = 42\n")
        archive.writestr(f"{name}-1.0.dist-info/METADATA", metadata)
        archive.writestr(f"{name}-1.0.dist-info/WHEEL", description)
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return str(path)


def test_the_default_image_is_built_once_then_found_and_old_ones_are_pruned(engine, lines, monkeypatch):
    first = build_image(engine, progress=lines.append)
    again = build_image(engine, progress=lines.append)

    assert first.built_s is not None
    assert first.tag.startswith(f"{REPOSITORY}:")
    assert dataclasses.replace(first, built_s=None) == again
    assert len(lines) == 2
    assert first.size_mb < 200

    monkeypatch.setattr(sandbox.image, "_supervisor", lambda: b"another supervisor")
    other = build_image(engine, progress=lines.append)
    assert other.tag != first.tag

    removed = remove_old_images(engine, keep=[first.tag])
    assert other.tag in removed
    assert engine.client.images.get(first.tag).id == first.id
    assert engine.client.images.get(sandbox_image().tag)
    with pytest.raises(docker.errors.ImageNotFound):
        engine.client.images.get(other.tag)


def test_programs_in_the_image_run_under_the_host_s_python():
    source = "import sys, json; print(sys.version); print(sys.prefix, json.__file__)"

    version, places = run(require_docker(), sandbox_image().tag, source).rstrip().rsplit("\n", 1)

    assert version == sys.version
    assert places.startswith("/usr/local /usr/local/lib")


def test_every_module_of_the_standard_library_that_the_host_has_can_be_imported():
    left_out = "antigravity idlelib tkinter turtle turtledemo ensurepip lib2to3 nis this sitecustomize".split()
    names = sorted(sys.stdlib_module_names - {*left_out})
    host_has = [name for name in names if not name.startswith(("_test", "_tk", "_xx", "xx")) and _is_on_host(name)]
    source = f"""
failed = []
for name in {host_has!r}:
    try:
        __import__(name)
    except Exception as error:
        failed.append((name, repr(error)))
print(failed)
"""
    assert run(require_docker(), sandbox_image().tag, source) == "[]\n"


def _is_on_host(name: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(name) is not None


def test_nothing_in_the_image_is_setuid_or_writable_by_others(members):
    loose = [name for name, (member, _) in members.items() if not member.issym() and member.mode & 0o6022]

    assert loose == ["dev/shm", "tmp"]
    assert all(member.uid == member.gid == 0 for member, _ in members.values())


def test_the_image_has_no_compiler_and_no_path_of_the_host(members):
    commands = sorted(name.rpartition("/")[2] for name in members if name.startswith(("bin/", "usr/bin/")))

    assert commands == ["cat", "echo", "env", "env", "false", "id", "ls", "sh", "sleep", "true"]
    assert not [name for name in members if name.startswith(("home/", "root/"))]


def test_every_module_is_compiled_and_never_checked_against_its_source(members):
    import importlib.util

    sources = [name for name in members if name.endswith(".py") and name.startswith("usr/")]
    for name in sources:
        folder, _, module = name.rpartition("/")
        _, bytecode = members[f"{folder}/__pycache__/{module[:-3]}.{sys.implementation.cache_tag}.pyc"]
        assert bytecode[:8] == importlib.util.MAGIC_NUMBER + b"\1\0\0\0"
        assert bytecode[8:16] == importlib.util.source_hash(members[name][1])
    assert len(sources) > 300


def test_packages_are_installed_into_the_image(engine, lines, tmp_path):
    image = build_image(engine, packages=[wheel(tmp_path, "fortytwo")], progress=lines.append)

    assert run(engine, image.tag, "import fortytwo; print(fortytwo.ANSWER)") == "42\n"


def test_a_package_that_cannot_be_had_is_named_with_pip_s_words(engine, lines):
    with pytest.raises(SandboxUnavailableError, match=r"could not install no such, thing into the image.*"):
        build_image(engine, packages=["no such, thing"], progress=lines.append)


def test_an_image_is_made_of_a_dockerfile(engine, lines, tmp_path):
    base = sandbox_image().tag
    (tmp_path / "Dockerfile").write_text(f"FROM {base}\nCOPY data.txt /data.txt\nUSER 65534\nENTRYPOINT ['sleep']\n")
    (tmp_path / "data.txt").write_text("from the context")

    of_file = build_image(engine, source=f"dockerfile:{tmp_path / 'Dockerfile'}", progress=lines.append)
    again = build_image(engine, source=f"dockerfile:{tmp_path / 'Dockerfile'}", progress=lines.append)

    assert run(engine, of_file.tag, "print(open('/data.txt').read())") == "from the context\n"
    assert (again.tag, again.built_s) == (of_file.tag, None)


def test_an_image_is_made_of_another_image(engine, lines, monkeypatch):
    monkeypatch.setattr(sandbox.image, "_PREPARE", "")  # compiling what is compiled takes seconds

    image = build_image(engine, source=f"image:{sandbox_image().tag}", progress=lines.append)

    assert run(engine, image.tag, "print(1 + 1)") == "2\n"


@pytest.mark.parametrize(
    ("dockerfile", "said"),
    [
        ("FROM {base}\nRUN no-such-command\n", "no-such-command"),
        ("NONSENSE\n", "(?i)nonsense"),
        (None, "no Dockerfile"),
    ],
)
def test_a_dockerfile_that_does_not_build_is_told_with_the_engine_s_words(engine, lines, tmp_path, dockerfile, said):
    if dockerfile is not None:
        (tmp_path / "Dockerfile").write_text(dockerfile.format(base=sandbox_image().tag))
    with pytest.raises(SandboxUnavailableError, match=said) as raised:
        build_image(engine, source=f"dockerfile:{tmp_path}/Dockerfile", progress=lines.append)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("source", ["", "docker", "Dockerfile", "python:3.11"])
def test_an_unknown_source_is_answered_with_the_known_ones(engine, source):
    with pytest.raises(SandboxUnavailableError, match='"auto", "host", "dockerfile:PATH" or "image:NAME"'):
        build_image(engine, source=source)


def test_the_host_s_python_is_refused_for_an_engine_of_another_architecture(engine):
    other = "aarch64" if platform.machine() == "x86_64" else "x86_64"
    foreign = dataclasses.replace(engine, facts=dataclasses.replace(engine.facts, architecture=other))

    with pytest.raises(SandboxUnavailableError, match=f"{other}.*dockerfile:PATH"):
        build_image(foreign, source="host")
