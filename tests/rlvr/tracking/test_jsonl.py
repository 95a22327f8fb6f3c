import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr.errors import RunFolderError
from rlvr.tracking.jsonl import mend, parse_lines, read_records, to_json

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
records = st.dictionaries(st.text(), st.recursive(scalars, lambda inner: st.lists(inner, max_size=3)), max_size=4)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_has_not_become_null_at_any_depth(bad):
    text = to_json({"a": bad, "b": [1.0, bad], "c": {"d": (bad,)}})
    assert json.loads(text) == {"a": None, "b": [1.0, None], "c": {"d": [None]}}


@given(st.lists(records, min_size=1, max_size=4), st.data())
def test_cutting_a_file_anywhere_costs_at_most_the_line_that_was_cut(tmp_path_factory, written, data):
    content = "".join(to_json(record) + "\n" for record in written).encode()
    cut = content[: data.draw(st.integers(0, len(content)))]
    read = parse_lines(cut, tmp_path_factory.getbasetemp())
    assert read == written[: len(read)]
    assert len(read) >= cut.count(b"\n")


def test_a_broken_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n{"st\n{"step": 3}\n')
    with pytest.raises(RunFolderError, match=r"metrics\.jsonl, line 2 "):
        read_records(path)


def test_a_file_that_does_not_exist_has_no_records(tmp_path):
    assert read_records(tmp_path / "absent.jsonl") == []


def test_mending_drops_a_torn_line_and_keeps_a_whole_one_without_newline(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n{"step"')
    mend(path)
    assert path.read_text() == '{"step": 1}\n'
    path.write_text('{"step": 1}\n{"step": 2}')
    mend(path)
    assert path.read_text() == '{"step": 1}\n{"step": 2}\n'
