"""Plain values as text: JSON, with what JSON lacks written as an object of one key.

    {"i": hex}  int beyond 63 bits    {"f": "nan"}  float without a numeral    {"c": [real, imaginary]}  complex
    {"b": hex}  bytes                 {"a": hex}    bytearray                  {"t": [...]}  tuple
    {"d": [[key, value], ...]}  dict  {"s": [...]}  set                        {"z": [...]}  frozenset
    {"r": [start, stop, step]}  range

An instance of a subclass of these is written as what its base class says it holds: no method of its own is asked.
"""

import json
import math
from _json import encode_basestring_ascii
from collections.abc import Callable
from typing import Any

# Functions keep the builtins that are there when they are made: what a program does to them later changes nothing here.
__builtins__ = dict(vars(__builtins__)) if not isinstance(__builtins__, dict) else dict(__builtins__)

MAX_DEPTH = 100
MAX_NODES = 500_000
MAX_CHARACTERS = 8_000_000


class UnsendableError(ValueError):
    """A value is too large, too deep or of a kind that has no text."""


def encode(value: object, special: Callable[[object], str | None] | None = None) -> str:
    """Return `value` as text.

    Args:
        special: asked first about every value whose type is not exactly one of the above; it returns the JSON that
            stands for the value, or None to leave it to the rules.

    Raises:
        UnsendableError: it is too large, too deep or of another kind.
    """
    writer = _Writer(special)
    writer.write(value, MAX_DEPTH)
    return "".join(writer.pieces)


class _Writer:
    def __init__(self, special: Callable[[object], str | None] | None) -> None:
        self.pieces: list[str] = []
        self.special = special
        self.nodes = MAX_NODES
        self.characters = MAX_CHARACTERS

    def write(self, value: Any, depth: int) -> None:
        self.nodes -= 1
        if self.nodes < 0:
            raise UnsendableError(f"more than {MAX_NODES} values")
        kind = type(value)
        if value is None or value is True or value is False:
            self.put("null" if value is None else "true" if value is True else "false")
        elif kind is int or kind is str or kind is float:
            self.write_scalar(kind, value)
        elif kind is list or kind is tuple or kind is dict:
            self.write_container(kind, value, depth)
        else:
            self.write_other(kind, value, depth)

    def write_other(self, kind: type, value: Any, depth: int) -> None:
        known = built_in_base(kind)
        if kind is not known and self.special is not None and (text := self.special(value)) is not None:
            self.put(text)
        elif known is None:
            raise UnsendableError(f"a value of the type {type.__dict__['__name__'].__get__(kind)[:80]}")
        elif known in _SCALARS:
            self.write_scalar(known, value)
        else:
            self.write_container(known, value, depth)

    def write_scalar(self, kind: type, value: Any) -> None:
        if kind is str:
            if str.__len__(value) > self.characters:
                raise UnsendableError(f"more than {MAX_CHARACTERS} characters")
            self.put(encode_basestring_ascii(str.__str__(value)))
        elif kind is int:
            bits = int.bit_length(value)
            if bits < 64:
                self.put(int.__repr__(value))
            elif bits > 4 * self.characters:
                raise UnsendableError(f"more than {MAX_CHARACTERS} characters")
            else:
                self.put(f'{{"i":"{int.__format__(value, "x")}"}}')
        elif kind is float:
            text = float.__repr__(value)
            self.put(text if text[-1] not in "nf" else f'{{"f":"{text}"}}')
        elif kind is complex:
            value = complex.__pos__(value)
            self.put('{"c":[')
            self.write_scalar(float, value.real)
            self.put(",")
            self.write_scalar(float, value.imag)
            self.put("]}")
        elif kind is range:
            self.write_sequence('{"r":[', (value.start, value.stop, value.step), "]}", 1)
        else:
            if kind.__len__(value) > self.characters // 2:
                raise UnsendableError(f"more than {MAX_CHARACTERS} characters")
            self.put(f'{{"{"b" if kind is bytes else "a"}":"{kind.hex(value)}"}}')

    def write_container(self, kind: type, value: Any, depth: int) -> None:
        if depth == 0:
            raise UnsendableError(f"nested more than {MAX_DEPTH} levels deep")
        if kind.__len__(value) > self.nodes:
            raise UnsendableError(f"more than {MAX_NODES} values")
        if kind is dict:
            self.put('{"d":[')
            comma = ""
            for key, element in dict.items(value):
                self.put(comma + "[")
                self.write(key, depth - 1)
                self.put(",")
                self.write(element, depth - 1)
                self.put("]")
                comma = ","
            self.put("]}")
        elif kind is list:
            self.write_sequence("[", list.__iter__(value), "]", depth)
        else:
            tag = "t" if kind is tuple else "s" if kind is set else "z"
            self.write_sequence(f'{{"{tag}":[', kind.__iter__(value), "]}", depth)

    def write_sequence(self, before: str, elements: Any, after: str, depth: int) -> None:
        self.put(before)
        comma = ""
        for element in elements:
            if comma:
                self.put(comma)
            self.write(element, depth - 1)
            comma = ","
        self.put(after)

    def put(self, text: str) -> None:
        self.characters -= len(text)
        if self.characters < 0:
            raise UnsendableError(f"more than {MAX_CHARACTERS} characters")
        self.pieces.append(text)


