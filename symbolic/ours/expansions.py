r"""Expansion of one update, for vectors of every dimension (docs/proofs/expansions.md).

For $|x - y| \le z$, $d = x - y$ and the difference $g$ between the gradients at $x$ and $y$,
$|d - h g| \le e(z)$. With $b - 1$ samples of modulus $\omega$, clipped at $K$, and one differing sample
$$e(z) = z + \min\Big(\eta\frac{b - 1}b\min(\omega(z), 2K) + \frac{2\eta K}b,\ 2\eta K\Big);$$
for $m$-strongly convex, $L$-smooth losses $e(z) = \max(1 - h m, h L - 1) z$; weight decay replaces $d$ with
$k d$. Clipping $f(W) = \varphi(\langle x, W\rangle)$, $\varphi$ convex, cuts the slope $\varphi'|x|$: the
clipped gradient is the gradient of another convex, $K$-Lipschitz loss. If block $j$ of a gradient has the
modulus $\omega_j$, the gradient has the modulus $(\sum_j\omega_j^2)^{1/2}$. The root of
$W = \sum_j L_j^2 r^{2\lambda_j}$, with orders in $[p, q]$, is concave if $q \le 1/2$, or $p \ge 1/2$, or
$8 p q \ge (2 p + 2 q - 1)^2$.

A class of losses is given by inequalities between lengths and inner products: cocoercivity (Nesterov 2004,
Theorems 2.1.5 and 2.1.12), the variational inequality of a projection, or a modulus.
"""

from itertools import permutations

from lastiterate.symbolic.ours.paper import *
from lastiterate.symbolic.vector_steps import CLIPPING, DOMAIN

_k = Symbol("k", nonnegative=True)
_d, _g, _u, _v, _w = map(Vector, "dguvw")
_near: Final = (Norm(_d) <= z, h >= 0)
_clipped: Final = (*_near, Norm(_g) <= y, Norm(_g) <= 2 * K)
_KEPT: Final = "what weight decay leaves of an iterate, 1 - eta lambda"
_POINTS: Final = {_v: "a point", _w: "another", Symbol("f"): "the mean of the losses of a batch"}

# Blocks of a gradient: two of them, of orders gamma and kappa, and W, m_1 W and m_2 W.
_blocks = a * r ** (2 * gamma), v * r ** (2 * kappa)
_both, _first, _second = (sum(w * o**k for w, o in zip(_blocks, (gamma, kappa), strict=True)) for k in range(3))
# Of any number of blocks: a weight and an order, and the sums of w, w l and w l^2; the change of the gradient of a
# block, its modulus, and the sums of their squares.
_weight, _change, _modulus, _changes, _moduli = (Function(name, nonnegative=True) for name in "wxyXY")
_order, _total, _orders, _squares = (Function(name, real=True) for name in "lWMR")
_weighted = {_total: _weight(t), _orders: _weight(t) * _order(t), _squares: _weight(t) * _order(t) ** 2}


_leaning: Final = (
    Norm(_d) <= z,
    h >= 0,
    Norm(_u) <= y,
    r >= 0,
    r**2 >= _k**2 * z**2 + h**2 * y**2,
    inner(_u, _d) >= 0,
)
_here, _there = (Symbol(name, real=True) for name in "pq")


def _square(vector: Expr) -> Expr:
    return inner(vector, vector)


def _step(family: Functions, factor: Expr, kept: Expr = S.One) -> VectorInequality:
    """A step of size h along the gradient, from ``kept`` times the point, multiplies |v - w| by at most ``factor``."""
    one, other = map(family.at, (_v, _w))
    moved = kept * (_v - _w) - h * (one.image - other.image)
    return VectorInequality(Norm(moved), "<=", factor * Norm(_v - _w), (one, other), (h >= 0,), name="one step")


def _squared(more: Expr) -> Expr:
    """A bound on the squared distance after a step of size h; gradients change by at most y."""
    return _k**2 * Norm(_v - _w) ** 2 + h * more * y**2


