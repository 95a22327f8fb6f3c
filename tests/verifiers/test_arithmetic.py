import operator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.arithmetic import MAX_DEPTH, MAX_LENGTH, ExpressionError, read_expression


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("2+3*4", 14),
        ("(2+3)*4", 20),
        ("10-4-3", 3),
        ("24/4/2", 3),
        ("8/(3-8/3)", 24),
        ("2*3/4", Fraction(3, 2)),
        ("2 x 3 \u00d7 4", 24),
        ("2 X 3 \u00b7 4 \u22c5 1", 24),
        (r"2 \times 3 \cdot 4 \div 6", 4),
        ("12 \u00f7 4 \u2212 1", 2),
        (r"\frac{1+2}{3} \times 5", 5),
        (r"\dfrac{6}{2}", 3),
        (r"\left(1 + 2\right) \, 3", None),
        (r"\left(1 + 2\right) \, \times 3", 9),
        ("[(1+2)*{3}]", 9),
        ("$1+2$", 3),
        (r"\(1+2\).", 3),
        ("`1+2`", 3),
        ("**1+2**", 3),
        ("1\u00a0+\n2", 3),
    ],
)
def test_arithmetic_is_exact_and_may_be_written_as_people_write_it(text: str, value: object):
    if value is None:
        with pytest.raises(ExpressionError):
            read_expression(text)
    else:
        assert read_expression(text).value == value


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "+",
            "1+",
            "*2",
            "1 2",
            "1(2)",
            "(1)(2)",
            "()",
            "(1",
            "1)",
            "(1]",
            "1 + + 2",
            "2**3",
            "2^3",
            "6//2",
            "3!",
        ),
        *("-1+2", "1+(-2)", "3--2", "+3", "1.5+2", "1,000", "1_0", "2x", "x", "3y", "sqrt(4)", r"\sqrt{4}"),
        *(
            "__import__('os')",
            "1;2",
            "1 if 1 else 2",
            r"\frac12",
            r"\frac{1}",
            r"\timesa",
            "1 or 2",
            "\u0663",
            "\u00bd",
        ),
        *("1/0", "1/(2-2)", r"\frac{1}{0}", "1+1=", "1+1=2=2", "2=1+1", "1+1=2.0", "1+1=x", "1+1=2 or 3", "=2"),
        *("1\x00+1", "\ud800", "1\u200b+1", "10%3", "1e3", "2e", "\\"),
    ],
)
def test_all_else_is_no_expression(text: str):
    with pytest.raises(ExpressionError) as refused:
        read_expression(text)
    assert str(refused.value).isascii()


def test_what_is_used_and_what_is_claimed_are_told():
    read = read_expression("(5 + 5) * 12 / 5 = 24")
    assert (read.value, read.numbers, read.claimed) == (24, (5, 5, 12, 5), 24)
    assert read_expression("3-5 = -2").claimed == -2
    assert read_expression("3-5").claimed is None


def test_length_and_depth_are_bounded():
    deep = "(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH
    assert read_expression(deep).value == 1
    with pytest.raises(ExpressionError, match="levels"):
        read_expression(f"({deep})")
    with pytest.raises(ExpressionError, match="longer"):
        read_expression("1+" * (MAX_LENGTH // 2) + "1")


OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
trees = st.recursive(
    st.integers(0, 99), lambda inner: st.tuples(st.sampled_from("+-*/"), inner, inner), max_leaves=8
)  # fmt: skip


def value_of(tree) -> Fraction:
    if isinstance(tree, int):
        return Fraction(tree)
    return OPERATIONS[tree[0]](value_of(tree[1]), value_of(tree[2]))


def rank(tree) -> int:
    return 2 if isinstance(tree, int) else 0 if tree[0] in "+-" else 1


def written(tree, signs: dict[str, str]) -> str:
    """Write the tree with the parentheses that it needs."""
    if isinstance(tree, int):
        return str(tree)
    sign, left, right = tree
    left_text, right_text = written(left, signs), written(right, signs)
    if rank(left) < rank(tree):
        left_text = f"({left_text})"
    if rank(right) < rank(tree) or (rank(right) == rank(tree) and sign in "-/"):
        right_text = f"({right_text})"
    return f"{left_text}{signs[sign]}{right_text}"


SIGNS = [
    {sign: sign for sign in "+-*/"},
    {"+": " + ", "-": " \u2212 ", "*": r" \times ", "/": r" \div "},
    {"+": "\n+", "-": "-", "*": "x", "/": "\u00f7"},
]


@given(trees, st.sampled_from(SIGNS))
def test_a_random_tree_has_the_value_of_its_definition(tree, signs: dict[str, str]):
    try:
        expected = value_of(tree)
    except ZeroDivisionError:
        with pytest.raises(ExpressionError, match="divides by zero"):
            read_expression(written(tree, signs))
        return
    assert read_expression(written(tree, signs)).value == expected


@given(st.text("0123456789+-*/()= x\\{}", max_size=30))
def test_any_text_is_evaluated_or_refused(text: str):
    try:
        read = read_expression(text)
    except ExpressionError:
        return
    assert len(read.numbers) >= 1
