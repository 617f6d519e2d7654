"""Tables of Gaussian and sampled Gaussian prices."""

from functools import lru_cache

import numpy as np
from flint import arb

from lastiterate.numeric.contraction.table import Table, spread, tabulated
from lastiterate.numeric.divergences.hockey_stick import gaussian_profile
from lastiterate.numeric.rounding import exact

NODES = 800
_WIDEST = 45.0


@lru_cache(maxsize=256)
def gaussian(mu: float) -> Table:
    """E_g(N(mu, 1) || N(0, 1)) for mu >= 0; one profile serves both orders."""
    if mu == 0:
        g = np.array([1.0, 2.0])
        return Table(g, zero := np.zeros(2), zero)
    shift = exact(mu)
    logs = mu * spread(0.01, min(_WIDEST, 300 / mu), NODES)

    def profile(g: arb) -> arb:
        return gaussian_profile(shift, g.log())

    return tabulated(profile, logs)
