"""What a step is made of: how far an update carries two points apart, and what a shift of its noise costs.

An `Expansion` is a lemma about every loss of a class, in every dimension; a `Shift` one about the noise. Both say
what they rest on: the key of a claim, or cited mathematics.
"""

from dataclasses import dataclass
from enum import Enum

from sympy import Expr, Ge, Gt, S, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.judgement import Hypothesis
from lastiterate.symbolic.kernel.profiles import Equal, Gauss, Profile

__all__ = ["Expansion", "Guide", "Shift", "gaussian_shift", "no_shift"]


class Guide(Enum):
    """The map that carries the third point: that of the other run, or that of the run itself, with the same coin."""

    OTHER = "other"
    OWN = "own"


@dataclass(frozen=True)
class Expansion:
    """Two points at most z apart are at most e(z) apart after the maps of an update, e nondecreasing.

    Attributes:
        z: the letter for the distance.
        after: e(z).
        guide: the map of the second point; OTHER includes the sample in which the two data sets differ.
        lemma: the key of the claim that shows it, for every loss of the class.
        hypotheses: the class of the losses and what else it needs.
        conditions: on the numbers.
    """

    z: Symbol
    after: Expr
    guide: Guide
    lemma: str
    hypotheses: frozenset[Hypothesis]
    conditions: tuple[Boolean, ...] = ()

    def at(self, distance: Expr) -> Expr:
        """e at a distance."""
        return self.after.subs(self.z, distance)


@dataclass(frozen=True)
class Shift:
    """``profile`` bounds E_g(h + xi || xi) for every vector h of at most this length, in both orders."""

    length: Expr
    profile: Profile
    hypotheses: frozenset[Hypothesis] = frozenset()
    conditions: tuple[Boolean, ...] = ()
    cites: tuple[str, ...] = ()


def gaussian_shift(length: Expr, variance: Expr) -> Shift:
    """E_g(N(h, v I) || N(0, v I)) = theta(|h|/sqrt(v)): turn h to the first axis; it grows with |h|."""
    noise = Hypothesis("independent Gaussian noise of this variance is added in every coordinate", (variance,))
    rotation = ("a standard Gaussian vector turned round is one again",)
    return Shift(length, Gauss(length**2 / variance), frozenset({noise}), (Ge(length, 0), Gt(variance, 0)), rotation)


def no_shift() -> Shift:
    """No shift, at no cost."""
    return Shift(S.Zero, Equal())
