r"""Theorem 2 of Jiang et al. 2025: utility of D2P2-SGD for convex losses.

For $f$ convex and $L$-smooth, $\alpha \le 1/(2L)$ and $x_1$ with $\|x_1 - x^*\| = x$,
$$\mathbb E f(\bar x_K) - f^* \le \frac{x^2(1 + \gamma)}{2\alpha K\sigma_A^2\sqrt p}
  + \frac{\alpha p^{3/2}(1 + \gamma)(\ln K + 1)\sigma_\epsilon^2}{2K}
  + \frac{\alpha p d^2\sigma_A^2(1 + \gamma)}2. \qquad(2)$$

Refuted: $\mathbb E|A\epsilon|^2$ is $d p\sigma_A^2\sigma_\epsilon^2$ and not
$p^2\sigma_A^2\sigma_\epsilon^2$; the proof has further gaps. `theorem_2_rightly` corrects (2).
"""

from lastiterate.symbolic.d2p2.paper import *
from lastiterate.symbolic.d2p2.theorem_2_rightly import BACK, NOISE, TELESCOPED

_root = sqrt(ell)
_a = Symbol("a")
_column = gaussian_mean([Transposed(_a), _a], [Transposed(_a), _a], entries={_a: (dim, S.One, sigma_A**2)})
_printed = ell**2 * sigma_A**2 * nu**2  # for the mean square of the noise
_projection = eta * ell * dim**2 * sigma_A**2 / 2
_clipped_mean = (5 / (5 + stab) - 2 / (1 + stab)) / 3  # of 5, -1, -1
_vanishing = ((3 - 1) / (3 + stab) + (-1 - 1) / (1 + stab)) / 2  # of 3, -1

_NOISY = RefutingRun(
    fails=words(
        "The noise is projected back, which gives it the mean square {}; the bound has {} for it, without the "
        "dimension of the parameters.",
        dim * ell * nu**2,
        ell ** Rational(3, 2) * nu**2,
    ),
    at={T: 2, ell: 1, dim: 8, stab: Rational(1, 100), nu: 30, L: 1, eta: Rational(1, 2)},
    run="two steps from the minimum of L |x|^2/2, sigma_A = 1",
    quantity=("excess of the population risk at the mean iterate",),
    claimed=eta * ell * (1 + stab) * (sqrt(ell) * (log(T) + 1) * nu**2 / (2 * T) + dim**2 / 2),
    true=L * dim * ell * eta**2 * nu**2 / 8,
)


def _divided(term: Expr) -> Expr:
    return put(x / r, {x: term, r: 2 * eta * _root * sigma_A**2})


def _rate(size: Expr, logarithm: Expr = S.One) -> Expr:
    """(2) with ``size`` for 1 + gamma and ``logarithm`` for ln K + 1."""
    return (
        x**2 * size / (2 * eta * T * sigma_A**2 * _root)
        + eta * ell * _root * size * nu**2 * logarithm / (2 * T)
        + _projection * size
    )


def _far(gradient: Expr) -> Expr:
    """(2) at K = 3, d = p = L = sigma_A = 1, eta = 1/2, nu = 0."""
    return x**2 * gradient / 3 + gradient / 4