_SCALARS = (int, str, float, complex, bytes, bytearray, range)
_KINDS = (*_SCALARS, list, tuple, dict, set, frozenset)


def built_in_base(kind: type) -> type | None:
    """Return the type of the list above that `kind` is or derives from, None where it is no such type."""
    # `type.__mro__` by way of the dictionary: a metaclass may claim another one. Identity: it may claim that too.
    bases = type.__dict__["__mro__"].__get__(kind)
    return next((known for base in bases for known in _KINDS if base is known), None)


class MalformedError(ValueError):
    """Text or a tag that `encode` never writes."""


def read_json(text: str | bytes) -> Any:
    """Return the JSON value of `text`, its tags as they stand.

    Raises:
        MalformedError: it is no JSON, too deep, or has numbers beyond what `encode` writes.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"no message: {type(error).__name__}") from None


def decode(tagged: Any, special: Callable[[str, Any], Any] | None = None) -> Any:
    """Return the value of parsed text.

    Args:
        special: makes the value of a tag that is not in the list above, from the tag and what it holds.

    Raises:
        MalformedError: a tag is unknown or holds what it cannot.
    """
    if isinstance(tagged, list):
        return [decode(element, special) for element in tagged]
    if not isinstance(tagged, dict):
        return tagged
    if len(tagged) != 1:
        raise MalformedError("a tag is one key")
    ((tag, held),) = tagged.items()
    reader = _READERS.get(tag)
    try:
        if reader is not None:
            return reader(held, special)
        if special is not None:
            return special(tag, held)
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, ImportError) as error:
        raise MalformedError(f"a tag that holds what it cannot: {type(error).__name__}") from None
    raise MalformedError("an unknown tag")


def number_of(tag: str, held: Any) -> int | float | complex:
    """Return the number of the tag "i", "f" or "c". Raises TypeError or ValueError where it holds none."""
    if tag == "i":
        return int(held, 16)
    if tag == "f":
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[held]
    real, imaginary = (part if isinstance(part, float) else number_of("f", part["f"]) for part in held)
    return complex(real, imaginary)


def _elements(held: Any, special: Callable[[str, Any], Any] | None) -> list[Any]:
    if not isinstance(held, list):
        raise TypeError("no list")
    return [decode(element, special) for element in held]


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


_READERS: dict[str, Callable[[Any, Any], Any]] = {
    "i": lambda held, _: number_of("i", held),
    "f": lambda held, _: number_of("f", held),
    "c": lambda held, _: number_of("c", held),
    "b": lambda held, _: bytes.fromhex(held),
    "a": lambda held, _: bytearray.fromhex(held),
    "t": lambda held, special: tuple(_elements(held, special)),
    "s": lambda held, special: set(_elements(held, special)),
    "z": lambda held, special: frozenset(_elements(held, special)),
    "r": lambda held, special: range(*_elements(held, special)),
    "d": lambda held, special: {decode(key, special): decode(value, special) for key, value in held},
}