def _any_step(family: Functions, more: Expr, name: str) -> VectorInequality:
    """A step of size h, with ``more`` >= 0, along the gradient from k times the point."""
    one, other = map(family.at, (_v, _w))
    change = one.image - other.image
    helped = {"f(v, w)": 2 * _k * h, "f(w, v)": 2 * _k * h, "given 1": h * more}
    moved = Norm(_k * (_v - _w) - h * change) ** 2
    return VectorInequality(
        moved, "<=", _squared(more), (one, other), (Norm(change) <= y, more >= 0), helped, name
    )


def _clipped_step(factor: Expr, gradient: Expr, clip: Expr, given: Boolean, name: str) -> VectorInequality:
    """A step of size h along clipped gradients from k times the point; the multipliers of the premises are given."""
    family = convex("f", L)
    one, other = map(family.at, (_v, _w))
    short, also = (CLIPPING.at(at.image) for at in (one, other))
    moved = Norm(_k * (_v - _w) - h * (short.image - also.image)) ** 2
    helped = dict.fromkeys(("f(v, w)", "f(w, v)"), gradient)
    helped |= {f"clip({x}, {y})": clip for x, y in permutations((one.image, other.image))}
    samples = (one, other, short, also)
    return VectorInequality(moved, "<=", factor * Norm(_v - _w) ** 2, samples, (given,), helped, name)


def _contracts(kept: Expr, name: str) -> NormBound:
    """The bound c z for m-strongly convex losses, with c at least k - h m and h L - k."""
    cocoercive = _square(_g - m * _d) <= (L - m) * inner(_g - m * _d, _d)
    given = (*_near, cocoercive, m <= L, c >= kept - h * m, c >= h * L - kept)
    return NormBound(kept * _d - h * _g, c * z, given, name)


def _sizes(least: Expr) -> tuple[Inequality, Inequality]:
    """The factor for step sizes h between x and y is at least 1 - h ``least`` and h L - 1."""
    factor = update.strongly_convex_over_sizes(S.One, L, least, S.One, x, y)
    between = (x <= h, h <= y)
    return (
        Inequality(1 - h * least, "<=", factor, between, "a short step"),
        Inequality(h * L - 1, "<=", factor, between, "a long step"),
    )


def _concave(given: Boolean, name: str) -> Inequality:
    premises = ((p + q) * m - p * q >= R, p <= m, m <= q, given)
    return Inequality(2 * R - m**2 - m, "<=", S.Zero, premises, name)


def _cut(slope: Expr) -> Expr:
    return Max(-K, Min(K, slope))