CLAIMS = (
    Claim(
        "d2p2/theorem_2",
        "(2) bounds E f(mean iterate) - f*, here of L |x|^2/2: from x = 100 without noise, and from x* with noise",
        at("Theorem 2", "(2)"),
        Inequality(
            Rational(199, 2) ** 2 / 2,
            "<=",
            _far(Rational(101, 100)).subs(x, 100),
            name="K = 3, d = p = 1, no noise",
        ).mutant("twice gamma", right=_far(Rational(102, 100)).subs(x, 100)),
        IntervalInequality(
            (_NOISY.true - _NOISY.claimed).subs(_NOISY.at),
            "<=",
            S.Zero,
            {},
            "K = 2, p = 1, d = 8, nu = 30",
        ),
        statement=closed(
            Expectation(Function("f")(Symbol("mean iterate"))) - Symbol("f^*") <= _rate(1 + stab, log(T) + 1),
            ConvexSmooth(L),
            2 * eta * L <= 1,
        ),
        refutation=_NOISY,
    ),
    Ours(
        "d2p2/theorem_2/noise_term",
        "Divided by 2 eta sigma_A^2 sqrt(p) the noise of one step is eta d sqrt(p) nu^2 / 2",
        at("A.4", "(20)"),
        Identity(_divided(eta**2 * NOISE), eta * dim * _root * nu**2 / 2, "in place of p^1.5"),
    ),
    Step(
        "d2p2/theorem_2/noise_moment",
        "E|A e|^2 = p^2 sigma_A^2 nu^2 (E A^T A = p sigma_A^2 I)",
        at("A.4", "below (16)"),
        Expected(BACK, "==", _printed, name="p^2"),
    ),
    Ours(
        "d2p2/theorem_2/noise_moment_rightly",
        "E|A e|^2 = d p sigma_A^2 nu^2: d rows, each a sum of p products of variance sigma_A^2 nu^2",
        at("A.4", "below (16)"),
        Expected(BACK, "==", NOISE, name="every d and p"),
        repairs="d2p2/theorem_2/noise_moment",
    ),
    Step(
        "d2p2/theorem_2/fourth_moment",
        "E|a a^T|^2 <= E|a|^2 E|a|^2 = d^2 sigma_A^4 for one column a of A",
        at("A.4", "below (16)"),
        Expected(_column, "<=", dim**2 * sigma_A**4, name="E|a|^4"),
    ),
    Ours(
        "d2p2/theorem_2/fourth_moment_rightly",
        "E|a|^4 = d (d + 2) sigma_A^4 <= 3 d^2 sigma_A^4, equal at d = 1",
        at("A.4", "below (16)"),
        Expected(_column, "==", dim * (dim + 2) * sigma_A**4, name="every d"),
        Expected(_column, "<=", 3 * dim**2 * sigma_A**4, name="3 d^2"),
        repairs="d2p2/theorem_2/fourth_moment",
    ),
    Step(
        "d2p2/theorem_2/divided",
        "(19)-(20): the terms of (18) divided by 2 eta sigma_A^2 sqrt(p)",
        at("A.4", "(20)"),
        Identity(_divided(eta**2 * ell * _root * dim**2 * sigma_A**4), _projection, "p"),
        Identity(_divided(eta**2 * _printed), eta * ell * _root * nu**2 / 2, "p^1.5"),
    ),
    Step(
        "d2p2/theorem_2/mean_of_clipped",
        "The mean of clipped gradients is the clipped mean gradient (line 425), gradients 5, -1, -1",
        at("A.4", "below (16)"),
        Identity(_clipped_mean, 1 / (1 + stab), "the mean gradient is 1"),
    ),
    Ours(
        "d2p2/theorem_2/mean_of_clipped_equal",
        "Of the gradients 5, -1, -1, of mean 1, the mean of the clipped is negative where gamma < 5/3",
        at("A.4", "below (16)"),
        Inequality(_clipped_mean, "<", S.Zero, (stab < Rational(5, 3),), "5, -1, -1"),
        repairs="d2p2/theorem_2/mean_of_clipped",
    ),
    Claim(
        "d2p2/lemma_6",
        "(14): a convex function is above its tangents, f(x) >= f(y) + f'(y)(x - y)",
        at("Lemma 6", "(14)"),
        tangent(convex("f")).mutant("one percent of the squared distance more", tangent(convex("f"), L / 100)),
    ),
    Step(
        "d2p2/theorem_2/units",
        "(2), (15): its three terms are losses with |g| + gamma for 1 + gamma",
        at("Theorem 2", "(2)"),
        Units(_rate(g + stab), r, D2P2_UNITS, "|g| + gamma"),
        misprint=Units(_rate(1 + stab), r, D2P2_UNITS, "1 + gamma: a number and a gradient"),
    ),
    Step(
        "d2p2/theorem_2/gradient_size",
        "(19)-(20): |g_k| <= 1 for the gradient before normalising, so (2) holds far from the minimum, K = 3",
        at("A.4", "below (19)"),
        Inequality((x - S.Half) ** 2 / 2, "<=", _far(Rational(101, 100)), (x <= 100,), "gamma = 1/100").mutant(
            "twice gamma", right=_far(Rational(102, 100))
        ),
    ),
    Ours(
        "d2p2/theorem_2/gradient_size_repaired",
        "1/(|g| + gamma) >= 1/(G + gamma) for gradients of norm at most G, which covers the example",
        at("A.4", "below (19)"),
        Inequality(1 / (x + stab), "<= and attained", 1 / (g + stab), (g <= x, g > 0), "x = G here"),
        Inequality((x - S.Half) ** 2 / 2, "<", _far(x + stab), (x >= 2,), "G = x, the start"),
        repairs="d2p2/theorem_2/gradient_size",
    ),
    Step(
        "d2p2/theorem_2/vanishing_term",
        "(17)-(18): E (g - grad f)/(|g| + gamma) = 0 since E g = grad f: gradients 3 and -1",
        at("A.4", "below (17)"),
        Identity(_vanishing, S.Zero, "their mean is 1"),
    ),
    Ours(
        "d2p2/theorem_2/vanishing_term_repaired",
        "For gradients 3 and -1 the term is -2/((3 + gamma)(1 + gamma)); with a constant below it, it vanishes",
        at("A.4", "below (17)"),
        Identity(_vanishing, -2 / ((3 + stab) * (1 + stab)), "its value"),
        Identity(
            put((xi - 1) / (x + stab) / 2 + (zeta - 1) / (x + stab) / 2, {xi: 3, zeta: -1}),
            S.Zero,
            "norm x throughout",
            (x > 0,),
        ),
        repairs="d2p2/theorem_2/vanishing_term",
    ),
    Step(
        "d2p2/theorem_2/static_noise",
        "With static noise the second term is a constant; the noises of DPSGD and D2P-SGD end at the same level",
        at("Section 3.2", "below Theorem 2"),
        Identity(eta * ell * _root / (2 * T) * Sum(nu**2, (j, 1, T)), eta * ell * _root * nu**2 / 2, "K terms"),
        Inequality(g, "<= and attained", g * T / j, (j <= T,), "nu^2 = g K/k in step k against static g"),
    ),
    Step(
        "d2p2/theorem_2/sum",
        "(20)-(21): the distances telescope, and K terms over K leave the projection term alone",
        at("A.4", "(21)"),
        TELESCOPED,
        Identity(Sum(_projection, (j, 1, T)) / T, _projection, "mean"),
        Inequality(
            (kappa - gamma) / T,
            "<= and attained",
            kappa / T,
            (gamma >= 0,),
            "last distance dropped",
            attained=(Eq(gamma, 0),),
        ).mutant("half", sign="<=", right=kappa / (2 * T), given=(gamma >= 0, kappa >= 0), attained=()),
    ),
    Step(
        "d2p2/appendix_a_8/left_side",
        "(35), (36): their left side is min E|grad f|, as in (34); E[f - f*] is a loss",
        at("A.8", "(35)"),
        Units(g + 2 * stab, g, D2P2_UNITS, "gradients"),
        misprint=Units(r, g, D2P2_UNITS, "E[f(mean iterate) - f*], as printed, against gradients"),
    ),
    Claim(
        "d2p2/table_2",
        "Table 2: D2P2-SGD has the best accuracy in each column",
        at("Table 2"),
        *(  # by epsilon, the best of the others and its own, in units of 10^-4
            Inequality(Rational(best, 10**4), "<", Rational(own, 10**4), name=f"epsilon = {column}")
            for column, best, own in (
                (1, 6910, 7132),
                (2, 7063, 7322),
                (4, 5884, 7417),
                (6, 5704, 7851),
                (8, 6297, 7566),
            )
        ),
    ),
)
