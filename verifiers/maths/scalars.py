"""Whether two single values are the same."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction

from verifiers.maths import units
from verifiers.maths.nodes import (
    Bracketed,
    Call,
    Clock,
    Constant,
    Degrees,
    Listing,
    Matrix,
    Negative,
    Node,
    Number,
    Numeral,
    Percent,
    Piecewise,
    PlusMinus,
    Product,
    Quantity,
    Quotient,
    Ratio,
    Relation,
    Residue,
    SetBuilder,
    SetOf,
    SetOperation,
    Text,
    children,
    contains,
    symbols,
)
from verifiers.maths.policy import Numerics, Policy
from verifiers.maths.real_sets import NotASetError
from verifiers.maths.rewriting import as_decimal, folded
from verifiers.maths.values import NotExactError, NoValueError

_NO_NUMBERS = (
    Text,
    Relation,
    Listing,
    SetOf,
    SetOperation,
    SetBuilder,
    Bracketed,
    Matrix,
    Clock,
    Ratio,
    Residue,
    PlusMinus,
)


class ScalarComparison(ABC):
    """Compares single values: numbers, quantities, angles, times, ratios, numerals, residues, matrices."""

    def __init__(self, policy: Policy, numerics: Numerics) -> None:
        self._policy = policy
        self._numerics = numerics

    @abstractmethod
    def same(self, gold: Node, answer: Node) -> bool:
        """Tell whether `answer` says what `gold` says."""

    def _same_in_order(self, gold: Sequence[Node], answer: Sequence[Node]) -> bool:
        return len(gold) == len(answer) and all(self.same(*pair) for pair in zip(gold, answer, strict=True))

    def _same_value(self, gold: Node, answer: Node) -> bool:
        gold, answer = folded(gold), folded(answer)
        if gold == answer:
            return not contains(answer, Text)
        infinite = _infinite_sign(gold), _infinite_sign(answer)
        if infinite != (0, 0):
            return infinite[0] == infinite[1]
        match gold, answer:
            case Numeral(digits, base), Numeral(other_digits, other_base):
                return (digits, base) == (other_digits, other_base)
            case (Numeral(digits, _), Number(value)) | (Number(value), Numeral(digits, _)):
                return digits.isdecimal() and value == int(digits)
            case (Numeral(), _) | (_, Numeral()):
                return False
            case Quantity(), Quantity():
                factor = units.ratio(gold.unit, answer.unit)
                return factor is not None and self._same_value(gold.value, _times(factor, answer.value))
            case (Quantity(), Ratio()) | (Ratio(), Quantity()):
                return False
            case (Quantity(value, _), Percent()) | (Percent(), Quantity(value, _)) if not isinstance(value, Percent):
                return False
            case Quantity(value, unit), Degrees(angle):
                return (unit == "rad" and self._same_number(value, answer)) or (unit == "celsius" and value == angle)
            case Degrees(), Quantity(value, unit):
                return unit == "rad" and self._same_number(gold, value)
            case Quantity(value, _), _:
                return self._policy.units == "optional" and self._same_value(value, answer)
            case _, Quantity(value, _):
                return self._same_value(gold, value)
            case Percent(left), Percent(right):
                return self._same_value(left, right)
            case Percent(value), _:
                return self._percent(value, gold, answer)
            case _, Percent(value):
                return self._percent(value, answer, gold)
            case Degrees(left), Degrees(right):
                return self._same_value(left, right)
            case Degrees(value), _:
                if contains(answer, Constant):
                    return self._same_number(gold, answer)
                return self._policy.units == "optional" and self._same_number(value, answer)
            case _, Degrees(value):
                return self._same_number(gold, answer) if contains(gold, Constant) else self._same_number(gold, value)
            case Clock(), Clock():
                return _same_time(gold, answer)
            case Ratio(), Clock():  # 15:20 for 3:4; the other way round a ratio is no time
                return self._same_ratio(gold, Ratio((_integer(answer.hours), _integer(answer.minutes))))
            case (Clock(hours, 0, 0), Number(value)) | (Number(value), Clock(hours, 0, 0)):
                return value == hours
            case Ratio(), Ratio():
                return self._same_ratio(gold, answer)
            case (Ratio(terms), _) | (_, Ratio(terms)) if len(terms) == 2:
                other = answer if isinstance(gold, Ratio) else gold
                return not isinstance(other, Clock | Matrix | Residue) and self._same_number(Quotient(*terms), other)
            case Residue(left, modulus), Residue(right, other_modulus):
                return self._congruent(left, right, modulus, other_modulus)
            case (Residue(value, _), _):
                return self._same_value(value, answer)
            case (_, Residue(value, _)):
                return self._same_value(gold, value)
            case Matrix(), Matrix():
                return self._same_matrix(gold, answer)
            case (Matrix() as matrix, Bracketed("(", items, ")")) | (Bracketed("(", items, ")"), Matrix() as matrix):
                return self._vector(matrix, items)
            case _:
                return self._same_number(gold, answer)

    def _percent(self, value: Node, whole: Node, other: Node) -> bool:
        if self._policy.percent == "strict":
            return False
        if self._same_number(whole, other):
            return True
        return self._policy.percent == "either" and self._same_number(value, other)

    def _same_ratio(self, gold: Ratio, answer: Ratio) -> bool:
        if len(gold.terms) != len(answer.terms):
            return False
        pairs = list(zip(gold.terms, answer.terms, strict=True))
        return all(
            self._same_number(Product((pairs[0][0], right)), Product((left, pairs[0][1]))) for left, right in pairs[1:]
        ) and not any(self._is_zero(term) for pair in pairs for term in pair)

    def _is_zero(self, node: Node) -> bool:
        try:
            return self._numerics.exact(node) == 0
        except (NotExactError, NoValueError):
            return False

    def _congruent(self, left: Node, right: Node, modulus: Node, other: Node) -> bool:
        try:
            numbers = [self._numerics.exact(node) for node in (left, right, modulus, other)]
        except (NotExactError, NoValueError):
            return self._same_value(left, right) and self._same_value(modulus, other)
        return numbers[2] == numbers[3] != 0 and (numbers[0] - numbers[1]) % numbers[2] == 0

    def _same_matrix(self, gold: Matrix, answer: Matrix) -> bool:
        return len(gold.rows) == len(answer.rows) and all(
            self._same_in_order(*rows) for rows in zip(gold.rows, answer.rows, strict=True)
        )

    def _vector(self, matrix: Matrix, items: Sequence[Node]) -> bool:
        if len(matrix.rows) == 1:
            return self._same_in_order(matrix.rows[0], items)
        return len(matrix.rows[0]) == 1 and self._same_in_order([row[0] for row in matrix.rows], items)

    def _same_number(self, gold: Node, answer: Node) -> bool:
        if not (_is_number(gold) and _is_number(answer)):
            return False
        try:
            return (
                self._numerics.exact(gold) == self._numerics.exact(answer)
                or self._rounds_to(gold, answer)
                or self._rounds_to(answer, gold)
            )
        except NoValueError:
            return False
        except NotExactError:
            pass
        decimals = as_decimal(gold), as_decimal(answer)
        if decimals != (None, None) and not symbols(gold) and not symbols(answer):
            return self._rounds_to(gold, answer) or self._rounds_to(answer, gold) or self._numerics.equal(gold, answer)
        return self._numerics.equal(gold, answer)

    def _rounds_to(self, value: Node, written: Node) -> bool:
        """Tell whether `written` is a decimal with enough digits that rounds, or cuts, the exact `value`."""
        decimal = as_decimal(written)
        if decimal is None or decimal.places is None or as_decimal(value) is not None:
            return False
        if not self._policy.decimal_digits or decimal.digits < self._policy.decimal_digits or symbols(value):
            return False
        return self._near(value, decimal)

    def approximates(self, value: Node, written: Node) -> bool:
        """Tell whether `written` is `value` rounded to the digits it has, however few."""
        decimal = as_decimal(written)
        if decimal is None or symbols(value):
            return False
        return self._near(value, decimal)

    def _near(self, value: Node, decimal: Number) -> bool:
        try:
            number = self._number(value)
        except (NoValueError, NotASetError):
            return False
        if number.denominator == 1:
            return number == decimal.value
        step = Fraction(10) ** -(decimal.places or 0)
        error = abs(number) - abs(decimal.value)  # cut: below one step, towards zero; rounded: half a step
        return (number < 0) == (decimal.value < 0) and (0 <= error < step or abs(error) <= step / 2)

    def _number(self, node: Node) -> Fraction:
        if symbols(node) or contains(node, (Relation, Listing, Text, SetOf, Bracketed, Matrix)):
            raise NotASetError("no number")
        try:
            return self._numerics.exact(node)
        except NotExactError:
            return self._numerics.rounded(node)


def _is_number(node: Node) -> bool:
    """Tell whether `node` has a number for its value, once its unknowns have."""
    match node:
        case Piecewise(branches):
            return all(_is_number(value) for value, _ in branches)
        case Call("det", (Matrix(rows),)):
            return all(_is_number(entry) for row in rows for entry in row)
        case _:
            return not isinstance(node, _NO_NUMBERS) and all(map(_is_number, children(node)))


def _times(factor: Fraction, node: Node) -> Node:
    return node if factor == 1 else Product((Number(factor), node))


def _infinite_sign(node: Node) -> int:
    match node:
        case Constant("infinity"):
            return 1
        case Negative(Constant("infinity")):
            return -1
        case _:
            return 0


def _integer(value: int) -> Number:
    return Number(Fraction(value))


def _same_time(gold: Clock, answer: Clock) -> bool:
    if (gold.minutes, gold.seconds) != (answer.minutes, answer.seconds):
        return False
    if gold.half and answer.half:
        return (gold.half, gold.hours % 12) == (answer.half, answer.hours % 12)
    if not gold.half and not answer.half:
        return gold.hours == answer.hours
    with_half, without = (gold, answer) if gold.half else (answer, gold)
    hours = with_half.hours % 12 + (12 if with_half.half == "pm" else 0)
    return without.hours in (hours, with_half.hours)
