import pytest

from rlvr.cli.text_table import aligned, one_line, printable, quoted


def test_columns_are_aligned_words_on_the_left_and_numbers_on_the_right():
    assert list(aligned(["name", "n"], [["a", "1"], ["bcdef", "100"]])) == ["name     n", "a        1", "bcdef  100"]
    assert list(aligned(["n", "name"], [["1", "a"], ["10", "b"]], words=[1])) == [" n  name", " 1  a", "10  b"]


def test_wide_and_combining_characters_take_the_columns_that_a_terminal_gives_them():
    lines = list(aligned(["x", "n"], [["\u6f22\u5b57", "1"], ["e\u0301", "2"]]))
    assert lines == ["x     n", "\u6f22\u5b57  1", "e\u0301     2"]


@pytest.mark.parametrize("text", ["\x1b[31m", "\r", "\x07", "\u202e", "\u200b", "\x85", "\ud800", "\x9b2J"])
def test_what_cannot_be_printed_is_escaped(text):
    assert printable(f"a{text}b").isascii()
    assert printable(f"a{text}b").isprintable()


def test_white_space_can_be_told_apart_in_quotes():
    assert [quoted(text) for text in (" ", "\n", "\t", '"', "\\n", "\u00e9")] == [
        '" "', '"\\n"', '"\\t"', '"\\""', '"\\\\n"', '"\u00e9"',
    ]  # fmt: skip


def test_a_long_text_is_cut_and_says_how_long_it_is():
    assert one_line("abc\n", 10) == "abc\\n"
    assert one_line("x" * 2000, 10) == "xxxxxxx... (2,000 characters)"
