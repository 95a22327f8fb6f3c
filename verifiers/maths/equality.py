"""Whether two answers say the same: dispatch over what they are."""

from collections.abc import Sequence

from verifiers.maths import words
from verifiers.maths.nodes import (
    Bracketed,
    Listing,
    NamedSet,
    Negative,
    Node,
    Relation,
    SetBuilder,
    SetOf,
    SetOperation,
    Symbol,
    Text,
    contains,
    symbols,
)
from verifiers.maths.real_sets import NotASetError, describes_a_set, real_set, unknowns
from verifiers.maths.relations import (
    difference,
    in_order_of_names,
    matching,
    name_of,
    names_and_values,
    renamed,
    stated_values,
)
from verifiers.maths.rewriting import spread_out
from verifiers.maths.scalars import ScalarComparison
from verifiers.maths.values import NoValueError

MAX_ITEMS = 60
"""Answers in a list that are compared with one another."""
_FEW = 4
"""Shorter lists are compared item by item."""
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


class Comparison(ScalarComparison):
    """Compares answers under a policy; `numerics` decides what exact fractions cannot."""

    def same(self, gold: Node, answer: Node) -> bool:
        """Tell whether `answer` says what `gold` says."""
        if isinstance(gold, Text) or isinstance(answer, Text):
            return isinstance(gold, Text) and isinstance(answer, Text) and words.same(gold.words, answer.words)
        gold, answer = without_free_integers(spread_out(gold), spread_out(answer))
        if _is_false_chain(self, answer):
            return False
        if gold == answer:
            return True
        if describes_a_set(gold) or describes_a_set(answer):
            if unknowns(gold) and unknowns(answer) and unknowns(gold) != unknowns(answer):
                return False  # an interval says nothing of its unknown
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
            case SetBuilder(), SetBuilder():
                return self._same_builder(gold, answer)
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
        if (
            self._policy.names == "required"
            and any(map(name_of, _items(gold)))
            and not any(map(name_of, _items(answer)))
        ):
            return False
        if isinstance(answer, Listing) and answer.word == "or" and not isinstance(gold, Listing | SetOf):
            return False
        if isinstance(gold, SetOf) and isinstance(answer, Bracketed):
            return False
        if isinstance(gold, Bracketed) and isinstance(answer, SetOf):
            return False
        if isinstance(gold, Bracketed) and isinstance(answer, Listing):
            return gold.opening + gold.closing == "()" and self._same_in_order(gold.items, _values(answer.items))
        if isinstance(answer, Bracketed) and isinstance(gold, Listing) and not _has_brackets(gold):
            return answer.opening + answer.closing == "()" and self._same_in_order(_values(gold.items), answer.items)
        left, right = _items(gold), _items(answer)
        if _nested(left) or _nested(right) or (_nested((gold, answer)) and not _are_collections(gold, answer)):
            return False
        if len(left) > MAX_ITEMS or len(right) > MAX_ITEMS:
            return len(left) == len(right) and self._same_in_order(left, right)
        names = {name_of(item) for item in left} - {None}
        if len(names) > 1 and all(name_of(item) is None for item in right):
            return self._same_in_order(_values(left), right)
        if self._policy.ordered_lists and isinstance(gold, Listing) and gold.word == "," and not names:
            return self._same_in_order(left, right)
        return self._same_in_any_order(left, right)

    def _same_in_any_order(self, gold: Sequence[Node], answer: Sequence[Node]) -> bool:
        if not gold or not answer:
            return not gold and not answer
        left, right = self._by_value(gold), self._by_value(answer)
        if left is not None and right is not None:
            return self._same_in_order(left, right)
        found = [[self.same(one, other) for other in answer] for one in gold]
        return all(map(any, found)) and all(map(any, zip(*found, strict=True)))

    def _by_value(self, items: Sequence[Node]) -> list[Node] | None:
        """Return numbers in ascending order and each once; None where not all are numbers."""
        if len(items) < _FEW:
            return None
        try:
            values = {self._number(item): item for item in reversed(items)}
        except (NotASetError, NoValueError):
            return None
        return [values[value] for value in sorted(values)]

    def _same_builder(self, gold: SetBuilder, answer: SetBuilder) -> bool:
        names, others = sorted(symbols(gold.element)), sorted(symbols(answer.element))
        if len(names) != len(others):
            return False
        change = dict(zip(others, names, strict=True))
        if (gold.domain is None) != (answer.domain is None):
            return False
        domains = gold.domain is None or answer.domain is None or self.same(gold.domain, answer.domain)
        return (
            domains
            and self.same(gold.element, renamed(answer.element, change))
            and self.same(gold.condition, renamed(answer.condition, change))
        )

    def _same_brackets(self, gold: Bracketed, answer: Bracketed) -> bool:
        brackets = (gold.opening + gold.closing, answer.opening + answer.closing)
        if brackets[0] != brackets[1] and (len(gold.items) == 2 or set(brackets) != {"()", "[]"}):
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
        value = stated_values(relation, unnamed_too=relation is answer or not symbols(relation))
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
                if set(names_to_change.values()) & (symbols(values[-1]) - names_to_change.keys()):
                    return False  # f(t) = x^2 is not f(x) = x^2
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


def _nested(items: Sequence[Node]) -> bool:
    return any(isinstance(item, SetOf) and any(isinstance(inner, SetOf) for inner in item.items) for item in items)


def _are_collections(gold: Node, answer: Node) -> bool:
    return isinstance(gold, Listing | SetOf) and isinstance(answer, Listing | SetOf)


def _values(items: Sequence[Node]) -> list[Node]:
    """Return the values of "x = 4, y = 9", those of letters in the order of the alphabet."""
    named = {name: item.sides[-1] for item in items if isinstance(item, Relation) and (name := name_of(item))}
    if len(named) != len(items):
        return [item.sides[-1] if isinstance(item, Relation) and name_of(item) else item for item in items]
    return [named[name] for name in in_order_of_names(list(named))]


def _has_brackets(node: Listing) -> bool:
    return any(isinstance(item, Bracketed) for item in node.items)


def without_free_integers(gold: Node, answer: Node) -> tuple[Node, Node]:
    r"""Give the free integer of "x = 2k\pi, k in Z" one name in both answers.

    Where one of them leaves "k in Z" out, neither keeps it.
    """
    names = _free_integer(gold), _free_integer(answer)
    if names[0] and names[1]:
        if names[0] != names[1] and names[0] not in symbols(answer):
            answer = renamed(answer, {names[1]: names[0]})
    elif names[0] and names[0] in symbols(answer):
        gold = _without_condition(gold)
    elif names[1] and names[1] in symbols(gold):
        answer = _without_condition(answer)
    return gold, answer


def _free_integer(node: Node) -> str:
    names = [
        item.sides[0].name
        for item in (node.items if isinstance(node, Listing) else ())
        if isinstance(item, Relation) and _is_free_integer(item) and isinstance(item.sides[0], Symbol)
    ]
    return names[0] if len(names) == 1 else ""


def _is_free_integer(node: Node) -> bool:
    return (
        isinstance(node, Relation)
        and node.operators == ("in",)
        and isinstance(node.sides[0], Symbol)
        and node.sides[1] == NamedSet("Z")
    )


def _without_condition(node: Node) -> Node:
    items = tuple(item for item in _items(node) if not _is_free_integer(item))
    return items[0] if len(items) == 1 else Listing(items, ",")
