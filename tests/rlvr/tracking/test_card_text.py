import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rlvr.tracking.card_text import code, plain, table, yaml_lines

DATA = st.recursive(
    st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(
        st.sampled_from(["name", "model-index", "value"]), inner, min_size=1
    ),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["name", "results", "tags"]), DATA, min_size=1))
def test_yaml_reads_back_as_what_was_written(data):
    assert yaml.safe_load("\n".join(yaml_lines(data))) == data


@pytest.mark.parametrize("text", ["on", "no", "y", "null", "1.5", "a: b", "- x", "#", "x\ny", "\x7f\x85\u2028", "1e5"])
def test_a_text_stays_a_text_in_yaml(text):
    assert yaml.safe_load("\n".join(yaml_lines({"key": text}))) == {"key": text}


def test_markup_in_a_name_is_escaped():
    assert plain("a|b\nc") == "a\\|b c"
    assert plain("<script>") == "\\<script\\>"
    assert plain("**bold** [x](y) `z`") == "\\*\\*bold\\*\\* \\[x\\](y) \\`z\\`"
    assert plain("smollm2_svamp _x_") == "smollm2_svamp \\_x\\_"


def test_a_code_span_holds_backticks_and_bars():
    assert code("a`b") == "``a`b``"
    assert code("`") == "`` ` ``"
    assert code("a|b\nc") == "`a\\|b c`"


def test_a_table_has_as_many_bars_in_every_line():
    lines = table(["name", "value"], [[plain("x|y"), code("1|2")], ["", "z"]]).splitlines()
    assert lines[1] == "|---|---|"
    assert {line.replace("\\|", "").count("|") for line in lines} == {3}
