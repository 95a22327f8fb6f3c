"""Where a free-form response puts its answer."""

import json
import re
import time
from pathlib import Path
from unicodedata import decimal, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shared_data import shared_file

from verifiers.extract import Extraction, extract_answer
from verifiers.lenient import find_answer, spans
from verifiers.lenient.boxes import MAX_BOXES

LENGTH = 100_000


def text(response: str) -> str | None:
    found = find_answer(response)
    assert not found.rivals, found
    return found.text


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("<think>it is 3</think> It is 5.", "5"),
        ("it is 3 </think> It is 5.", "5"),
        ("<thinking>\\boxed{3}</thinking>\\boxed{5}", "5"),
        ("<reasoning>3</reasoning><answer>5</answer>", "5"),
        ("<think>a</think> \\boxed{3} <think>b</think> \\boxed{5}", "5"),
        ("<|begin_of_thought|>3<|end_of_thought|> <|begin_of_solution|>5<|end_of_solution|>", "5"),
        ("5 <think> or is it 6", "5"),
        ("<think>\\boxed{3} and on", None),
        ("<think>\\boxed{3}</think>", None),
        ("<!-- \\boxed{3} --> \\boxed{5}", "5"),
        ("<!-- \\boxed{3}", None),
    ],
)
def test_only_what_is_said_aloud_counts(response: str, answer: str | None):
    assert text(response) == answer


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        (r"So \boxed{5}.", "5"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\fbox{5}", "5"),
        (r"$\boxed {5}$", "5"),
        (r"so \boxed 5 it is", "5"),
        (r"$\boxed5$", "5"),
        (r"$\boxed\frac12$", r"\frac12"),
        (r"boxed{5}", "5"),
        ("\boxed{5}", "5"),
        ("\\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"$\\boxed{\\frac{1}{2}}$", r"\frac{1}{2}"),
        (r"a \\\boxed{5}", "5"),
        (r"\boxed{\boxed{5}}", "5"),
        (r"\boxed{\fbox{5}}", "5"),
        (r"\boxed{$5$}", "5"),
        (r"\boxed{x = \boxed{5}}", "x = {5}"),
        (r"\boxed{10,\\!080}", r"10,\!080"),
        (r"\boxed{\\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\\{1\\pm\\sqrt5\\}}", r"\{1\pm\sqrt5\}"),
        (r"\boxed{\\begin{pmatrix}1\\\\2\\end{pmatrix}}", r"\begin{pmatrix}1\\2\end{pmatrix}"),
        (r"\boxed{\begin{pmatrix}1\\2\end{pmatrix}}", r"\begin{pmatrix}1\\2\end{pmatrix}"),
        (r"\boxed{1\\2}", r"1\\2"),
        (r"\\[ x = \\boxed{5} \\]", "5"),
        ("Hence \\boxed{5", "5"),
        ("Hence $\\boxed{5$.\nThe end {.", "5"),
        (r"Hence \boxed{\frac{3}{4}", r"\frac{3}{4}"),
        (r"Hence \boxed{(1,2).", "(1,2)"),
        (r"$\boxed{28}\%$", r"28\%"),
        (r"$\boxed{90}^\circ$", r"90^\circ"),
        (r"$x = -\boxed{5}$", "-5"),
        (r"Use \boxed notation. So \boxed{5}", "5"),
        (r"Put it into \boxed{}. So \boxed{5}", "5"),
        (r"\boxed{\phantom{5}}", None),
        (r"\boxed{\quad}", None),
        (r"\boxed{?}", None),
        (r"It is 5: \boxed{}", None),
    ],
)
def test_boxes_are_read_however_they_are_written(response: str, answer: str | None):
    assert text(response) == answer


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        (r"$\boxed{4}$ and $\boxed{9}$", "4, 9"),
        (r"\boxed{4}, \boxed{9} or \boxed{4}", "4, 9"),
        (r"Either $\boxed{4}$ or $\boxed{9}$.", "4, 9"),
        (r"\boxed{x = 4} \text{ and } \boxed{y = 9}", "x = 4, y = 9"),
        (r"$x = \boxed{4}$, $y = \boxed{9}$", "x = 4, y = 9"),
        (r"x &= \boxed{4} \\ y &= \boxed{9}", "x = 4, y = 9"),
        (r"\boxed{(1,2)} and \boxed{(2,1)}", "(1,2), (2,1)"),
    ],
)
def test_boxes_with_nothing_but_conjunctions_in_between_are_one_answer(response: str, answer: str):
    assert text(response) == answer


