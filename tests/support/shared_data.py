"""The public data sets of a full checkout, which lie beside the repository."""

from pathlib import Path

import pytest

_SHARED = Path(__file__).parents[3] / "shared"


def shared_file(name: str) -> str:
    """Return the path of a file below shared/, or skip the test where the checkout has none."""
    path = _SHARED / name
    if not path.exists():
        pytest.skip(f"needs ../shared/{name}, which only a full checkout has")
    return str(path)
