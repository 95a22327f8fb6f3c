"""Values as text and back."""

import enum
import math
import time
from collections import Counter, OrderedDict, defaultdict, namedtuple
from typing import Any

import pytest
from hypothesis import given
from support.plain_values import VALUES

from verifiers.code.inside.wire import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_NODES,
    MalformedError,
    UnsendableError,
    decode,
    encode,
    read_json,
)


def there_and_back(value: Any) -> Any:
    return decode(read_json(encode(value)))


def exactly(value: Any) -> str:
    return f"{type(value).__name__}:{value!r}"


@given(VALUES)
def test_plain_values_arrive_as_they_are(value: Any):
    arrived = there_and_back(value)
    assert arrived == value
    assert type(arrived) is type(value)


@pytest.mark.parametrize(
    "value",
    [
        True, 1, 1.0, -0.0, math.inf, -math.inf, {1: "a", "1": "b", (1, 2): None}, "\ud800\x00\u2028", 2**63, -(2**64),
        (1, [2, {3}]), frozenset({1}), range(3, 9, 2), b"\xff", bytearray(b"a"), complex(0.0, math.inf), [], {}, set(),
    ],
)  # fmt: skip
def test_types_and_signs_are_kept(value: Any):
    assert exactly(there_and_back(value)) == exactly(value)


def test_nan_arrives():
    assert math.isnan(there_and_back(math.nan))


def test_numbers_of_any_length_pass_the_digit_limit_of_python():
    number = 7**400_000
    assert there_and_back([number, -number]) == [number, -number]


class AlwaysEqual(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __repr__(self) -> str:
        return "14"

    def __index__(self) -> int:
        return 14

    __hash__ = int.__hash__


class Liar(list[Any]):
    def __iter__(self):
        return iter([1, 2, 3])

    def __len__(self) -> int:
        return 1 << 40


class LiesAboutItems(dict[str, int]):
    def items(self):
        return {"a": 1}.items()


class Spoof(type):
    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return hash(int)

    @property
    def __mro__(cls):  # pyright: ignore[reportIncompatibleVariableOverride]
        return (int, object)


class Spoofed(metaclass=Spoof):
    __class__ = property(lambda self: int)  # pyright: ignore[reportIncompatibleMethodOverride]


class Colour(enum.IntEnum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "arrives_as"),
    [
        (AlwaysEqual(3), 3),
        (Liar([7]), [7]),
        (LiesAboutItems(b=2), {"b": 2}),
        (Colour.RED, 1),
        (namedtuple("Pair", "low high")(1, 2), (1, 2)),
        (Counter("aa"), {"a": 2}),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(int, a=1), {"a": 1}),
    ],
)
def test_an_instance_of_a_subclass_is_what_its_base_class_holds(value: Any, arrives_as: Any):
    assert exactly(there_and_back(value)) == exactly(arrives_as)


@pytest.mark.parametrize(
    "value", [object(), len, int, iter([]), (n for n in "ab"), Spoofed(), [{1: object()}], {1}.add]
)
def test_other_things_cannot_be_sent(value: Any):
    with pytest.raises(UnsendableError):
        encode(value)


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def doubled(times: int) -> list[Any]:
    value: list[Any] = [0]
    for _ in range(times):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        nested(200_000),
        endless(),
        doubled(60),
        "a" * (MAX_CHARACTERS + 1),
        b"a" * MAX_CHARACTERS,
        [0] * (MAX_NODES + 1),
        1 << (8 * MAX_CHARACTERS),
        ["a" * 100_000] * 1000,
    ],
    ids=["deep", "endless", "doubled", "text", "bytes", "list", "number", "sum"],
)
def test_too_large_a_value_is_refused_at_once(value: Any):
    start = time.perf_counter()
    with pytest.raises(UnsendableError):
        encode(value)
    assert time.perf_counter() - start < 3


def test_depth_up_to_the_limit_passes():
    value = nested(MAX_DEPTH - 1)
    assert there_and_back(value) == value


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{", b"nan", b"NaN", b"[Infinity]", b"9" * 5000, b"[" * 100_000, b"\xff", b"'a'", b'{"a":' * 50_000,
    ],
)  # fmt: skip
def test_what_is_no_message_is_malformed(text: bytes):
    with pytest.raises(MalformedError):
        read_json(text)


@pytest.mark.parametrize(
    "tagged",
    [
        {}, {"q": 1}, {"i": 3}, {"i": "xyz"}, {"f": "1"}, {"f": []}, {"c": [1.0]}, {"t": 3}, {"t": {}}, {"s": [[1]]},
        {"d": [[1]]}, {"d": [[[1], 2]]}, {"d": 5}, {"b": "zz"}, {"b": 1}, {"r": [0, 1, 0]}, {"r": ["a"]}, {"s": "ab"},
        {"t": [], "s": []}, [{"z": None}],
    ],
)  # fmt: skip
def test_a_tag_that_holds_what_it_cannot_is_malformed(tagged: Any):
    with pytest.raises(MalformedError):
        decode(tagged)


def test_what_a_program_does_to_the_builtins_changes_nothing(monkeypatch: pytest.MonkeyPatch):
    value = {1: [2, (3, "a")]}
    text = encode(value)
    for name in ("len", "range", "enumerate", "next"):
        monkeypatch.setattr(f"builtins.{name}", lambda *_: 9)
    again = encode(value)
    monkeypatch.undo()
    assert again == text
