"""The running Python, gathered into a tar that is a whole root file system: no registry and no network needed."""

import importlib.metadata
import importlib.util
import io
import marshal
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from sandbox.errors import SandboxUnavailableError

STDLIB_LEFT_OUT = frozenset(
    "test tests idle_test idlelib tkinter turtledemo turtle.py ensurepip lib2to3 __phello__ __pycache__ "
    "site-packages dist-packages sitecustomize.py".split()
)
EXTENSIONS_LEFT_OUT = ("_test", "_tkinter", "_ctypes_test", "_xx", "xx", "nis.")
COMMANDS = ("sh", "sleep", "true", "false", "cat", "echo", "env", "ls", "id")
"""Taken from the host for programs that start some: honest ones do, and `sh` gives a hostile one nothing new."""
LDD_TIMEOUT_S, INSTALL_TIMEOUT_S = 60.0, 600.0
MODIFIED = 1_700_000_000
"""Every file's time: the same Python gives the same tar."""

_PASSWD = b"root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n"
_GROUP = b"root:x:0:\nnogroup:x:65534:\n"
_NSSWITCH = b"passwd: files\ngroup: files\nhosts: files\n"


def can_use_host_python(architecture: str) -> bool:
    """Whether this Python can run in Linux containers of an engine of that `architecture`."""
    return sys.platform == "linux" and platform.libc_ver()[0] == "glibc" and platform.machine() == architecture


def host_python_fingerprint() -> str:
    """Return a text that changes when the interpreter does: version, build, files."""
    files = [_interpreter(), _stdlib() / "os.py", *_shared_library()]
    stats = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return repr((sys.version, platform.machine(), stats))


