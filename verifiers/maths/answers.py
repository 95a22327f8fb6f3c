r"""Read a whole answer from its tokens: one clause or several.

answer  = clause (("," | ";" | "and" | "or" | line break) clause)*
clause  = side ((= | < | <= | > | >= | \ne | \in | \equiv | \approx) side)*
side    = formula [unit] | words | ratio | time
"""

from verifiers.maths.cleaning import UnreadableError
from verifiers.maths.nodes import Bracketed, Listing, Node, Piecewise, Relation, Residue, SetBuilder, SetOf, Text
from verifiers.maths.sides import SideReader
from verifiers.maths.stream import spelled

_SYSTEMS = frozenset("cases dcases rcases aligned align gathered".split())
_RELATIONS = {
    "=": "=", "<": "<", "\\lt": "<", ">": ">", "\\gt": ">", "\\le": "<=", "\\leq": "<=", "\\leqslant": "<=",
    "\\leqq": "<=", "\\ge": ">=", "\\geq": ">=", "\\geqslant": ">=", "\\geqq": ">=", "\\ne": "!=", "\\neq": "!=",
    "\\in": "in", "\\approx": "~", "\\simeq": "~", "\\cong": "congruent", "\\equiv": "==",
    "\\coloneqq": "=", "\\doteq": "~",
    "\\parallel": "parallel", "\\perp": "perpendicular", "\\sim": "similar", "\\subset": "subset",
    "\\mid": "divides",
    "\\subseteq": "subseteq", "\\Rightarrow": "implies", "\\implies": "implies", "\\iff": "iff",
    "\\Leftrightarrow": "iff", "\\notin": "not in", "\\propto": "proportional",
}  # fmt: skip
"""What is not compared as an equation or an inequality must have the same sides."""
_SEPARATORS = (",", ";", "\\\\", "\\land", "\\wedge", "\\lor", "\\vee", "&", "\\newline")


