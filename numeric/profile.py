"""The privacy profile of a bound: delta at every epsilon."""

from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING

from lastiterate.numeric.candidates import least
from lastiterate.numeric.errors import within
from lastiterate.numeric.rounding import exact, precision, upper

if TYPE_CHECKING:
    from lastiterate.numeric.bound import PrivacyLoss


@dataclass(frozen=True)
class Profile:
    """An upper bound of the hockey-stick divergence at e^epsilon of the last iterates, the worse of both directions.

    It is found at each epsilon anew; where one path of shifts is all there is, it is exact for the Gaussian of it.
    """

    of: "PrivacyLoss"

    def __call__(self, epsilon: float) -> float:
        """Delta, rounded up, at any real epsilon."""
        epsilon = within("epsilon", epsilon, "a finite number", isfinite, "take a large one.", toward=-inf)
        if epsilon < 0:  # P(S) - t Q(S) = 1 - t + t (Q(S^c) - P(S^c) / t)
            with precision():
                t = exact(epsilon).exp()
                return min(upper(1 - t + t * exact(self(-epsilon))), 1.0)
        found = self.of.candidate
        delta = min(found.delta(epsilon), found.pair.delta(epsilon))
        if self.of.delta is not None and epsilon >= self.of.epsilon:
            delta = min(delta, self.of.delta)
        if not 0 < delta < 1 or (self.of.run.scheme.fixed and not isfinite(self.of.run.diameter)):
            return delta
        better = least(self.of.run, self.of.assumption, None, delta)
        return min(delta, better.delta(epsilon), better.pair.delta(epsilon))