@pytest.mark.parametrize(
    ("formula", "answer"),
    [
        (r"2\boxed{5}", "25"),
        (r"x\boxed{5}", "x{5}"),
        (r"\boxed{5}\cdot 2", r"5\cdot 2"),
        (r"1 + \boxed{5}", "1 + 5"),
        (r"\boxed{5}/6", "5/6"),
        (r"\boxed{5}^2", "5^2"),
        (r"\boxed{5}!", "5!"),
        (r"\boxed{5}\pi", r"5\pi"),
        (r"\boxed{5}\sqrt{2}", r"5\sqrt{2}"),
        (r"\boxed{5}x", "5x"),
        (r"\boxed{5},000", "5,000"),
        (r"\boxed{5}, 6", "5, 6"),
        (r"\sqrt{\boxed{5}}", r"\sqrt{5}"),
        (r"\sqrt{(\boxed{5})}", r"\sqrt{(5)}"),
        (r"\frac{\boxed5}{6}", r"\frac{5}{6}"),
        (r"\frac{6}{\boxed{5}}", r"\frac{6}{5}"),
        (r"2^{\boxed{5}}", "2^{5}"),
        (r"2^\boxed{5}", "2^{5}"),
        (r"\sin(\boxed{5})", r"\sin(5)"),
        (r"(\boxed{5}, 6)", "(5, 6)"),
        (r"\{\boxed{5}, 6\}", r"\{5, 6\}"),
        (r"|\boxed{-5}|", "|{-5}|"),
        (r"x > \boxed{5}", "x > 5"),
        (r"\boxed{5} \le x", r"5 \le x"),
        (r"\boxed{5} = 6", "5 = 6"),
        (r"- \frac{1}{2} \boxed{5}", r"- \frac{1}{2} 5"),
        (r"\boxed{5} \text{ or } 6", r"5 \text{ or } 6"),
        (r"\boxed{5}\cdot\boxed{5}", r"{5}\cdot{5}"),
        (r"\begin{pmatrix}\boxed{5}\\6\end{pmatrix}", r"\begin{pmatrix}5\\6\end{pmatrix}"),
    ],
)
def test_what_is_glued_to_a_box_is_a_part_of_the_answer(formula: str, answer: str):
    for written in (f"${formula}$", f"\\[ {formula} \\]", f"So it is ${formula}$."):
        assert "".join((find_answer(written).text or "").split()) == "".join(answer.split())
    assert find_answer(formula).text != "5"


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        (r"V = 5\cdot 6\cdot 4 = \boxed{120}", "120"),
        ("\\begin{align*}\nx &= 2\\cdot 60 \\\\\n&= \\boxed{120}.\n\\end{align*}", "120"),
        (r"$\implies x \equiv \boxed{5}$", "5"),
        (r"$\therefore\ \boxed{5}$", "5"),
        (r"$\text{So } \boxed{5}\text{ cm}^2$", "5"),
        (r"${\Large \mathbf{\boxed{5}}}$", "5"),
        (r"$\color{red}{\boxed{5}}$", "5"),
        (r"$\left(\boxed{5}\right)$", "5"),
        (r"$$\boxed{5}\tag{1}$$", "5"),
        (r"$\boxed{5} \quad \blacksquare$", "5"),
        (r"$\boxed{\sqrt{2}} \approx 1.414$", r"\sqrt{2}"),
        (r"$\boxed{5}$ million", "5 million"),
        (r"\boxed{5} \text{ dozen}", "5 dozen"),
        (r"-$\boxed{5}$", "-5"),
        (r"$-\boxed{2 + 3}$", "-{2 + 3}"),
        (r"\$\boxed{5}", "5"),
        (r"**\boxed{5}**", "5"),
        (r"<b>\boxed{5}</b>", "5"),
        (r"| sum | \boxed{5} |", "5"),
        (r"- \boxed{5}", "5"),
        (r"1. \boxed{5}", "5"),
        (r"Step 2 - \boxed{5}", "5"),
        (r"Great, it is \boxed{5}!", "5"),
        (r"It is \boxed{5} - a prime", "5"),
        ("\\boxed{5}\x00", "5"),
    ],
)
def test_what_only_stands_beside_a_box_is_no_part_of_the_answer(response: str, answer: str):
    assert text(response) == answer