class AnswerReader(SideReader):
    """Reads lists and relations, also those inside sets and systems."""

    def answer(self) -> Node:
        """Return everything up to the end."""
        items: list[Node] = []
        joints: list[str] = []
        while self._separators():
            items.append(self._bracketed_condition() or self._clause())
            word = self._joining_word()
            if word is None and self._opens_condition():
                word = ","
            if word is None:
                break
            joints.append(word)
        if not items:
            raise UnreadableError("it is empty")
        if len(items) == 1:
            return items[0]
        if "," in joints and ";" in joints:
            items = _grouped(items, joints)
        return Listing(tuple(items), "or" if "or" in joints else "and" if "and" in joints else ",")

    def _bracketed_condition(self) -> Node | None:
        """Read "(k in Z)" behind a formula."""
        if not self._opens_condition():
            return None
        self._advance()
        condition = self._clause()
        self.expect(")")
        return condition

    def _separators(self) -> bool:
        while self.take(*_SEPARATORS):
            pass
        return not self.at_end()

    def _joining_word(self) -> str | None:
        """Consume what joins two clauses; None where the answer ends."""
        found = None
        while True:
            token = self.peek()
            if token is not None and token.kind == "word" and token.text.lower() in ("and", "or"):
                self._advance()
                found = token.text.lower()
            elif self.take("\\lor", "\\vee"):
                found = "or"
            elif self.at(*_SEPARATORS):
                found = found or (";" if self.at(";") else ",")
                self._advance()
            else:
                return found

    def _clause(self) -> Node:
        operators: list[str] = []
        if self.take("\\equiv"):
            return self._side()
        sides = [self._side()]
        if self.take("\\mapsto"):  # x \\mapsto 2x + 3: a function by its rule
            return self._side()
        while (token := self.peek()) is not None:
            operator = _RELATIONS.get(spelled(token) or "")
            if token.kind == "word" and token.text.lower() in ("is", "equals") and isinstance(sides[-1], Text):
                operator = "="  # "Area is 12", while "12 is wrong" says nothing of the kind
            if token.kind == "command" and token.text == "not":
                self._advance()
                operator = {"=": "!=", "\\in": "not in"}.get(spelled(self.peek()) or "")
            if operator is None:
                break
            self._advance()
            if operator in "<>" and self.take("="):
                operator += "="
            elif operator == "=" and self.take("="):
                operator = "="
            operators.append(operator)
            sides.append(self._side())
            if self.take("\\mapsto"):
                sides[-1] = self._side()
        if self.at("!") and self._tokens[self.position + 1 : self.position + 2]:
            raise UnreadableError("an exclamation mark")
        if not operators:
            return sides[0]
        residues = [side for side in sides if isinstance(side, Residue)]
        operators = ["==" if residues and operator == "=" else operator for operator in operators]
        return Relation(tuple(sides), tuple(operators))

    def _set(self) -> Node:
        if self.take("\\}", "\\rbrace", "}"):
            return SetOf(())
        if self.at("\\begin"):  # a brace before a system of equations, which has no partner
            self._advance()
            system = self._system()
            self.take("\\}", "\\rbrace")
            return system
        bars = self._bars
        self._bars = 1 if self._has_lone_bar() else 0
        items = [self._set_item()]
        domain = self.formula() if self.take("\\in") else None
        self._bars = bars
        if self.take(":", "\\mid", "|", "\\vert", "\\colon", "\\ratio"):
            condition = self.answer()
            self._close_set()
            return SetBuilder(items[0], domain, condition)
        if domain is not None:
            raise UnreadableError("a set that is not understood")
        while self.take(",", ";"):
            items.append(self._set_item())
        self._close_set()
        return SetOf(tuple(items))

    def _has_lone_bar(self) -> bool:
        """Tell whether the set here has an odd number of bars: one of them is its "such that"."""
        level, bars = 0, 0
        for token in self._tokens[self.position :]:
            sign = spelled(token)
            level += (sign == "\\{") - (sign in ("\\}", "\\rbrace"))
            if level < 0:
                break
            bars += sign == "|"
        return bars % 2 == 1

    def _set_item(self) -> Node:
        return self._words() if self._at_words() else self._with_unit(self.formula(), None)

    def _close_set(self) -> None:
        if not self.take("\\}", "\\rbrace", "}"):
            raise UnreadableError("a set that is not closed")

    def _brackets(self, opening: str) -> Node:
        start = self.position
        node = super()._brackets(opening)
        if isinstance(node, Bracketed) and len(node.items) == 1 and not self.at("_"):
            self.position = start
            raise UnreadableError("brackets around one item")
        return node

    def _environment(self) -> Node:
        token = self.peek(1)
        if token is None or token.text.rstrip("*") not in _SYSTEMS:
            return super()._environment()
        return self._system()

    def _system(self) -> Node:
        """Read the rows of a system of equations, or of a function by cases."""
        self.expect("{")
        while not self.take("}") and not self.at_end():
            self._advance()
        if self.at("{"):  # the columns of an array
            while not self.take("}") and not self.at_end():
                self._advance()
        rows: list[tuple[Node, Node | None] | Node] = []
        while not self.at("\\end") and not self.at_end():
            rows.append(self._row())
            while self.take("\\\\", "\\cr", ",", ";", "."):
                pass
        self.expect("\\end")
        self.expect("{")
        while not self.take("}") and not self.at_end():
            self._advance()
        if all(isinstance(row, tuple) for row in rows):
            return Piecewise(tuple(row for row in rows if isinstance(row, tuple)))
        return Listing(tuple(row for row in rows if not isinstance(row, tuple)), "and")

    def _row(self) -> "tuple[Node, Node | None] | Node":
        value = self._clause()
        self.take(",", ";")
        if not (self.take("&") or self._at_word("if", "for", "when", "otherwise")):
            return value
        self.take(",")
        condition: Node | None = None
        while self._at_word("if", "for", "when"):
            self._advance()
        if self._at_word("otherwise", "else", "elsewhere"):
            self._advance()
        else:
            condition = self._condition()
        return (value, condition)

    def _condition(self) -> Node:
        parts = [self._clause()]
        while self._at_word("and", "or") or (self.at(",") and spelled(self.peek(1)) not in ("\\\\", "\\end", ".")):
            self._advance()
            parts.append(self._clause())
        return parts[0] if len(parts) == 1 else Listing(tuple(parts), "and")


def _grouped(items: list[Node], joints: list[str]) -> list[Node]:
    """Read "p = 5, q = 2; p = 7, q = 2" as two pairs."""
    groups: list[list[Node]] = [[items[0]]]
    for item, joint in zip(items[1:], joints, strict=False):
        if joint == ",":
            groups[-1].append(item)
        else:
            groups.append([item])
    return [group[0] if len(group) == 1 else Bracketed("(", tuple(group), ")") for group in groups]
