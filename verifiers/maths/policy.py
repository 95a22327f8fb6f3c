"""What counts as the same answer, and what a comparison asks of numbers."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

from verifiers.maths.nodes import Node


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """What counts as the same answer where users differ. docs/verifiers.md gives the reasons for the defaults."""

    percent: Literal["either", "value", "strict"] = "either"
    """Whether 28% answers 0.28 and 28 ("either"), 0.28 alone ("value"), or neither ("strict")."""
    units: Literal["optional", "required"] = "optional"
    """Whether a unit of the gold answer may be left out."""
    names: Literal["optional", "required"] = "optional"
    """Whether "x = 5" and "5" answer each other."""
    ordered_lists: bool = False
    """Whether a bare list must keep the gold's order."""
    decimal_digits: int = 6
    """Significant digits from which a decimal answers the exact value it rounds; 0 = never."""


class Numerics(Protocol):
    """What a comparison asks of numbers."""

    def exact(self, node: Node) -> Fraction:
        """Return the value of a formula without unknowns, where it is a fraction.

        Raises:
            NotExactError, NoValueError: as verifiers.maths.values.exact.
        """
        ...

    def equal(self, left: Node, right: Node) -> bool:
        """Tell whether two formulas have one value."""
        ...

    def same_curve(self, left: Node, right: Node) -> bool:
        """Tell whether left = 0 and right = 0 are one equation."""
        ...

    def proportional(self, left: Node, right: Node, *, positive: bool = False) -> bool:
        """Tell whether one formula is a constant times the other."""
        ...

    def rounded(self, node: Node) -> Fraction:
        """Return a constant to 40 digits.

        Raises:
            NoValueError: it has no real value.
        """
        ...
