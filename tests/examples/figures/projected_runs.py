"""Runs with random projections whose last iterate has a known law; their divergence bounds that of all runs below.

The dimension is 1, batches are full, the replaced sample has normalised gradient +1 or -1, all others have
gradient 0, and the noise is the same in every step. With h = 1/n and G the sum of all T p squared entries of
the projections, which has a Gamma law, the iterate is -+ h G/sqrt(p) + nu sqrt(G) N(0, 1) up to the step
size. The log-ratio of the two laws given G, 2 h x/(sqrt(p) nu^2), does not depend on G. So it is also the
log-ratio of the iterates' laws, and both directions agree:

    D_alpha = -T p/(2 (alpha - 1)) log(1 - 4 alpha (alpha - 1) h^2 sigma_A^2/(p nu^2)),   sigma_A = 1.
"""

from functools import cache

from flint import acb, arb
from scipy import optimize

from lastiterate.numeric.rounding import exact, lower, precision

Setting = dict[str, float]
"""Letters T, n, p and sigma (the noise nu) with their values."""

_TOLERANCE = 1e-10
"""Relative tolerance of the integrals; the absolute tolerance is a thousandth of this."""
_SAFE = 1e-4
"""Relative margin above delta for the hockey-stick divergence, so that the solution can be certified."""


def renyi_below(setting: Setting, alpha: float) -> float | None:
    """Renyi divergence of this order, rounded down; None if it is infinite."""
    with precision():
        order, p = exact(alpha), exact(setting["p"])
        load = 4 * order * (order - 1) / (exact(setting["n"]) ** 2 * p * exact(setting["sigma"]) ** 2)
        if not load < 1:
            return None
        return lower(-exact(setting["T"]) * p / (2 * (order - 1)) * (1 - load).log())


def _delta(epsilon: arb, setting: Setting) -> arb:
    """Lower bound on the hockey-stick divergence at e^epsilon: an integral over G minus an error bound."""
    shape, p = exact(setting["T"]) * exact(setting["p"]) / 2, exact(setting["p"])
    mean, noise = 1 / (exact(setting["n"]) * p.sqrt()), exact(setting["sigma"])
    edge, factor = epsilon * noise**2 / (2 * mean), epsilon.exp()
    low, high = shape / 10**4, 2 * shape + 60 * shape.sqrt() + 60
    less, scale = shape * arb(2).log() + shape.lgamma(), noise * arb(2).sqrt()

    def tail(g: acb, drift: arb) -> acb:
        return ((edge - drift * g) / (scale * g.sqrt())).erfc() / 2

    def inside(g: acb, _: bool) -> acb:
        weight = ((acb(shape) - 1) * g.log() - g / 2 - less).exp()
        return weight * (tail(g, mean) - factor * tail(g, -mean))

    found = acb.integral(
        inside, acb(low), acb(high), rel_tol=arb(_TOLERANCE), abs_tol=arb(_TOLERANCE * 1e-3)
    ).real
    below = 1 - (low / 2).gamma_upper(shape, regularized=1)
    if low * mean <= edge:  # the tail grows in g up to there
        below *= tail(acb(low), -mean).real
    outside = (high / 2).gamma_upper(shape, regularized=1) + below
    return found - factor * outside


def epsilon_below(setting: Setting, delta: float) -> float:
    """Least epsilon at this delta, rounded down."""
    aim = delta * (1 + _SAFE)
    at = cache(lambda epsilon: _delta(exact(epsilon), setting))
    with precision():
        if not at(0.0) > delta:
            return 0.0
        most = 1.0
        while at(most) > aim:
            most *= 2
        guess = optimize.brentq(lambda epsilon: float(at(epsilon).mid()) - aim, 0, most, xtol=1e-6)
        return guess if at(guess) >= delta else 0.0
