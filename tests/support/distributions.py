"""Installed distributions made on the spot."""

from pathlib import Path


def install(folder: Path, *, name: str, group: str, entry_points: dict[str, str], modules: dict[str, str]) -> None:
    """Write a distribution with its modules and entry points into `folder`, as pip would leave it there."""
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(source)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{entry} = {value}" for entry, value in entry_points.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