@pytest.mark.parametrize(
    "response",
    [
        r"$\boxed{5}$/6",
        r"It is 2$\boxed{5}$",
        r"It is 3 - \boxed{5}.",
        r"Hence x > \boxed{5}.",
        r"It is half of \boxed{5}",
        r"It is twice $\boxed{5}$",
        r"It is at least \boxed{5}",
        "$" + "1 + " * 1000 + r"\boxed{5}$",
    ],
)
def test_a_factor_among_words_changes_the_answer_too(response: str):
    assert find_answer(response).text != "5"


@pytest.mark.parametrize(
    "response",
    [
        r"Put your answer in \boxed{}. e.g. \boxed{5}",
        r"Your final answer should be given as \boxed{5}",
        r"For example, $\boxed{5}$.",
        r"I write it like this: \boxed{5}",
        r"`\boxed{5}` is the required format. I get 6",
        r"`\boxed{5}` (format)",
        "% \\boxed{5}",
        "It is 6. % \\boxed{5}",
        r"I doubt that it is \boxed{5}",
        r"I don't think it's \boxed{5}",
        r"It cannot be \boxed{5}",
        r"It is not equal to $\boxed{5}$",
        r"\boxed{5} isn't right",
        r"\boxed{5} cannot be right",
    ],
)
def test_a_box_that_only_shows_the_format_or_is_denied_is_no_answer(response: str):
    assert text(response) is None


@pytest.mark.parametrize(
    "response",
    [
        r"\boxed{4}. That is wrong, so \boxed{9}.",
        r"\boxed{4}; wait, actually \boxed{9}.",
        r"First try: \boxed{4}. Then \boxed{9}.",
        r"$a=\boxed{4}$. Finally, $\boxed{9}$.",
        r"We see \boxed{4}, and the answer is \boxed{9}.",
        "(a) \\boxed{4}\n(b) \\boxed{9}",
        r"\boxed{4} is impossible. It is \boxed{9}.",
        r"\boxed{4}? No. \boxed{9}",
        r"It is not \boxed{4} but \boxed{9}.",
        r"\boxed{9}, not \boxed{4}.",
        r"$\cancel{\boxed{4}}$ $\boxed{9}$",
        r"Ground truth: \boxed{4}. Mine: \boxed{9}",
        r"The problem says \boxed{4}, I say \boxed{9}.",
        r"\boxed{9} (expected answer: \boxed{4})",
        "\\boxed{4}\n\nThe final answer is $9$.",
        r"\boxed{4}. Wait, I forgot one: it is 9.",
        r"Ground truth: \boxed{4}. The answer is 9.",
    ],
)
def test_boxes_that_are_taken_back_or_not_its_own_do_not_count(response: str):
    assert text(response) == "9"


@pytest.mark.parametrize(
    ("response", "rivals"),
    [
        (r"\boxed{4}. This gives \boxed{9}.", ("4",)),
        (r"\boxed{4}. Alternatively, \boxed{9}.", ("4",)),
        (r"\boxed{4}, or possibly \boxed{9}", ("4",)),
        (r"\boxed{4} / \boxed{9}", ("4",)),
        (r"The answer is \boxed{4}. The answer is \boxed{9}.", ("4",)),
        (r"Final answer: \boxed{4}. Final answer: \boxed{9}", ("4",)),
        (r"\boxed{9}, or maybe 4.", ("4",)),
        (r"\boxed{9}. The answer is 4.", ("4",)),
        (r"\boxed{1, 4} or \boxed{9}", ("1, 4",)),
        ("The answer is 4. The answer is 9.", ("4",)),
        ("The answer is 9. Or maybe 4.", ("4",)),
        ("Final answer: 4\nAnswer: 9", ("4",)),
        ("<answer>4</answer> <answer>9</answer>", ("4",)),
        ("#### 4\n#### 9", ("4",)),
        ("The answer is 9, though it could be 4", ("4",)),
        ("The answer is 9. On the other hand, it may be 4.", ("4",)),
        ("The answer is 9, although 4 is also possible.", ("4",)),
        ("The answer is 9 because 3*3 = 9, or 4 because 2+2 = 4.", ("4",)),
        ("9 because of this, or 4 because of that", ("4",)),
        (r"\boxed{9}, though it could be 4", ("4",)),
    ],
)
def test_answers_that_are_not_taken_back_are_rivals(response: str, rivals: tuple[str, ...]):
    assert find_answer(response) == Extraction("9", rivals)


