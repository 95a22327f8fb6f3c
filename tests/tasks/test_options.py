from collections.abc import Sequence
from typing import Any, Literal

import pytest

from tasks.options import option_mistakes


def factory(
    *,
    digits: int = 3,
    rate: float = 0.5,
    path: str = "a",
    strict: bool = False,
    limit: int | None = None,
    mode: Literal["fast", "slow"] = "fast",
    names: Sequence[str] = (),
    anything: Any = None,
) -> None: ...


def mistakes(options: dict[str, object]) -> list[str]:
    return option_mistakes(factory, options, owner="task 'toy'", key="task.options")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"digits": 5, "rate": 0.25, "path": "b", "strict": True},
        {"rate": 1},
        {"limit": None},
        {"limit": 7},
        {"mode": "slow"},
        {"names": ["a", "b"]},
        {"anything": {"x": 1}},
    ],
)
def test_fitting_options_have_no_mistakes(options: dict[str, object]):
    assert mistakes(options) == []


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("digits", "three", "an integer"),
        ("digits", 3.0, "an integer"),
        ("digits", True, "an integer"),
        ("rate", "0.5", "a number"),
        ("rate", False, "a number"),
        ("path", 3, "a string"),
        ("strict", 1, "true or false"),
        ("limit", "all", "an integer"),
        ("mode", "medium", "one of 'fast', 'slow'"),
        ("names", "abc", "a list, each element a string"),
        ("names", [1], "a list, each element a string"),
    ],
)
def test_a_value_of_the_wrong_type_is_named_with_what_is_expected(name: str, value: object, expected: str):
    (line,) = mistakes({name: value})
    assert line.startswith(f"task.options.{name}: expected {expected}, got {value!r}")


def test_every_unknown_option_is_reported_with_the_nearest_name_and_the_list():
    first, second = mistakes({"digit": 3, "zzz": 1})
    assert first.startswith("task.options.digit: task 'toy' has no such option (did you mean 'digits'?)")
    assert "it takes: digits, rate, path" in first
    assert second.startswith("task.options.zzz: task 'toy' has no such option; it takes")


def test_a_missing_option_is_reported_with_its_type():
    def needy(*, path: str, size: int = 1) -> None: ...

    assert option_mistakes(needy, {}, owner="task 'needy'", key="task.options") == [
        "task.options.path: task 'needy' needs this option (a string)"
    ]


def test_the_constructor_of_a_class_tells_the_options():
    class Made:
        def __init__(self, *, size: int) -> None: ...

    assert option_mistakes(Made, {"size": 1}, owner="", key="") == []
    assert len(option_mistakes(Made, {"size": "x", "colour": 2}, owner="", key="")) == 2


def test_annotations_that_cannot_be_resolved_leave_the_values_unchecked():
    def late(*, path: "NotImportedHere" = None) -> None: ...

    assert option_mistakes(late, {"path": 3}, owner="", key="") == []
    assert len(option_mistakes(late, {"pth": 3}, owner="", key="")) == 1
