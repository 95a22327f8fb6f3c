"""The tokens of an answer, read one after the other."""

from collections.abc import Sequence

from verifiers.maths.cleaning import UnreadableError
from verifiers.maths.tokens import Token


class TokenStream:
    """A list of tokens with a position: the next one to read.

    The readers of this package build on each other, from single signs to whole answers: TokenStream, ArgumentReader,
    ConstructReader, AtomReader, FormulaReader, SideReader, AnswerReader.
    """

    def __init__(self, tokens: Sequence[Token], *, words_only: bool = False) -> None:
        self._tokens = list(tokens)
        self._words_only = words_only
        self._depth = 0
        self._bars = 0
        self.position = 0

    def peek(self, ahead: int = 0) -> Token | None:
        """Return the next token, or None at the end."""
        index = self.position + ahead
        return self._tokens[index] if index < len(self._tokens) else None

    def at(self, *signs: str) -> bool:
        r"""Tell whether the next token is one of the signs; commands are written with their backslash."""
        return spelled(self.peek()) in signs

    def take(self, *signs: str) -> bool:
        """Consume the next token if it is one of the signs."""
        if self.at(*signs):
            self.position += 1
            return True
        return False

    def expect(self, sign: str) -> None:
        """Consume the sign, which must stand here; at the very end of the text a lost closing brace is forgiven."""
        if not self.take(sign) and (self.peek() is not None or sign != "}"):
            raise UnreadableError(f"expected {sign!r} and found {spelled(self.peek())!r}")

    def _opens_condition(self) -> bool:
        """Tell whether a bracket stands here that holds a condition, as in "2k + 1 (k in Z)"."""
        if not self.at("("):
            return False
        ahead = [spelled(self.peek(index)) for index in range(1, 12)]
        inside = ahead[: ahead.index(")")] if ")" in ahead else ahead
        return bool({"\\in", "\\ne", "\\neq", "\\ge", "\\geq", "\\le", "\\leq", "<", ">"} & set(inside))

    def at_end(self) -> bool:
        """Tell whether every token is consumed."""
        return self.position >= len(self._tokens)

    def _advance(self) -> bool:
        self.position += 1
        return True

    def _at_command(self, names: frozenset[str]) -> bool:
        token = self.peek()
        return token is not None and token.kind == "command" and token.text in names


def spelled(token: Token | None) -> str | None:
    if token is None:
        return None
    return "\\" + token.text if token.kind == "command" else token.text
