"""Sees to it that `tasks`, `verifiers` and `sandbox` are rlvr's own and not another distribution's of the same name."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from rlvr.errors import PackageConflictError

SIBLINGS = ("sandbox", "tasks", "verifiers")


def require_siblings(home: Path) -> None:
    """Do nothing when each sibling would be imported from `home`, the folder that holds `rlvr`, and is rlvr's alone.

    Imports none of them. Takes milliseconds: what the installed distributions own is read only where several may share
    the folder, and asked of importlib.metadata only to name the culprit.

    Raises:
        PackageConflictError: names what is in the way, where, and the cure.
    """
    for name in SIBLINGS:
        found, wanted = _location(name), home / name
        if found is None:
            raise PackageConflictError(
                f"rlvr's own package `{name}` should be at {wanted} and cannot be imported; reinstall rlvr"
            )
        if found.resolve() != wanted.resolve():
            raise PackageConflictError(_shadowed(name, found, wanted))
    for name, owner in _shared_with(home):
        raise PackageConflictError(
            f"the distributions rlvr and {owner} both own the package `{name}` at {home / name}, "
            f"so one may have overwritten files of the other; {_cure(owner)}"
        )


def _location(name: str) -> Path | None:
    """Return the folder of a package, or the file of a plain module, that importing `name` gives or has given."""
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__spec__ is None:
        # find_spec refuses modules without a spec.
        return Path(loaded.__file__) if loaded.__file__ else None
    spec = find_spec(name)
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    return Path(spec.origin) if spec.origin else None


def _shadowed(name: str, found: Path, wanted: Path) -> str:
    from importlib.metadata import packages_distributions

    owners = [owner for owner in packages_distributions().get(name, []) if owner != "rlvr"]
    if owners:
        belongs, cure = f"belongs to the distribution {owners[0]}", _cure(owners[0])
    else:
        belongs, cure = "belongs to no distribution", "remove or rename it, or take its folder off the Python path"
    return f"`import {name}` finds {found}, which {belongs}, and not rlvr's own at {wanted}; {cure}"


def _cure(owner: str) -> str:
    return f"install rlvr in an environment of its own, or run `pip uninstall {owner}` and reinstall rlvr"


def _shared_with(home: Path) -> list[tuple[str, str]]:
    """Return (sibling, distribution) for each other distribution that installed files of a sibling into `home`.

    A checkout holds no *.dist-info, so this reads files in a site-packages only.
    """
    owners = [
        (entry.path, entry.name.partition("-")[0])
        for entry in os.scandir(home)
        if entry.name.endswith(".dist-info") and not entry.name.startswith("rlvr-")
    ]
    return [(name, owner) for folder, owner in sorted(owners) for name in SIBLINGS if _installs(Path(folder), name)]


def _installs(dist_info: Path, name: str) -> bool:
    try:
        record = (dist_info / "RECORD").read_bytes()
    except FileNotFoundError:  # Installers other than pip may leave it out.
        return False
    return f"\n{name}/".encode() in b"\n" + record
