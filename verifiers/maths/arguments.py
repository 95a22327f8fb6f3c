r"""Read what stands in braces and brackets: arguments, subscripts, tuples and intervals."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from fractions import Fraction

from verifiers.maths.cleaning import UnreadableError
from verifiers.maths.nodes import (
    Apply,
    Bracketed,
    Call,
    Constant,
    Node,
    Number,
    Numeral,
    Product,
    Quotient,
    Symbol,
    Text,
)
from verifiers.maths.stream import TokenStream, spelled
from verifiers.maths.tokens import Token
from verifiers.maths.vocabulary import BASE_WORDS


class ArgumentReader(TokenStream, ABC):
    """Reads braces, brackets and subscripts."""

    @abstractmethod
    def formula(self) -> Node:
        """Return the longest formula that starts here."""

    @abstractmethod
    def _deeper(self) -> AbstractContextManager[None]:
        """Count one level of nesting, of which there may not be too many."""

    @abstractmethod
    def _atom(self) -> Node:
        """Return the smallest formula that starts here."""

    def _argument_node(self) -> Node:
        """Return the braced or single argument of a subscript or command."""
        if self.at("{"):
            return self._braced()
        token = self.peek()
        if token is None:
            raise UnreadableError("an argument is missing")
        if token.kind == "text":
            self._advance()
            return Text(token.text)
        with self._deeper():
            return self._atom()

    def _first_digit_argument(self) -> Node:
        r"""Return an argument as TeX takes it: \frac12 has the arguments 1 and 2."""
        token = self.peek()
        if token is not None and token.kind == "number" and len(token.text) > 1 and token.text.isdigit():
            rest = token.text[1:]
            self._tokens[self.position] = Token("number", rest, Number(Fraction(int(rest))))
            return Number(Fraction(int(token.text[0])))
        return self._argument_node()

    def _braced(self) -> Node:
        self.expect("{")
        if self.at("}"):
            raise UnreadableError("empty braces")
        token = self.peek()
        if token is not None and token.kind == "text" and spelled(self.peek(1)) == "}":
            self.position += 2
            return Text(token.text)
        if token is not None and token.text.lower() in BASE_WORDS and spelled(self.peek(1)) == "}":
            self.position += 2
            return Text(token.text)
        over = self._over()
        if over is not None:
            return over
        node = self.formula()
        self.expect("}")
        return node

    def _holds_comma(self) -> bool:
        """Tell whether the braces here hold several items: a set whose backslashes were left out."""
        level = 0
        for token in self._tokens[self.position :]:
            sign = spelled(token)
            level += (sign in ("{", "(", "[", "\\{")) - (sign in ("}", ")", "]", "\\}"))
            if level <= 0:
                return False
            if level == 1 and sign == ",":
                return True
        return False

    def _over(self) -> Node | None:
        r"""Read {a \over b} and {n \choose k} where the braces hold one."""
        level, found = 0, None
        for index in range(self.position, len(self._tokens)):
            sign = spelled(self._tokens[index])
            level += (sign == "{") - (sign == "}")
            if level < 0:
                break
            if level == 0 and sign in ("\\over", "\\choose"):
                found = sign
        if found is None:
            return None
        top = self.formula()
        self.expect(found)
        bottom = self.formula()
        self.expect("}")
        return Quotient(top, bottom) if found == "\\over" else Call("binomial", (top, bottom))

    def _subscripted(self, node: Node) -> Node:
        if isinstance(node, Number | Product):
            index = self._argument_node()
            base = _small_integer(index)
            digits = _digits_of(node)
            if base is None or digits is None:
                raise UnreadableError("a subscript on a number that is no base")
            return numeral(digits, base)
        if isinstance(node, Bracketed):  # (1101)_2
            if node.opening != "(" or len(node.items) != 1:
                raise UnreadableError("a subscript on a bracket")
            return self._subscripted_digits(node.items[0])
        start = self.position
        token = self.peek()
        if token is not None and token.kind == "text":
            self._advance()
            return Symbol(f"{name_of(node)}_{token.text.strip()}")
        inner = self.peek(1)
        if self.at("{") and inner is not None and inner.kind != "number" and spelled(self.peek(2)) == "}":
            self.position += 3  # taken as it is written: a_{mn} is not a_{nm}
            written = inner.text
            return (
                Symbol(f"{name_of(node)}_{written}") if len(written) > 1 else Apply(name_of(node), (Symbol(written),))
            )
        index = self._argument_node()
        if isinstance(index, Text):
            return Symbol(f"{name_of(node)}_{index.words}")
        written = "".join(piece.text for piece in self._tokens[start : self.position] if piece.text not in "{}")
        if isinstance(node, Symbol) and (isinstance(index, Number) or (written.isalpha() and len(written) > 1)):
            return Symbol(f"{node.name}_{written}")
        return Apply(name_of(node), (index,))

    def _subscripted_digits(self, node: Node) -> Node:
        base, digits = _small_integer(self._argument_node()), _digits_of(node)
        if base is None or digits is None:
            raise UnreadableError("a subscript on a bracket")
        return numeral(digits, base)

    def _bracketed_arguments(self) -> tuple[Node, ...]:
        closing = ")" if self.take("(") else None
        if closing is None:
            self.expect("{")
            closing = "}"
        arguments = [self.formula()]
        while self.take(",", ";"):
            arguments.append(self.formula())
        self.expect(closing)
        return tuple(arguments)

    def _brackets(self, opening: str) -> Node:
        self._advance()
        bars, self._bars = self._bars, 0
        items = [self.formula()]
        while self.take(",", ";"):
            items.append(self.formula())
        expected = ")" if opening == "(" else "]"
        closing = spelled(self.peek()) or ""
        if not closing and len(items) > 1:
            closing = expected  # \right} and the like, at the very end of the text
        if closing not in (")", "]"):
            raise UnreadableError(f"a bracket {opening!r} that is not closed")
        self._advance()
        self._bars = bars
        if len(items) == 1:
            if closing != expected:
                raise UnreadableError("brackets that do not match")
            return Bracketed("(", tuple(items), ")") if self.at("_") else items[0]
        return Bracketed(opening, tuple(items), closing)


def name_of(node: Node) -> str:
    match node:
        case Symbol(name) | Apply(name, _) | Constant(name):
            return name
        case _:
            raise UnreadableError("a subscript on something that is no name")


def value_of(node: Node) -> Node:
    if isinstance(node, Text):
        raise UnreadableError(f"the words {node.words[:40]!r}")
    return node


def _small_integer(node: Node) -> int | None:
    if isinstance(node, Number) and node.value.denominator == 1 and 2 <= node.value <= 36:
        return int(node.value)
    if isinstance(node, Text):
        return BASE_WORDS.get(node.words.strip().lower())
    return None


def _digits_of(node: Node) -> str | None:
    match node:
        case Number(value, None) if value.denominator == 1 and value >= 0:
            return str(value.numerator) if value < 10**300 else None
        case Product(factors):
            pieces = [_digits_of(factor) if isinstance(factor, Number) else _hex_letter(factor) for factor in factors]
            return "".join(piece for piece in pieces if piece) if all(pieces) else None
        case Symbol():
            return _hex_letter(node)
        case _:
            return None


def _hex_letter(node: Node) -> str | None:
    match node:
        case Symbol(name) | Constant(name) if len(name) == 1 and name.isalpha():
            return name.upper()
        case _:
            return None


def numeral(digits: str, base: int) -> Numeral:
    """Return the numeral; its digits must be digits of the base.

    Raises:
        UnreadableError: they are not.
    """
    digits = digits.upper().lstrip("0") or "0"
    if any(int(digit, 36) >= base for digit in digits):
        raise UnreadableError(f"{digits[:40]} has digits that base {base} does not have")
    return Numeral(digits, base)