def write_host_python(out: BinaryIO, *, packages: Path | None, extra_files: dict[str, bytes]) -> None:
    """Write the tar: interpreter, standard library with its bytecode, libraries, a few commands, `extra_files`.

    Args:
        packages: a folder that `pip install --target` filled, to be importable in the image.
        extra_files: contents by absolute path in the image.

    Raises:
        SandboxUnavailableError: a library that the interpreter needs was not found.
    """
    interpreter = _interpreter()
    libraries_from = [interpreter]
    entries: dict[str, Path | bytes] = {"etc/passwd": _PASSWD, "etc/group": _GROUP, "etc/nsswitch.conf": _NSSWITCH}
    entries |= {path.lstrip("/"): content for path, content in extra_files.items()}

    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    entries[f"usr/local/bin/{version}"] = interpreter
    library_folder = f"usr/local/{sys.platlibdir}/{_stdlib().name}"
    entries |= {f"{library_folder}/{name}": file for name, file in _stdlib_files()}

    extensions = sorted(file for file in _extension_folder().glob("*.so") if _wanted_extension(file.name))
    needed = _libraries([interpreter, *extensions])
    missing = needed[interpreter][1]
    if missing:
        raise SandboxUnavailableError(f"cannot copy {interpreter} into an image: it needs {', '.join(missing)}")
    usable = [file for file in extensions if not needed[file][1]]
    entries |= {f"{library_folder}/lib-dynload/{file.name}": file for file in usable}
    libraries_from += usable

    if packages is not None:
        files = sorted(file for file in packages.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
        entries |= {f"{library_folder}/site-packages/{file.relative_to(packages)}": file for file in files}
        libraries_from += [file for file in files if ".so" in file.suffixes]

    commands = {name: Path(found).resolve() for name in COMMANDS if (found := shutil.which(name, path="/usr/bin:/bin"))}
    entries |= {f"bin/{name}": file for name, file in commands.items()}
    libraries_from += commands.values()
    entries |= _library_entries(libraries_from, inside=packages)

    links = {"usr/local/bin/python3": version, "usr/local/bin/python": version, "usr/bin/env": "../../bin/env"}
    links[f"{library_folder}/dist-packages"] = "site-packages"  # where Debian's site.py looks
    _write_tar(out, entries, links)


def install_packages(packages: Sequence[str], folder: str) -> None:
    """Install `packages` into `folder` with pip, or with uv where the environment has no pip.

    Raises:
        SandboxUnavailableError: it failed; the message carries what was said.
    """
    if any(importlib.metadata.distributions(name="pip")):
        command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile", "--quiet"]
    elif shutil.which("uv"):
        command = ["uv", "pip", "install", "--python", sys.executable, "--quiet"]
    else:
        raise SandboxUnavailableError("putting packages into the sandbox image needs pip or uv; install one of them")
    try:
        done = subprocess.run(
            [*command, "--target", folder, "--", *packages],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=INSTALL_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxUnavailableError(f"could not install {', '.join(packages)} into the image: {error}") from error
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        said = next((line for line in lines if line.lower().startswith("error")), lines[-1] if lines else "no message")
        raise SandboxUnavailableError(f"could not install {', '.join(packages)} into the image: {said}")


def _interpreter() -> Path:
    """Return the real interpreter, behind any virtual environment."""
    return Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()


def _stdlib() -> Path:
    return Path(sysconfig.get_path("stdlib"))


def _extension_folder() -> Path:
    beside = _stdlib() / "lib-dynload"
    return beside if beside.is_dir() else Path(sysconfig.get_config_var("DESTSHARED") or beside)


def _shared_library() -> list[Path]:
    folder, name = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME")
    path = Path(folder or "", name or "")
    return [path] if folder and name and path.is_file() else []


def _wanted_extension(name: str) -> bool:
    return not name.startswith(EXTENSIONS_LEFT_OUT)


def _stdlib_files() -> Iterator[tuple[str, Path]]:
    """Yield name in the library folder and file of what the standard library's modules read, extensions left out."""
    root = _stdlib()
    for folder, names, files in os.walk(root):
        below = Path(folder).relative_to(root)
        names[:] = sorted(
            name
            for name in names
            if name not in STDLIB_LEFT_OUT and not name.startswith("config-") and name != "lib-dynload"
        )
        for name in sorted(files):
            file = Path(folder, name)
            if name not in STDLIB_LEFT_OUT and file.suffix not in (".a", ".o", ".so", ".exe") and file.is_file():
                yield str(below / name), file


def _libraries(files: Iterable[Path]) -> dict[Path, tuple[list[Path], list[str]]]:
    """Return, for each file, the libraries that the loader finds for it and the names of those it does not."""
    wanted = list(dict.fromkeys(files))
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"} | {"LC_ALL": "C"}
    # /bin/true as a second file: ldd prints the headings that are parsed below only for more than one.
    command = ["ldd", *map(str, wanted), "/bin/true"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LDD_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxUnavailableError(f"cannot copy this Python into an image: running ldd failed ({error})") from error
    found: dict[Path, tuple[list[Path], list[str]]] = {file: ([], []) for file in wanted}
    current: tuple[list[Path], list[str]] = ([], [])
    for line in done.stdout.splitlines():
        if not line.startswith(("\t", " ")):
            current = found.get(Path(line.rstrip(":")), ([], []))
            continue
        name, arrow, target = line.strip().partition(" => ")
        path = (target if arrow else name).split(" (")[0].strip()
        if path == "not found":
            current[1].append(name)
        elif path.startswith("/"):
            current[0].append(Path(path))
    return found


def _library_entries(files: Iterable[Path], *, inside: Path | None) -> dict[str, Path | bytes]:
    """Return entries of all libraries of `files`, in the one folder where the loader looks without being told.

    Their own folders (of pyenv, conda) would be found only through LD_LIBRARY_PATH, which programs may not have.
    """
    libraries = {library for found, _ in _libraries(files).values() for library in found}
    libc = next((library for library in libraries if library.name == "libc.so.6"), None)
    if libc is None:
        raise SandboxUnavailableError("cannot copy this Python into an image: ldd does not find libc.so.6")
    folder = str(libc.parent).lstrip("/")
    entries: dict[str, Path | bytes] = {}
    for library in sorted(libraries):
        if inside is not None and library.is_relative_to(inside):
            continue
        is_loader = library.name.startswith("ld-") or library.name.startswith("ld.")
        place = str(library).lstrip("/") if is_loader else f"{folder}/{library.name}"
        entries.setdefault(place, library.resolve())
    # The C library opens these when a thread ends and when a user is looked up: ldd cannot know.
    places = [*dict.fromkeys(library.parent for library in sorted(libraries)), Path("/lib64"), Path("/usr/lib64")]
    for name in ("libgcc_s.so.1", "libnss_files.so.2"):
        found = next((place / name for place in places if (place / name).is_file()), None)
        if found is not None:
            entries.setdefault(f"{folder}/{name}", found.resolve())
    return entries


def _write_tar(out: BinaryIO, entries: dict[str, Path | bytes], links: dict[str, str]) -> None:
    folders = {str(parent) for path in [*entries, *links] for parent in Path(path).parents} - {"."}
    folders |= {"tmp", "dev", "dev/shm", "proc", "sys", "etc", "mnt"}
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for folder in sorted(folders):
            _add(tar, folder, kind=tarfile.DIRTYPE, mode=0o1777 if folder in ("tmp", "dev/shm") else 0o755)
        for path, target in links.items():
            _add(tar, path, kind=tarfile.SYMTYPE, link=target)
        for path, source in entries.items():
            content = source if isinstance(source, bytes) else source.read_bytes()
            runs = path.startswith(("bin/", "usr/local/bin/")) or ".so" in Path(path).name
            _add(tar, path, content=content, mode=0o755 if runs else 0o644)
            if path.endswith(".py") and isinstance(source, Path):
                bytecode = _bytecode(source, content, f"/{path}")
                if bytecode is not None:
                    _add(tar, _bytecode_path(path), content=bytecode, mode=0o644)


def _add(
    tar: tarfile.TarFile,
    path: str,
    *,
    content: bytes = b"",
    kind: bytes = tarfile.REGTYPE,
    mode: int = 0o755,
    link: str = "",
) -> None:
    entry = tarfile.TarInfo(path)
    entry.type, entry.mode, entry.linkname, entry.size, entry.mtime = kind, mode, link, len(content), MODIFIED
    tar.addfile(entry, io.BytesIO(content) if content else None)


def _bytecode_path(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder}/__pycache__/{name.removesuffix('.py')}.{sys.implementation.cache_tag}.pyc"


def _bytecode(source: Path, content: bytes, name: str) -> bytes | None:
    """Return a .pyc that is never checked against its source; None for a file that does not compile.

    Compiling the whole standard library takes seconds, so what the host has compiled already is used where it is fresh.
    """
    code = _host_bytecode(source, content)
    if code is None:
        try:
            code = marshal.dumps(compile(content, name, "exec", dont_inherit=True, optimize=0))
        except (SyntaxError, ValueError):
            return None
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + importlib.util.source_hash(content) + code


def _host_bytecode(source: Path, content: bytes) -> bytes | None:
    try:
        cached = Path(importlib.util.cache_from_source(str(source), optimization="")).read_bytes()
    except OSError:
        return None
    flags = int.from_bytes(cached[4:8], "little")
    if cached[:4] != importlib.util.MAGIC_NUMBER or len(cached) <= 16:
        return None
    if flags == 0:
        modified = (int(source.stat().st_mtime) & 0xFFFFFFFF).to_bytes(4, "little")
        fresh = cached[8:16] == modified + (len(content) & 0xFFFFFFFF).to_bytes(4, "little")
    else:
        fresh = cached[8:16] == importlib.util.source_hash(content)
    return cached[16:] if fresh else None