@pytest.mark.parametrize(
    "response",
    [
        "We know that the answer cannot be 5.",
        "The answer should not be 5",
        "The answer can't be 5",
        "The answer won\u2019t be 5",
        "The answer isn't 5.",
        "The answer is never 5",
        "The answer is not",
        "The answer used to be 5",
        "It cannot be 5.",
        "I doubt that the answer is 5",
        "I don't think the answer is 5",
        "It is not the case that the answer is 5",
        "No way the answer is 5",
        "5 is not the answer",
        "La respuesta no es 5",
        "\u7b54\u6848\u4e0d\u662f5",
        "I could not determine the answer. 5",
        "There are 5 options. I cannot solve it.",
        "I don't know. 5",
        "I'm not sure, 5",
        "No idea. 5",
        "I get 5. That is not right.",
    ],
)
def test_a_denied_value_is_no_answer(response: str):
    found = find_answer(response)
    assert found.text is None or "5" not in re.findall(r"\S+", found.text), found


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("The answer is 6? No, 5.", "5"),
        ("The answer cannot be 4, so it is 5.", "5"),
        ("I don't think it is 4, so the answer is 5.", "5"),
        ("4 is impossible, so the answer is 5.", "5"),
        ("The answer is 5, since it could not be 6.", "5"),
        ("42 \u00e9 a resposta", "42"),
        ("42 est la r\u00e9ponse", "42"),
        ("Evelyn is the fastest.", "Evelyn"),
    ],
)
def test_a_denial_of_something_else_does_not_deny_the_answer(response: str, answer: str):
    assert text(response) == answer


def test_what_is_longer_than_any_answer_is_none():
    long = "1 + " * 10_000
    assert find_answer(f"\\boxed{{{long}1}}") == Extraction(None)
    assert find_answer(f"\\boxed{{{long}1}}. This gives \\boxed{{9}}.").rivals


