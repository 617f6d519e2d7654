"""The rate of Corollary 1 and Table 1, and what privacy and dimensions do to the convex bound, A.5.

Theorem 1 asks for nu^2 proportional to K^2 at a fixed epsilon, Corollary 1 for a fixed nu. A.5: B = 1; chi =
ln(1/delta); theta stands for ln K.
"""

from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.d2p2.refutations import RATE
from lastiterate.symbolic.d2p2.theorem_2_rightly import mended
from lastiterate.symbolic.prelude import *

_step = 1 / sqrt(T)


def _noise(variance: Expr) -> Expr:
    return _step * log(T) * variance / T


_convex = mended(eta, T, log(T) + 1)
_settled = P * (G + stab) / (2 * r * sigma_A**2 * sqrt(ell)) + r * (ell + dim + 1) * sigma_A**2 * (G + stab) / (
    2 * sqrt(ell)
)
_noisy = r * dim * sqrt(ell) * (G + stab) * nu**2 / 2
_stuck, _level = Rational(1, 100), Rational(133, 6600)
PULLED = (3 * x / (x + stab) - (4 - x) / (4 - x + stab)) / 4
"""The mean of the normalised gradients of (x - a)^2/2, a = 0, 0, 0 and 4, between 0 and 4."""
_here = {x: _stuck, stab: _level}
_step_size = ell ** Rational(3, 2) / (dim**2 * sqrt(T))
_constant = n * epsilon / (ell ** Rational(5, 2) * T * theta * sqrt(chi))
_variance = _constant * T**2 * chi / (n**2 * epsilon**2)


_falling = 1 / sqrt(T) + log(T) / T ** Rational(3, 2)


def reached(accuracy: Symbol) -> Inequality:
    """The rate is at most twice the accuracy from K = 1/accuracy^2 on."""
    return Inequality(
        _falling, "<=", 2 * accuracy, (T * accuracy**2 >= 1, accuracy > 0), "from K = 1/accuracy^2 on"
    ).mutant("from K = 1/accuracy on", given=(T * accuracy >= 1, accuracy > 0))


def _at(term: Expr) -> Expr:
    return put(term, {eta: _step_size, nu: sqrt(_variance)})


_start = D / (eta * T * sigma_A**2 * sqrt(ell))
_noise_term = eta * ell ** Rational(3, 2) * theta * nu**2 / T
_projection = eta * ell * dim**2 * sigma_A**2
_assumed = (epsilon > 0,)

