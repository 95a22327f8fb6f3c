"""Pairs that a red team found wrongly accepted or wrongly refused, each standing for a kind; "gold <- answer"."""

import pytest

from verifiers import BadReferenceError, Outcome
from verifiers.symbolic import MathVerifier

DIFFERENT = r"""
x<5 <- y<5
x\in\{1,2\} <- y\in\{1,2\}
x\ne1 <- y\ne1
x>2 <- f(x)>2
x<-1 \text{ or } x>2 <- y<-1 \text{ or } y>2
x>0 <- \{x\in \mathbb{Z}: x>0\}
\{2k: k\in \mathbb{Z}\} <- \{3k: k\in \mathbb{Z}\}
\{x^2: x>0\} <- \{x: x>0\}
(0,\infty) <- \{-x: x>0\}
\{x\in \mathbb{N}: x<5\} <- (-\infty,5)
\lceil x\rceil <- \lfloor x\rfloor+1
\lfloor n/2\rfloor <- \lceil n/2\rceil-1
0 <- \begin{cases}1 & x=1\\0&\text{otherwise}\end{cases}
n! <- n!+\lfloor n/10\rfloor
n! <- n!+\max(0,n-10)
n! <- n!+\prod_{k=3}^9(n-k)
\binom n2 <- \binom n2+\lfloor n/10\rfloor
\sum_{k=1}^n k <- n(n+1)/2+\lfloor n/10\rfloor
\gcd(n,60) <- \gcd(n,660)
x <- x+\max(0,-x-59)
11/2 <- 1 1/2
71/2 <- 7 1/2
123 <- 1 2 3
(1,23) <- (1,2 3)
\text{nowhere} <- \text{now here}
5 <- 5\text{ thousandths}
5 <- 5\text{ hundredth}
5 <- 5\text{ quarters}
5 <- 5\text{ six}
5 <- 5\text{ score}
5 <- 5\text{ bn}
5 <- 5\text{ squared}
5 <- 5\text{ sqrt}
5 <- 5\text{ false}
5 <- 5\text{ incorrect}
5 <- 5\text{ below zero}
5 <- 5\text{ upto}
10\% \text{ increase} <- 10\% \text{ decrease}
5\% <- 5\text{ percent less}
(2,3) <- y=2,x=3
x=1,y=2 <- (y,x)=(1,2)
(1,2) <- (b,a)=(1,2)
f(x)=x^2 <- f(t)=x^2
f(x)=2x <- f(t)=x+t
\angle ABC <- \angle BAC
\vec{AB} <- \vec{BA}
a_{mn} <- a_{nm}
\overline z <- z
\overline{a+b} <- a+b
z <- \operatorname{Re}(z)
|z|^2 <- z^2
12345678 <- 1.23457e7
12345678 <- 1.234568\times10^7
10^{20}+1 <- 1.00000e20
\sqrt2 <- 1.41422
\frac{10}{3} <- 3.333334
\pi <- 3.14160
5\text{ cm} <- 5\%
101_2 <- 5\%
5\% <- 5\text{ cm}
1:2 <- 0.5\text{ cm}
5 \text{ gallons per dollar} <- 5\text{ dollars per gallon}
5\text{ widgets per hour} <- 5\text{ widgets}
5\text{ square units} <- 5\text{ cubic units}
5\text{ red apples} <- 5\text{ green apples}
5\text{ MW} <- 5\text{ mW}
\mathbb{R} <- x=x
\mathbb{R} <- 1=1
\mathbb{R} <- x\le x
5 <- \text{not } = 5
7 <- \text{wrong}=7
x=5 <- \text{y}=5
A <- A: B
A <- A. is wrong
A <- (A) is wrong, B is right
10,-10 <- \pm1\pm2\pm3\pm4
10:30 <- 1:3
\text{yes} <- \text{yes, wrong}
\text{Mars} <- \text{Mar}
5 <- 5...
5\text{ cm} <- (5
2,3 <- [2,3]
(1,2,3) <- [1,2,3)
D = (0,1) <- D
\begin{pmatrix}1\\2\end{pmatrix} <- (1,2]
1 <- \{\{1\}\}
"""
SAME = r"""
(2,3) <- y=3,x=2
\{x | x>2\} <- (2,\infty)
\{x_{12}\} <- \{x_{12}\}
x_{12} <- x_{12}
\frac{\pi}{6}+2k\pi (k \in \mathbb{Z}) <- 2k\pi+\frac{\pi}{6}, k\in\mathbb{Z}
\frac{\pi}{6}+2k\pi, k \in \mathbb{Z} <- 2n\pi+\frac{\pi}{6}, n\in\mathbb{Z}
\frac{\pi}{6}+2k\pi, k \in \mathbb{Z} <- 2k\pi+\frac{\pi}{6}
2x+3 <- x \mapsto 2x+3
220 <- {}^{12}C_{3}
220 <- C_{12}^3
P(X=2)=\frac12 <- \frac12
f^{\prime}(x)=2x <- 2x
\left\{\begin{array}{l}x=1\\y=2\end{array}\right. <- x=1,y=2
AB\parallel CD <- AB\parallel CD
5\text{ m/s} <- 5
5\text{ m/s} <- 5\text{ meters per second}
5\text{ m/s} <- 18\text{ km/h}
\angle ABC=30^\circ <- 30^\circ
\angle ABC=30^\circ <- 30
[-\sqrt3,\sqrt3] <- |x|\le\sqrt3
|x|\ge 1 <- (-\infty,-1]\cup[1,\infty)
12^{\text{th}} <- 12
12^{th} <- 12
12 <- 12^{\text{th}}
2516_8 <- 2516 \text{ (base 8)}
4210_5 <- 4210_{five}
5:00\text{ PM} <- 5\text{ p.m.}
AB=5 <- |AB|=5
AB=5 <- BA=5
5 <- |AB|=5
D = (0,1) <- (0,1)
\begin{pmatrix}1&2\\3&4\end{pmatrix} <- [[1,2],[3,4]]
\lim_{x\to0^+} \frac{1}{x+1} <- 1
\emptyset <- \{x : x \ne x\}
40\% <- 40\% \text{ increase}
1,2 <- \{2, 1\}
x=2,3,4 <- 4,3,2
"""
HOSTILE = {
    "nested sets": ("5", r"\{" * 20 + "5" + r"\}" * 20),
    "sums of matrices": (
        r"\begin{pmatrix}1\end{pmatrix}",
        "(" * 20 + r"\begin{pmatrix}1\end{pmatrix}" + r"+\begin{pmatrix}1\end{pmatrix})" * 20,
    ),
    "sums within sums": ("5", "".join(rf"\sum_{{{letter}=1}}^{{39}}" for letter in "abcd") + "a"),
    "French brackets": ("5", "]" + "," * 29_000),
    "ordinals": (r"\text{yes}", "1" * 29_000),
    "scales": ("101_2", "1" + " trillion" * 400),
    "digits that are none": ("5", "101 in base \u1369"),
    **{f"many {sign}": ("5", sign * 1400) for sign in ("-", "+", r"\pm", "2^", r"\frac", r"\sqrt", r"\sin", "\u221a")},
    "many units": ("5", r"5\text{ cm} " * 400),
    "many factorials": ("5", "5" + "!" * 1400),
    "the larger of complex numbers": ("5", r"\max(i,2)"),
    "a complex root": ("5", r"\sqrt[i]{5}"),
    "a long grouped number": ("5", "1" + ",000" * 7000 + ",1"),
}


