r"""E.1 of Liang et al. 2026: the naive bound, by one Gaussian step, compared with (54) of Theorem 3.4.

$$\epsilon = \frac{2 \alpha (D + \eta C/b)^2}{\sigma_{DP}^2}$$

It is refuted: the noise on the iterate has the variance eta^2 sigma_DP^2. Divided by eta^2, this epsilon
bounds the last step for convex losses, with D the radius (in (54), D is the diameter); (54) is smaller only if
eta L <= 1. With (1 + eta L) D for D it bounds it for smooth losses, and (54) is never larger at the same D.
Figure 5: L = 1, C = 2, sigma_DP = 4, D = 1, n = 16, b = 2, alpha = 1.1, eta = 0.2.
"""

from lastiterate.symbolic.liang.paper import *

_naive = 2 * alpha * (D + eta * K / b) ** 2 / sigma_dp**2
_length = (1 + eta * L) * D + 2 * eta * K / sqrt(n * b)
_factor = alpha / (2 * eta**2 * sigma_dp**2)
_exact = _factor * _length**2  # (54)
_figure = {L: 1, K: 2, sigma_dp: 4, D: 1, n: 16, b: 2, alpha: Rational(11, 10), eta: Rational(1, 5)}
_naive_there, _exact_there = _naive.subs(_figure), _exact.subs(_figure)
_sign = two_coins(cumulative(Rational(1, 2)), tail(Rational(1, 2)))
# The weight w of a coin of which D_2 from a fair one, log(2 w^2 + 2 (1 - w)^2), is what the naive bound allows.
_seen = (1 + sqrt(exp(4 * (D + eta * K) ** 2 / sigma_dp**2) - 1)) / 2
_tiny = {eta: Rational(1, 100), sigma_dp: 1, K: 1, D: Rational(1, 100)}


def _once(factor: Expr, *conditions: Boolean) -> ForAll:
    bound = _naive.subs(D, factor * D / 2) / eta**2
    return private(bound, Diameter(D), BatchesOf(b, n), b <= n, *conditions, adjacency=OneMore)


def _last_step(factor: Expr, derivation: str, *given: Boolean) -> RenyiBound:
    """The last step, with the share of the noise for the sample at which the two lengths are hidden as one."""
    lengths = sensitivity(b), factor * D
    bound = alpha * (lengths[0] ** 2 / beta + lengths[1] ** 2 / (1 - beta)) / (2 * eta**2 * sigma_dp**2)
    possible = (alpha > 1, b <= n, beta > 0, beta < 1, *given)
    return RenyiBound(derivation, bound, possible, at={beta: lengths[0] / Add(*lengths)})


CLAIMS = (
    Claim(
        "liang/appendix_e_1",
        "The naive bound 2 alpha (D + eta K/b)^2/sigma_DP^2",
        at("E.1", ""),
        IntervalInequality(
            _sign,
            "<=",
            4 * (D + eta) ** 2,
            {D: (Rational(1, 100), Rational(1, 10)), eta: (Rational(1, 1000), Rational(1, 100))},
            "alpha = 2, b = K = sigma_DP = 1: sign of theta_1",
        ),
        IntervalInequality(cumulative(S.One), "<=", _seen.subs(_tiny), {}, "probability that theta_1 > 0"),
        refutation=RefutingRun(
            fails=words(
                "The bound divides a squared length by {}, the variance of the noise on the gradient; the noise on the "
                "iterate has {}, and with a small step the bound vanishes while the sign of the iterate still "
                "distinguishes two runs.",
                sigma_dp**2,
                eta**2 * sigma_dp**2,
            ),
            at={n: 1, b: 1, eta: Rational(1, 100), K: 1, sigma_dp: 1, T: 1, D: Rational(1, 100), alpha: 2},
            run="one step from the middle of an interval, all samples in it; one of slope K/2, and with it one of "
            "slope -K",
            quantity=LAST_ITERATES,
            claimed=_naive,
            true=two_coins(cumulative(K / (2 * sigma_dp)), tail(K / (2 * sigma_dp))),
            says=private(_naive, Clipped(K), Diameter(D), FullBatches(n), adjacency=OneMore),
        ),
    ),
    Ours(
        "liang/appendix_e_1/last_step",
        "With eta^2 below it, for D the diameter of the ball and half of it in the bound: convex losses, eta L <= 2",
        at("E.1", ""),
        _last_step(S.One, "noisy_sgd/one more, last step, convex", eta * L <= 2),
        statement=_once(S.One, Convex(L, K), eta * L <= 2),
        repairs="liang/appendix_e_1",
    ),
    Ours(
        "liang/appendix_e_1/smooth",
        "The same for smooth losses, clipped gradients, with (1 + eta L) D for D",
        at("E.1", ""),
        _last_step(1 + eta * L, "noisy_sgd/one more, last step"),
        statement=_once(1 + eta * L, Clipped(K), Smooth(L)),
        repairs="liang/appendix_e_1",
    ),
    Claim(
        "liang/appendix_e/units",
        "E.1: the naive bound is a number once eta^2 stands below it",
        at("E.1"),
        Units(_naive / eta**2, S.One, SMOOTH, "with eta^2"),
        misprint=Units(_naive, S.One, SMOOTH, "as printed: a squared length over a squared gradient"),
    ),
    Step(
        "liang/appendix_e/figure_5",
        "Figure 5: (54) is below the naive bound of E.1 with eta^2 below it, 1.546 against 4.95",
        at("E.1", "Figure 5"),
        IntervalInequality(_exact_there, "<", _naive_there * 25, {}, "the order as claimed"),
        Value(_naive_there * 25, "4.95", "with eta^2"),
        Value(_exact_there, "1.546", "(54)"),
        misprint=IntervalInequality(_exact_there, "<", _naive_there, {}, "the naive bound as printed"),
    ),
    Step(
        "liang/appendix_e/tighter",
        "E.1: (54) is tighter than the naive bound (with eta^2), for every smoothness",
        at("E.1"),
        Asymptotic(
            (1 + x) * D / 2 + y,
            D + y,
            path={x: growth, D: S.One, y: S.One},
            name="roots at b = n, x = eta L, y = eta C/b",
        ).mutant("half of its growth", left=x * D / 2 + y),
        Inequality((1 + x) * D / 2 + y, "<=", D + y, name="at some eta L"),
    ),
    Ours(
        "liang/appendix_e/tighter_repaired",
        "For eta L <= 1 and b <= n (54) is at most the naive bound with eta^2, whose D is a radius where that of (54) "
        "is a diameter; for full batches the naive bound at the same diameter is at most (54)",
        at("E.1"),
        Inequality(
            _exact,
            "<= and attained",
            _naive / eta**2,
            (eta * L <= 1, b <= n),
            "every eta L up to 1 and every batch",
            attained=(Eq(eta * L, 1), Eq(b, n)),
        ),
        Inequality(
            _length,
            "<= and attained",
            (1 + eta * L) * D + sensitivity(b),
            (b <= n,),
            "every smoothness, roots, the naive bound of smooth losses at the same diameter",
            (Eq(b, n),),
        ),
        Identity(put(_naive / eta**2, {D: D / 2}), _factor * (D + 2 * eta * K / b) ** 2, "at a diameter"),
        Inequality(
            D + 2 * eta * K / b, "<= and attained", _length, (Eq(b, n),), "its root, full batches", (Eq(L, 0),)
        ),
        repairs="liang/appendix_e/tighter",
    ),
)
