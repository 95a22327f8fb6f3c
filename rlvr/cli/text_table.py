"""Tables and texts of strangers on a terminal: aligned columns, and nothing in them that a terminal would obey."""

import json
import unicodedata
from collections.abc import Collection, Iterator, Sequence


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: Collection[int] = (0,)) -> Iterator[str]:
    """Yield a table's lines, two spaces between columns.

    Args:
        rows: as many cells in each as in `head`.
        words: places of the columns that are aligned on their left side; the others are on their right.
    """
    widths = [max(map(_width, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = []
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            padding = " " * (width - _width(cell))
            cells.append(cell + padding if place in words else padding + cell)
        yield "  ".join(cells).rstrip()


def quoted(text: str) -> str:
    """Return a text in double quotes, with white space that can be told apart and no character that cannot be seen."""
    return f'"{printable(text).replace(chr(34), chr(92) + chr(34))}"'


def printable(text: str) -> str:
    """Return a text on one line, whatever cannot be printed escaped: no colour codes, no text that runs backwards."""
    return "".join(
        character if character.isprintable() and character != "\\" else json.dumps(character)[1:-1]
        for character in text
    )


def one_line(text: str, length: int) -> str:
    """Return a text as `printable`, cut to `length` characters with a note of how many there are."""
    if len(text) <= length:
        return printable(text)
    return f"{printable(text[: length - 3])}... ({len(text):,} characters)"


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