CLAIMS = (
    Claim(
        "d2p2/corollary_1",
        "With eta = 1/sqrt(K) the mean iterate of convex smooth losses comes within 1/sqrt(K) + ln K/K^1.5 of f*",
        at("Corollary 1"),
        Identity(
            put(PULLED, _here),
            Integer(0),
            "(x - a)^2/2, a = 0, 0, 0, 4: the mean of the normalised gradients at 1/100, gamma = 133/6600",
        ),
        Asymptotic(
            (1 - _stuck) ** 2 / 2, 1 / sqrt(T) + log(T) / (T * sqrt(T)), path={T: growth}, name="f(1/100) - f* in K"
        ),
        IntervalInequality(
            (1 - _stuck) ** 2 / 2,
            "<=",
            1000 * (1 / sqrt(T) + log(T) / (T * sqrt(T))),
            {T: (10**10, 10**10)},
            "at K = 10^10, up to a constant 1000",
        ),
        refutation=RATE,
        remark="""Four samples with losses (x - a)^2/2, a = 0, 0, 0 and 4, in full batches, without noise (and by
        continuity with little): at x = 1/100 the normalised gradients add to 0 for gamma = 133/6600, so that a run from
        there stays there, whatever A, eta and K, and f - f* = 0.49. The mean of normalised gradients is not a multiple
        of the gradient. Section 2's E g_k = grad f is met: there, as below (16), g_k is the gradient of the mini-batch
        before it is normalised. For equal losses of bounded slope the rate holds.""",
    ),
    Ours(
        "d2p2/corollary_1/rightly",
        "Equal convex losses of slope at most G, eta = theta/sqrt(K): (2) as mended by d2p2/theorem_2/rightly is "
        "1/sqrt(K) and (ln K + 1)/K^1.5 times constants, and at most 1/sqrt(K) times what it is at K = 1",
        at("Corollary 1"),
        Identity(
            put(_convex, {eta: r / sqrt(T)}),
            _settled / sqrt(T) + _noisy * (log(T) + 1) / (T * sqrt(T)),
            "its terms",
        ),
        Inequality(
            (log(T) + 1) / (T * sqrt(T)),
            "<= and attained",
            1 / sqrt(T),
            name="ln K + 1 <= K",
            attained=(Eq(T, 1),),
        ).mutant("97 percent", sign="<=", right=Rational(97, 100) / sqrt(T), attained=()),
        Identity(put(_convex, {eta: r, T: 1}), _settled + _noisy, "at K = 1"),
        letters={G: "greatest slope", P: "|x_1 - x*|^2", r: "theta = eta sqrt(K)"},
        repairs="d2p2/corollary_1",
    ),
    Step(
        "d2p2/corollary_1/substitution",
        "eta = 1/sqrt(K): the three terms of Theorem 2 are 1/sqrt(K), nu^2 ln K / K^1.5 and 1/sqrt(K)",
        at("Corollary 1", "proof"),
        Identity(put(_start, {eta: _step}), D / (sigma_A**2 * sqrt(ell)) / sqrt(T), "initialisation"),
        Identity(put(_noise_term, {eta: _step}), ell ** Rational(3, 2) * nu**2 * theta / (T * sqrt(T)), "noise"),
        Identity(put(_projection, {eta: _step}), ell * dim**2 * sigma_A**2 / sqrt(T), "projection"),
    ),
    Step(
        "d2p2/corollary_1/complexity",
        "From K = 1/zeta^2 on 1/sqrt(K) + ln K/K^1.5 is at most 2 zeta, before it is above zeta; the second term of "
        "the count, (ln(1/zeta)/zeta)^(2/3), is at most the first for zeta <= 1",
        at("Section 3.2", "below Corollary 1"),
        reached(zeta),
        Inequality(
            Integer(1),
            "<= and attained",
            T * zeta**2,
            (_falling <= zeta,),
            "fewer steps do not",
            attained=(Eq(T, 1), Eq(zeta, 1)),
        ).mutant("three percent more steps", sign="<=", left=Rational(103, 100), attained=()),
        Inequality(
            (log(1 / zeta) / zeta) ** Rational(2, 3),
            "<=",
            1 / zeta**2,
            (zeta > 0, zeta <= 1),
            "so the first term of the count decides",
        ).mutant("its cube", left=(log(1 / zeta) / zeta) ** 2),
        letters={zeta: "accuracy"},
    ),
    Ours(
        "d2p2/corollary_1/private_rate",
        "With Theorem 1's nu^2 = K^2 the noise term is sqrt(K) ln K; over the other terms, 1/sqrt(K), it is K ln K",
        at("Table 1", "D2P2-SGD (Convex)"),
        Identity(put(_noise(nu**2), {nu: T}), sqrt(T) * log(T), "it grows"),
        Identity(put(_noise(nu**2), {nu: T}) * sqrt(T), T * log(T), "against 1/sqrt(K)"),
        Unbounded(T * log(T), Integer(1), {T: growth}, name="above every constant"),
    ),
    Claim(
        "d2p2/appendix_a_5",
        "(24): the three terms of (23) after the substitution",
        at("A.5", "(24)"),
        Identity(_at(_start), D * dim**2 / (ell**2 * sigma_A**2) / sqrt(T), "initialisation"),
        Identity(_at(_noise_term), sqrt(ell * chi) / (dim**2 * n * epsilon) / sqrt(T), "privacy"),
        Identity(_at(_projection), ell ** Rational(5, 2) * sigma_A**2 / sqrt(T), "projection"),
        assumptions=_assumed,
    ),
    Ours(
        "d2p2/appendix_a_5/step_size",
        "The step size p^1.5/(d^2 sqrt(K)) of A.5 and A.8 meets eta <= 1/(2 L) from K = 4 L^2 on, for p <= d",
        at("A.5"),
        Inequality(
            2 * L * _step_size,
            "<= and attained",
            Integer(1),
            (ell <= dim, 4 * L**2 <= T),
            "2 L eta",
        ).mutant("from K = L^2 on", sign="<=", given=(ell <= dim, L**2 <= T)),
    ),
    Step(
        "d2p2/appendix_a_5/comparison",
        "(24) against DPSGD's sqrt(d ln(1/delta))/(n epsilon): less privacy error for p <= d, more to start with",
        at("A.5", "below (24)"),
        Inequality(sqrt(ell) / dim**2, "<= and attained", sqrt(dim), (ell <= dim,), "privacy").mutant(
            "any p", sign="<=", given=()
        ),
        Inequality(Integer(1), "<= and attained", dim**2 / ell**2, (ell <= dim,), "initialisation"),
    ),
    Step(
        "d2p2/appendix_a_5/constant",
        "C_2 = n epsilon / (p^2.5 K ln K sqrt(ln(1/delta))) is at least a constant (n = p = chi = 1)",
        at("A.5"),
        Inequality(
            C_2,
            "<=",
            _constant.subs({n: 1, ell: 1, chi: 1}),
            given=(epsilon <= 1, theta >= 1),
            name="noise at least that of Theorem 1",
        ).mutant("K^2", right=_constant.subs({n: 1, ell: 1, chi: 1}) / T),
        assumptions=_assumed,
        remark="""Theorem 1 asks for a constant C_2, and A.5 puts in one that depends on n, epsilon, p, K and delta. It
        tends to 0 with K, so the noise put in is below that of Theorem 1 for all large K, and (24) is for a run that
        is not covered. With C_2 fixed the privacy error grows like sqrt(K) ln K / epsilon^2.""",
    ),
    Ours(
        "d2p2/appendix_a_5/constant_fixed",
        "With C_2 fixed the privacy error is C_2 p^3 ln K sqrt(K) ln(1/delta) / (d^2 n^2 epsilon^2)",
        at("A.5"),
        Identity(
            put(_noise_term, {eta: _step_size, nu: sqrt(C_2 * T**2 * chi / (n**2 * epsilon**2))}),
            C_2 * ell**3 * theta * sqrt(T) * chi / (dim**2 * n**2 * epsilon**2),
            "substituted",
        ),
        assumptions=_assumed,
        repairs="d2p2/appendix_a_5/constant",
    ),
)
