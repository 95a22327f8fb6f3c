import pytest

from rlvr.cli.options import parse_options
from rlvr.errors import ConfigError


def test_values_are_toml_and_what_is_not_toml_is_a_string():
    texts = ["a=1", "b = 0.5", "c=true", 'd="x"', "e=[1, 2]", "f=plain words", "g=a=b", "h="]
    assert parse_options(texts, table="task.options") == {
        "a": 1, "b": 0.5, "c": True, "d": "x", "e": [1, 2], "f": "plain words", "g": "a=b", "h": "",
    }  # fmt: skip


def test_names_may_be_written_with_their_table():
    assert parse_options(["task.options.digits=2", "seed=1"], table="task.options") == {"digits": 2, "seed": 1}


def test_a_line_break_makes_no_second_key():
    assert parse_options(["a=1\nb = 2"], table="task.options") == {"a": "1\nb = 2"}


def test_every_mistake_has_a_line():
    with pytest.raises(ConfigError) as caught:
        parse_options(["digits", "a=[1", "=2"], table="task.options")
    first, second, third = str(caught.value).splitlines()
    assert first == 'command line: "digits" is not key=value'
    assert second.startswith("command line: a: got [1, which is not TOML: ")
    assert third == 'command line: "=2" is not key=value'
