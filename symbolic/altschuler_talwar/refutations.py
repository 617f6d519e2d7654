"""The run that the page of each refuted statement of this paper shows.

One sample of n has the gradient -K or 0 and the others 0, so that one step on a random batch is N(0, 1) or
(1 - q) N(0, 1) + q N(K/(b sigma_DP), 1), q = b/n; with a domain, an iterate above alpha distinguishes them.
"""

from lastiterate.symbolic.prelude import *

_rate, _far = b / n, 2 / sigma_dp  # of sampling; deviations between the minimisers -1 and 1
_step, _most = SampledDown(_rate, b * sigma_dp / (2 * K), alpha), log(n / (n - b))
_side = cumulative(K / ((n + 1) * sigma_dp))  # probability to be on one's side of the middle of means 2 K/(n + 1) apart
_run = {n: 10, b: 1, eta: 1, T: 1}
_Removal = condition("Removal", "under removal of a sample the bounds of appendix B hold with {0} for {1}")
_AllOrders = condition("AllOrders", "(B.2) and (B.3) hold for all orders {0} and all noise {1}")

SMALL_BATCHES: Final = RefutingRun(
    fails=words(
        "The cost {} of a step has the law without the sample first and never exceeds {}; in the other order a last "
        "iterate above {} distinguishes the two runs.",
        _step,
        _most,
        alpha,
    ),
    at={**_run, K: 1, sigma_dp: 1, D: 100, alpha: 20},
    run="one step; the gradient of one sample is -K or 0, all others are 0",
    quantity=LAST_ITERATES,
    claimed=T * _step,
    true=event(alpha, tail(alpha - 1) * _rate, tail(alpha)),
    says=private(T * _step, Convex(L, K), Diameter(D), BatchesOf(b, n), eta * L <= 2),
)

ALL_ORDERS: Final = RefutingRun(
    fails=words(
        "At large orders the cost {} stays below {}, whatever the noise, while the loss of one step grows like {}.",
        _step,
        _most,
        alpha * K**2 / (2 * b**2 * sigma_dp**2),
    ),
    at={**_run, K: 1, sigma_dp: 4, D: 1000, alpha: 200},
    run="one step from the middle of an interval, seen above alpha; one sample has the gradient -K or 0, all others 0",
    quantity=LAST_ITERATES,
    claimed=T * _step,
    true=event(alpha, _rate * tail((alpha - 1) / sigma_dp), tail(alpha / sigma_dp)),
    says=_AllOrders(alpha, sigma_dp),
)

STRONGLY_CONVEX: Final = RefutingRun(
    fails=words(
        "The cost {} of a step is at most {}; in the other order an iterate above 1, of probability {} against {}, "
        "shows a loss that grows like {}.",
        *(_step, _most, _rate / 2, tail(_far), 2 / sigma_dp**2),
    ),
    at={**_run, K: 3, L: 1, m: 1, D: 4, sigma_dp: Rational(1, 10), alpha: 2},
    run="one step on [-2, 2]; ten losses with curvature 1 and minimum at -1, that of the replaced sample at 1 or -1",
    quantity=LAST_ITERATES,
    claimed=T * _step,
    true=event(alpha, _rate / 2, tail(_far)),
    says=private(T * _step, StronglyConvex(m, L, K), Diameter(D), BatchesOf(b, n), Eq(eta, 2 / (L + m))),
)

REMOVAL: Final = RefutingRun(
    fails=words(
        "Removing a sample changes the weight of all others, so that means of {} and of {} gradients of length {} "
        "differ by up to {}, not {}.",
        *(n, n + 1, K, 2 * K / (n + 1), K / n),
    ),
    at={n: 10, K: 5, sigma_dp: 1, eta: 1, T: 1, D: 1000, alpha: 2},
    run="one full-batch step on an interval, seen by its side of a point; n linear losses of slope K, and one more, -K",
    quantity=LAST_ITERATES,
    claimed=alpha * K**2 / (2 * n**2 * sigma_dp**2),
    true=two_coins(_side, 1 - _side),
    says=_Removal(K, 2 * K),
)
