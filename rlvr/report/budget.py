"""How much of a page's size something takes before it is in the page."""

import json
import zlib
from typing import Any

BASE64 = 4 / 3


class Budget:
    """Bytes of the page that may still be filled."""

    def __init__(self, size_bytes: float) -> None:
        self.left_bytes = size_bytes

    def take(self, size_bytes: float) -> bool:
        """Take as many bytes if there are so many left, and say whether there were."""
        if size_bytes > self.left_bytes:
            return False
        self.left_bytes -= size_bytes
        return True


class Packed:
    """A JSON-like value, packed while it is not known whether the page has room for it.

    Packed alone it is a little larger than packed together with others like it, as the page has it.
    """

    def __init__(self, value: Any) -> None:
        self._content = zlib.compress(json.dumps(value, separators=(",", ":")).encode("ascii"), level=6)

    @property
    def size_bytes(self) -> float:
        """In the page, which writes it as base64."""
        return BASE64 * len(self._content)

    def value(self) -> Any:
        return json.loads(zlib.decompress(self._content))


def evenly(items: list[Any], most: int) -> list[Any]:
    """Return at most so many items, the first, the last and those evenly between, in order."""
    if len(items) <= most:
        return list(items)
    if most < 2:
        return items[:most]
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]
