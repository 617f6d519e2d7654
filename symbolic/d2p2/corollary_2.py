"""The rate of Corollary 2 by another argument than Theorem 3, whose clipping bias fails: in R^d, in every dimension.

A step is x - eta A (A' g/sqrt(p) + e), g the mean of normalised gradients, e noise of variance nu^2/k. Sample by sample
the normalised gradient loses 2 |grad f - g_i| + gamma of |grad f|, in the mean 2 sigma + gamma; smoothness of f turns
the means of the step into one for E f, and K of them add up. d is dim, p is ell, theta is eta sqrt(K).
"""

from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.d2p2.theorem_2_rightly import HARMONIC, STEP_ALONG, STEP_MEANS, STEP_SIZE
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.vector_steps import X, Y

_e, _g, _u, _v = map(Vector, ("e", "g", "u", "v"))
_loss, _slopes, _harmonic = Function("F", real=True), Function("R", real=True), Function("H", real=True)
_slope = Function("S", nonnegative=True)
_descent = eta * sqrt(ell) * sigma_A**2
_projection = L * eta**2 / 2 * (ell + dim + 1) * sigma_A**4
_noise = L * eta**2 / 2 * dim * ell * sigma_A**2 * nu**2
_bias = 2 * sigma_sgd + stab
_f = smooth("f", L)
_here, _next = _f.at(X), _f.at(Y)
_error, _of_errors, _squares, _count = (Function(name, nonnegative=True) for name in ("e", "E", "V", "n"))


def _below(curvature: Expr) -> VectorInequality:
    """The value after a step from x to y, of a smooth function."""
    most = _here.value - inner(_here.image, X - Y) + curvature / 2 * Norm(X - Y) ** 2
    return VectorInequality(_next.value, "<=", most, (_here, _next), name="a step from x to y")


def _rate(logarithm: Expr) -> Expr:
    """The terms of the corollary with their constants, r = f(x_1) - f*; in place of ln K + 1 what stands for it."""
    start = r / (theta * sigma_A**2 * sqrt(ell)) / sqrt(T)
    projected = L * theta * (ell + dim + 1) * sigma_A**2 / (2 * sqrt(ell)) / sqrt(T)
    return start + projected + L * theta * dim * sqrt(ell) * nu**2 / 2 * logarithm / T ** Rational(3, 2) + _bias


CLAIMS = (
    Claim(
        "d2p2/corollary_2",
        "eta = theta/sqrt(K): some E|grad f(x_k)| is O(1/sqrt(K) + ln K/K^1.5 + sigma + gamma), constants written out",
        at("Corollary 2"),
        Expected(
            h - 2 * Norm(_e) - stab,
            "<=",
            (Norm(_g) ** 2 + inner(_e, _g)) / (Norm(_g) + stab),
            (Eq(h**2, Norm(_g) ** 2 + 2 * inner(_e, _g) + Norm(_e) ** 2), h >= 0),
            "a sample's gradient g, and g + e of f, of length h",
        ),
        mean_square(
            _error,
            Function("chance", nonnegative=True),
            _of_errors,
            _squares,
            _count,
            name="and the mean of |e| is sigma at most",
        ),
        _below(L).mutant("three percent less", _below(Rational(97, 100) * L)),
        *STEP_MEANS,
        Expected(
            -eta * STEP_ALONG + L * eta**2 / 2 * STEP_SIZE,
            "<=",
            -_descent * inner(_u, _v) + _projection + _noise,
            (Norm(_v) <= 1,),
            "of the mean v of the normalised gradients, u that of f",
        ),
        Induction(
            t,
            Le(_loss(t) + a * _slopes(t), P + t * (a * q + y) + u * _harmonic(t)),
            (Le(_loss(0), P), Eq(_slopes(0), 0), Eq(_harmonic(0), 0)),
            (
                Le(_loss(t + 1), _loss(t) - a * (_slope(t) - q) + y + u / (t + 1)),
                Eq(_slopes(t + 1), _slopes(t) + _slope(t)),
                Eq(_harmonic(t + 1), _harmonic(t) + 1 / (t + 1)),
            ),
            name="K steps, each lowering E f by a E|grad f| but for bias, projection and noise",
        ),
        HARMONIC,
        Identity(
            put((r + T * _projection + _noise * z) / (T * _descent), {eta: theta / sqrt(T)}) + _bias,
            _rate(z),
            "divided by a K at eta = theta/sqrt(K)",
        ),
        statement=closed(
            LeastOver(Expectation(Function("slope")(j)), Tuple(j, 1, T)) <= _rate(log(T) + 1),
            Smooth(L),
            Variance(sigma_sgd**2),
            Eq(eta, theta / sqrt(T)),
        ),
        assumptions=(stab > 0,),
        letters={
            h: "slope of f",
            a: "eta sqrt(p) sigma_A^2",
            q: "bias 2 sigma + gamma",
            y: "projection term",
            u: "noise term",
            z: "sum of 1/k",
            P: "f(x_1)",
            r: "f(x_1) - f*",
            theta: "eta sqrt(K)",
        },
    ),
)
