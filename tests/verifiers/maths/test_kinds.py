"""What counts as the same answer and what does not, kind by kind: gold answer, right answers, wrong ones."""

import pytest

from verifiers.maths.deciding import decide_all, read_gold
from verifiers.maths.full_numerics import FullNumerics
from verifiers.maths.policy import Policy

FULL, POLICY = FullNumerics(), Policy()
CASES = {
    "complex": [
        (
            "2-5i",
            ["-5i+2", r"2-5\mathrm{i}", r"\frac{4-10i}{2}", "2 + (-5)i", "-i(5+2i)"],
            ["2+5i", "5-2i", "2-5", "2"],
        ),
        ("-4", ["(1+i)^4", "4i^2", r"4e^{i\pi}", r"(2i)^2"], ["4i", "(1-i)^2"]),
        (r"\frac{1}{2-i}", [r"\frac{2+i}{5}", "0.4+0.2i"], [r"\frac{2-i}{5}", r"\frac{2+i}{3}"]),
        (r"3\operatorname{cis} 90^\circ", ["3i", r"3e^{i\pi/2}"], ["3", "-3i"]),
    ],
    "repeating decimals": [
        (
            r"0.\overline{27}",
            [r"\frac{3}{11}", "0.(27)", r"0.2\overline{72}", r"0.\dot{2}\dot{7}", "0.272727..."],
            ["0.27", "27/100", "0.2727"],
        ),
        (r"\frac{7}{6}", [r"1.1\overline{6}", r"1.1\bar{6}", "1.16666..."], [r"1.\overline{16}", "1.16", "1.167"]),
        ("1", [r"0.\overline{9}", "0.(9)"], ["0.9", "0.999", "0.99999999"]),
    ],
    "unicode": [
        (
            r"x^2-\sqrt{3}",
            ["x\u00b2 \u2212 \u221a3", "x\u00b2\u2013\u221a{3}"],
            ["x2 \u2212 \u221a3", "x\u00b3 \u2212 \u221a3"],
        ),
        (r"\frac{3}{4}", ["\u00be", "3\u20444", "\uff13/\uff14", "3\u00f74"], ["\u00bc", "34"]),
        (r"2\pi", ["2\u03c0", "\u03c0\u00d72", "\u03c0\u00b72"], ["\u03c0\u00b2", "2\u03c1"]),
        ("35", ["\u0663\u0665", "3\u200b5", "\uff13\uff15"], ["3\u202e5", "\u0665\u0663"]),
        (r"x \ge 4", ["x \u2265 4", "x\u2a7e4", "4 \u2264 x", "x \u2208 [4, \u221e)"], ["x \u2264 4", "x > 4"]),
    ],
    "locale": [
        (
            "1234567",
            ["1,234,567", r"1{,}234{,}567", "1.234.567", "1 234 567", r"1\,234\,567", "1'234'567", "12,34,567"],
            ["1,234", "1.234567", "1,2,3,4,5,6,7"],
        ),
        ("2.75", ["2,75"], ["275", "2,57", "2,750", "2, 75", "2.75.0"]),
        ("1234.5", ["1,234.5", "1.234,5", "1 234,5"], ["1,234,5", "12345"]),
        ("3, 75", ["75, 3", "3 and 75"], ["3.75", "375", "3,75,1"]),
    ],
    "unbalanced": [
        (
            r"\frac{5}{8}",
            [r"\frac{5}{8", r"\frac58", r"{\frac{5}{8}}"],
            [r"\frac{5}{", r"\frac{5}8}", r"\frac{58}", r"\frac{5"],
        ),
        ("(2, 7)", [r"\left(2, 7\right"], ["2, 7)", "(2,", "[2, 7"]),
        (r"\sqrt{11}", [r"\sqrt{11", r"\sqrt(11)", r"\sqrt{(11)}"], [r"\sqrt", r"\sqrt{", r"\sqrt{1}1"]),
    ],
    "mixed numbers": [
        (
            r"3\frac{2}{5}",
            ["17/5", "3.4", "3 2/5", r"3 \tfrac25", "3\u2156"],
            [r"\frac{6}{5}", "32/5", "3 + 2", r"3 \cdot \frac25"],
        ),
        (r"-1\frac{3}{4}", ["-7/4", "-1.75", "-1 3/4", r"-(1+\frac34)"], [r"-\frac14", "-13/4", "7/4"]),
        ("11/4", ["2 3/4"], ["1 1/4", "11 4"]),
    ],
    "choices": [
        (
            "C",
            ["(C)", "c", "C.", "C) 17", r"\text{C}", r"\textbf{(C)}", "option C", "(C) 17"],
            ["D", "A or C", "(A), (C)", "not C", "CC", "ABCD", "A C", "E. C"],
        ),
        ("(B) 12", ["B", "12", "(b)", "B. 12"], ["C", "C. 12", "12 or 13", "A"]),
        ("A, D", ["D, A", "A and D"], ["A", "A, B, D", "B, D"]),
    ],
    "text": [
        (
            r"\text{north}",
            ["North", r"\text{ north }", "the north", "NORTH."],
            ["thorn", "northeast", "not north", "south or north", "n"],
        ),
        ("yes", ["Yes.", r"\text{Yes}", "Yes, it does"], ["no", "yes and no", "not yes", "yes, no"]),
        ("False", ["false", r"\text{False}"], ["true", "not false", "F or T"]),
        ("undefined", [r"\text{Undefined}"], ["0", r"\infty", "defined"]),
        ("odd", ["Odd"], ["even", "not odd", "do d"]),
    ],
    "functions": [
        (
            "f(x) = 3x - 1",
            ["f(t) = 3t - 1", "y = 3x - 1", "3x-1", "-1 + 3x"],
            ["f(x) = 3x + 1", "g(y) = 3x - 1", "f(x) = f(x)", "x = 3y - 1"],
        ),
        (
            r"2\sin x\cos x",
            [r"\sin 2x", r"\sin(2x)", r"\cos x \cdot 2 \sin(x)"],
            [r"\sin x^2", r"2 \sin x", r"\sin^2 x"],
        ),
        (r"\ln 12", [r"\ln 3 + 2\ln 2", r"\log_e 12"], [r"\ln 3 \cdot \ln 4", r"\log 12", "12"]),
        (r"\log_4 64", ["3", r"\frac{\ln 64}{\ln 4}"], [r"\log_6 44", "4"]),
        (r"|x-2|", [r"\sqrt{(x-2)^2}", r"\lvert 2-x\rvert", r"\left|x-2\right|"], ["x-2", "|x|-2"]),
        (r"\tan^{-1} x", [r"\arctan x"], [r"\frac{1}{\tan x}", r"\cot x"]),
        (r"\frac{x^2-9}{x-3}", ["x+3"], ["x-3", "x^2-9"]),
        ("2^{n+1}-2", [r"2(2^n-1)", r"\sum_{k=1}^{n} 2^k"], ["2^{n}-2", "2n", "2^{n-1}-2"]),
    ],
    "modular": [
        (
            r"4 \pmod 9",
            [r"x \equiv 4 \pmod{9}", r"13 \pmod 9", r"-5 \bmod 9", "4 mod 9", "4"],
            [r"4 \pmod 7", r"5 \pmod 9", "13"],
        ),
        (
            r"n \equiv 2 \pmod 3",
            [r"n \equiv 5 \pmod{3}", r"2 \pmod 3"],
            [r"n \equiv 2 \pmod{6}", r"n \equiv 1 \pmod 3"],
        ),
    ],
    "piecewise": [
        (
            r"f(x) = \begin{cases} x+1 & x < 0 \\ 1-x & x \ge 0 \end{cases}",
            [
                r"\begin{cases} 1+x, & \text{if } x<0, \\ 1-x, & \text{if } x \ge 0. \end{cases}",
                r"\begin{cases} x+1 & x < 0 \\ 1-x & \text{otherwise} \end{cases}",
            ],
            [
                r"\begin{cases} x-1 & x < 0 \\ 1-x & x \ge 0 \end{cases}", "x+1",
                r"\begin{cases} x+1 & x > 0 \\ 1-x & x \le 0 \end{cases}",
            ],
        ),
        (
            r"\begin{cases} 1 & x < 0 \\ 2 & x \ge 0 \end{cases}",
            [
                r"\begin{cases} 2, & x \ge 0, \\ 1, & x < 0. \end{cases}",
                r"\begin{cases} 1 & \text{if } x < 0 \\ 2 & \text{if } 0 \le x \end{cases}",
            ],
            [
                r"\begin{cases} 1 & x < 0 \end{cases}", r"\begin{cases} 1 & x < 0 \\ 2 & x > 0 \end{cases}",
                r"\begin{cases} 1 & x \le 0 \\ 2 & x > 0 \end{cases}", "1", "1, 2",
            ],
        ),
    ],
    "degrees": [
        (
            r"72^\circ",
            ["72", "72\u00b0", r"72^{\circ}", "72 degrees", r"\frac{2\pi}{5}", r"72^\circ 0'"],
            [r"72\pi", "72 radians", "72'", r"72\%", r"27^\circ"],
        ),
        (r"10^\circ 30'", [r"10.5^\circ", "10.5"], [r"10.3^\circ", "10 30"]),
        (
            r"20^\circ \text{C}",
            ["20", "20 degrees Celsius", r"20^\circ C"],
            [r"20^\circ \text{F}", "20 degrees Fahrenheit"],
        ),
    ],
    "times": [
        (
            "4:05 p.m.",
            ["4:05 PM", r"4:05\text{ pm}", "16:05", "4:05"],
            ["4:05 a.m.", "4:50 p.m.", "5:04 pm", "4.05", "405"],
        ),
        ("09:30", ["9:30"], ["9:03", "19:30 pm", "3:10"]),
    ],
    "dates": [
        (
            "July 4",
            ["4 July", "July 4th", "Jul 4", "the 4th of July", r"\text{July 4}"],
            ["June 4", "July 14", "4/7", "July", "4"],
        ),
        ("March 15, 2024", ["15 March 2024", "Mar. 15, 2024"], ["March 15, 2023", "March 16, 2024"]),
    ],
    "bases": [
        (
            "2101_3",
            ["2101_{3}", "(2101)_3", r"2101_{\text{three}}", "2101 in base 3", "2101"],
            ["2101_4", "64", "2101_{10}", "1201_3"],
        ),
        ("1F_{16}", ["1f_{16}", "(1F)_{16}", r"\text{1F}_{16}"], ["1E_{16}", "31_{16}", "1F_{17}"]),
    ],
    "intervals": [
        (
            "[-2, 5)",
            [
                r"-2 \le x < 5", r"x \in [-2, 5)", r"\left[-2,5\right)", "[-2, 5[", r"\{x : -2 \le x < 5\}",
                r"5 > x \ge -2",
            ],
            ["(-2, 5)", "[-2, 5]", "(-2, 5]", "-2, 5", "[5, -2)"],
        ),
        (
            r"(-\infty, 0) \cup (0, \infty)",
            [r"x \ne 0", r"\mathbb{R} \setminus \{0\}", "x < 0 or x > 0", r"(0,\infty)\cup(-\infty,0)"],
            [r"(-\infty, \infty)", r"x > 0", r"\{0\}"],
        ),
        (r"\left(\frac{1}{2}, \sqrt{2}\right]", [r"0.5 < t \le \sqrt2"], [r"0.5 < t \le 1.4", r"[\frac12, \sqrt2]"]),
    ],
    "inequalities": [
        (
            "x > 3",
            ["3 < x", r"(3, \infty)", "2x > 6", r"x - 3 > 0"],
            [r"x \ge 3", "y > 3", "x < 3", "3", "x > 3.0001", "-x > -3"],
        ),
        (
            r"a \le -1 \text{ or } a \ge 1",
            [r"(-\infty,-1] \cup [1,\infty)", r"a \ge 1 \text{ or } a \le -1"],
            [r"-1 \le a \le 1", r"a \ge 1", r"a < -1 \text{ or } a > 1"],
        ),
        (r"x+y \le 4", [r"2x+2y \le 8", r"4 \ge x+y"], ["x+y < 4", r"x+y \ge 4", r"x-y \le 4"]),
    ],
    "hedges": [
        (
            "6",
            ["6.0", "3+3", "3+3=6"],
            [
                "6 or 7", "6, 7", r"\pm 6", "6/7", "5 = 6", "6 = 7", "about 6", "6?", "6 or more", "not 6", "6...7",
                r"\{6, 7\}",
            ],
        ),
        (
            "4, 9",
            ["9, 4", r"\{4, 9\}", "4 and 9", "x = 4 or x = 9"],
            ["4", "4, 9, 10", "4, 4", "(9, 4)", "4 or 10", "49", "4.9"],
        ),
        (r"\pm 3", ["3, -3", r"\{-3, 3\}", "-3 or 3"], ["3", "-3", "3, 3"]),
    ],
    "tautologies": [
        ("8", [], ["x = x", "8x = 8x", "0 = 0", "x", "y = y"]),
        (
            "y = 4x",
            ["4x = y", "y - 4x = 0", "2y = 8x"],
            ["y = y", "0 = 0", "y - y = 0", "4x = 4x", "y^2 = 16x^2", "x(y-4x) = 0"],
        ),
        ("x^2 + y^2 = 9", [r"\frac{x^2+y^2}{9} = 1"], ["x^2 + y^2 = 3", "x^2 + y^2 + 9 = 0", "1 = 1"]),
    ],
    "units": [
        (
            r"15 \text{ cm}^2",
            ["15", "15 square centimeters", r"15\,\mathrm{cm}^2", r"0.0015 \text{ m}^2"],
            ["15 cm", "15 m^2", "15 cm^3", r"15\%"],
        ),
        ("50", ["50 apples", r"\$50", "50 km/h", r"50\text{ ways}"], ["50 dozen", "50 million", "50 percent off of 2"]),
        (r"\$2.50", ["2.5", "2.50 dollars", "250 cents"], ["2.50 euros", "250", "25 cents"]),
        ("90 km/h", ["25 m/s", "90"], ["90 mph", "90 m/s"]),
        (r"28\%", ["0.28", "28 percent", r"\frac{7}{25}"], ["0.0028", "2800", "2.8"]),
        ("0.5", [r"50\%"], ["50", r"0.05\%"]),
    ],
}  # fmt: skip
ROWS = [(kind, *row) for kind, rows in CASES.items() for row in rows]


def accepts(gold: str, answer: str) -> bool:
    return decide_all(read_gold(gold), answer, (), POLICY, FULL)[0]


@pytest.mark.parametrize(("kind", "gold", "right", "wrong"), ROWS, ids=[f"{row[0]}: {row[1]}" for row in ROWS])
def test_right_answers_are_accepted_and_wrong_ones_are_not(kind: str, gold: str, right: list[str], wrong: list[str]):
    assert [answer for answer in [gold, *right] if not accepts(gold, answer)] == []
    assert [answer for answer in wrong if accepts(gold, answer)] == []
