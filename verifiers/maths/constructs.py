r"""Read what has a syntax of its own: sets, sums and integrals with their limits, matrices."""

from abc import abstractmethod
from fractions import Fraction

from verifiers.maths.arguments import ArgumentReader, name_of, value_of
from verifiers.maths.cleaning import UnreadableError
from verifiers.maths.nodes import (
    Apply,
    Bound,
    Call,
    Constant,
    Matrix,
    NamedSet,
    Node,
    Number,
    Product,
    SetOf,
    Symbol,
    Text,
    product_of,
    with_symbol,
)
from verifiers.maths.stream import spelled
from verifiers.maths.vocabulary import MATRICES


class ConstructReader(ArgumentReader):
    """Reads sets, bound variables and environments."""

    @abstractmethod
    def _product(self) -> Node:
        """Return the longest product that starts here."""

    @abstractmethod
    def _power(self) -> Node:
        """Return the next factor of a product."""

    def _set(self) -> Node:
        if self.take("\\}", "\\rbrace", "}"):
            return SetOf(())
        items = [self.formula()]
        while self.take(",", ";"):
            items.append(self.formula())
        if not self.take("\\}", "\\rbrace", "}") and not self.at_end():
            raise UnreadableError("a set that is not closed")
        return SetOf(tuple(items))

    def _named_set(self) -> Node:
        token = self.peek()
        inner = self._argument_node()
        if token is None or not isinstance(inner, Symbol | Text):
            raise UnreadableError("an unknown set")
        name = inner.name if isinstance(inner, Symbol) else inner.words
        if name not in "RNZQC":
            raise UnreadableError("an unknown set")
        if self.at("^", "_"):
            self._advance()
            sign = "".join(spelled(piece) or "" for piece in self._tokens[self.position : self.position + 3])
            width = 3 if sign.startswith("{") else 1
            name += sign.strip("{}")[:1]
            self.position += width
        return NamedSet(name)

    def _decorated(self, name: str) -> Node:
        points = self._braced_points()
        if points is not None:
            return Symbol(f"{'segment' if name in ('overline', 'bar') else name} {points}")
        operand = value_of(self._argument_node())
        if name in ("overline", "bar", "conj") and not isinstance(operand, Product):
            return Call("conjugate", (operand,))
        return Apply(name, (operand,))

    def _braced_points(self) -> str | None:
        """Read {AB}: two or more points, which are no product. A segment has no direction."""
        token = self.peek(1)
        if not self.at("{") or token is None or token.kind != "word" or spelled(self.peek(2)) != "}":
            return None
        if not token.text.isupper() or len(token.text) < 2:
            return None
        self.position += 3
        return token.text

    def _bound(self, kind: str) -> Node:
        low = high = None
        variable = ""
        for _ in range(2):
            if self.take("_"):
                variable, low = self._lower_limit(kind)
            elif self.take("^"):
                high = value_of(self._argument_node())
        if kind == "int":
            body, variable = self._integrand()
        else:
            body = self._product()
            if kind != "lim":
                while self._at_command(frozenset(("cdot", "times"))) and self._advance():
                    body = product_of(body, self._power())
        if variable in ("i", "e"):  # an index, not the number
            body = with_symbol(body, Constant(variable), Symbol(variable))
        return Bound(kind, variable, low, high, body)  # type: ignore[arg-type]

    def _lower_limit(self, kind: str) -> tuple[str, Node | None]:
        braced = self.take("{")
        if kind == "int":
            node = self.formula() if braced else self._argument_node()
            if braced:
                self.expect("}")
            return "", node
        index = self._atom()
        if not isinstance(index, Symbol | Constant):
            raise UnreadableError("a bound variable that is no letter")
        name = name_of(index)
        low: Node | None = None
        if braced:
            if not self.take("=", "\\to", "\\rightarrow", "\\ge", "\\geq"):
                raise UnreadableError("limits that are not understood")
            low = self.formula()
            if self.take("^"):
                in_braces = self.take("{")
                side = spelled(self.peek())
                self._advance()
                if in_braces:
                    self.expect("}")
                low = Call("from_above" if side == "+" else "from_below", (low,))
            self.expect("}")
        return name, low

    def _integrand(self) -> tuple[Node, str]:
        """Read the body of an integral up to its dx."""
        end = None
        for index in range(self.position, len(self._tokens)):
            token = self._tokens[index]
            if token.kind == "word" and len(token.text) == 2 and token.text[0] == "d":
                end, width, variable = index, 1, token.text[1]
                break
            following = self._tokens[index + 1] if index + 1 < len(self._tokens) else None
            if token.kind in ("word", "text") and token.text == "d" and following is not None:
                end, width, variable = index, 2, following.text
                break
        else:
            raise UnreadableError("an integral without its differential")
        assert end is not None
        if end == self.position:
            body: Node = Number(Fraction(1))
        else:
            inner = type(self)(self._tokens[self.position : end])
            body = inner.formula()
            if not inner.at_end():
                raise UnreadableError("an integrand that is not understood")
        self.position = end + width
        return body, variable

    def _environment(self) -> Node:
        self.expect("{")
        name = ""
        while not self.at("}") and not self.at_end():
            name += self._tokens[self.position].text
            self._advance()
        self.expect("}")
        if name == "array" and self.at("{"):
            while not self.take("}") and not self.at_end():
                self._advance()
        if name.rstrip("*") not in MATRICES:
            raise UnreadableError(f"the environment {name[:40]!r}")
        rows: list[tuple[Node, ...]] = []
        while not self.at("\\end"):
            if self.take("\\hline"):
                continue
            row = [self.formula()]
            while self.take("&"):
                row.append(self.formula())
            rows.append(tuple(row))
            if not self.take("\\\\", "\\cr"):
                break
        self.expect("\\end")
        self.expect("{")
        while not self.take("}") and not self.at_end():
            self._advance()
        if len({len(row) for row in rows}) != 1:
            raise UnreadableError("rows of different length")
        matrix = Matrix(tuple(rows))
        if self.at("^") and (spelled(self.peek(1)) in ("T", "\\top") or spelled(self.peek(2)) in ("T", "\\top")):
            self.position += 2 if spelled(self.peek(1)) != "{" else 4
            matrix = Matrix(tuple(zip(*rows, strict=True)))
        return Call("det", (matrix,)) if name == "vmatrix" else matrix
