"""What equations say: which sides are names and which are values."""

from collections.abc import Sequence

from verifiers.maths import words
from verifiers.maths.nodes import (
    Apply,
    Bracketed,
    Call,
    Listing,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Ratio,
    Relation,
    Residue,
    Sum,
    Symbol,
    Text,
    children,
    contains,
    rebuilt,
    symbols,
)


def name_of(node: Node) -> Node | None:
    if isinstance(node, Relation) and set(node.operators) == {"="} and is_name(node.sides[0]):
        return node.sides[0]
    return None


def is_name(node: Node) -> bool:
    r"""Tell whether `node` only names something: x, f(x), |AB|, \angle A, "area", V_1 : V_2."""
    match node:
        case Symbol():
            return True
        case Text(said):
            return not (words.NEGATIONS | words.VERDICTS) & set(said.split())
        case Apply(_, arguments):
            return all(not contains(argument, (Relation, Listing)) for argument in arguments)
        case Product(factors):
            return len(factors) > 1 and all(
                isinstance(factor, Symbol) and factor.name[:1].isupper() for factor in factors
            )
        case Call("abs" | "conjugate", (inner,)):
            return is_name(inner) and not isinstance(inner, Symbol)
        case Ratio(terms):
            return all(is_name(term) for term in terms)
        case Bracketed(_, items, _):
            return all(is_name(item) for item in items)
        case Quotient(top, bottom):
            return _is_segment(top) and _is_segment(bottom)
        case _:
            return False


def _is_segment(node: Node) -> bool:
    return isinstance(node, Product) and is_name(node)


def names_and_values(relation: Relation) -> tuple[list[Node], list[Node]]:
    names = [side for side in relation.sides if is_name(side)]
    values = [side for side in relation.sides if not is_name(side)]
    if not values and len(names) > 1 and not isinstance(names[0], Symbol) and isinstance(names[-1], Symbol):
        return names[:-1], names[-1:]  # f(x) = x
    if not values and len(relation.sides) == 2 and relation.sides[0] != relation.sides[1]:
        return [relation.sides[0]], [relation.sides[1]]  # y = x
    return names, values


def stated_values(relation: Relation, *, unnamed_too: bool) -> list[Node] | None:
    """Return the values that "x = 5", "x = 7 + 4 = 11" or, where allowed, "12 = 3 * 4" state."""
    if relation.operators == ("in",):
        return [relation.sides[1]]
    if set(relation.operators) == {"=="}:
        return [relation.sides[-1]] if isinstance(relation.sides[-1], Residue) else None
    if not set(relation.operators) <= {"=", "~"}:
        return None
    names, values = names_and_values(relation)
    if not values:
        return None
    if not names and unnamed_too:
        # a + b = 5 says what a + b is; 2x + 3 = 5 is an equation still to be solved.
        values = [value for value in values if not _is_of_letters(value)] or values
    if not names and (not unnamed_too or any(map(symbols, values))):
        return None
    if any(symbols(value) & symbols(name) for value in values for name in names if isinstance(name, Symbol)):
        return None  # x = 5 + 0x states nothing about x
    return values if "~" in relation.operators else values[-1:]


def _is_of_letters(node: Node) -> bool:
    """Tell whether `node` combines unknowns without coefficients: a + b, xy, a^2 + b^2."""
    match node:
        case Symbol() | Apply():
            return True
        case Power(base, Number()):
            return _is_of_letters(base)
        case Sum() | Product() | Quotient() | Negative() | Call():
            return all(map(_is_of_letters, children(node)))
        case _:
            return False


def difference(relation: Relation) -> Node:
    return Sum((relation.sides[0], Negative(relation.sides[1])))


def matching(gold: Node, answer: Node) -> dict[str, str] | None:
    """Return how to rename the answer's unknowns so that both names are one; None where they are two."""
    gold, answer = _segment(gold), _segment(answer)
    if gold == answer:
        return {}
    match gold, answer:
        case Text(left), Text(right):
            return {} if words.same(left, right) else None
        case (Text(said), Symbol(name)) | (Symbol(name), Text(said)):
            return {} if len(said) > 1 or said == name.lower() else None
        case (Text(), _) | (_, Text()):
            return {}
        case Apply(left, gold_arguments), Apply(right, arguments) if left == right and len(gold_arguments) == len(
            arguments
        ):
            renamed = {}
            for one, other in zip(gold_arguments, arguments, strict=True):
                if isinstance(one, Symbol) and isinstance(other, Symbol):
                    renamed[other.name] = one.name
                elif one != other:
                    return None
            return renamed
        case (Apply(_, (Symbol(),)), Symbol("y")) | (Symbol("y"), Apply(_, (Symbol(),))):
            return {} if "^-1" not in str(getattr(gold, "name", "")) + str(getattr(answer, "name", "")) else None
        case Bracketed(_, left, _), Bracketed(_, right, _):
            return {} if left == right else None
        case _:
            return None


def _segment(node: Node) -> Node:
    """Return one name for AB, BA, |AB| and their overlined forms."""
    match node:
        case Call("abs" | "conjugate", (inner,)) if _is_segment(inner):
            return _segment(inner)
        case Product(factors) if _is_segment(node):
            return Symbol(
                "segment " + " ".join(sorted(str(factor.name) for factor in factors if isinstance(factor, Symbol)))
            )
        case _:
            return node


def in_order_of_names(names: Sequence[Node]) -> list[Node]:
    """Return names in the order in which a tuple without names would give their values: alphabetical, of letters."""
    if not all(isinstance(name, Symbol) for name in names):
        return list(names)
    return sorted(names, key=lambda name: name.name if isinstance(name, Symbol) else "")


def renamed(node: Node, names: dict[str, str]) -> Node:
    if isinstance(node, Symbol):
        return Symbol(names.get(node.name, node.name))
    return rebuilt(node, lambda child: renamed(child, names)) if names else node
