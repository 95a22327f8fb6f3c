"""Which program a response gives."""

import time

import pytest

from verifiers.code.programs import extract_program


def block(program: str, info: str = "python", fence: str = "```") -> str:
    return f"{fence}{info}\n{program}\n{fence}\n"


@pytest.mark.parametrize("info", ["python", "py", "python3", "Python", "python3.11", "", " py title=a", "{.python}"])
def test_a_block_that_may_be_python_is_the_program(info: str):
    assert extract_program(f"See:\n{block('x = 1', info)}Done.") == "x = 1"


@pytest.mark.parametrize("info", ["cpp", "bash", "text", "pycon", "javascript", "output"])
def test_blocks_of_other_languages_are_no_programs(info: str):
    assert extract_program(block("x = 1", info)) is None


def test_tildes_and_longer_fences_hold_shorter_ones():
    inner = 'doc = """\n```\n"""'
    assert extract_program(block(inner, fence="~~~")) == inner
    assert extract_program(block(inner, fence="````")) == inner


def test_the_last_marked_block_is_the_program():
    assert extract_program(block("a = 1") + block("b = 2") + block("3\n4", "")) == "b = 2"


def test_without_marked_blocks_the_last_is_the_program():
    assert extract_program(block("a = 1", "") + block("b = 2", "")) == "b = 2"


def test_the_block_that_defines_the_function_is_the_program():
    response = block("def f(x):\n    return x") + block("print(f(1))")
    assert extract_program(response, defines="f") == "def f(x):\n    return x"
    assert extract_program(response) == "print(f(1))"


def test_of_several_definitions_the_last_counts():
    response = block("def f(x): return 1") + block("def f(x): return 2") + block("def ff(x): return 3")
    assert extract_program(response, defines="f") == "def f(x): return 2"


def test_classes_and_assigned_functions_are_definitions():
    assert extract_program(block("class A: pass") + block("A()"), defines="A") == "class A: pass"
    assert extract_program(block("f = lambda x: x") + block("f(1)"), defines="f") == "f = lambda x: x"
    assert extract_program(block("def f(): pass") + block("f = f()"), defines="f") == "def f(): pass"


def test_reasoning_does_not_count():
    assert extract_program(f"<think>{block('a = 1')}</think>{block('b = 2')}") == "b = 2"
    assert extract_program(f"<think>{block('a = 1')}</think>") is None
    assert extract_program(f"{block('b = 2')}<think>{block('a = 1')}") == "b = 2"


def test_an_unclosed_block_reaches_to_the_end():
    assert extract_program("```python\nx = 1\ny = 2") == "x = 1\ny = 2"


def test_an_indented_block_loses_its_indentation():
    assert extract_program("1. Do\n   ```python\n   if x:\n       y = 1\n   ```\n") == "if x:\n    y = 1"


@pytest.mark.parametrize("program", ["x = '\u2028'", "a\x0cb", "x = 1\r\ny = 2", "x = 1 # no end", "\x00", "\ud800"])
def test_the_program_is_taken_character_for_character(program: str):
    assert extract_program(f"```python\n{program}\n```") == program


@pytest.mark.parametrize("response", ["", "   ", "x = 1", "```python\n```", "```python\n\n  \n```", "`x = 1`", "````"])
def test_no_program_is_no_program(response: str):
    assert extract_program(response) is None


def test_the_lenient_mode_takes_the_whole_text_where_it_has_no_block():
    assert extract_program("x = 1\n", lenient=True) == "x = 1\n"
    assert extract_program("<think>hm</think>x = 1\n", lenient=True) == "x = 1\n"
    assert extract_program(f"Here:\n{block('x = 1')}", lenient=True) == "x = 1"
    assert extract_program(block("ls", "bash"), lenient=True) is None
    assert extract_program(" \n", lenient=True) is None


@pytest.mark.parametrize("piece", ["`", "~", " ", "```\n", "~~~ ", "\n", "def f", "<think>", "``` python\n", "    \n"])
def test_time_grows_no_faster_than_the_text(piece: str):
    start = time.perf_counter()
    extract_program(piece * 200_000, defines="f")
    assert time.perf_counter() - start < 5
