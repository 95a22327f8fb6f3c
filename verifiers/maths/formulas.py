r"""Read formulas, by recursive descent. Every token must be consumed: nothing is read in part.

formula  = setsum
setsum   = sum ((\cup | \cap | \setminus) sum)*
sum      = ["+" | "-" | \pm] product (("+" | "-" | \pm) product)*
product  = power ((* | / | \cdot | \times | \div | nothing) power)*
power    = postfix ["^" argument]
postfix  = atom ("!" | "%" | degree sign | "'" | "_" argument)*
"""

from collections.abc import Iterator
from contextlib import contextmanager

from verifiers.maths.atoms import AtomReader
from verifiers.maths.cleaning import UnreadableError
from verifiers.maths.nodes import (
    Apply,
    Bracketed,
    Call,
    Constant,
    Degrees,
    NamedSet,
    Negative,
    Node,
    Number,
    Percent,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Quotient,
    SetOf,
    SetOperation,
    Sum,
    Symbol,
    product_of,
)
from verifiers.maths.stream import spelled
from verifiers.maths.vocabulary import FACTOR_COMMANDS, FRACTIONS, TIMES

_TEMPERATURES = {"C": "celsius", "F": "fahrenheit"}
_MAY_HAVE_SUBSCRIPT = (Symbol, Apply, Number, Bracketed, Product, Constant)
MAX_DEPTH = 60
"""Nested brackets, fractions and the like; deeper text is not read."""


