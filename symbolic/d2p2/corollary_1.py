r"""Corollary 1 and appendix A.5 of Jiang et al. 2025: the rate for convex losses.

Corollary 1: with $\alpha = \theta/\sqrt K$,
$\mathbb E f(\bar x_K) - f^* = O\big(\frac1{\sqrt K} + \frac{\ln K}{K^{3/2}}\big)$.
(24): with $\alpha = p^{3/2}/(d^2\sqrt K)$ and $\sigma_\epsilon^2$ of Theorem 1 the privacy term is
$\frac{\sqrt{p\ln(1/\delta)}}{d^2 n\epsilon\sqrt K}$.

The corollary is refuted: the mean of normalised gradients is not a multiple of the gradient. For equal losses
of bounded slope the rate holds. Theorem 1 requires $\sigma_\epsilon^2$ proportional to $K^2$, but Corollary 1
fixes $\sigma_\epsilon^2$.
"""

from lastiterate.symbolic.d2p2.paper import *
from lastiterate.symbolic.d2p2.theorem_2_rightly import mended

_rate = 1 / sqrt(T) + log(T) / T ** Rational(3, 2)
PULLED = (3 * x / (x + stab) - (4 - x) / (4 - x + stab)) / 4
"""The mean of the normalised gradients of (x - a)^2/2, a = 0, 0, 0, 4, for x from 0 to 4."""
_STUCK = RefutingRun(
    fails=words(
        "The mean of normalised gradients is not a multiple of the gradient: that of four samples is 0 at {}, where {} "
        "is above its minimum, and a run from there stays there, however long it is.",
        Eq(x, Rational(1, 100)),
        (3 * x**2 + (x - 4) ** 2) / 8,
    ),
    at={n: 4, b: 4, stab: Rational(133, 6600), T: 10**10, r: 1000},
    run="full batches of (x - a)^2/2, a = 0, 0, 0, 4, no noise, from x = 1/100; the constant r = 1000 is tried",
    quantity=("excess of the population risk at the mean iterate",),
    claimed=r * _rate,
    true=Rational(99, 100) ** 2 / 2,
    says=condition("Rate", "some constant {0} has E f(mean iterate) - f* at most {1} for every {2} and {3}")(
        r, r * _rate, T, ConvexSmooth(L)
    ),
)
# What the mended (2) is at eta = r/sqrt(K): the first over sqrt(K), the second by (ln K + 1)/K^1.5.
_settled = (G + stab) / (2 * sqrt(ell)) * (P / (r * sigma_A**2) + r * (ell + dim + 1) * sigma_A**2)
_noisy = r * dim * sqrt(ell) * (G + stab) * nu**2 / 2

# A.5: B = 1, chi = ln(1/delta), theta stands for ln K; the terms of (23).
_step_size = ell ** Rational(3, 2) / (dim**2 * sqrt(T))
_constant = n * epsilon / (ell ** Rational(5, 2) * T * theta * sqrt(chi))
_start = D / (eta * T * sigma_A**2 * sqrt(ell))
_noise = eta * ell ** Rational(3, 2) * theta * nu**2 / T
_projection = eta * ell * dim**2 * sigma_A**2


def reached(accuracy: Symbol) -> Inequality:
    """The rate is at most twice the accuracy for K >= 1/accuracy^2."""
    return Inequality(
        _rate, "<=", 2 * accuracy, (T * accuracy**2 >= 1, accuracy > 0), "from K = 1/accuracy^2 on"
    )


def _private(term: Expr, constant: Expr = _constant) -> Expr:
    """``term`` at the step size of A.5 and the nu^2 of Theorem 1, with ``constant`` as C_2."""
    return put(term, {eta: _step_size, nu: sqrt(constant * T**2 * chi / (n**2 * epsilon**2))})


