"""Packages, versions, threads and the device."""

import os
import platform
import tomllib
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import torch
from packaging.requirements import Requirement

import rlvr
from rlvr._siblings import require_siblings
from rlvr.cli.doctor.findings import Finding, blocker, note, ok, warning
from rlvr.cli.summary import software
from rlvr.cli.verify_command import cores
from rlvr.cli.wiring import device_of
from rlvr.config.models import Config
from rlvr.errors import PackageConflictError

HOME = Path(rlvr.__file__).resolve().parent.parent


def check_environment(config: Config) -> Iterator[Finding]:
    """Look at what the run would run on."""
    versions = software()
    del versions["rlvr"]
    yield ok(
        f"rlvr {rlvr.__version__}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {found}" for name, found in versions.items())
    )
    yield from check_siblings(HOME)
    yield from check_requirements(stated_requirements(), wanted_extras(config), version)
    yield device_finding(device_of(config), cuda=torch.cuda.is_available())
    yield threads_finding(torch.get_num_threads(), cores())
    yield from load_findings(os.getloadavg()[0], cores())


def check_siblings(home: Path) -> Iterator[Finding]:
    """See whether `tasks`, `verifiers` and `sandbox` in `home` are rlvr's own."""
    try:
        require_siblings(home)
    except PackageConflictError as error:
        what, _, advice = str(error).rpartition("; ")
        yield blocker(what, advice)
    else:
        yield ok("the packages tasks, verifiers and sandbox are rlvr's own")


def stated_requirements() -> list[str]:
    """Return what the installed distribution requires, or the checkout that rlvr runs from."""
    try:
        return requires("rlvr") or []
    except PackageNotFoundError:
        pyproject = HOME / "pyproject.toml"
        if not pyproject.is_file():
            return []
        project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
        extras = project.get("optional-dependencies", {})
        return [
            *project["dependencies"],
            *(f'{line} ; extra == "{extra}"' for extra, lines in extras.items() for line in lines),
        ]


def wanted_extras(config: Config) -> list[str]:
    """Return the optional parts of rlvr that the configuration uses."""
    return [*(["gguf"] if config.model.name.endswith(".gguf") else []), *config.tracking.trackers]


def check_requirements(
    requirements: Sequence[str], extras: Sequence[str], installed: Callable[[str], str]
) -> Iterator[Finding]:
    """See whether the required packages are there in versions that fit.

    Args:
        requirements: as in a distribution's metadata.
        extras: optional parts that are needed too.
        installed: gives a distribution's version, or raises PackageNotFoundError.
    """
    wrong, checked = 0, 0
    for requirement, extra in _needed(requirements, extras):
        checked += 1
        cure = f"pip install 'rlvr[{extra}]'" if extra else f"pip install '{requirement.name}{requirement.specifier}'"
        reason = f" (for the extra {extra!r})" if extra else ""
        try:
            found = installed(requirement.name)
        except PackageNotFoundError:
            yield blocker(f"{requirement.name} is not installed{reason}", cure)
        else:
            if requirement.specifier.contains(found, prereleases=True):
                continue
            yield warning(f"{requirement.name} {found} is installed, rlvr wants {requirement.specifier}{reason}", cure)
        wrong += 1
    known = {extra for line in requirements for extra in _extras_named(line)}
    for extra in dict.fromkeys(extras):
        if requirements and extra not in known:
            # An editable install's metadata may be older than the code; these extras have their package's name.
            checked += 1
            try:
                installed(extra)
            except PackageNotFoundError:
                wrong += 1
                yield blocker(f"{extra} is not installed, and the configuration uses it", f"pip install {extra}")
    if not requirements:
        yield note("rlvr is not installed as a distribution, so its requirements are not known", "pip install -e .")
    elif not wrong:
        used = f", those of {', '.join(dict.fromkeys(extras))} included" if extras else ""
        yield ok(f"all {checked} required packages are installed in versions that fit{used}")


def _needed(requirements: Sequence[str], extras: Sequence[str]) -> Iterator[tuple[Requirement, str]]:
    for line in requirements:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement, ""
            continue
        for extra in dict.fromkeys(extras):
            if requirement.marker.evaluate({"extra": extra}):
                yield requirement, extra


def _extras_named(line: str) -> list[str]:
    _, equals, name = line.partition("extra == ")
    return [name.strip().strip("\"'")] if equals else []


def device_finding(device: str, *, cuda: bool) -> Finding:
    """Say which device the run uses."""
    if device.startswith("cpu") and cuda:
        return warning("the run uses the CPU though there is a GPU", 'set run.device = "auto"')
    return ok(f"device: {device}")


def threads_finding(threads: int, available: int) -> Finding:
    """Compare torch's threads with the cores that this process may use."""
    if threads > available:
        return warning(
            f"torch uses {threads} threads on {available} cores, which slows it down", f"set run.threads = {available}"
        )
    if threads < available:
        cause = f"OMP_NUM_THREADS = {os.environ['OMP_NUM_THREADS']}, " if "OMP_NUM_THREADS" in os.environ else ""
        return note(
            f"torch uses {threads} of {available} cores ({cause}run.threads decides)",
            f"for one run alone, set run.threads = {available}",
        )
    return ok(f"torch uses all {available} cores")


def load_findings(load: float, available: int) -> Iterator[Finding]:
    """Say so where other programs keep this machine busy."""
    if load > available:
        yield note(
            f"other programs keep this machine busy (load {load:.1f} on {available} cores)",
            "times below are longer than they would be alone",
        )
