"""The run that the page of each refuted statement of this paper shows.

Its constants in O() are C_1 and C_2 where it has them, and r where it has not. The 27 samples: 13 of slope 14 and 14 of
slope -1, whose normalised gradients cancel for gamma = 1/12 where their mean is 56/9; their deviation is 5 sqrt(182)/9.
"""

from lastiterate.symbolic.prelude import *

_slope: Final[Words] = words("least mean length of the gradient")
_gap: Final[Words] = words("excess of the population risk at the mean iterate")

_noise = sqrt(C_2 * chi) / epsilon
_length = sqrt(sqrt(C_2 * chi))

PRIVACY: Final = RefutingRun(
    fails=words(
        "The noise is added after the random projection, whose length has no bound, and so the sensitivity has none: "
        "as {} grows the true delta is at least {} times a constant, where {} is claimed.",
        chi,
        exp(-chi / 2),
        exp(-chi),
    ),
    at={n: 1, b: 1, T: 1, ell: 1, dim: 1, epsilon: 1, C_2: 1, chi: 16},
    run="one step on one sample, normalised gradients as near 1 or -1 as one likes, the projection known; nu^2 = C_2 "
    "log(1/delta)",
    quantity=words("least delta at epsilon = 1"),
    claimed=exp(-chi),
    true=2 * tail(_length) * delta_of_gdp(epsilon, _length / _noise),
)

NECESSARY: Final = RefutingRun(
    fails=words(
        "The condition is sufficient, not necessary: the Gaussian mechanism meets it only from {} on, and is private "
        "with a far smaller delta.",
        exp(-((epsilon - mu**2 / 2) ** 2) / (2 * mu**2)),
    ),
    at={mu: 1, epsilon: 1},
    run="the Gaussian mechanism, at the order that asks for the least",
    quantity=words("least delta at epsilon = {}", epsilon),
    claimed=exp(-((epsilon - mu**2 / 2) ** 2) / (2 * mu**2)),
    true=delta_of_gdp(epsilon, mu),
    sign=">=",
)

_moments = 7 * b**2 * alpha / (nu**2 * n**2)

MOMENTS: Final = RefutingRun(
    fails=words(
        "The lemma that it quotes asks for {}; below, at order 2, a step costs {}, which grows exponentially as the "
        "noise falls.",
        nu >= 1,
        log(1 + (b / n) ** 2 * (exp(1 / nu**2) - 1)),
    ),
    at={n: 10**9, b: 1, nu: Rational(9, 20), alpha: 2},
    run="one step on a batch, sensitivity 1; the order is allowed, 2 <= (nu^2/2) log(n/B)",
    quantity=words("Rényi divergence of order {} of one step", alpha),
    claimed=_moments,
    true=log(1 + (b / n) ** 2 * (exp(1 / nu**2) - 1)),
    says=private(_moments, BatchesOf(b, n), 10 * b < n, alpha <= nu**2 / 2 * log(n / b)),
)

CONVEX: Final = RefutingRun(
    fails=words(
        "The noise is projected back, which gives it the mean square {}; the bound has {} for it, without the "
        "dimension of the parameters.",
        dim * ell * nu**2,
        ell ** Rational(3, 2) * nu**2,
    ),
    at={T: 2, ell: 1, dim: 8, stab: Rational(1, 100), nu: 30, L: 1, eta: Rational(1, 2)},
    run="two steps from the minimum of L |x|^2/2, sigma_A = 1",
    quantity=_gap,
    claimed=eta * ell * (1 + stab) * (sqrt(ell) * (log(T) + 1) * nu**2 / (2 * T) + dim**2 / 2),
    true=L * dim * ell * eta**2 * nu**2 / 8,
)

_rate = 1 / sqrt(T) + log(T) / (T * sqrt(T))

RATE: Final = RefutingRun(
    fails=words(
        "The mean of normalised gradients is no multiple of the gradient: that of four samples is 0 at {}, where {} is "
        "above its minimum, and a run from there stays there, however long it is.",
        Eq(x, Rational(1, 100)),
        (3 * x**2 + (x - 4) ** 2) / 8,
    ),
    at={n: 4, b: 4, stab: Rational(133, 6600), T: 10**10, r: 1000},
    run="full batches of (x - a)^2/2, a = 0, 0, 0, 4, no noise, from x = 1/100; the constant r = 1000 is tried",
    quantity=_gap,
    claimed=r * _rate,
    true=Rational(99, 100) ** 2 / 2,
    says=condition("Rate", "some constant {0} has E f(mean iterate) - f* at most {1} for every {2} and {3}")(
        r, r * _rate, T, ConvexSmooth(L)
    ),
)

_variance = Rational(182 * 225, 27**2)
_stays = Rational(56, 9)
_bound = Rational(28, 3) / (T * eta) + 14 * eta + 2 * sqrt(_variance / b) + stab
_there = "the 27 samples of slopes 14 and -1, whose normalised gradients add to 0"

CLIPPING_BIAS: Final = RefutingRun(
    fails=words(
        "Samples are normalised one by one, so that the clipping bias does not fall with the batch: it is {}, where "
        "the bound has {}.",
        2 * sigma_sgd + stab,
        2 * sigma_sgd / sqrt(b) + stab,
    ),
    at={T: 10**5, b: 27, n: 27, eta: Rational(1, 1000), stab: Rational(1, 12), ell: 1, dim: 1},
    run=_there + ", full batches, no noise",
    quantity=_slope,
    claimed=_bound,
    true=_stays,
)

COMPLEXITY: Final = RefutingRun(
    fails=words(
        "The batch of {} samples does not take the clipping bias below {}: the gradient stays at one length, whatever "
        "the batch, the number of steps and the step size.",
        sigma_sgd**2 / xi**2,
        2 * sigma_sgd + stab,
    ),
    at={xi: Rational(1, 10**4), r: 1000},
    run="(x - a)^2/2, a = 0, 0, 0, 4, each as often as one likes, full batches, no noise, gamma = xi, from where the "
    "normalised gradients cancel; the constant r = 1000 is tried",
    quantity=_slope,
    claimed=r * xi,
    true=sqrt(4 + 2 * xi + xi**2) - 1 - xi,
    says=condition(
        "Complexity",
        "with batches of {0} samples, {1} steps and gamma at most {2} the mean gradient is at most {3}; {4}",
    )(sigma_sgd**2 / xi**2, 1 / (sigma_sgd**2 * xi**2), sigma_sgd * xi, r * xi, Smooth(L)),
)
