"""What a worker process compares with: numerical values and sympy."""

from fractions import Fraction

import mpmath
import sympy

from verifiers.maths import calculus, numerics
from verifiers.maths.nodes import Node
from verifiers.maths.values import NoValueError, exact

_PLACES = 40


class FullNumerics:
    """Decides by values to as many digits as it takes, and by sympy."""

    def exact(self, node: Node) -> Fraction:
        """Return the value of a formula where it is a fraction; raises as verifiers.maths.values.exact."""
        return exact(node)

    def equal(self, left: Node, right: Node) -> bool:
        """Tell whether two formulas have one value wherever both have one."""
        try:
            return numerics.equal(left, right)
        except NoValueError:
            return False

    def same_curve(self, left: Node, right: Node) -> bool:
        """Tell whether left = 0 and right = 0 are one equation, and no identity."""
        if numerics.is_zero(left) or numerics.is_zero(right):
            return False
        if numerics.proportional(left, right):
            return True
        try:
            return calculus.same_up_to_a_factor(calculus.numerator(left), calculus.numerator(right))
        except (NoValueError, sympy.PolynomialError):
            return False

    def proportional(self, left: Node, right: Node, *, positive: bool = False) -> bool:
        """Tell whether one formula is a constant times the other."""
        return numerics.proportional(left, right, positive=positive)

    def rounded(self, node: Node) -> Fraction:
        """Return a constant to 40 places behind the point and at least 40 digits.

        Raises:
            NoValueError: it has no real value.
        """
        number = numerics.value(node, {}, 2 * _PLACES)
        scale = mpmath.mpf(10) ** _PLACES
        with mpmath.workdps(2 * _PLACES + 20):
            return Fraction(int(mpmath.nint(number * scale)), 10**_PLACES)
