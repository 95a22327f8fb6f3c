r"""Read one side of an equation, or one answer of a list: a formula with its unit, words, a ratio, a time."""

import re
from fractions import Fraction

from verifiers.maths import units, words
from verifiers.maths.arguments import numeral
from verifiers.maths.cleaning import UnreadableError
from verifiers.maths.formulas import FormulaReader
from verifiers.maths.nodes import (
    Clock,
    Degrees,
    Node,
    Number,
    Numeral,
    Percent,
    Product,
    Quantity,
    Ratio,
    Residue,
    Sum,
    Text,
)
from verifiers.maths.stream import spelled
from verifiers.maths.tokens import Token
from verifiers.maths.vocabulary import BASE_WORDS

_CURRENCY_SIGNS = frozenset("\u20ac\u00a3\u00a5\u20b9")


class SideReader(FormulaReader):
    """Reads formulas with what may stand behind them."""

    def _side(self) -> Node:
        clock = self._clock()
        if clock is not None:
            return clock
        if self._at_words():
            return self._words()
        currency = self._currency()
        if currency is None and self.at("-") and self._ahead_is_currency():
            self._advance()
            currency = self._currency()
            node = self.formula()
            node = Number(-node.value) if isinstance(node, Number) else node
        else:
            node = self.formula()
        node = self._with_unit(node, currency)
        if self.at(":", "\\ratio", "\\colon") or self._at_word("to"):
            terms = [node]
            while self.take(":", "\\ratio", "\\colon") or (self._at_word("to") and self._advance()):
                terms.append(self.formula())
            node = Ratio(tuple(terms))
        return self._with_modulus(node)

    def _at_word(self, *names: str) -> bool:
        token = self.peek()
        return token is not None and token.kind in ("word", "text") and token.text.strip().lower() in names

    def _at_words(self) -> bool:
        token = self.peek()
        if token is None:
            return False
        return token.kind == "text" or (token.kind == "word" and not self._is_mathematics(token))

    def _words(self) -> Text:
        pieces: list[str] = []
        while self._at_words() and not (pieces and self._at_word("and", "or", "is", "equals")):
            token = self.peek()
            assert token is not None
            pieces.append(token.text)
            self._advance()
        token = self.peek()
        if token is not None and token.kind in ("number", "word") and not self._at_word("and", "or", "is", "equals"):
            raise UnreadableError("words and mathematics mixed")
        return Text(words.normal(" ".join(pieces)))

    def _currency(self) -> str | None:
        token = self.peek()
        if token is None:
            return None
        if token.kind == "command" and token.text in ("dollar", "pounds", "euro"):
            self._advance()
            return {"pounds": "pound sterling"}.get(token.text, token.text)
        if token.kind == "sign" and token.text in _CURRENCY_SIGNS:
            self._advance()
            return units.CURRENCIES[token.text]
        return None

    def _ahead_is_currency(self) -> bool:
        token = self.peek(1)
        return token is not None and (
            (token.kind == "command" and token.text == "dollar") or token.text in _CURRENCY_SIGNS
        )

    def _with_unit(self, node: Node, currency: str | None) -> Node:
        written: list[str] = []
        while (token := self.peek()) is not None:
            if token.kind == "text" or (token.kind == "word" and (written or not self._is_mathematics(token))):
                if self._at_word("and", "or", "is", "to", "mod"):
                    break
                lowered = token.text.strip().lower()
                if not written and (special := self._special_words(node, lowered)) is not None:
                    node = special
                    continue
                written.append(token.text)
                self._advance()
            elif written and token.kind == "sign" and token.text in "^/*{}-.()":
                if token.text == "-" and spelled(self.peek(1)) not in ("1", "2", "3"):
                    break
                written.append(token.text)
                self._advance()
            elif written and token.kind == "number" and written[-1] in "^{-":
                written.append(token.text)
                self._advance()
            elif written and token.kind == "command" and token.text in ("cdot", "circ"):
                written.append("*" if token.text == "cdot" else "")
                self._advance()
            elif not written and token.kind == "sign" and token.text == "/" and self._unit_follows_slash():
                written.append("/")
                self._advance()
            elif (token.kind == "sign" and token.text in _CURRENCY_SIGNS) or self.at("\\dollar"):
                if currency is not None:
                    raise UnreadableError("two currencies")
                currency = self._currency()
            elif isinstance(node, Degrees) and token.kind == "word" and token.text in ("C", "F") and not written:
                written.append(token.text)
                self._advance()
            else:
                break
        if not written:
            return node if currency is None else Quantity(node, currency)
        while written and written[-1] in ("-", "/", ".", "("):
            written.pop()
        unit = units.normal(" ".join(written))
        if unit is None:
            raise UnreadableError(f"the words {' '.join(written)[:40]!r}")
        if isinstance(node, Degrees):
            return Quantity(node.value, unit)
        if unit in ("degree", "deg"):
            return Degrees(node)
        return self._more_of(Quantity(node, unit or currency or ""))

    def _unit_follows_slash(self) -> bool:
        token = self.peek(1)
        return token is not None and (
            token.kind == "text" or (token.kind == "word" and not self._is_mathematics(token))
        )

    def _special_words(self, node: Node, word: str) -> Node | None:
        """Consume words that change the number in front of them: percent, million, in base 5, p.m."""
        if re.fullmatch(r"per\s?cent(?:age)?|pct\.?", word):
            self._advance()
            return Percent(node)
        if word == "per" and self._word_ahead() == "cent":
            self.position += 2
            return Percent(node)
        if word.replace(".", "") in ("am", "pm") and isinstance(node, Number) and node.value in range(25):
            self._advance()
            return Clock(int(node.value), 0, 0, "am" if word.startswith("a") else "pm")
        factor = words.scale(word.split()[0]) if word.split() else None
        if factor is not None:
            token = self.peek()
            assert token is not None
            self._advance()
            rest = word.split()[1:]
            if rest:
                self.position -= 1
                self._tokens[self.position] = Token("text", " ".join(rest), None, True)
            return _scaled(node, factor)
        base = re.fullmatch(r"\(?(?:in )?base(?: (\w+))?\)?|(binary|octal|hexadecimal|hex)", word)
        if base is not None or (word == "in" and self._word_ahead() == "base"):
            self.position += 2 if word == "in" else 1
            written = (base[1] or base[2]) if base else None
            if written is None:
                token = self.peek()
                if token is None:
                    raise UnreadableError("a base is missing")
                written = token.text
                self._advance()
            number = BASE_WORDS.get(written.lower()) or (
                int(written) if written.isascii() and written.isdigit() and len(written) < 3 else 0
            )
            digits = _digits(node)
            if not 2 <= number <= 36 or digits is None:
                raise UnreadableError("a base that is not understood")
            return numeral(digits, number)
        if isinstance(node, Number | Degrees) and re.fullmatch(r"deg(?:ree)?s?\.?", word):
            self._advance()
            return node if isinstance(node, Degrees) else Degrees(node)
        return None

    def _word_ahead(self) -> str:
        token = self.peek(1)
        return token.text.lower() if token is not None else ""

    def _more_of(self, quantity: Quantity) -> Node:
        """Read on in "2 hours 30 minutes"."""
        token, unit = self.peek(), self.peek(1)
        if token is None or token.kind != "number" or unit is None or unit.kind not in ("text", "word"):
            return quantity
        start = self.position
        further = self._side()
        if not isinstance(further, Quantity) or (factor := units.ratio(quantity.unit, further.unit)) is None:
            self.position = start
            raise UnreadableError("two quantities side by side")
        return Quantity(Sum((quantity.value, Product((Number(factor), further.value)))), quantity.unit)

    def _with_modulus(self, node: Node) -> Node:
        start = self.position
        if self.take("\\pmod", "\\bmod", "\\mod"):
            return Residue(node, self._argument_node())
        bracket = self.take("(")
        if self._at_word("mod", "modulo") or self.at("\\mod", "\\bmod"):
            self._advance()
            modulus = self._power()
            if bracket:
                self.expect(")")
            return Residue(node, modulus)
        token = self.peek()
        if token is not None and token.kind == "text" and (match := re.fullmatch(r"\(?mod (\d{1,6})\)?", token.text)):
            self._advance()
            return Residue(node, Number(Fraction(int(match[1]))))
        self.position = start
        return node

    def _clock(self) -> Clock | None:
        hours, colon, minutes = self.peek(), self.peek(1), self.peek(2)
        if not (
            hours is not None and hours.kind == "number" and hours.text.isdigit() and len(hours.text) <= 2
            and spelled(colon) in (":", "\\ratio", "\\colon")
            and minutes is not None and minutes.kind == "number" and minutes.text.isdigit() and len(minutes.text) == 2
            and int(hours.text) <= 24 and int(minutes.text) < 60
        ):  # fmt: skip
            return None
        self.position += 3
        seconds = 0
        if self.at(":") and (token := self.peek(1)) is not None and token.text.isdigit() and len(token.text) == 2:
            seconds = int(token.text)
            self.position += 2
        elif self.at(":"):
            self.position -= 3
            return None
        half = self._half_of_day()
        return Clock(int(hours.text), int(minutes.text), seconds, half)  # type: ignore[arg-type]

    def _half_of_day(self) -> str:
        letters, start = "", self.position
        while (token := self.peek()) is not None and len(letters) < 4 and token.kind in ("text", "word", "sign"):
            letters += re.sub(r"[\s.]", "", token.text.lower())
            self._advance()
            if letters in ("am", "pm"):
                self.take(".")
                return letters
        self.position = start
        return ""


def _scaled(node: Node, factor: int) -> Node:
    if isinstance(node, Number):
        if abs(node.value) > 10**100:
            raise UnreadableError("a number too large to read")
        return Number(node.value * factor)
    return Product((node, Number(Fraction(factor))))


def _digits(node: Node) -> str | None:
    match node:
        case Number(value, None) if value.denominator == 1 and 0 <= value < 10**100:
            return str(value.numerator)
        case Numeral(digits, _):
            return digits
        case _:
            return None
