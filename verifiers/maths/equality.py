"""Whether two answers say the same: dispatch over what they are."""

from collections.abc import Sequence

from verifiers.maths import words
from verifiers.maths.nodes import (
    Bracketed,
    Listing,
    Negative,
    Node,
    Relation,
    SetBuilder,
    SetOf,
    SetOperation,
    Text,
    contains,
    symbols,
)
from verifiers.maths.real_sets import NotASetError, describes_a_set, real_set
from verifiers.maths.relations import difference, matching, name_of, names_and_values, renamed, stated_values
from verifiers.maths.rewriting import spread_out
from verifiers.maths.scalars import ScalarComparison
from verifiers.maths.values import NoValueError

MAX_ITEMS = 60
"""Answers in a list that are compared with one another."""
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


class Comparison(ScalarComparison):
    """Compares answers under a policy; `numerics` decides what exact fractions cannot."""

    def same(self, gold: Node, answer: Node) -> bool:
        """Tell whether `answer` says what `gold` says."""
        if isinstance(gold, Text) or isinstance(answer, Text):
            return isinstance(gold, Text) and isinstance(answer, Text) and words.same(gold.words, answer.words)
        gold, answer = spread_out(gold), spread_out(answer)
        if _is_false_chain(self, answer):
            return False
        if gold == answer:
            return True
        if describes_a_set(gold) or describes_a_set(answer):
            found = self._same_real_set(gold, answer)
            if found is not None:
                return found
        match gold, answer:
            case (Listing() | SetOf(), _) | (_, Listing() | SetOf()):
                return self._same_collection(gold, answer)
            case (Relation(), _) | (_, Relation()):
                return self._same_relation(gold, answer)
            case Bracketed(), Bracketed():
                return self._same_brackets(gold, answer)
            case (SetOperation() | SetBuilder(), _) | (_, SetOperation() | SetBuilder()):
                return False
            case _:
                return self._same_value(gold, answer)

    # Sets

    def _same_real_set(self, gold: Node, answer: Node) -> bool | None:
        try:
            left = real_set(gold, self._number)
        except (NotASetError, NoValueError):
            return None
        try:
            return left == real_set(answer, self._number)
        except NotASetError:
            return None if describes_a_set(answer) else False
        except NoValueError:
            return False

    # Lists

    def _same_collection(self, gold: Node, answer: Node) -> bool:
        if isinstance(answer, Listing) and answer.word == "or" and not isinstance(gold, Listing | SetOf):
            return False
        if isinstance(gold, SetOf) and isinstance(answer, Bracketed):
            return False
        if isinstance(gold, Bracketed) and isinstance(answer, SetOf):
            return False
        if isinstance(gold, Bracketed) and isinstance(answer, Listing):
            return gold.opening + gold.closing == "()" and self._same_in_order(gold.items, _values(answer.items))
        if isinstance(answer, Bracketed) and isinstance(gold, Listing):
            values = _values(gold.items)
            if not any(isinstance(item, Bracketed) for item in gold.items):
                return answer.opening + answer.closing in ("()", "[]") and self._same_in_order(values, answer.items)
        left, right = _items(gold), _items(answer)
        if len(left) > MAX_ITEMS or len(right) > MAX_ITEMS:
            return len(left) == len(right) and all(self.same(*pair) for pair in zip(left, right, strict=True))
        names = {name_of(item) for item in left} - {None}
        unnamed = all(name_of(item) is None for item in right)
        if self._policy.ordered_lists or (len(names) > 1 and unnamed):
            return self._same_in_order(left, right)
        return self._covered(left, right) and self._covered(right, left, swapped=True)

    def _covered(self, items: Sequence[Node], by: Sequence[Node], *, swapped: bool = False) -> bool:
        """Tell whether each of the items is the same as one of `by`."""
        return all(any(self.same(other, item) if swapped else self.same(item, other) for other in by) for item in items)

    def _same_brackets(self, gold: Bracketed, answer: Bracketed) -> bool:
        if len(gold.items) == 2 and (gold.opening, gold.closing) != (answer.opening, answer.closing):
            return False
        return self._same_in_order(gold.items, answer.items)

    # Equations and inequalities

    def _same_relation(self, gold: Node, answer: Node) -> bool:
        if isinstance(gold, Relation) and isinstance(answer, Relation):
            return self._same_relations(gold, answer)
        relation, other = (gold, answer) if isinstance(gold, Relation) else (answer, gold)
        assert isinstance(relation, Relation)
        if self._policy.names == "required" and relation is gold:
            return False
        value = stated_values(relation, unnamed_too=relation is answer)
        if value is None:
            return False
        for candidate in value:
            if relation is gold and self.same(candidate, other):
                return True
            if relation is answer and self.same(other, candidate):
                return True
        return False

    def _same_relations(self, gold: Relation, answer: Relation) -> bool:
        if set(gold.operators) <= {"=", "~"} and set(answer.operators) <= {"=", "~"}:
            return self._same_equations(gold, answer)
        if set(gold.operators) == {"=="} and set(answer.operators) == {"=="}:
            return self.same(gold.sides[-1], answer.sides[-1]) and matching(gold.sides[0], answer.sides[0]) is not None
        if gold.operators == answer.operators and self._same_in_order(gold.sides, answer.sides):
            return True
        flipped = tuple(_FLIPPED.get(operator, operator) for operator in reversed(answer.operators))
        if gold.operators == flipped and self._same_in_order(gold.sides, answer.sides[::-1]):
            return True
        if len(gold.operators) == len(answer.operators) == 1 and gold.operators[0] in _FLIPPED:
            left, right = difference(gold), difference(answer)
            if gold.operators != answer.operators:
                if gold.operators != flipped:
                    return False
                right = Negative(right)
            return symbols(left) == symbols(right) != frozenset() and self._numerics.proportional(
                left, right, positive=gold.operators[0] != "!="
            )
        return False

    def _same_equations(self, gold: Relation, answer: Relation) -> bool:
        gold_names, gold_values = names_and_values(gold)
        names, values = names_and_values(answer)
        if gold_names and names and gold_values and values:
            names_to_change = matching(gold_names[0], names[0])
            if names_to_change is not None:
                return self.same(gold_values[-1], renamed(values[-1], names_to_change))
            if not symbols(gold_values[-1]) and not symbols(values[-1]):
                return False
        if len(gold.sides) != 2 or len(answer.sides) != 2:
            return False
        left, right = difference(gold), difference(answer)
        if symbols(left) != symbols(right) or not symbols(left) or contains(left, Text) or contains(right, Text):
            return False
        return self._numerics.same_curve(left, right)


def _is_false_chain(comparison: Comparison, answer: Node) -> bool:
    """Tell whether an answer states an equation between values that differ: 7 = 8, x = 4 = 10."""
    relations = [
        node for node in (answer.items if isinstance(answer, Listing) else (answer,)) if isinstance(node, Relation)
    ]
    for relation in relations:
        if set(relation.operators) <= {"=", "~"}:
            _, values = names_and_values(relation)
            if len(values) > 1 and not any(map(symbols, values)):
                approximate = "~" in relation.operators
                first = values[0]
                for value in values[1:]:
                    if not (
                        comparison.same(first, value)
                        or (
                            approximate
                            and (comparison.approximates(first, value) or comparison.approximates(value, first))
                        )
                    ):
                        return True
    return False


def _items(node: Node) -> tuple[Node, ...]:
    return node.items if isinstance(node, Listing | SetOf) else (node,)


def _values(items: Sequence[Node]) -> list[Node]:
    """Return the values of "x = 4, y = 9"."""
    return [item.sides[-1] if name_of(item) is not None and isinstance(item, Relation) else item for item in items]
