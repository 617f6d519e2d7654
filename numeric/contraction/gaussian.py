"""Tables of Gaussian prices."""

from functools import lru_cache
from math import sqrt

import numpy as np
from flint import arb
from scipy.special import erfcx, ndtr

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.table import Table, nodes, spread, tabulated
from lastiterate.numeric.divergences.hockey_stick import gaussian_profile
from lastiterate.numeric.rounding import exact

NODES = 800
_WIDEST = 45.0


@lru_cache(maxsize=1024)
def gaussian(mu: float) -> Table:
    """E_g(N(mu, 1) || N(0, 1)) for mu >= 0; one profile serves both orders."""
    if mu == 0:
        g = np.array([1.0, 2.0])
        return Table(g, zero := np.zeros(2), zero)
    shift = exact(mu)

    def profile(g: arb) -> arb:
        return gaussian_profile(shift, g.log())

    return tabulated(profile, _logs(mu))


def sketched(mu: float) -> Table:
    """About what `gaussian` gives, in floats."""
    if mu == 0:
        return gaussian(mu)
    g = nodes(_logs(mu))
    logs = np.log(g)
    near, far = logs / mu - mu / 2, logs / mu + mu / 2
    tail = np.exp(-near * near / 2) * (erfcx(np.maximum(near, 0) / sqrt(2)) - erfcx(far / sqrt(2))) / 2
    ahead = np.where(near > 0, tail, ndtr(-near) - g * ndtr(-far))
    return Table(g, ahead, ahead)


def _logs(mu: float) -> Array:
    return mu * spread(0.01, min(_WIDEST, 300 / mu), NODES)