@pytest.fixture(scope="module")
def verifier() -> MathVerifier:
    return MathVerifier()


def pairs(table: str) -> list[tuple[str, str]]:
    return [tuple(line.split(" <- ")) for line in table.strip().splitlines()]  # type: ignore[misc]


@pytest.mark.parametrize(("gold", "answer"), pairs(DIFFERENT))
def test_answers_that_differ_are_refused(verifier: MathVerifier, gold: str, answer: str):
    assert verifier.judge(gold, rf"\boxed{{{answer}}}").outcome is not Outcome.CORRECT


@pytest.mark.parametrize(("gold", "answer"), pairs(SAME))
def test_answers_that_say_the_same_are_accepted(verifier: MathVerifier, gold: str, answer: str):
    assert verifier.judge(gold, rf"\boxed{{{answer}}}").outcome is Outcome.CORRECT


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_answers_end_in_time_and_raise_nothing(verifier: MathVerifier, kind: str):
    gold, answer = HOSTILE[kind]
    assert verifier.judge(gold, rf"\boxed{{{answer}}}").outcome is not Outcome.CORRECT


@pytest.mark.parametrize(
    "gold", [r"\frac{1}{0}", r"\log 0", "[2,1]", "7=8", "(1,2", "x^{2", "{5", "see solution", r"\text{N/A}", "nan", " "]
)
def test_a_gold_answer_that_is_none_is_an_error(verifier: MathVerifier, gold: str):
    with pytest.raises(BadReferenceError, match="cannot be read"):
        verifier.judge(gold, r"\boxed{5}")