class FormulaReader(AtomReader):
    """Reads operators and their operands."""

    def formula(self) -> Node:
        """Return the longest formula that starts here."""
        with self._deeper():
            return self._set_sum()

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        """Count one level of nesting."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnreadableError("nested too deeply")
        try:
            yield
        finally:
            self._depth -= 1

    def _set_sum(self) -> Node:
        left = self._sum()
        while True:
            if self.take("\\cup", "\\bigcup", "\\sqcup"):
                left = _operation("union", left, self._sum())
            elif self.take("\\cap"):
                left = _operation("intersection", left, self._sum())
            elif self.take("\\setminus", "\\backslash", "\\smallsetminus") or (
                _is_set(left) and self.at("-") and spelled(self.peek(1)) == "\\{" and self.take("-")
            ):
                left = _operation("difference", left, self._sum())
            else:
                return left

    def _sum(self) -> Node:
        terms = [self._signed_product()]
        while self.at("+", "-", "\\pm", "\\mp", "\\minus", "\\plus"):
            if _is_set(terms[0]) and spelled(self.peek(1)) == "\\{":
                break
            terms.append(self._signed_product())
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def _signed_product(self) -> Node:
        with self._deeper():
            return self._signed_product_inside()

    def _signed_product_inside(self) -> Node:
        if self.take("-", "\\minus"):
            operand = self._signed_product()
            if isinstance(operand, Number):
                return Number(-operand.value, operand.places, operand.digits)
            return Negative(operand)
        if self.take("+", "\\plus"):
            if self.take("/") and self.take("-"):  # +/- written in plain text
                return PlusMinus(self._signed_product())
            return self._signed_product()
        if self.take("\\pm"):
            return PlusMinus(self._signed_product())
        if self.take("\\mp"):
            return PlusMinus(self._signed_product(), upper=False)
        return self._product()

    def _product(self) -> Node:
        left = self._power()
        while True:
            if self.at("*") and spelled(self.peek(1)) == "*":
                raise UnreadableError("a power without a base")
            if self.take("*") or (self._at_command(TIMES) and self._advance()):
                left = product_of(left, self._signed_power())
            elif self._at_letter_x_as_times(left):
                self._advance()
                left = product_of(left, self._signed_power())
            elif self.take("/", "\\div", "\\slash"):
                left = Quotient(left, self._signed_power())
            elif self._starts_factor():
                left = self._mixed_number(left) or product_of(left, self._juxtaposed())
            else:
                return left

    def _juxtaposed(self) -> Node:
        before, token = self._tokens[self.position - 1], self.peek()
        if before.kind == "number" and token is not None and token.kind == "number":
            raise UnreadableError("two numbers side by side")
        return self._power()

    def _mixed_number(self, left: Node) -> Node | None:
        r"""Read the fraction of 3\frac12 or 3 1/2 and return the sum the two mean."""
        if not (isinstance(left, Number) and left.places is None and left.value.denominator == 1 and left.value >= 0):
            return None
        if self._tokens[self.position - 1].kind != "number":
            return None
        start, token = self.position, self.peek()
        if self._at_command(FRACTIONS):
            fraction = self._command_and_rollback(start)
        elif (
            token is not None
            and token.kind == "number"
            and token.after_blank
            and spelled(self.peek(1)) == "/"
            and (below := self.peek(2)) is not None
            and below.number is not None
            and token.number is not None
        ):
            fraction = Quotient(token.number, below.number)
            self.position += 3
        else:
            return None
        match fraction:
            case Quotient(Number(top, None), Number(bottom, None)) if 0 < top < bottom and not self.at("^"):
                return self._with_postfixes(Number(left.value + top / bottom))
            case _:
                self.position = start
                return None

    def _command_and_rollback(self, start: int) -> Node:
        token = self.peek()
        assert token is not None
        tokens = list(self._tokens)
        node = self._command(token.text)
        if not (isinstance(node, Quotient) and isinstance(node.top, Number) and isinstance(node.bottom, Number)):
            self._tokens = tokens
            self.position = start
        return node

    def _at_letter_x_as_times(self, left: Node) -> bool:
        """Tell whether this is "1.6 x 10^-19": a letter x between a number and a power of ten."""
        token, ten = self.peek(), self.peek(1)
        return (
            isinstance(left, Number)
            and token is not None
            and token.kind == "word"
            and token.text in ("x", "X")
            and ten is not None
            and ten.kind == "number"
            and ten.text == "10"
            and spelled(self.peek(2)) == "^"
        )

    def _signed_power(self) -> Node:
        if self.take("-", "\\minus"):
            return Negative(self._signed_power())
        if self.take("+"):
            return self._signed_power()
        return self._power()

    def _starts_factor(self) -> bool:
        token = self.peek()
        if token is None or token.kind == "text":
            return False
        if token.kind == "number":
            return True
        if token.kind == "word":
            return self._is_mathematics(token)
        if token.kind == "sign":
            if self._opens_condition():
                return False
            return token.text in "([{" or (token.text == "|" and self._bars == 0)
        return token.text in FACTOR_COMMANDS

    def _power(self) -> Node:
        base = self._postfix()
        if self._ends_ordinal() or self._at_one_sided():
            return base
        if self.at("^") or (self.at("*") and spelled(self.peek(1)) == "*" and self._advance()):
            self._advance()
            exponent = self._exponent()
            if isinstance(base, Call) and base.function == "transposed":
                return base
            return Power(base, exponent)
        return base

    def _ends_ordinal(self) -> bool:
        """Consume the "th" of 12^{th}."""
        ahead = [spelled(self.peek(index)) for index in range(4)]
        for pattern in (["^", "{", "th", "}"], ["^", "th"]):
            if [sign if sign not in ("st", "nd", "rd") else "th" for sign in ahead[: len(pattern)]] == pattern:
                self.position += len(pattern)
                return True
        return False

    def _at_one_sided(self) -> bool:
        """Tell whether the sign of a one-sided limit stands here, which is no power: x -> 0^+."""
        ahead = [spelled(self.peek(index)) for index in range(4)]
        return ahead[0] == "^" and (
            (ahead[1] in ("+", "-") and ahead[2] in ("}", None))
            or (ahead[1] == "{" and ahead[2] in ("+", "-") and ahead[3] == "}")
        )

    def _exponent(self) -> Node:
        with self._deeper():
            if self.at("{"):
                return self._braced()
            if self.take("-", "\\minus"):
                return Negative(self._power())
            self.take("+")
            return self._power()

    def _postfix(self) -> Node:
        return self._with_postfixes(self._atom())

    def _with_postfixes(self, node: Node) -> Node:
        while True:
            if self.at("^") and self._degree_sign():
                node = self._temperature(node) or self._arc_minutes(Degrees(node))
            elif self.at("^") and (marks := self._primes()):
                self.position += marks
                node = self._maybe_function(_primed(node))
            elif self.take("'"):
                node = _primed(node)
                node = self._maybe_function(node)
            elif self.take("!"):
                if self.take("!"):
                    node = Call("double_factorial", (node,))
                else:
                    node = Call("factorial", (node,))
            elif self.take("%", "\\%"):
                node = Percent(node)
            elif self.take("\\degree", "\\degrees"):
                node = self._arc_minutes(Degrees(node))
            elif self.at("_") and isinstance(node, _MAY_HAVE_SUBSCRIPT):
                self._advance()
                node = self._subscripted(node)
            else:
                return node

    def _primes(self) -> int:
        """Return how many tokens spell a prime here: ^' or ^\\prime or ^{\\prime}."""
        ahead = [spelled(self.peek(index)) for index in range(1, 4)]
        if ahead[0] in ("'", "\\prime"):
            return 2
        return 4 if ahead[0] == "{" and ahead[1] in ("'", "\\prime") and ahead[2] == "}" else 0

    def _maybe_function(self, node: Node) -> Node:
        """Read the argument of f'(x)."""
        return Apply(node.name, self._bracketed_arguments()) if self.at("(") and isinstance(node, Symbol) else node

    def _degree_sign(self) -> bool:
        signs = [spelled(self.peek(ahead)) for ahead in range(1, 4)]
        for pattern in (("\\circ",), ("{", "\\circ", "}"), ("o",), ("\\degree",), ("{", "\\degree", "}")):
            if tuple(signs[: len(pattern)]) == pattern:
                if pattern == ("o",):
                    return False
                self.position += 1 + len(pattern)
                return True
        return False

    def _temperature(self, node: Node) -> Node | None:
        """Read the C or F of a temperature, where nothing follows it."""
        scale, after = self.peek(), self.peek(1)
        if (
            scale is None
            or scale.kind != "word"
            or scale.text not in _TEMPERATURES
            or (after and after.text not in ",;)")
        ):
            return None
        self._advance()
        return Quantity(node, _TEMPERATURES[scale.text])

    def _arc_minutes(self, degrees: Node) -> Node:
        """Read 12 degrees 30' 15'' where it follows."""
        node = degrees
        for divisor in (60, 3600):
            token = self.peek()
            ticks = 1 if divisor == 60 else 2
            if token is None or token.kind != "number" or token.number is None:
                return node
            marks = [spelled(self.peek(1 + tick)) for tick in range(ticks)]
            primes = [spelled(self.peek(ahead)) for ahead in range(1, 5)]
            if all(mark == "'" for mark in marks):
                width = ticks
            elif ticks == 2 and primes[0] == '"':
                width = 1
            elif ticks == 1 and primes[:2] == ["^", "\\prime"]:
                width = 2
            elif ticks == 1 and primes == ["^", "{", "\\prime", "}"]:
                width = 4
            else:
                return node
            self.position += 1 + width
            node = Sum((node, Degrees(Number(token.number.value / divisor))))
        return node


def _primed(node: Node) -> Node:
    match node:
        case Symbol(name):
            return Symbol(name + "'")
        case Constant(name) if name in "ei":
            return Symbol(name + "'")
        case _:
            raise UnreadableError("an apostrophe")


def _operation(kind: str, left: Node, right: Node) -> Node:
    if isinstance(left, SetOperation) and left.kind == kind and kind != "difference":
        return SetOperation(kind, (*left.parts, right))  # type: ignore[arg-type]
    return SetOperation(kind, (left, right))  # type: ignore[arg-type]


def _is_set(node: Node) -> bool:
    return isinstance(node, NamedSet | SetOf | SetOperation)
