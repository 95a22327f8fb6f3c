"""The many ways in which a number, a polynomial, an interval ... is written: functions from a value to its forms."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

Monomial = tuple[int, ...]
"""An exponent for each unknown."""
Polynomial = dict[Monomial, Fraction]
"""Coefficients other than 0 by monomial."""

_VULGAR = {Fraction(1, 2): "\u00bd", Fraction(1, 4): "\u00bc", Fraction(3, 4): "\u00be", Fraction(2, 3): "\u2154"}
_SUPERSCRIPTS = str.maketrans("0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


@dataclass(frozen=True, slots=True)
class Span:
    """An interval of reals; an end that is None is infinite and open."""

    low: Fraction | None
    low_closed: bool
    high: Fraction | None
    high_closed: bool


def number_forms(value: Fraction, *, alone: bool = True) -> list[str]:
    """Return forms of a rational; `alone` adds those that would be misread inside a list: 1,234 and 1 1/2."""
    if value < 0:
        inner = number_forms(-value, alone=alone)
        return [sign + form for form in inner for sign in ("-", "\u2212", "- ")] + [
            f"\\frac{{-{-value.numerator}}}{{{value.denominator}}}",
            f"\\frac{{{-value.numerator}}}{{-{value.denominator}}}",
        ]
    forms = integer_forms(value.numerator, alone=alone) if value.denominator == 1 else _proper_forms(value, alone=alone)
    decimal = decimal_form(value)
    if decimal is not None:
        forms += [decimal, decimal + "0" if "." in decimal else decimal + ".0"]
        if decimal.startswith("0."):
            forms.append(decimal[1:])
    elif (repeating := repeating_form(value)) is not None:
        forms += [repeating, repeating.replace("overline", "bar")]
    return forms


def integer_forms(value: int, *, alone: bool) -> list[str]:
    digits = str(value)
    forms = [
        digits,
        digits,
        f"\\frac{{{3 * value}}}{{3}}",
        f"{3 * value}/3",
        f"\\text{{{digits}}}",
        f"\\mathbf{{{digits}}}",
    ]
    forms.append("".join(chr(0xFF10 + int(digit)) for digit in digits))
    if alone and value >= 1000:
        forms += [f"{value:,}".replace(",", comma) for comma in (",", "{,}", ",\\!", "\\,", "\u202f", "~")]
    if alone and value and digits.endswith("00"):
        mantissa = digits.rstrip("0")
        power = len(digits) - len(mantissa)
        forms += [
            f"{mantissa} \\times 10^{power if power < 10 else f'{{{power}}}'}",
            f"{mantissa} \\cdot 10^{{{power}}}",
        ]
    return forms


def _proper_forms(value: Fraction, *, alone: bool) -> list[str]:
    top, bottom = value.numerator, value.denominator
    forms = [f"\\{name}{{{top}}}{{{bottom}}}" for name in ("frac", "dfrac", "tfrac")]
    forms += [f"{top}/{bottom}", f"\\frac{{{2 * top}}}{{{2 * bottom}}}", f"\\left(\\frac{{{top}}}{{{bottom}}}\\right)"]
    forms += [
        f"\\frac{{ {top} }}{{ {bottom} }}",
        f"{{{top} \\over {bottom}}}",
        f"{top} \\div {bottom}",
        f"({top})/({bottom})",
    ]
    if top < 10 and bottom < 10:
        forms += [f"\\frac{top}{bottom}", f"\\frac {top} {bottom}", f"\\dfrac{top}{{{bottom}}}"]
    if value in _VULGAR:
        forms.append(_VULGAR[value])
    whole, rest = divmod(top, bottom)
    if alone and whole:
        forms += [
            f"{whole}\\frac{{{rest}}}{{{bottom}}}",
            f"{whole} {rest}/{bottom}",
            f"{whole}\\ \\tfrac{{{rest}}}{{{bottom}}}",
        ]
    return forms


def decimal_form(value: Fraction) -> str | None:
    """Return the decimal of a value that is not negative, or None where it does not end within 12 places."""
    for places in range(13):
        scaled = value * 10**places
        if scaled.denominator == 1:
            digits = str(scaled.numerator).rjust(places + 1, "0")
            return digits if not places else f"{digits[:-places]}.{digits[-places:]}"
    return None


def repeating_form(value: Fraction) -> str | None:
    """Return 0.1\\overline{6}, or None where period and lead have more than 6 digits."""
    whole, rest = divmod(value, 1)
    for lead in range(3):
        for period in range(1, 7):
            repeated = rest * 10**lead * (10**period - 1)
            if repeated.denominator == 1:
                head, tail = divmod(repeated.numerator, 10**period - 1)
                fixed = str(head).rjust(lead, "0") if lead else ""
                return f"{whole}.{fixed}\\overline{{{str(tail).rjust(period, '0')}}}"
    return None


def power_forms(name: str, exponent: int) -> list[str]:
    if exponent == 1:
        return [name]
    digits = str(exponent)
    return [f"{name}^{{{digits}}}", f"{name}^{digits}", f"{name}**{digits}", name + digits.translate(_SUPERSCRIPTS)]


def monomial_forms(names: Sequence[str], exponents: Monomial) -> list[str]:
    """Return forms of x^2 y; [""] for the constant one."""
    powers = [power_forms(name, exponent) for name, exponent in zip(names, exponents, strict=True) if exponent]
    if not powers:
        return [""]
    forms = []
    for style in range(4):
        pieces = [choices[style % len(choices)] for choices in powers]
        forms += [joint.join(order) for joint in (" ", "*", " \\cdot ", "") for order in (pieces, pieces[::-1])]
    return forms


def term_forms(names: Sequence[str], exponents: Monomial, size: Fraction) -> list[str]:
    """Return forms of a term whose coefficient `size` is positive."""
    monomials = monomial_forms(names, exponents)
    if monomials == [""]:
        return [form for form in number_forms(size, alone=False) if "text" not in form and "div" not in form]
    if size == 1:
        return monomials
    forms = []
    top, bottom = size.numerator, size.denominator
    for monomial in monomials:
        upper = monomial if top == 1 else f"{top}{monomial}"
        if bottom == 1:
            forms += [
                upper,
                f"{top} {monomial}",
                f"{top}*{monomial}",
                f"{top} \\cdot {monomial}",
                f"{top} \\times {monomial}",
            ]
        else:
            forms += [
                f"\\frac{{{upper}}}{{{bottom}}}",
                f"\\frac{{{top}}}{{{bottom}}}{monomial}",
                f"({top}/{bottom})*{monomial}",
            ]
            forms += [
                f"\\dfrac{{{top}}}{{{bottom}}} \\cdot {monomial}",
                f"{monomial} \\cdot \\frac{{{top}}}{{{bottom}}}",
            ]
        if (decimal := decimal_form(size)) is not None:
            forms.append(f"{decimal}{monomial}")
    return forms


def root_forms(radicand: int, times: Fraction = Fraction(1)) -> list[str]:
    """Return forms of times * sqrt(radicand) for a positive factor."""
    roots = [
        f"\\sqrt{{{radicand}}}",
        f"\\sqrt{{ {radicand} }}",
        f"\u221a{radicand}",
        f"sqrt({radicand})",
        f"{radicand}^{{1/2}}",
    ]
    roots += [f"{radicand}^{{\\frac{{1}}{{2}}}}", f"\\sqrt[2]{{{radicand}}}"] + (
        [f"\\sqrt{radicand}"] if radicand < 10 else []
    )
    top, bottom = times.numerator, times.denominator
    if times == 1:
        return [*roots, f"\\frac{{{radicand}}}{{\\sqrt{{{radicand}}}}}"]
    forms = [f"\\sqrt{{{top * top * radicand}}}"] if bottom == 1 else []
    for root in roots:
        if bottom == 1:
            forms += [f"{top}*{root}", f"{top} \\cdot {root}", f"{root} \\cdot {top}"]
            forms += [] if root[0].isdigit() else [f"{top}{root}"]
        else:
            upper = root if top == 1 else f"{top} \\cdot {root}"
            forms += [
                f"\\frac{{{upper}}}{{{bottom}}}",
                f"({upper})/{bottom}",
                f"\\frac{{{top}}}{{{bottom}}} \\cdot {root}",
            ]
    forms.append(f"\\frac{{{top * radicand}}}{{{bottom}\\sqrt{{{radicand}}}}}")
    return forms


def is_square_free(number: int) -> bool:
    return all(number % (factor * factor) for factor in range(2, isqrt(number) + 1))


def bracket_forms(span: Span) -> list[str]:
    low, high = _ends(span)
    left, right = "[" if span.low_closed else "(", "]" if span.high_closed else ")"
    forms = [
        f"{left}{low}, {high}{right}",
        f"\\left{left}{low},{high}\\right{right}",
        f"\\big{left} {low} , {high} \\big{right}",
    ]
    if span.low_closed != span.high_closed:
        forms.append(f"{'[' if span.low_closed else ']'}{low}, {high}{']' if span.high_closed else '['}")
    return forms


def span_forms(span: Span, name: str) -> list[str]:
    """Return forms of one interval: brackets, membership, chains of inequalities, set builders."""
    brackets, inequalities = bracket_forms(span), inequality_forms(span, name)
    builders = [f"\\{{{name} : {inequalities[0]}\\}}", f"\\left\\{{ {name} \\mid {inequalities[0]} \\right\\}}"]
    return [*brackets, f"{name} \\in {brackets[0]}", f"{name} \u2208 {brackets[1]}", *inequalities, *builders]


def inequality_forms(span: Span, name: str) -> list[str]:
    low, high = _ends(span)
    forms = []
    for less, less_or_equal, greater, greater_or_equal in (
        ("<", "\\le", ">", "\\ge"),
        ("<", "\\leq", ">", "\\geq"),
        ("\\lt", "\\leqslant", "\\gt", "\\geqslant"),
        ("<", "<=", ">", ">="),
        ("<", "\u2264", ">", "\u2265"),
    ):
        above, above_flipped = (less_or_equal, greater_or_equal) if span.low_closed else (less, greater)
        below, below_flipped = (less_or_equal, greater_or_equal) if span.high_closed else (less, greater)
        if span.low is None:
            forms += [f"{name} {below} {high}", f"{high} {below_flipped} {name}"]
        elif span.high is None:
            forms += [f"{name} {above_flipped} {low}", f"{low} {above} {name}"]
        else:
            forms += [f"{low} {above} {name} {below} {high}", f"{high} {below_flipped} {name} {above_flipped} {low}"]
    return forms


def _ends(span: Span) -> tuple[str, str]:
    low, high = (None if end is None else number_forms(end, alone=False)[0] for end in (span.low, span.high))
    return low or "-\\infty", high or "\\infty"


def matrix_forms(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return forms of a matrix whose entries are written already."""
    lines = [" & ".join(row) for row in rows]
    bodies = [" \\\\ ".join(lines), "\\\\".join(lines), " \\\\\n".join(lines) + " \\\\"]
    columns = "c" * len(rows[0])
    forms = [f"\\begin{{{name}}} {body} \\end{{{name}}}" for name in ("pmatrix", "bmatrix") for body in bodies]
    forms += [f"\\left( \\begin{{array}}{{{columns}}} {body} \\end{{array}} \\right)" for body in bodies]
    return [
        *forms,
        f"\\left[\\begin{{matrix}}{bodies[0]}\\end{{matrix}}\\right]",
        f"\\begin{{pmatrix}}{bodies[1]}\\end{{pmatrix}}",
    ]


def list_forms(items: Iterable[str]) -> list[str]:
    """Return forms of a set of written items, in the order given."""
    items = list(items)
    joined = ", ".join(items)
    forms = [
        f"\\{{{joined}\\}}",
        f"\\left\\{{ {joined} \\right\\}}",
        f"\\{{{'; '.join(items)}\\}}",
        joined,
        f"\\lbrace {joined} \\rbrace",
    ]
    if len(items) > 1:
        forms += [f"{', '.join(items[:-1])} and {items[-1]}", f"{', '.join(items[:-1])} \\text{{ and }} {items[-1]}"]
        forms += [" or ".join(f"x = {item}" for item in items), ", ".join(f"x={item}" for item in items)]
    return forms


def product(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the product, without terms that cancel."""
    terms: Polynomial = {}
    for one, factor in left.items():
        for other, size in right.items():
            key = tuple(a + b for a, b in zip(one, other, strict=True))
            terms[key] = terms.get(key, Fraction(0)) + factor * size
    return {key: size for key, size in terms.items() if size}
