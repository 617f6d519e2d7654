"""The run that the page of each refuted statement of this paper shows.

One sample of n has the gradient -K or 0 and the others 0, so that one step on a random batch is N(0, 1) or
(1 - q) N(0, 1) + q N(K/(b sigma_DP), 1), q = b/n; with a domain, an iterate above alpha is what tells them apart.
"""

from lastiterate.symbolic.altschuler_talwar.paper import event
from lastiterate.symbolic.prelude import *

_loss: Final[Words] = ("Rényi divergence of order {} of the last iterates", alpha)
_rate, _noise = b / n, b * sigma_dp / (2 * K)
_price = T * SampledDown(_rate, _noise, alpha)
_drawn = BatchesOf(b, n)
_Removal = condition(
    "Removal", "where a sample is removed instead of replaced, the bounds of appendix B hold with {0} for {1}"
)
_AllOrders = condition("AllOrders", "(B.2) and (B.3) hold for all orders {0} and all noise {1}")

SMALL_BATCHES: Final = RefutingRun(
    fails=words(
        "A step is priced by {}, which has the law without the sample first and never exceeds {}; in the other order "
        "a last iterate above {} tells the two runs apart.",
        SampledDown(_rate, _noise, alpha),
        log(n / (n - b)),
        alpha,
    ),
    at={n: 10, b: 1, eta: 1, K: 1, sigma_dp: 1, T: 1, D: 100, alpha: 20},
    run="one step; the gradient of one sample is -K or 0, all others are 0",
    quantity=_loss,
    claimed=_price,
    true=event(alpha, tail(alpha - 1) * _rate, tail(alpha)),
    says=private(_price, Convex(L, K), Diameter(D), _drawn, eta * L <= 2),
)

ALL_ORDERS: Final = RefutingRun(
    fails=words(
        "At large orders the price {} stays below {}, whatever the noise, while the loss of one step grows like {}.",
        SampledDown(_rate, _noise, alpha),
        log(n / (n - b)),
        alpha * K**2 / (2 * b**2 * sigma_dp**2),
    ),
    at={n: 10, b: 1, eta: 1, K: 1, sigma_dp: 4, T: 1, D: 1000, alpha: 200},
    run="one step from the middle of an interval, seen above alpha; one sample has the gradient -K or 0, all others 0",
    quantity=_loss,
    claimed=_price,
    true=event(alpha, _rate * tail((alpha - 1) / sigma_dp), tail(alpha / sigma_dp)),
    says=_AllOrders(alpha, sigma_dp),
)

_far = 2 / sigma_dp
"""Standard deviations between the minimisers -1 and 1."""

STRONGLY_CONVEX: Final = RefutingRun(
    fails=words(
        "A step is priced by {}, at most {}; in the other order an iterate above 1, of chance {} against {}, shows a "
        "loss that grows like {}.",
        SampledDown(_rate, _noise, alpha),
        log(n / (n - b)),
        _rate / 2,
        tail(_far),
        2 / sigma_dp**2,
    ),
    at={n: 10, b: 1, eta: 1, K: 3, L: 1, m: 1, D: 4, sigma_dp: Rational(1, 10), T: 1, alpha: 2},
    run="one step on [-2, 2]; ten losses with curvature 1 and minimum at -1, that of the replaced sample at 1 or -1",
    quantity=_loss,
    claimed=_price,
    true=event(alpha, _rate / 2, tail(_far)),
    says=private(_price, StronglyConvex(m, L, K), Diameter(D), _drawn, Eq(eta, 2 / (L + m))),
)

_side = cumulative(K / ((n + 1) * sigma_dp))
"""Chance that an iterate is on its side of the middle between two means 2 K/(n + 1) apart."""

REMOVAL: Final = RefutingRun(
    fails=words(
        "Removing a sample changes the weight of all others, so that means of {} and of {} gradients of length {} "
        "differ by up to {}, not {}.",
        n,
        n + 1,
        K,
        2 * K / (n + 1),
        K / n,
    ),
    at={n: 10, K: 5, sigma_dp: 1, eta: 1, T: 1, D: 1000, alpha: 2},
    run="one full-batch step on an interval, seen by its side of a point; n linear losses of slope K, and one more, -K",
    quantity=_loss,
    claimed=alpha * K**2 / (2 * n**2 * sigma_dp**2),
    true=log(_side**2 / (1 - _side) + (1 - _side) ** 2 / _side),
    says=_Removal(K, 2 * K),
)
