"""The run that the page of each refuted statement of this paper shows.

With batches drawn without replacement, losses with gradients -K for all samples and K for the one that is replaced tell
the most: one step is N(0, 1) or (1 - q) N(0, 1) + q N(2 eta K/(b sigma), 1), q = b/n.
"""

from lastiterate.symbolic.prelude import *

_loss: Final[Words] = ("Rényi divergence of order {} of the last iterates", alpha)
_cost: Final[Words] = ("cost of the cheapest shifts, in units of {}", alpha / (2 * sigma**2))
_noise = sigma / sensitivity(b)
_window = Symbol("k", integer=True, positive=True)
_Identical = condition("Identical", "the bound (13) becomes {0} as the Hoelder order falls to 0")
_Stricter = condition("Stricter", "(3) is strictly below (B.3) of Altschuler & Talwar for every {0}")

RANDOM_BATCHES: Final = RefutingRun(
    fails=words(
        "A step is priced by {}, which has the law without the sample first and never exceeds {}; with that law second "
        "the same step costs {}, which grows with {} without limit.",
        SampledDown(b / n, _noise, alpha),
        log(n / (n - b)),
        SampledUp(b / n, _noise, alpha),
        alpha,
    ),
    at={n: 10, b: 1, eta: 1, K: 1, sigma: 1, T: 1, alpha: 20},
    run="one step without projection; all gradients are -K, the one of the replaced sample is K or -K",
    quantity=_loss,
    claimed=T * SampledDown(b / n, _noise, alpha),
    true=SampledUp(b / n, _noise, alpha),
)

_pushed, _pulled = tail((D / 2 - eta * K) / sigma), tail((D / 2 + eta * K) / sigma)

OUTPUT_PERTURBATION: Final = RefutingRun(
    fails=words(
        "The last noise is added after a gradient step, so that it has to hide more than the diameter: two runs from "
        "one point are {} apart before it, however small {} is.",
        sensitivity(),
        D,
    ),
    at={n: 1, eta: 1, K: Rational(1, 2), sigma: 1, T: 1, D: Rational(1, 100), alpha: 2},
    run="one step from the middle of an interval; the one sample has the constant gradient K or -K",
    quantity=_loss,
    claimed=alpha * D**2 / (2 * sigma**2),
    true=log(_pushed**2 / _pulled + (1 - _pushed) ** 2 / (1 - _pulled)),
)

STRICT_EVERY_T: Final = RefutingRun(
    fails=words(
        "For two steps the only window costs {}, which is more than composition, {}, unless {} is below {}: the two "
        "bounds are equal there, and none is strictly better.",
        s**2 * (1 + c) ** 2,
        2 * s**2,
        c,
        Integer(2) ** Rational(1, 2) - 1,
    ),
    at={T: 2, c: Rational(1, 2), s: 1},
    run="two steps that contract by c, on a domain of diameter at least s",
    quantity=_cost,
    claimed=T * s**2,
    true=Min(T * s**2, s**2 * (1 + c) ** 2),
    sign="<",
    says=closed(_Stricter(T), c < 1),
)

_growth = 1 + eta * L
_unit = alpha * sensitivity() ** 2 / (2 * sigma**2)

UNTESTED: Final = RefutingRun(
    fails=words(
        "Where a step expands, {}, the formula lets the distance of the runs fall below zero on its way and stays "
        "below {} however many steps there are; linear losses lose {}.",
        _growth > 1,
        _unit * (_growth + 1) / (_growth - 1),
        T * _unit,
    ),
    at={n: 2, eta: Rational(1, 10), K: 10, L: 1, sigma: 1, T: 1000, alpha: 2},
    run="linear losses, full batches, both runs from one point, no projection",
    quantity=_loss,
    claimed=_unit * (_growth + 1) / (_growth - 1) * (_growth**T - 1) / (_growth**T + 1),
    true=T * _unit,
    says=private(
        _unit * (_growth + 1) / (_growth - 1) * (_growth**T - 1) / (_growth**T + 1), FullBatches(n), Smooth(L)
    ),
)

_drift = eta * L + s

SMALL_LAMBDA: Final = RefutingRun(
    fails=words(
        "A step moves the runs apart by at most {}, and equal shifts over {} steps hide that and the diameter for {}: "
        "the bound stays below both composition and output perturbation.",
        _drift,
        _window,
        (_window * _drift + D) ** 2 / _window,
    ),
    at={T: 200, eta: Rational(1, 10), L: 1, s: Rational(2, 25), D: 1},
    run="the best of windows of 1 to 12 steps with equal shifts",
    quantity=_cost,
    claimed=Min(T * s**2, D**2),
    true=Min(*((k * _drift + D) ** 2 / k for k in range(1, 13)), evaluate=False),  # none of them is always the least
    sign=">=",
    says=_Identical(Min(T * s**2, D**2)),
)