def test_hundreds_of_discarded_boxes_do_not_stand_against_the_last():
    tries = "".join(f"Try $\\boxed{{{number}}}$: fails.\n" for number in range(10, 10 + MAX_BOXES - 1))
    assert text(tries + r"Hence $\boxed{9}$.") == "9"


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("<answer>5</answer> bye", "5"),
        ("<Answer>The answer is $5$.</Answer>", "5"),
        ("<answer>5", "5"),
        ("so\n#### 5 cm\nbye", "5 cm"),
        ("#### Step 2\nIt is 5.", "5"),
        ("#### 1. Add the numbers\nIt is 5.", "5"),
        ("#### Yes", "Yes"),
        ("####", None),
    ],
)
def test_tags_and_markers_hold_the_answer(response: str, answer: str | None):
    assert text(response) == answer


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("I think the answer is 5.", "5"),
        ("The correct answer, then, is therefore 5.", "5"),
        ("The answer to part (b) is 5", "5"),
        ("ANSWER = 5", "5"),
        ("**Answer:** 5.", "5"),
        ("**Answer**: **5**", "5"),
        ("__Answer:__ 5", "5"),
        ("### Final Answer\n\n**5**", "5"),
        ("## Answer\nThe area is $5$.", "5"),
        ("Thus the answer is\n$$\n5\n$$", "5"),
        ("The answer is as follows:\n\\[ 5 \\]", "5"),
        (r"\textbf{Answer: } 5", "5"),
        ("The correct choice is (B).", "(B)"),
        ("Option C is correct.", "C"),
        ("So 5 is the answer.", "5"),
        ("The answer is not 4. The answer is 5.", "5"),
        ("The answer is not 4 but 5.", "5"),
        ("Is the answer 4? If the answer is 4, no. The answer is 5.", "5"),
        ("Maybe the answer is 4. Yet the answer is 5.", "5"),
        ("The answer is 4. Oops, that is wrong. The answer is 5.", "5"),
        ("The answer is 4. Wait, no, it is 5.", "5"),
        ("The answer is 4. No wait, 5.", "5"),
        ("The answer is 4. Hmm, no wait, it is 5.", "5"),
        ("The answer is 4. Actually, 5.", "5"),
        ("The answer is 4. No further work is needed.", "4"),
        ("The previous answer was 4. The answer is 5.", "5"),
        ("Answer: 4. Final answer: 5", "5"),
        ("The answer is 5. This answer is correct.", "5"),
        ("R\u00e9ponse : 5", "5"),
        ("La respuesta es 5.", "5"),
        ("Die Antwort lautet 5.", "5"),
        ("\u041e\u0442\u0432\u0435\u0442: 5", "5"),
        ("\u6240\u4ee5\u7b54\u6848\u662f $5$\u3002", "5"),
        ("\u7b54\u6848\uff1a5", "5"),
        ("\u7b54\u3048\u306f5\u3067\u3059\u3002", "5"),
        ("\uc815\ub2f5\uc740 5\uc785\ub2c8\ub2e4.", "5"),
        ("\u0627\u0644\u062c\u0648\u0627\u0628 \u0647\u0648 5", "5"),
        ("\u0905\u0902\u0924\u093f\u092e \u0909\u0924\u094d\u0924\u0930 5 \u0939\u0948\u0964", "5"),
    ],
)
def test_an_announced_answer_is_found(response: str, answer: str):
    assert text(response) == answer
    assert text("We compare the cases one by one. " * 200 + "\n" + response) == answer


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("1,234.5, which is a lot.", "1,234.5"),
        ("5 because 2 + 3 = 5; note that 9 is impossible.", "5"),
        ("72, in total, so that is it.", "72"),
        ("$8$, not $9$.", "8"),
        ("$8$ or $9$.", "$8$ or $9$"),
        ("8, 9 and 10.", "8, 9 and 10"),
        ("8, and the other one is 9", "8, and the other one is 9"),
        ("8 (if odd) and 9 (if even)", "8 (if odd) and 9 (if even)"),
        ("8 (or 9)", "8 (or 9)"),
        ("8 cm (rounded)", "8 cm"),
        ("8 ways to do this.", "8 ways"),
        ("8 apples in the basket.", "8 apples"),
        ("8 in the first case and 9 in the other.", "8 in the first case and 9"),
        ("the sum of 3 and 5, which is 8.", "8"),
        ("3 (mod 7).", "3 (mod 7)"),
        ("(3, 4), as required", "(3, 4)"),
        ("]0, 5[.", "]0, 5["),
        ("[0, 5).", "[0, 5)"),
        (r"$x \in (0, 5]$. Done", r"x \in (0, 5]"),
        (r"\{1, 2\}.", r"\{1, 2\}"),
        ("$25$ %", "$25$ %"),
        ("$5. The change is $6.", "$5"),
        ("3 ft. 4 in. Good", "3 ft. 4 in"),
        ("7:45 a.m. Good", "7:45 a.m."),
        ("6!.", "6!"),
        ("10**10", "10**10"),
        ("x = 1\nor\nx = 2\nbye", "x = 1\nor\nx = 2"),
        ("\n- 3\n- 4\n", "3, 4"),
        ("\n1. 3\n2. 4\n", "3, 4"),
        ("\n- 3\n", "- 3"),
        ("5\u3002\u597d", "5"),
        ("option C.", "C"),
        ("approximately 5.", "approximately 5"),
        ("about 5.", "about 5"),
        ("5 or so.", "5 or so"),
        ("> 5.", "> 5"),
        ("yes, they meet.", "yes"),
        ('"Tuesday".', "Tuesday"),
        ("(unclosed 5. More", "(unclosed 5"),
    ],
)
def test_the_answer_is_cut_from_its_sentence_but_never_a_part_of_it(said: str, answer: str):
    assert text(f"The answer is {said}") == answer


def test_an_answer_without_end_is_none():
    assert text("The answer is " + "1 + " * 2000) is None


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("5", "5"),
        ("7,425,000", "7,425,000"),
        ("$x=5$", "x=5"),
        ("No solution", "No solution"),
        ("(B) 17", "(B) 17"),
        ("So $a=2$ and $b=3$, thus $a+b=5$.", "a+b=5"),
        ("The line is 3x + y - 1 = 0", "3x + y - 1 = 0"),
        ("She pays 5 euros in the end.", "5 euros"),
        ("Total cost = 3 + 2 = 5", "3 + 2 = 5"),
        ("That leaves us with **5**", "5"),
        ("Nobody is faster, so it must be Evelyn.", "Evelyn"),
        ("There are 5 cubes, namely:\n1. red (2)\n2. blue (3)", "5 cubes"),
        ("x = 5.\nCheck: 2*5 = 10", "x = 5"),
        ("It is 5. I hope this helps!", "5"),
        ("```\nprint(2)\n```\nOutput: 5", "5"),
        ("The area is 12 and the perimeter is 14.", "area is 12 and the perimeter is 14"),
        ("The code word is A5B2.", "A5B2"),
        ("There is no answer.", None),
        ("I am done.", None),
        ("Not sure.", None),
        ("Let me solve this step by step.", None),
        ("Thought process:", None),
        (":", None),
        ("", None),
    ],
)
def test_a_short_response_without_announcement_says_what_its_last_statement_says(response: str, answer: str | None):
    assert text(response) == answer


