"""The run that the page of each refuted statement of this paper shows.

A sample that is added moves the mean of a step by eta K/b: one step is N(0, 1) or (1 - q) N(0, 1) + q N(K/(b sigma_DP),
1). On a small domain the sign of the last iterate tells two runs apart, whatever the diameter.
"""

from lastiterate.symbolic.prelude import *

_half = Rational(1, 2)
_loss: Final[Words] = words("Rényi divergence of order {} of the last iterates", alpha)
_drawn = "one step; a batch holds the added sample, of gradient K, with chance b/n; all other gradients are 0"
_price = 2 * alpha * K**2 / (beta * n * b * sigma_dp**2)
_rate = r * alpha * K**2 / (n * b * sigma_dp**2)
_step = SampledUp(b / n, b * sigma_dp / K, alpha)
_reached = (1 + eta * L) ** 2 * n * b * D**2 / (eta**2 * K**2)


def _coins(first: Expr, second: Expr) -> Expr:
    """D_2 of a coin with the first chance from one with the second."""
    return log(first**2 / second + (1 - first) ** 2 / (1 - second))


ONE_STEP: Final = RefutingRun(
    fails=words(
        "The proof bounds one order of the two data sets, the larger one second; with it first a step costs {}, which "
        "grows like {}, not like {}.",
        _step,
        alpha * K**2 / (2 * b**2 * sigma_dp**2),
        alpha * K**2 / (n * b * sigma_dp**2),
    ),
    at={n: 10, b: 1, K: 1, sigma_dp: 1, beta: 1, alpha: 20},
    run=_drawn,
    quantity=_loss,
    claimed=_price,
    true=SampledUp(b / n, sqrt(beta) * b * sigma_dp / K, alpha),
    says=private(
        _price,
        condition("OneStep", "one step, with the share {0} of its noise")(beta),
        Clipped(K),
        BatchesOf(b, n),
        adjacency=OneMore,
    ),
)

MANY_STEPS: Final = RefutingRun(
    fails=words(
        "No constant {} serves: the bound falls like {} as the data set grows, while one step with the larger data set "
        "first loses about {}.",
        r,
        1 / n,
        alpha * K**2 / (2 * b**2 * sigma_dp**2) - log(n / b),
    ),
    at={n: 10**4, b: 1, K: 1, sigma_dp: 1, T: 1, alpha: 40, r: 100},
    run=_drawn + "; r = 100 is tried",
    quantity=_loss,
    claimed=_rate * T,
    true=_step,
)

MANY_STEPS_EARLIER: Final = RefutingRun(
    fails=words(
        "The proof bounds one order of the two data sets, the larger one second; with it first one step costs {}.",
        _step,
    ),
    at={n: 10, b: 1, K: 1, sigma_dp: 1, T: 1, beta: Rational(99, 100), alpha: 20},
    run=_drawn,
    quantity=_loss,
    claimed=_price * T,
    true=_step,
    says=private(_price * T, beta < 1, Clipped(K), BatchesOf(b, n), Smooth(L), adjacency=OneMore),
)

_up = cumulative(K / (2 * sigma_dp))

SMALL_DOMAIN: Final = RefutingRun(
    fails=words(
        "The bound vanishes with the diameter {}, the loss does not: it is the noise of the last step that hides the "
        "data, and the sign of the last iterate tells two runs apart on any domain.",
        D,
    ),
    at={T: 1, n: 1, b: 1, eta: 1, K: 1, L: 1, sigma_dp: 1, D: Rational(1, 100), alpha: 2, r: 100},
    run="one step from the middle of an interval, all samples in it; one linear loss of slope K/2, and with it one of "
    "slope -K, so that the sums are K/2 and -K/2; r = 100 is tried",
    quantity=_loss,
    claimed=_rate * Min(T, _reached),
    true=_coins(_up, 1 - _up),
)

_widely = log(1 + 4 * ((cumulative(K / sigma_dp) - _half) / n) ** 2)
_little = r * alpha * K**2 / (n**2 * sigma_dp**2)
_far = (1 + eta * L) ** 2 * n**2 * D**2 / (eta**2 * K**2)

SMALL_DOMAIN_WIDE_NOISE: Final = RefutingRun(
    fails=words(
        "Like (12) the bound vanishes with the diameter {}, while the sign of the last iterate tells two runs apart on "
        "any domain.",
        D,
    ),
    at={T: 1, n: 5, b: 1, eta: 1, K: 1, L: 1, sigma_dp: 10, D: Rational(1, 1000), alpha: 2, r: 100},
    run="one step from the middle of an interval; one sample in five is added, of slope K, the others are 0; r = 100",
    quantity=_loss,
    claimed=_little * Min(T, _far),
    true=_widely,
    says=private(_little * Min(T, _far), Clipped(K), Diameter(D), PoissonBatches(b, n), Smooth(L), adjacency=OneMore),
)

_edge = D / 2
_without = tail(K + _edge)
_with = (1 - 1 / n) * _without + tail(_edge - K) / n
_split = 2 * alpha * K**2 / (beta * n * b * sigma_dp**2) + alpha * (1 + eta * L) ** 2 * D**2 / (
    2 * (1 - beta) * eta**2 * sigma_dp**2
)

BOTH_ORDERS: Final = RefutingRun(
    fails=words(
        "The proof bounds one order of the two data sets, the larger one second; with it first a gradient far longer "
        "than the noise shows about {}, where the bound has {} over {}.",
        K**2 / (2 * sigma_dp**2),
        4 * K**2 / sigma_dp**2,
        beta * n,
    ),
    at={n: 100, b: 1, eta: 1, K: 10, L: 1, sigma_dp: 1, T: 1, D: Rational(1, 100), beta: _half, alpha: 2},
    run="one step on one sample, from the middle of an interval; gradients K for all samples but the added one, which "
    "has -K and is drawn with chance b/n",
    quantity=_loss,
    claimed=_split,
    true=_coins(_with, _without),
    says=private(_split, beta < 1, Clipped(K), Diameter(D), BatchesOf(b, n), Smooth(L), adjacency=OneMore),
)

_naive = 2 * alpha * (D + eta * K / b) ** 2 / sigma_dp**2

NAIVE: Final = RefutingRun(
    fails=words(
        "The bound divides a squared length by {}, the variance of the noise on the gradient; the noise on the iterate "
        "has {}, and with a small step the bound vanishes while the sign of the iterate still tells two runs apart.",
        sigma_dp**2,
        eta**2 * sigma_dp**2,
    ),
    at={n: 1, b: 1, eta: Rational(1, 100), K: 1, sigma_dp: 1, T: 1, D: Rational(1, 100), alpha: 2},
    run="one step from the middle of an interval, all samples in it; one of slope K/2, and with it one of slope -K",
    quantity=_loss,
    claimed=_naive,
    true=_coins(_up, 1 - _up),
    says=private(_naive, Clipped(K), Diameter(D), FullBatches(n), adjacency=OneMore),
)
