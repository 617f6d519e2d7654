"""The profile of a Gaussian step of which the noise comes after a random projection."""

from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Expr, Integral, Piecewise, S, Symbol, exp, oo, true

from lastiterate.symbolic.formulas.divergences import chi_square, projected_moment
from lastiterate.symbolic.kernel.profiles import Order, Profile, Words
from lastiterate.symbolic.kernel.sealed import UnprovedError

X = Symbol("X", positive=True)
"""A chi-square variable."""


@dataclass(frozen=True)
class Projected(Profile):
    """The mean of ``part`` over `X` of ``dimension`` degrees of freedom."""

    part: Profile
    dimension: Expr
    order: Order | None = None

    def words(self) -> Words:
        return "the mean over X, chi-square of ", self.dimension, " degrees of freedom, of (", self.part, ")"

    def subs(self, values: Mapping[Symbol, Expr]) -> Profile:
        """As for every profile; `X` is bound, so no value is substituted for it or contains it."""
        if X in values or any(X in value.free_symbols for value in values.values()):
            raise UnprovedError(f"The mean over {X} leaves no {X} to put a value for, or to make one of, got {values}.")
        return super().subs(values)

    def at(self, g: Expr) -> Expr:
        return Integral(chi_square(X, self.dimension) * self.part.at(g), (X, 0, oo))

    def moment(self, alpha: Expr) -> Expr:
        """A sum of terms exp(w X / 2), of which the mean is finite for w < 1."""

        def mean(term: exp) -> Expr:
            w = 2 * term.args[0] / X
            return Piecewise((projected_moment(w, S.One, self.dimension), w < 1), (oo, true))

        return self.part.moment(alpha).replace(lambda term: isinstance(term, exp), mean)
