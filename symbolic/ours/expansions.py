"""Expansion of one update, for vectors of every dimension: what the derivations of the kernel rest on.

Statement    With d = x - y for two points, and g a difference of gradients there, |d - h g| <= e(z) where |d| <= z.
Assumptions  That g belongs to a class of losses is an inequality between lengths and inner products: cocoercivity
             (Nesterov 2004, Theorems 2.1.5 and 2.1.12), the variational inequality of a projection, a modulus.
Derivation   A bound of a length is an inequality between inner products, which may be those of any vectors.
Source       docs/proofs/expansions.md.
"""

from lastiterate.symbolic.formulas import update
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.vector_steps import DOMAIN, projection

_k = Symbol("k", nonnegative=True)
_d, _g, _u, _v, _w = map(Vector, ("d", "g", "u", "v", "w"))
_near: Final = (Norm(_d) <= z, h >= 0)


def _square(vector: Expr) -> Expr:
    return inner(vector, vector)


def _step(family: Functions, factor: Expr, kept: Expr = S.One) -> VectorInequality:
    """A step h along the gradient of a function, of which ``kept`` is left of the point: v - w grows by ``factor``."""
    one, other = map(family.at, (_v, _w))
    moved = kept * (_v - _w) - h * (one.image - other.image)
    check = VectorInequality(Norm(moved), "<=", factor * Norm(_v - _w), (one, other), (h >= 0,), name="one step")
    return check.mutant("a step three percent less far", right=Rational(97, 100) * factor * Norm(_v - _w))


def _sizes(least: Expr) -> tuple[Inequality, Inequality]:
    """The factor of a step between x and y, as the derivations have it, is such a c: for least curvature and for L."""
    factor = update.strongly_convex_over_sizes(S.One, L, least, S.One, x, y)
    between = (x <= h, h <= y)
    return (
        Inequality(1 - h * least, "<=", factor, between, "a short step"),
        Inequality(h * L - 1, "<=", factor, between, "a long step"),
    )


_POINTS: Final = {_v: "a point", _w: "another", Symbol("f"): "the mean of the losses of a batch"}

CLAIMS = (
    Ours(
        "ours/expansions/projection",
        "A projection onto a convex set, such as clipping, brings no two points farther apart",
        proof("expansions", "A modulus of continuity"),
        NormBound(_w, z, (inner(_u, _w) >= 0, inner(_v, _w) <= 0, _square(_w + _u - _v) <= z**2)).mutant(
            "one of the two is no projection", given=(inner(_u, _w) >= 0, _square(_w + _u - _v) <= z**2)
        ),
        projection(DOMAIN).mutant("three percent closer", projection(DOMAIN, Rational(97, 100))),
        letters={_w: "difference of the projections", _u: "the first point minus its own", _v: "the second minus its"},
    ),
    Ours(
        "ours/expansions/modulus",
        "Gradients at most y apart and clipped at K: z goes to z + h min(y, 2 K)",
        proof("expansions", "A modulus of continuity"),
        NormBound(_u - _v, 2 * K, (Norm(_u) <= K, Norm(_v) <= K), "two clipped gradients"),
        NormBound(_d - h * _g, update.same_batch(z, y, h, K), (*_near, Norm(_g) <= y, Norm(_g) <= 2 * K), "update"),
    ),
    Ours(
        "ours/expansions/maps",
        "A c-Lipschitz map, and another at most s from it at every point: z goes to c z + s",
        proof("expansions", "A modulus of continuity"),
        NormBound(_u + _v, c * z + s, (Norm(_u) <= c * z, Norm(_v) <= s), "two maps").mutant(
            "s is forgotten", bound=c * z
        ),
        letters={_u: "difference of the images under one map", _v: "difference of the two maps at a point"},
    ),
    Ours(
        "ours/expansions/convex",
        "Convex and L-smooth losses: z goes to c z, c at least 1 and h L - 1",
        proof("expansions", "Convex and strongly convex losses"),
        NormBound(
            _d - h * _g, c * z, (*_near, _square(_g) <= L * inner(_g, _d), c >= 1, c >= h * L - 1), "cocoercivity"
        ).mutant("not convex", given=(*_near, Norm(_g) <= L * Norm(_d), c >= 1, c >= h * L - 1)),
        _step(convex("f", L), Max(1, h * L - 1)),
        *_sizes(S.Zero),
        letters=_POINTS,
    ),
    Ours(
        "ours/expansions/strongly_convex",
        "m-strongly convex and L-smooth losses: z goes to c z, c at least 1 - h m and h L - 1",
        proof("expansions", "Convex and strongly convex losses"),
        NormBound(
            _d - h * _g,
            c * z,
            (
                *_near,
                _square(_g - m * _d) <= (L - m) * inner(_g - m * _d, _d),
                m <= L,
                c >= 1 - h * m,
                c >= h * L - 1,
            ),
            "cocoercivity of f - m |x|^2 / 2",
        ),
        _step(strongly_convex("f", m, L), Max(1 - h * m, h * L - 1)),
        *_sizes(m),
        letters=_POINTS,
    ),
    Ours(
        "ours/expansions/weight_decay",
        "Weight decay leaves k of an iterate: z goes to k z + h min(y, 2 K), or c z, c at least k - h m and h L - k",
        proof("expansions", "Weight decay"),
        NormBound(
            _k * _d - h * _g,
            update.same_batch(z, y, h, K, _k),
            (*_near, Norm(_g) <= y, Norm(_g) <= 2 * K),
            "a modulus",
        ),
        NormBound(
            _k * _d - h * _g,
            c * z,
            (
                *_near,
                _square(_g - m * _d) <= (L - m) * inner(_g - m * _d, _d),
                m <= L,
                c >= _k - h * m,
                c >= h * L - _k,
            ),
            "losses that are m-strongly convex; convex ones where m = 0",
        ),
        _step(strongly_convex("f", m, L), Max(_k - h * m, h * L - _k), _k),
        letters={_k: "what weight decay leaves of an iterate, 1 - eta lambda"} | _POINTS,
    ),
    Ours(
        "ours/expansions/sensitivity",
        "One of b samples replaced adds 2 eta K / b to a distance, one added adds eta K / b",
        proof("expansions", "A modulus of continuity"),
        NormBound(
            _w - eta / b * _u, x + update.step_sensitivity(eta, K, b), (Norm(_w) <= x, Norm(_u) <= 2 * K), "replaced"
        ),
        NormBound(_w - eta / b * _u, x + update.moved(eta, K, b), (Norm(_w) <= x, Norm(_u) <= K), "added"),
        *(
            Identity(
                put(update.same_batch(z, y, h, K), {h: eta * (b - 1) / b}) + update.step_sensitivity(eta, K, b),
                update.modulus(z, y, eta, K, b),
                f"beside b - 1 samples with a modulus{above}",
                given,
            )
            for above, given in (("", ()), (", above 2 K", (y > 2 * K,)))
        ),
    ),
)