CLAIMS = (
    Claim(
        "d2p2/corollary_1",
        "With eta = 1/sqrt(K) the mean iterate of convex smooth losses comes within 1/sqrt(K) + ln K/K^1.5 of f*",
        at("Corollary 1"),
        Identity(
            put(PULLED, {x: Rational(1, 100), stab: Rational(133, 6600)}), S.Zero, "the run stays at 1/100"
        ),
        Asymptotic(Rational(99, 100) ** 2 / 2, _rate, path={T: growth}, name="f(1/100) - f* in K"),
        IntervalInequality(
            Rational(99, 100) ** 2 / 2,
            "<=",
            1000 * _rate,
            {T: (10**10, 10**10)},
            "at K = 10^10, up to a constant 1000",
        ),
        refutation=_STUCK,
    ),
    Ours(
        "d2p2/corollary_1/rightly",
        "Equal convex losses of slope at most G, eta = theta/sqrt(K): (2) as mended by d2p2/theorem_2/rightly is "
        "1/sqrt(K) and (ln K + 1)/K^1.5 times constants, and at most 1/sqrt(K) times what it is at K = 1",
        at("Corollary 1"),
        Identity(
            put(mended(eta, T, log(T) + 1), {eta: r / sqrt(T)}),
            _settled / sqrt(T) + _noisy * (log(T) + 1) / (T * sqrt(T)),
            "its terms",
        ),
        Inequality(
            (log(T) + 1) / (T * sqrt(T)),
            "<= and attained",
            1 / sqrt(T),
            name="ln K + 1 <= K",
            attained=(Eq(T, 1),),
        ),
        letters={G: "greatest slope", P: "|x_1 - x*|^2", r: "theta = eta sqrt(K)"},
        repairs="d2p2/corollary_1",
    ),
    Step(
        "d2p2/corollary_1/substitution",
        "eta = 1/sqrt(K): the three terms of Theorem 2 are 1/sqrt(K), nu^2 ln K / K^1.5 and 1/sqrt(K)",
        at("Corollary 1", "proof"),
        Identity(put(_start, {eta: 1 / sqrt(T)}), D / (sigma_A**2 * sqrt(ell)) / sqrt(T), "initialisation"),
        Identity(
            put(_noise, {eta: 1 / sqrt(T)}), ell ** Rational(3, 2) * nu**2 * theta / (T * sqrt(T)), "noise"
        ),
        Identity(put(_projection, {eta: 1 / sqrt(T)}), ell * dim**2 * sigma_A**2 / sqrt(T), "projection"),
    ),
    Step(
        "d2p2/corollary_1/complexity",
        "From K = 1/zeta^2 on 1/sqrt(K) + ln K/K^1.5 is at most 2 zeta, before it is above zeta; the second term of "
        "the count, (ln(1/zeta)/zeta)^(2/3), is at most the first for zeta <= 1",
        at("Section 3.2", "below Corollary 1"),
        reached(zeta),
        Inequality(
            S.One,
            "<= and attained",
            T * zeta**2,
            (_rate <= zeta,),
            "fewer steps do not",
            attained=(Eq(T, 1), Eq(zeta, 1)),
        ),
        Inequality(
            (log(1 / zeta) / zeta) ** Rational(2, 3),
            "<=",
            1 / zeta**2,
            (zeta > 0, zeta <= 1),
            "so the first term of the count decides",
        ),
        letters={zeta: "accuracy"},
    ),
    Ours(
        "d2p2/corollary_1/private_rate",
        "With Theorem 1's nu^2 = K^2 the noise term is sqrt(K) ln K; over the other terms, 1/sqrt(K), it is K ln K",
        at("Table 1", "D2P2-SGD (Convex)"),
        Identity(put(log(T) * nu**2 / (T * sqrt(T)), {nu: T}), sqrt(T) * log(T), "it grows"),
        Unbounded(sqrt(T) * log(T), 1 / sqrt(T), {T: growth}, name="over the other terms"),
    ),
    Claim(
        "d2p2/appendix_a_5",
        "(24): the three terms of (23) after the substitution",
        at("A.5", "(24)"),
        Identity(_private(_start), D * dim**2 / (ell**2 * sigma_A**2) / sqrt(T), "initialisation"),
        Identity(_private(_noise), sqrt(ell * chi) / (dim**2 * n * epsilon) / sqrt(T), "privacy"),
        Identity(_private(_projection), ell ** Rational(5, 2) * sigma_A**2 / sqrt(T), "projection"),
        assumptions=(epsilon > 0,),
    ),
    Ours(
        "d2p2/appendix_a_5/step_size",
        "The step size p^1.5/(d^2 sqrt(K)) of A.5 and A.8 meets eta <= 1/(2 L) from K = 4 L^2 on, for p <= d",
        at("A.5"),
        Inequality(2 * L * _step_size, "<= and attained", S.One, (ell <= dim, 4 * L**2 <= T), "2 L eta"),
    ),
    Step(
        "d2p2/appendix_a_5/comparison",
        "(24) against DPSGD's sqrt(d ln(1/delta))/(n epsilon): less privacy error for p <= d, more to start with",
        at("A.5", "below (24)"),
        Inequality(sqrt(ell) / dim**2, "<= and attained", sqrt(dim), (ell <= dim,), "privacy"),
        Inequality(S.One, "<= and attained", dim**2 / ell**2, (ell <= dim,), "initialisation"),
    ),
    Step(
        "d2p2/appendix_a_5/constant",
        "C_2 = n epsilon / (p^2.5 K ln K sqrt(ln(1/delta))) is at least a constant (n = p = chi = 1)",
        at("A.5"),
        Inequality(C_2, "<=", epsilon / (T * theta), (epsilon <= 1, theta >= 1), "noise of Theorem 1").mutant(
            "K^2", right=epsilon / (T**2 * theta)
        ),
        assumptions=(epsilon > 0,),
    ),
    Ours(
        "d2p2/appendix_a_5/constant_fixed",
        "With C_2 fixed the privacy error is C_2 p^3 ln K sqrt(K) ln(1/delta) / (d^2 n^2 epsilon^2)",
        at("A.5"),
        Identity(
            _private(_noise, C_2),
            C_2 * ell**3 * theta * sqrt(T) * chi / (dim**2 * n**2 * epsilon**2),
            "substituted",
        ),
        assumptions=(epsilon > 0,),
        repairs="d2p2/appendix_a_5/constant",
    ),
)