def test_a_long_response_without_announcement_was_cut_off():
    assert text("So it is 5. " * 400) is None


def test_lenient_is_an_answer_format():
    assert extract_answer("The answer is 5.", "lenient") == Extraction("5")


def loose(written: str) -> str:
    written = "".join(str(decimal(character, character)) for character in normalize("NFKC", written))
    return re.sub(r"[\W_]|left|right|text|boxed", "", written.lower())


def test_the_labelled_cases_hold_their_gold_answer():
    path = Path(shared_file("cases/math_public.jsonl"))
    kinds = {"extraction", "multi_box", "think_tags", "unbalanced", "locale", "long_output"}
    with path.open(encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["kind"] in kinds and row["correct"]]
    rows = [row for row in rows if not row.get("debatable")]
    missed = [row["id"] for row in rows if loose(row["gold"]) not in loose(find_answer(row["response"]).text or "")]
    assert len(rows) > 40
    assert len(missed) <= 0.03 * len(rows), missed


PIECES = [
    *(
        "2\\boxed{1}",
        "\\boxed{1}^2",
        "{\\boxed{1}",
        "\\boxed{}",
        "\\boxed{(",
        "$\\boxed{1}$ ",
        "(\\boxed{1})",
        "% ",
        "not ",
    ),
    *("answer ", "answer is ", "The answer is 5. ", "answer is (", "final answer: $", "5 is the answer. ", "answer\n"),
    *("\\boxed{", "\\boxed{1}", "\\boxed{1} or ", "\\boxed 1 ", "\boxed{", "\\boxed{$", "}", "{", "\\", "\\\\"),
    *(
        "<think>",
        "</think>",
        "<answer>",
        "</answer>",
        "<answer>1",
        "<",
        "<!--",
        "-->",
        "<|",
        "#### 1\n",
        "#### 1 ",
        "#",
    ),
    *(" [ ", "(", ")", "$", "$$", "$1 ", "\\( ", "\\)", "\\[", "**", "*", "_", "`", "'", '"', ":", ": ", "=", "- 1\n"),
    *("1", "1 ", "1. ", ".", ". A", ",", ", so ", " (a", "!", "?", "\n", " ", "\t", "is ", "or ", "wait ", "\\hspace{"),
    *("\x00", "\ud800", "\u0130", "\u7b54\u6848\u662f", "\u3002", "\u0663", "\u221e", "\\begin{a}", "\\frac{1", "a"),
]


@pytest.mark.parametrize("piece", PIECES)
def test_no_repeated_piece_takes_long(piece: str):
    response = (piece * LENGTH)[:LENGTH]
    for whole in (response, f"The answer is {response}", f"\\boxed{{{response}}} {response}"):
        start = time.process_time()
        find_answer(whole)
        assert time.process_time() - start < 2.0


@pytest.mark.parametrize("piece", PIECES)
def test_no_part_of_a_response_is_cut_more_than_a_few_times(piece: str, monkeypatch: pytest.MonkeyPatch):
    cut = 0
    stop = spans._stop

    def counting(text: str, start: int, end: int) -> int:
        nonlocal cut
        cut += end - start
        return stop(text, start, end)

    monkeypatch.setattr(spans, "_stop", counting)
    length = 30_000
    find_answer((piece * length)[:length])
    assert cut <= 2 * length


anything = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=20)
mixed = st.lists(st.sampled_from(PIECES) | anything, max_size=12).map("".join)


@given(mixed)
def test_any_text_gives_an_answer_without_blanks_around_it_or_none(response: str):
    found = find_answer(response)
    for answer in (found.text, *found.rivals):
        assert answer is None or answer == answer.strip() != ""
    assert found.text is not None or not found.rivals
    assert len(set(found.rivals) | {found.text}) == len(found.rivals) + 1


@given(mixed)
def test_nothing_in_the_reasoning_makes_an_answer(response: str):
    assert find_answer(f"{response}</think> Not sure.").text is None
