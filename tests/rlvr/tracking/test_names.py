import re

import pytest

from rlvr.tracking.names import NAMES, describe

AREAS = {"reward", "rollout", "verify", "policy", "critic", "kl", "sandbox", "time", "eval", "sft"}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_an_area_and_a_quantity_in_lower_case(name):
    area, quantity = name.split("/")
    assert area in AREAS
    assert re.fullmatch(r"[a-z][a-z0-9_]*", quantity)


@pytest.mark.parametrize("name", NAMES)
def test_a_meaning_is_one_sentence_that_fits_a_markdown_table(name):
    assert NAMES[name].endswith(".")
    assert not set("|\n") & set(NAMES[name])


def test_the_description_has_one_row_per_metric():
    lines = describe().splitlines()
    assert len(lines) == len(NAMES) + 2
    assert all(f"| `{name}` |" in line for name, line in zip(NAMES, lines[2:], strict=True))
