r"""Read the smallest formulas: numbers, letters, functions with their arguments, commands."""

from abc import abstractmethod
from fractions import Fraction

from verifiers.maths.arguments import value_of
from verifiers.maths.cleaning import UnreadableError
from verifiers.maths.constructs import ConstructReader
from verifiers.maths.nodes import (
    Apply,
    Bracketed,
    Call,
    Constant,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    SetOf,
    Symbol,
)
from verifiers.maths.stream import spelled
from verifiers.maths.tokens import Token
from verifiers.maths.units import SHORT
from verifiers.maths.vocabulary import (
    EVENT_SIGNS,
    FRACTIONS,
    FUNCTIONS,
    GREEK_SYMBOLS,
    INVERSE,
    NAMES_OF_FUNCTIONS,
    NO_PRODUCTS,
    PROBABILITIES,
)


class AtomReader(ConstructReader):
    """Reads atoms."""

    @abstractmethod
    def _signed_power(self) -> Node:
        """Return the next factor of a product, with a sign if it has one."""

    @abstractmethod
    def _starts_factor(self) -> bool:
        """Tell whether another factor follows without a sign between."""

    def _atom(self) -> Node:
        token = self.peek()
        if token is None:
            raise UnreadableError("something is missing at the end")
        if token.kind == "number":
            self._advance()
            assert token.number is not None
            return token.number
        if token.kind == "word":
            return self._word(token)
        if token.kind == "text":
            raise UnreadableError(f"the words {token.text[:40]!r}")
        if token.kind == "command":
            return self._command(token.text)
        return self._sign(token.text)

    def _is_mathematics(self, token: Token) -> bool:
        """Tell a product of letters, or a function's name, from a word."""
        name = token.text
        if len(name) == 1 or name in FUNCTIONS or name in ("pi", "infinity", "infty", "oo", "binom"):
            return name.isascii() and not (self._words_only and self._after_number() and name in SHORT)
        if self._words_only and (not name.isupper() or self._after_number()):
            return False
        return len(name) <= 3 and name.isascii() and name.lower() not in NO_PRODUCTS

    def _after_number(self) -> bool:
        return self.position > 0 and self._tokens[self.position - 1].kind == "number"

    def _word(self, token: Token) -> Node:
        if token.text in PROBABILITIES and (event := self._event(token.text)) is not None:
            return event
        if not self._is_mathematics(token):
            raise UnreadableError(f"the word {token.text[:40]!r}")
        self._advance()
        name = token.text
        if name in FUNCTIONS and len(name) > 1:
            return self._function(name)
        if name in ("pi", "Pi"):
            return Constant("pi")
        if name in ("infinity", "Infinity", "infty", "oo"):
            return Constant("infinity")
        if name in ("binom", "C", "nCr") and self.at("("):
            start = self.position
            arguments = self._bracketed_arguments()
            if len(arguments) == 2:
                return Call("binomial", arguments)
            self.position = start
        letters = [_letter(letter) for letter in name.replace("'", "")]
        if len(letters) == 1:
            return self._maybe_applied(letters[0])
        # The last letter may carry a subscript or a power: ab^2 is a b^2.
        self._tokens[self.position - 1] = Token("word", name[-1])
        self.position -= 1
        return Product(tuple(letters[:-1])) if len(letters) > 2 else letters[0]

    def _event(self, name: str) -> Node | None:
        """Read P(X = 2) and P(A | B), whose brackets hold no formula, as one name."""
        if spelled(self.peek(1)) != "(":
            return None
        inside, level, position = [], 0, self.position + 1
        while position < len(self._tokens) and len(inside) < 30:
            sign = spelled(self._tokens[position]) or ""
            level += (sign == "(") - (sign == ")")
            inside.append(sign)
            position += 1
            if level == 0:
                break
        if level or not EVENT_SIGNS & set(inside):
            return None
        self.position = position
        return Symbol(name + "".join(inside))

    def _maybe_applied(self, node: Node) -> Node:
        if isinstance(node, Symbol) and self._at_definition():
            return Apply(node.name, self._bracketed_arguments())
        if isinstance(node, Symbol) and node.name in NAMES_OF_FUNCTIONS and self.at("("):
            return Apply(node.name, self._bracketed_arguments())
        if isinstance(node, Symbol) and node.name in NAMES_OF_FUNCTIONS and self.at("^"):
            signs = [spelled(self.peek(ahead)) for ahead in range(1, 6)]
            if signs == ["{", "-", "1", "}", "("]:
                self.position += 5
                return Apply(node.name + "^-1", self._bracketed_arguments())
        return node

    def _at_definition(self) -> bool:
        """Tell whether "(t) =" or "(n) =" follows: what stands before it is the name of a function."""
        signs = [spelled(self.peek(ahead)) for ahead in range(4)]
        return signs[0] == "(" and signs[2:] == [")", "="] and (signs[1] or "").isalnum() and not self._depth > 1

    def _sign(self, sign: str) -> Node:
        if sign in "([":
            return self._brackets(sign)
        if sign == "{":
            if self._holds_comma():
                self._advance()
                return self._set()
            return self._braced()
        if sign == "|" and self._bars == 0:
            self._advance()
            self._bars += 1
            node = self.formula()
            self._bars -= 1
            self.expect("|")
            return Call("abs", (node,))
        if sign == "?":
            raise UnreadableError("a question mark")
        raise UnreadableError(f"unexpected {sign!r}")

    def _command(self, name: str) -> Node:
        self._advance()
        if name in FRACTIONS:
            top = self._first_digit_argument()
            self.take("/")
            return Quotient(value_of(top), value_of(self._first_digit_argument()))
        if name in ("sqrt", "fullroot"):
            return self._root()
        if name in ("binom", "dbinom", "tbinom"):
            return Call("binomial", (self._first_digit_argument(), self._first_digit_argument()))
        if name in FUNCTIONS:
            return self._function(name)
        if name == "pi":
            return Constant("pi")
        if name in ("imath", "jmath", "iota"):
            return Constant("i")
        if name in ("infty", "infin"):
            return Constant("infinity")
        if name in GREEK_SYMBOLS:
            return self._maybe_applied(Symbol({"varphi": "phi", "varepsilon": "epsilon"}.get(name, name)))
        if name in ("emptyset", "varnothing", "O"):
            return SetOf(())
        if name in ("{", "lbrace"):
            return self._set()
        if name in ("lvert", "vert", "mid", "|", "lVert"):
            self._bars += 1
            node = self.formula()
            self._bars -= 1
            if not self.take("\\rvert", "\\vert", "\\mid", "\\|", "\\rVert"):
                raise UnreadableError("a bar that is not closed")
            return Call("abs", (node,))
        if name in ("lfloor", "lceil"):
            node = self.formula()
            self.expect("\\rfloor" if name == "lfloor" else "\\rceil")
            return Call("floor" if name == "lfloor" else "ceil", (node,))
        if name in ("langle",):
            items = [self.formula()]
            while self.take(",", ";"):
                items.append(self.formula())
            self.expect("\\rangle")
            return Bracketed("(", tuple(items), ")")
        if name == "mathbb" or name == "Bbb":
            return self._named_set()
        if name in (
            "overline",
            "bar",
            "conj",
            "vec",
            "hat",
            "widehat",
            "overrightarrow",
            "overleftrightarrow",
            "tilde",
        ):
            return self._decorated(name)
        if name in ("sum", "prod", "int", "lim"):
            return self._bound(name)
        if name == "begin":
            return self._environment()
        if name in ("angle", "measuredangle", "triangle", "odot", "nabla"):
            return self._points(name) or Apply(name, (self._power(),))
        if name in ("ldots", "dots", "cdots"):
            return Symbol("...")
        if name == "dollar":
            value = self._power()
            return value
        if name in ("ensuremath", "mathstrut"):
            return self._braced()
        raise UnreadableError(f"the command \\{name[:40]}")

    def _points(self, name: str) -> Node | None:
        """Read the letters of an angle or a triangle; ABC is CBA."""
        token = self.peek()
        if token is None or token.kind != "word" or not token.text.isupper() or len(token.text) < 2:
            return None
        self._advance()
        return Symbol(f"{name} {min(token.text, token.text[::-1])}")

    def _root(self) -> Node:
        if self.take("["):
            index = self.formula()
            self.expect("]")
            return Call("root", (value_of(self._argument_node()), index))
        return Call("sqrt", (value_of(self._argument_node()),))

    def _function(self, name: str) -> Node:
        function = FUNCTIONS[name]
        base: Node | None = None
        power: Node | None = None
        for _ in range(2):
            if self.at("_") and base is None:
                self._advance()
                base = value_of(self._first_digit_argument() if name == "log" else self._argument_node())
            elif self.at("^") and power is None and not self._degree_sign_ahead():
                self._advance()
                power = value_of(self._exponent_of_function())
        if power == Number(Fraction(-1)) and function in INVERSE:
            function, power = INVERSE[function], None
        node = Call(function, self._function_arguments(function))
        if function == "log" and base is not None:
            node = Call("log", (*node.arguments, base))
        return node if power is None else Power(node, power)

    def _degree_sign_ahead(self) -> bool:
        return spelled(self.peek(1)) == "\\circ"

    def _exponent_of_function(self) -> Node:
        if self.at("{"):
            return self._braced()
        if self.take("-"):
            return Negative(self._atom())
        return self._first_digit_argument()

    def _function_arguments(self, function: str) -> tuple[Node, ...]:
        if self.at("(", "["):
            inner = self._brackets(spelled(self.peek()) or "(")
            if isinstance(inner, Bracketed) and len(inner.items) > 1:
                return inner.items
            return (inner,)
        if self.at("{"):
            return (self._braced(),)
        factors = [self._signed_power()]
        while self._starts_factor() and not self._at_function():
            if self.at("(", "[", "|") and function not in ("log", "ln"):
                break
            factors.append(self._power())
        return (factors[0] if len(factors) == 1 else Product(tuple(factors)),)

    def _at_function(self) -> bool:
        token = self.peek()
        return (
            token is not None and token.kind in ("command", "word") and token.text in FUNCTIONS and len(token.text) > 1
        )


def _letter(letter: str) -> Node:
    if letter == "e" or letter == "i":
        return Constant(letter)
    return Symbol(letter)
