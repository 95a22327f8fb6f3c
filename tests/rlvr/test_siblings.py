import subprocess
import sys
from pathlib import Path

import pytest

import rlvr
from rlvr._siblings import SIBLINGS, require_siblings
from rlvr.errors import PackageConflictError

HOME = Path(rlvr.__file__).parent.parent
FOREIGN_SOURCE = "raise RuntimeError('the foreign package must not be imported')\n"


def run_python(program: str, *python_path: Path) -> subprocess.CompletedProcess[str]:
    """Run `program` with nothing but the standard library and `python_path` to import from."""
    paths = "".join(f"sys.path.insert(0, {str(path)!r})\n" for path in reversed(python_path))
    return subprocess.run(
        [sys.executable, "-IS", "-c", f"import sys\n{paths}{program}"], capture_output=True, text=True, timeout=60
    )


def install(folder: Path, distribution: str, *packages: str, source: str = FOREIGN_SOURCE) -> None:
    """Lay out `packages` as pip does for a distribution in a site-packages."""
    record = folder / f"{distribution}-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (record / "RECORD").write_text("".join(f"{package}/__init__.py,,\n" for package in packages))
    for package in packages:
        (folder / package).mkdir(exist_ok=True)
        (folder / package / "__init__.py").write_text(source)


def install_rlvr(folder: Path) -> None:
    """Lay out rlvr as its wheel would be: the real check beside siblings that are empty."""
    install(folder, "rlvr", "rlvr", *SIBLINGS, source="")
    for name in ("__init__.py", "_siblings.py", "errors.py"):
        (folder / "rlvr" / name).write_text((HOME / "rlvr" / name).read_text())


def test_a_clean_installation_passes_and_imports_no_sibling():
    done = run_python(f"import rlvr; print([name for name in {SIBLINGS} if name in sys.modules])", HOME)
    assert done.stdout == "[]\n", done.stderr


def test_importing_rlvr_loads_neither_torch_nor_importlib_metadata():
    done = run_python("before = {*sys.modules}; import rlvr; print(*sorted({*sys.modules} - before))", HOME)
    assert "rlvr" in done.stdout.split(), done.stderr
    assert not {"torch", "importlib.metadata"} & {*done.stdout.split()}


@pytest.mark.parametrize("package", SIBLINGS)
def test_another_distribution_earlier_on_the_path_stops_the_import_and_names_both(tmp_path: Path, package: str):
    install(tmp_path, "foreign_dist", package)
    done = run_python("import rlvr", tmp_path, HOME)
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"rlvr.errors.PackageConflictError: `import {package}` finds {tmp_path / package}, ")
    assert f"belongs to the distribution foreign_dist, and not rlvr's own at {HOME / package}; " in message
    assert "pip uninstall foreign_dist" in message


def test_a_stray_module_of_the_same_name_is_told_to_be_renamed(tmp_path: Path):
    (tmp_path / "tasks.py").write_text(FOREIGN_SOURCE)
    done = run_python("import rlvr", tmp_path, HOME)
    message = done.stderr.splitlines()[-1]
    assert f"`import tasks` finds {tmp_path / 'tasks.py'}, which belongs to no distribution" in message
    assert "remove or rename it" in message


def test_a_foreign_package_that_is_already_imported_is_found_even_when_the_path_is_right_again(tmp_path: Path):
    install(tmp_path, "foreign_dist", "verifiers", source="")
    done = run_python(f"import verifiers\nsys.path.remove({str(tmp_path)!r})\nimport rlvr", tmp_path, HOME)
    assert f"`import verifiers` finds {tmp_path / 'verifiers'}" in done.stderr.splitlines()[-1]


def test_a_wheel_that_shares_no_package_passes(tmp_path: Path):
    install_rlvr(tmp_path)
    install(tmp_path, "other", "other_package")
    done = run_python("import rlvr; print('fine')", tmp_path)
    assert done.stdout == "fine\n", done.stderr


def test_another_distribution_in_the_same_folder_stops_the_import_and_is_named(tmp_path: Path):
    install_rlvr(tmp_path)
    install(tmp_path, "foreign_dist", "verifiers")
    done = run_python("import rlvr", tmp_path)
    message = done.stderr.splitlines()[-1]
    assert "the distributions rlvr and foreign_dist both own the package `verifiers`" in message
    assert "pip uninstall foreign_dist" in message


def test_a_sibling_that_is_missing_is_named(tmp_path: Path):
    install_rlvr(tmp_path)
    (tmp_path / "tasks" / "__init__.py").unlink()
    (tmp_path / "tasks").rmdir()
    done = run_python("import rlvr", tmp_path)
    assert f"`tasks` should be at {tmp_path / 'tasks'} and cannot be imported" in done.stderr.splitlines()[-1]


def test_a_checkout_reached_through_a_link_is_the_same_place(tmp_path: Path):
    link = tmp_path / "link"
    link.symlink_to(HOME)
    require_siblings(link)


def test_the_check_compares_with_the_folder_it_is_given(tmp_path: Path):
    with pytest.raises(PackageConflictError, match="not rlvr's own at"):
        require_siblings(tmp_path)


def test_the_version_is_the_installed_distributions():
    from importlib.metadata import PackageNotFoundError, version

    try:
        expected = version("rlvr")
    except PackageNotFoundError:
        expected = "0+unknown"
    assert rlvr.__version__ == expected


def test_the_package_has_no_other_lazy_names():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        rlvr.nothing  # noqa: B018
