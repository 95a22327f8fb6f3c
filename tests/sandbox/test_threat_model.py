"""docs/sandbox.md names tests as proof: they must be there."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "sandbox.md"


def test_every_test_that_the_threat_model_names_exists():
    named = re.findall(r"`((?:sandbox|verifiers)/[\w/]+\.py)::(\w+)`", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 30
    missing = [
        f"{file}::{name}" for file, name in named if f"\ndef {name}(" not in (TESTS / file).read_text(encoding="utf-8")
    ]
    assert missing == []
