"""The quantity that is bounded from below: a Renyi divergence at an order, or the epsilon at a delta."""

from dataclasses import dataclass

from flint import arb

from lastiterate.numeric.lower.line import BinomialLaw, gaussian_epsilon_below, mixture_masses
from lastiterate.numeric.lower.masses import Masses, epsilon_below, renyi_below
from lastiterate.numeric.rounding import exact, lower


@dataclass(frozen=True)
class Target:
    """A Renyi divergence or an epsilon; exactly one of the two is not None.

    Attributes:
        order: alpha > 1.
        delta: in (0, 1).
    """

    order: float | None
    delta: float | None

    def gaussian(self, squared: arb) -> float:
        """For N(mu, 1) and N(0, 1) with mu^2 = ``squared``, rounded down."""
        if self.order is not None:
            return lower(exact(self.order) * squared / 2)
        return gaussian_epsilon_below(squared.sqrt(), float(self.delta or 0))

    def of_mixtures(self, first: BinomialLaw, second: BinomialLaw) -> float:
        """The greater of both orders between two mixtures, rounded down; 0 where floats do not reach."""
        found = 0.0
        for pair in ((first, second), (second, first)):
            try:
                found = max(found, self.masses(*mixture_masses(self.order, *pair)))
            except ArithmeticError:  # too far apart for floats
                continue
        return found

    def masses(self, first: Masses, second: Masses) -> float:
        """For two laws that are known by the masses of cells, rounded down: the greater of both orders."""
        pairs = ((first, second), (second, first))
        if self.order is not None:
            return max(renyi_below(self.order, *pair) for pair in pairs)
        return max(epsilon_below(float(self.delta or 0), *pair) for pair in pairs)