CLAIMS = (
    Ours(
        "ours/expansions/projection",
        "A projection onto a convex set, such as clipping, brings no two points farther apart",
        proof("expansions", "A modulus of continuity"),
        NormBound(_w, z, (inner(_u, _w) >= 0, inner(_v, _w) <= 0, _square(_w + _u - _v) <= z**2)),
        projection(DOMAIN),
        letters={
            _w: "difference of the projections",
            _u: "the first point minus its own",
            _v: "the second minus its",
        },
    ),
    Ours(
        "ours/expansions/modulus",
        "Gradients at most y apart and clipped at K: z goes to z + h min(y, 2 K)",
        proof("expansions", "A modulus of continuity"),
        NormBound(_u - _v, 2 * K, (Norm(_u) <= K, Norm(_v) <= K), "two clipped gradients"),
        NormBound(_d - h * _g, update.same_batch(z, y, h, K), _clipped, "update"),
    ),
    Ours(
        "ours/expansions/maps",
        "A c-Lipschitz map, and another at most s from it at every point: z goes to c z + s",
        proof("expansions", "A modulus of continuity"),
        NormBound(_u + _v, c * z + s, (Norm(_u) <= c * z, Norm(_v) <= s), "two maps"),
        letters={_u: "difference of the images under one map", _v: "difference of the two maps at a point"},
    ),
    Ours(
        "ours/expansions/sensitivity",
        "Each of b samples replaced adds 2 eta K / b to a distance, one added adds eta K / b",
        proof("expansions", "A modulus of continuity"),
        NormBound(
            _w - eta / b * _u,
            x + update.step_sensitivity(eta, K, b),
            (Norm(_w) <= x, Norm(_u) <= 2 * K),
            "replaced",
        ),
        NormBound(
            _w - eta * j / b * _u,
            x + j * update.step_sensitivity(eta, K, b),
            (Norm(_w) <= x, Norm(_u) <= 2 * K),
            "j replaced",
        ).mutant("one fewer", bound=x + (j - 1) * update.step_sensitivity(eta, K, b)),
        NormBound(_w - eta / b * _u, x + update.moved(eta, K, b), (Norm(_w) <= x, Norm(_u) <= K), "added"),
        *(
            Identity(
                put(update.same_batch(z, y, h, K), {h: eta * (b - 1) / b}) + update.step_sensitivity(eta, K, b),
                update.modulus(z, y, eta, K, b),
                f"with b - 1 other samples with a modulus{above}",
                given,
            )
            for above, given in (("", ()), (", above 2 K", (y > 2 * K,)))
        ),
    ),
    Ours(
        "ours/expansions/convex",
        "Convex and L-smooth losses: z goes to c z, c at least 1 and h L - 1",
        proof("expansions", "Convex and strongly convex losses"),
        NormBound(
            _d - h * _g,
            c * z,
            (*_near, _square(_g) <= L * inner(_g, _d), c >= 1, c >= h * L - 1),
            "cocoercivity",
        ).mutant("not convex", given=(*_near, Norm(_g) <= L * Norm(_d), c >= 1, c >= h * L - 1)),
        _step(convex("f", L), Max(1, h * L - 1)),
        *_sizes(S.Zero),
        letters=_POINTS,
    ),
    Ours(
        "ours/expansions/strongly_convex",
        "m-strongly convex and L-smooth losses: z goes to c z, c at least 1 - h m and h L - 1",
        proof("expansions", "Convex and strongly convex losses"),
        _contracts(S.One, "cocoercivity of f - m |x|^2 / 2"),
        _step(strongly_convex("f", m, L), Max(1 - h * m, h * L - 1)),
        *_sizes(m),
        letters=_POINTS,
    ),
    Ours(
        "ours/expansions/every_step",
        "Convex losses, steps of every size h: z^2 goes to k^2 z^2 + h (h - 2 k / L) min(2 K, L z)^2 from h L = 2 k on",
        proof("expansions", "Steps of every size"),
        _any_step(convex("f", L), h - 2 * _k / L, "smooth").mutant(
            "three percent less", right=_squared(Rational(97, 100) * (h - 2 * _k / L))
        ),
        _any_step(convex("f"), h, "not smooth"),
        letters=_POINTS | {_k: _KEPT, y: "a bound on the change of the gradient: min(2 K, L z), or 2 K"},
        assumptions=(L > 0, h >= 0, _k >= 0),
    ),
    Ours(
        "ours/expansions/clipped_convex",
        "Convex losses whose gradients are clipped: c z with c^2 = 4 k^3/(4 k - h L), or h L - k, or h K + r",
        proof("expansions", "Clipping that acts on convex losses"),
        _clipped_step(
            4 * _k**3 / (4 * _k - h * L),
            4 * h * _k**2 / (4 * _k - h * L),
            4 * h * _k / L,
            4 * _k > h * L,
            "smooth",
        ).mutant("as if clipping never acted", right=_k**2 * Norm(_v - _w) ** 2),
        _clipped_step(
            (h * L - _k) ** 2, 2 * h * (h * L - _k), 2 * h * (h * L - _k) / L, h * L >= 3 * _k, "a long step"
        ),
        NormBound(_k * _d - h * _u, r, _leaning, "not smooth: a change of at most y that leans along d").mutant(
            "whatever its direction", given=_leaning[:-1]
        ),
        Inequality(
            _k**2 * z**2 + 4 * h**2 * K**2,
            "<=",
            (h * K + r) ** 2,
            (r >= 0, r**2 >= _k**2 * z**2 + h**2 * K**2),
            "y = 2 K if the clipped gradients change along d",
        ),
        NormBound(
            _w - h * _v,
            h * K + r,
            (Norm(_w) <= r, Norm(_v) <= K, h >= 0),
            "y = K if one does, whatever the other",
        ),
        Inequality(
            kappa * _there,
            "<=",
            S.Zero,
            (_there <= _here, gamma * _here < 0, gamma >= 0, kappa >= 0),
            "no other case",
        ),
        letters=_POINTS
        | {
            _k: _KEPT,
            _d: "difference of the points",
            _u: "change of the clipped gradients, or one of them",
            r: "at least the root of k^2 z^2 + h^2 y^2",
            gamma: "what clipping leaves of one gradient",
            kappa: "what it leaves of the other",
            _here: "one gradient along d",
            _there: "the other along d",
        },
        assumptions=(L > 0, h >= 0, _k > 0),
    ),
    Ours(
        "ours/clipped_scores/convex",
        "Clipped gradients of a convex loss of a linear score are those of a convex, K-Lipschitz loss, no less smooth",
        proof("expansions", "Clipping that acts on convex losses"),
        Inequality(
            gamma * Min(1, K / Abs(gamma)), "==", _cut(gamma), (Ne(gamma, 0),), "clipping cuts the slope"
        ),
        Inequality(
            _cut(gamma), "<= and attained", _cut(kappa), (gamma <= kappa,), "the slope is nondecreasing"
        ).mutant("any two slopes", given=()),
        Inequality(
            Abs(_cut(kappa) - _cut(gamma)), "<= and attained", Abs(kappa - gamma), name="and no steeper"
        ).mutant("three percent less", right=Rational(97, 100) * Abs(kappa - gamma)),
        Inequality(Abs(_cut(kappa)), "<= and attained", K, name="and at most K, either way"),
        letters={gamma: "slope at a score, times |x|", kappa: "slope at a larger score, times |x|"},
    ),
    Ours(
        "ours/expansions/weight_decay",
        "Weight decay leaves k of an iterate: z goes to k z + h min(y, 2 K), or c z, c at least k - h m and h L - k",
        proof("expansions", "Weight decay"),
        NormBound(_k * _d - h * _g, update.same_batch(z, y, h, K, _k), _clipped, "a modulus"),
        _contracts(_k, "losses that are m-strongly convex; convex ones where m = 0"),
        _step(strongly_convex("f", m, L), Max(_k - h * m, h * L - _k), _k),
        letters={_k: _KEPT} | _POINTS,
    ),
    Ours(
        "ours/layers/combined",
        "The moduli of the blocks of a gradient combine by the root of the sum of squares",
        proof("expansions", "Blocks of a gradient"),
        sum_induction(
            "any number of blocks",
            Le(_changes(t), _moduli(t)),
            {_changes: _change(t) ** 2, _moduli: _modulus(t) ** 2},
            Le(_change(t), _modulus(t)),
        ),
    ),
    Ours(
        "ours/layers/concave",
        "Orders up to 1/2, from 1/2 on, or with 8 p q >= (2 p + 2 q - 1)^2: the root of two terms' sum is concave",
        proof("expansions", "Blocks of a gradient"),
        Identity(
            r**2 * (2 * _both * diff(_both, r, 2) - diff(_both, r) ** 2),
            4 * (2 * _both * _second - _first**2 - _both * _first),
            "the second derivative",
        ),
        *(
            sum_induction(name, said, _weighted, Le(p, _order(t)), Le(_order(t), q))
            for said, name in (
                (
                    Le(_squares(t), (p + q) * _orders(t) - p * q * _total(t)),
                    "the mean of the squares, of any number",
                ),
                (Le(p * _total(t), _orders(t)), "the mean is at least p"),
                (Le(_orders(t), q * _total(t)), "and at most q"),
            )
        ),
        _concave(q <= S.Half, "orders up to 1/2"),
        _concave(p >= S.Half, "orders from 1/2 on"),
        _concave(8 * p * q >= (2 * p + 2 * q - 1) ** 2, "orders close enough"),
        letters={m: "mean of the order", R: "mean of its square", p: "least order", q: "greatest order"}
        | {gamma: "order of one block", kappa: "order of the other"},
        assumptions=(q <= 1,),
    ),
)
