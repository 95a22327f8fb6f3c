import sys
import traceback
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pytest
from support.distributions import install

from tasks import TaskPluginError, import_plugin_file
from tasks.plugins import Registry, RegistryErrors

GROUP = "rlvr.test_colours"


class UnknownError(Exception): ...


class NameTakenError(Exception): ...


class BrokenError(Exception): ...


class OptionError(Exception): ...


@runtime_checkable
class Colour(Protocol):
    def hue(self) -> float: ...


class Red:
    def __init__(self, *, shade: float = 0.0) -> None:
        self.shade = shade

    def hue(self) -> float:
        return self.shade


@pytest.fixture
def registry() -> Registry:
    return Registry(
        noun="colour",
        built_in={"fraction": "fractions:Fraction", "ordered": "collections:OrderedDict"},
        entry_point_group=GROUP,
        options_key="colour.options",
        contract=Colour,
        errors=RegistryErrors(unknown=UnknownError, name_taken=NameTakenError, plugin=BrokenError, option=OptionError),
    )


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_registered_factory_is_made_with_its_options(registry: Registry):
    registry.register("red")(Red)
    assert registry.load("red", {"shade": 0.5}).hue() == 0.5


def test_registering_returns_the_factory_itself(registry: Registry):
    assert registry.register("red")(Red) is Red


@pytest.mark.parametrize("name", ["fraction", "red"])
def test_a_taken_name_cannot_be_registered(registry: Registry, name: str):
    registry.register("red")(Red)
    with pytest.raises(NameTakenError, match=f"'{name}': taken by"):
        registry.register(name)


def test_a_name_that_an_installed_distribution_has_cannot_be_registered(registry: Registry, site: Path):
    install(site, name="paint-box", group=GROUP, entry_points={"green": "greens:Green"}, modules={})
    with pytest.raises(NameTakenError, match="'paint-box'"):
        registry.register("green")


def test_forgetting_the_name_of_the_decorator_is_explained(registry: Registry):
    bare: Any = Red
    with pytest.raises(BrokenError, match=r'@register_colour\("mine"\)'):
        registry.register(bare)


def test_an_unknown_name_lists_the_known_and_the_nearest(registry: Registry):
    registry.register("red")(Red)
    with pytest.raises(UnknownError, match=r"'reed' \(did you mean 'red'\?\); known: fraction, ordered, red"):
        registry.load("reed", {})


def test_every_wrong_option_is_one_line(registry: Registry):
    registry.register("red")(Red)
    with pytest.raises(OptionError) as caught:
        registry.load("red", {"shade": "dark", "tint": 1})
    assert len(str(caught.value).splitlines()) == 2


def test_a_factory_that_makes_something_else_is_refused(registry: Registry):
    @registry.register("grey")
    def grey() -> dict[str, float]:
        return {"hue": 0.0}

    with pytest.raises(BrokenError, match="colour 'grey' made a dict, which is not a Colour"):
        registry.load("grey", {})


def test_an_installed_distribution_supplies_a_factory(registry: Registry, site: Path):
    source = "class Blue:\n    def hue(self):\n        return 0.66\n"
    install(site, name="blues", group=GROUP, entry_points={"blue": "blue_module:Blue"}, modules={"blue_module": source})
    assert registry.load("blue", {}).hue() == 0.66
    assert registry.names() == ["blue", "fraction", "ordered"]


def test_a_broken_distribution_is_named_and_its_own_traceback_is_chained(registry: Registry, site: Path):
    install(
        site, name="bad-box", group=GROUP, entry_points={"bad": "bad_module:Bad"}, modules={"bad_module": "x = 1 / 0\n"}
    )
    with pytest.raises(
        BrokenError, match=r"'bad-box' \(bad_module:Bad\) cannot be imported: ZeroDivisionError"
    ) as caught:
        registry.load("bad", {})
    assert "bad_module.py" in "".join(traceback.format_exception(caught.value))


def test_two_owners_of_one_name_are_both_named(registry: Registry, site: Path):
    install(site, name="fraction-box", group=GROUP, entry_points={"fraction": "greens:Green"}, modules={})
    with pytest.raises(NameTakenError, match="the built-in colour and to the installed distribution 'fraction-box'"):
        registry.load("fraction", {})


def test_a_plugin_file_is_imported_once(tmp_path: Path):
    file = tmp_path / "mine.py"
    file.write_text("value = []\n")
    assert import_plugin_file(file) is import_plugin_file(str(file))


def test_two_plugin_files_of_one_name_stay_apart(tmp_path: Path):
    files = [tmp_path / folder / "mine.py" for folder in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.write_text(f"folder = {file.parent.name!r}\n")
    assert [import_plugin_file(file).folder for file in files] == ["a", "b"]


def test_a_dataclass_in_a_plugin_file_works(tmp_path: Path):
    file = tmp_path / "records.py"
    file.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass(slots=True)\nclass Record:\n    x: int\n"
    )
    assert import_plugin_file(file).Record(3).x == 3


def test_a_missing_plugin_file_is_named(tmp_path: Path):
    with pytest.raises(TaskPluginError, match=r"nowhere\.py: no such file"):
        import_plugin_file(tmp_path / "nowhere.py")


def test_a_plugin_that_is_no_python_file_is_refused(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(TaskPluginError, match=r"ends in \.py"):
        import_plugin_file(tmp_path / "notes.txt")


def test_a_broken_plugin_file_shows_its_own_traceback_and_can_be_tried_again(tmp_path: Path):
    file = tmp_path / "broken.py"
    file.write_text("x = 1\ny = x / 0\n")
    with pytest.raises(ZeroDivisionError) as caught:
        import_plugin_file(file)
    assert 'broken.py", line 2' in "".join(traceback.format_exception(caught.value))
    assert not any("broken" in name for name in sys.modules if name.startswith("plugin_"))
    file.write_text("y = 2\n")
    assert import_plugin_file(file).y == 2
