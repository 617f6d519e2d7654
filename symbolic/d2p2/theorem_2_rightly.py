r"""Theorem 2 of Jiang et al. 2025, corrected, for equal convex losses of slope at most $G$.

$$\mathbb E f(\bar x_K) - f^* \le (G + \gamma)\Big(\frac{|x_1 - x^*|^2}{2\alpha K\sigma_A^2\sqrt p}
  + \frac{\alpha d\sqrt p\,(\ln K + 1)\sigma_\epsilon^2}{2K}
  + \frac{\alpha(p + d + 1)\sigma_A^2}{2\sqrt p}\Big).$$

Proved: the means of a step, and the bound for any number of steps. The normalised gradients of equal losses
have the mean that the printed proof assumes.
"""

from lastiterate.symbolic.d2p2.paper import *

_root = sqrt(ell)
_half_step = 2 * eta * _root * sigma_A**2
_A, _e = Symbol("A"), Symbol("e")
_entries = {_A: (dim, ell, sigma_A**2), _e: (ell, S.One, nu**2)}
_T = Transposed
_u, _v, _best = Vector("u"), Vector("v"), Vector("x*")


def _word(*letters: Expr) -> Expr:
    return gaussian_mean(
        letters, entries={one: law for one, law in _entries.items() if one in Tuple(*letters).atoms()}
    )


NOISE = dim * ell * sigma_A**2 * nu**2
BACK = _word(_T(_e), _T(_A), _A, _e)
"""E |A e|^2, which is `NOISE`."""
_forth = _word(_T(_u), _A, _T(_A), _v) / _root
_size = _word(_T(_v), _A, _T(_A), _A, _T(_A), _v) / ell
_across = _word(_T(_v), _A, _T(_A), _A, _e)
_along = _word(_T(_u), _A, _e)
STEP_ALONG = _forth + _along
"""E <u, A (A' v/sqrt(p) + e)>."""
STEP_SIZE = _size + 2 * _across / _root + BACK
"""E |A (A' v/sqrt(p) + e)|^2."""

STEP_MEANS = (
    Expected(_forth, "==", _root * sigma_A**2 * inner(_u, _v), name="projected step along any u"),
    Expected(_along, "==", S.Zero, name="the noise has mean 0 along u"),
    Expected(_across, "==", S.Zero, name="the noise is uncorrelated with the projected step"),
    Expected(_size, "<=", (ell + dim + 1) * sigma_A**4, (Norm(_v) <= 1,), "v of norm below 1"),
    Expected(BACK, "==", NOISE, name="noise"),
)
"""The means of a step along any u, for a normalised gradient v and for the noise."""

_harmonic, _level, _fall, _falls = (Function(name, real=True) for name in "HldS")
HARMONIC = Induction(
    j,
    Le(_harmonic(j), log(j) + 1),
    (Eq(_harmonic(1), 1),),
    (Eq(_harmonic(j + 1), _harmonic(j) + 1 / (j + 1)),),
    (Eq(log(j + 1), log(j) - log(j / (j + 1))),),
    start=1,
    name="1 + 1/2 + ... + 1/j, for every j",
)
"""The sum over the first j steps of the variance of the noise, divided by nu^2."""
TELESCOPED = Induction(
    t,
    Eq(_falls(t), P - _level(t)),
    (Eq(_level(0), P), *begin(_falls)),
    (Eq(_level(t + 1), _level(t) - _fall(t)), gains(_falls, _fall(t))),
    name="the falls of t steps, from P to l(t), telescope",
)
"""The total decrease, in any number of steps, of a level (a distance or a loss) that starts at P."""

# After t steps: E|x - x*|^2, E f(x) - f*, and that of the mean of the t iterates before.
_distance, _gap, _gap_of_mean = (Function(name, nonnegative=True) for name in "DFM")
_f = convex("f")
_here, _least, _next, _mean = _f.at(X), _f.minimum(_best), _f.at(Y), _f.at((t * X + Y) / (t + 1))


def mended(size: Expr, count: Expr, logarithm: Expr) -> Expr:
    """The terms of the corrected (2); P = |x_1 - x*|^2, ``size`` = eta, ``count`` = K, ``logarithm`` = ln K + 1."""
    start = P * (G + stab) / (2 * size * count * sigma_A**2 * _root)
    noise = size * dim * _root * (G + stab) * nu**2 * logarithm / (2 * count)
    return start + noise + size * (ell + dim + 1) * sigma_A**2 * (G + stab) / (2 * _root)


CLAIMS = (
    Ours(
        "d2p2/theorem_2/rightly",
        "(2) for equal convex losses of slope at most G, with G + gamma for 1 + gamma, d sqrt(p) nu^2 for p^1.5 nu^2 "
        "and (p + d + 1)/sqrt(p) for p d^2",
        at("Theorem 2", "(2)"),
        *STEP_MEANS,
        Expected(
            Norm(_u) ** 2 - 2 * eta * STEP_ALONG + eta**2 * STEP_SIZE,
            "==",
            Norm(_u) ** 2
            - _half_step * inner(_u, _v)
            + eta**2 * ((ell + dim + 1) * sigma_A**4 * Norm(_v) ** 2 + NOISE),
            name="a step from u = x_k - x*: E|u - eta A (A' v/sqrt(p) + e)|^2, multiplied out",
        ),
        VectorInequality(
            _here.value - _least.value,
            "<=",
            inner(_here.image, X - _best),
            (_here, _least),
            name="(14), in R^d",
        ),
        Inequality(
            h / (G + stab),
            "<= and attained",
            Q / (g + stab),
            (g <= G, h <= Q, h >= 0),
            "v = grad f/(|grad f| + gamma)",
        ),
        VectorInequality(
            _mean.value,
            "<=",
            (t * _here.value + _next.value) / (t + 1),
            (_here, _next, _mean),
            name="mean of t + 1 iterates, from that of t",
        ),
        Induction(
            t,
            Le(_distance(t) + a * t * _gap_of_mean(t), P + t * z + r * _harmonic(t)),
            (Le(_distance(0), P), *begin(_harmonic)),
            (
                Le(_distance(t + 1), _distance(t) - a * _gap(t) + z + r / (t + 1)),
                Le((t + 1) * _gap_of_mean(t + 1), t * _gap_of_mean(t) + _gap(t)),
                gains(_harmonic, 1 / (t + 1)),
            ),
            name="any number of steps, and their mean iterate",
        ),
        HARMONIC,
        Identity(
            (G + stab)
            / (_half_step * T)
            * (P + eta**2 * (T * (ell + dim + 1) * sigma_A**4 + NOISE * (log(T) + 1))),
            mended(eta, T, log(T) + 1),
            "the three terms",
        ),
        assumptions=(stab > 0,),
        letters={G: "greatest slope", g: "slope at x_k", h: "f(x_k) - f*", Q: "<x_k - x*, grad f(x_k)>"}
        | {a: "2 eta sqrt(p) sigma_A^2/(G + gamma)", P: "|x_1 - x*|^2", z: "projection term", r: "noise term"},
        repairs="d2p2/theorem_2",
    ),
)
