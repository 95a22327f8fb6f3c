import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.extract import Extraction, UnknownAnswerFormatError, extract_answer


def text(response: str, answer_format: str) -> str | None:
    return extract_answer(response, answer_format).text


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        (r"So \boxed{72}.", "72"),
        (r"$\boxed {72}$", "72"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{1} then \boxed{2}", "2"),
        (r"\boxed{\boxed{5}}", "5"),
        (r"\boxed{ \boxed{ \boxed{5} } }", "5"),
        (r"\boxed{x = \boxed{5}}", r"x = \boxed{5}"),
        (r"\boxed{5} and then \boxed{6", "5"),
        (r"\boxed{a { \boxed{5}", "5"),
        (r"} } \boxed{5} {", "5"),
        (r"\boxed{a \\ b}", r"a \\ b"),
        (r"\\boxed{5}", "5"),
        ("\\boxed{\n5\n}", "5"),
        (r"\boxed{5", None),
        (r"boxed{5}", None),
        (r"\boxed{5} \boxed{}", None),
        (r"\boxed{ }", None),
        ("the answer is 72", None),
        ("", None),
    ],
)
def test_boxed_takes_the_last_balanced_box(response: str, answer: str | None):
    assert text(response, "boxed") == answer


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("It is\n#### 72", "72"),
        ("It is\n####72 \nDone.", "72"),
        ("#### 1\n#### 2", "2"),
        ("#### 1 #### 2", "2"),
        ("#### 72 ####", "72"),
        ("#### 72\r\n", "72"),
        ("####\n72", None),
        ("### 72", None),
        ("72", None),
    ],
)
def test_a_marker_is_followed_by_the_answer_on_its_line(response: str, answer: str | None):
    assert text(response, "marker:####") == answer


def test_a_marker_can_be_any_text():
    assert text("7+5=12 4+8+1=13 #132", "marker:#") == "132"
    assert text("Answer: 3", "marker:Answer:") == "3"


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("<answer>72</answer>", "72"),
        ("<answer>\n 7 \n</answer> bye", "7"),
        ("<answer>1</answer><answer>2</answer>", "2"),
        ("<answer><answer>5</answer>", "5"),
        ("<answer>1</answer> <answer>2", "1"),
        ("</answer><answer>", None),
        ("<answer>1</answer><answer> </answer>", None),
        ("<Answer>1</Answer>", None),
    ],
)
def test_a_tag_holds_the_answer(response: str, answer: str | None):
    assert text(response, "tag:answer") == answer


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("first 3, then 72.", "72"),
        ("72, in total,", "72"),
        ("5-3 = 2", "2"),
        ("it falls to -3", "-3"),
        ("10-12", "12"),
        ("it costs $1,234.50.", "$1,234.50"),
        ("the share is 3/4", "3/4"),
        (r"so \frac{3}{4}", r"\frac{3}{4}"),
        ("that is 28% of it", "28%"),
        ("about 2.5e6 of them", "2.5e6"),
        (r"2.5 \times 10^{6} of them", "2.5 \u00d7 10^{6}"),
        ("3 million people", "3 million"),
        ("**72**", "72"),
        (r"$x_1$ is \(72\)", "72"),
        ("72 apples for x_1 and file5", "72"),
        ("the list 1,2,3", "1,2,3"),
        ("\u7b54\u6848\u662f72\u3002", "72"),
        ("no digits", None),
        ("", None),
    ],
)
def test_last_number_takes_the_last_number_anywhere(response: str, answer: str | None):
    assert text(response, "last_number") == answer


@pytest.mark.parametrize(
    ("answer_format", "written"),
    [
        ("boxed", r"\boxed{%s}"),
        ("marker:####", "#### %s\n"),
        ("tag:answer", "<answer>%s</answer>"),
        ("last_number", "%s "),
    ],
)
@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("<think>{1}</think>{2}", "2"),
        ("{1}</think>{2}", "2"),
        ("<think>{1}</think>", None),
        ("<think>{1}", None),
        ("<think>{1}</think>{2}<think>{3}", "2"),
        ("<think>{1}</think>{2}</think>{3}", "3"),
    ],
)
def test_thinking_is_no_answer(answer_format: str, written: str, response: str, answer: str | None):
    for number in "123":
        response = response.replace("{" + number + "}", written % number)
    assert text(response, answer_format) == answer


@pytest.mark.parametrize(
    ("response", "answer_format", "hedged"),
    [
        (r"\boxed{5} or \boxed{7}", "boxed", True),
        (r"\boxed{5} so \boxed{ 5 }", "boxed", False),
        ("#### 5\n#### 7", "marker:####", True),
        ("#### 5 #### 7", "marker:####", True),
        ("#### 5\nagain\n####  5", "marker:####", False),
        ("<answer>5</answer><answer>7</answer>", "tag:answer", True),
        ("5 or 7", "last_number", False),
        ("nothing", "boxed", False),
    ],
)
def test_several_different_answers_are_hedging(response: str, answer_format: str, hedged: bool):
    assert extract_answer(response, answer_format).hedged is hedged


def test_rivals_are_kept_once_each():
    assert extract_answer("#### 1\n#### 1 \n#### 2\n#### 3", "marker:####") == Extraction("3", ("1", "2"))


@pytest.mark.parametrize(
    "answer_format", ["", "box", "marker:", "marker: ", "tag:", "tag:a b", "tag:<x>", "boxed:x", "last"]
)
def test_an_unknown_format_is_refused(answer_format: str):
    with pytest.raises(UnknownAnswerFormatError, match="last_number"):
        extract_answer("5", answer_format)


@given(st.integers(1, 10_000))
def test_a_box_is_found_at_any_depth_of_braces(depth: int):
    inside = "{" * depth + "5" + "}" * depth
    assert text(rf"\boxed{{{inside}}}", "boxed") == inside


pieces = st.lists(st.sampled_from(["a", "7", " ", "\\\\", "\\{", "\\}", "\\frac"]), max_size=5).map("".join)
balanced = st.recursive(
    pieces,
    lambda inner: st.tuples(pieces, inner, pieces).map(lambda parts: f"{parts[0]}{{{parts[1]}}}{parts[2]}"),
    max_leaves=5,
)
noise = st.lists(st.sampled_from(["{", "}", "\\", "a ", "\n", "\\boxe"]), max_size=10).map("".join)


@given(noise, balanced, noise)
def test_balanced_contents_are_found_among_stray_braces(before: str, inside: str, after: str):
    assert text(f"{before}\\boxed{{{inside}}}{after}", "boxed") == (inside.strip() or None)
