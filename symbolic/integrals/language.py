"""The language of the calculus, beside that of `statement`: kernels, joint laws, sequences, suprema, couplings."""

from typing import Any, Final

from sympy import Basic, Expr, Lambda, Symbol

from lastiterate.symbolic.statement import Condition, QuantityBase, condition


class Gaussian(QuantityBase):
    """The law N(mean, variance I), of (mean, variance)."""


class Dirac(QuantityBase):
    """The law of one point."""


class Lift(QuantityBase):
    """For a vector v with |v| <= R the random map of the line y -> y v + N(0, s (I - v v^T / R^2)), of (v, R, s)."""


class Along(QuantityBase):
    """The map y -> <y, v>/R^2 onto the line, for a vector v with |v| = R, of (v, R)."""


class At(QuantityBase):
    """The law that a kernel has at a point, of (kernel, point)."""

    @classmethod
    def eval(cls, kernel: Basic, point: Expr) -> Basic | None:
        """Evaluate where the kernel is known."""
        return kernel(point) if isinstance(kernel, Lambda) else None

    def _sympystr(self, printer: Any) -> str:
        return f"{printer._print(self.args[0])}({printer._print(self.args[1])})"


class Joint(QuantityBase):
    """The law of (x, y), y drawn from a kernel at x, of (law of x, kernel)."""


class Prefix(QuantityBase):
    """The law of the first variables of a sequence, of (sequence, number of them); of none of them there is one law."""

    @classmethod
    def eval(cls, _: Basic, count: Expr) -> Basic | None:
        """Evaluate where there are no variables."""
        return Symbol("nothing") if count == 0 else None


class Next(QuantityBase):
    """The law of the variable after the first ones given these, a kernel, of (sequence, number of them)."""


class Supremum(QuantityBase):
    """The supremum of a quantity over a letter, of (quantity, letter) or of (quantity, letter, condition)."""

    @property
    def free_symbols(self) -> set[Basic]:
        """The letters that the supremum does not range over."""
        return set().union(*(part.free_symbols for part in self.args)) - {self.args[1]}


class Every(Condition):
    """A condition for every value of a letter, of (condition, letter)."""

    words = "{0} for every {1}"

    @property
    def free_symbols(self) -> set[Basic]:
        """The letters but the one it ranges over."""
        condition, letter = self.args
        return set(condition.free_symbols) - {letter}


OnBall: Final = condition("OnBall", "{0} on the ball of radius {1}", __name__)
Within: Final = condition("Within", "{0} and {1} at most {2} apart in W_infinity", __name__)
Parting: Final = condition("Parting", "{0} has the part of length at most {3} of the step from {2} to {1}", __name__)
Close: Final = condition("Close", "{0} and {1} coupled so that they move no point more than {2} apart", __name__)

FORMER: Final = Symbol("X")
LATTER: Final = Symbol("Y")
KERNEL: Final = Symbol("K")
KERNEL_2: Final = Symbol("K'")
"""Two sequences of random variables, and two kernels."""

ANY_ORDER: Final = Symbol("alpha", nonnegative=True)
"""An order of which 0 is one."""
