r"""Poisson batches, with a sample added or removed (docs/proofs/poisson.md).

The batch without $i^*$, $R$, is the same in both runs and is revealed. With $M = (1 - q) N(m_0) + q N(m_1)$
and $N = N(m_0)$, $|m_1 - m_0| \le d = \eta K/b$,
$$E_\gamma(M \| N) \le U(\gamma) = q\,\theta_{d/\sigma}\Big(\frac{\gamma - 1 + q}q\Big),\quad
  E_\gamma(N \| M) \le 1 - \gamma + \gamma U(1/\gamma),$$
and the first is larger at every order. Two copies of the run without $i^*$ take the step $h = \eta|R|/b$
along the mean gradient of $R$, with the factor $\max(1 - h m, h L - 1)$; a batch can have any size.
"""

from lastiterate.symbolic.derivations import checks
from lastiterate.symbolic.formulas.accounting import recurring
from lastiterate.symbolic.ours.paper import *

_CLASSES = ("modulus", "convex", "strongly convex", "steps")
_w, _v, _g = map(Vector, "wvg")  # an iterate, a sum of gradients, and the gradient of i*

# Densities over the law without i*: of the mixture where that with i* has u, and u times that where it has 1/u.
_with, _turned = 1 - q + q * u, q + (1 - q) * u
# Hyperbolic sines of (alpha - 1/2) r, r/2, alpha r and (alpha - 1) r.
_above, _below, _fast, _slow = (
    (exp(part * r) - exp(-part * r)) / 2 for part in (alpha - S.Half, S.Half, alpha, alpha - 1)
)
_slope = (alpha - 1) * _fast - alpha * _slow
_rises = diff(_fast, r) / alpha - diff(_slow, r) / (alpha - 1)

# P(X = j + 1) / P(X = j) for X ~ Binomial(n, q), and at j + 1; of a tail its sum and its terms, whose ratios fall.
_ratio, _next = (n - j) / (j + 1) * q / (1 - q), (n - j - 1) / (j + 2) * q / (1 - q)
_tail, _chance, _falling = (Function(name, nonnegative=True) for name in ("S", "x", "rho"))
# Factors y_t have the product P and the mean M; Q is the power M^t, which grows as Bernoulli's inequality has it.
_y, _P, _Q, _M = (Function(name, nonnegative=True) for name in "yPQM")
_S = Function("D", real=True)


def _factor(size: Expr) -> Expr:
    return Max(1 - size * a, size * L - 1)


def _mixed(chance: Expr, inside: Expr, outside: Expr) -> Expr:
    return (1 - chance) * inside + chance * outside


def _powers(ratio: Expr) -> Expr:
    return (ratio**alpha - ratio ** (1 - alpha)) / (ratio - 1)


CLAIMS = (
    Ours(
        "ours/poisson/theorem",
        "Poisson batches, any losses: in a window each step pays for its coin, in its order, and for its shift",
        proof("poisson", "Two directions"),
        *windows("poisson", "modulus", "convex", "steps"),
        assumptions=(alpha > 1, q <= 1),
        repairs="liang/lemma_3_2/other_order",
    ),
    Ours(
        "ours/poisson/larger_order",
        "The mixture over its base is the larger order, at every alpha > 1: S_down <= S_up",
        proof("divergences", "The larger order"),
        Identity(u * (v**alpha - v ** (1 - alpha)), (u * v - u) * _powers(v), "v = y/u", (Ne(v, 1),)),
        Identity(_with - 1, u - _turned, "the factors before both"),
        Identity(_powers(u), _powers(1 / u), "a ratio or its inverse", (Ne(u, 1),)),
        Identity(_with * _turned - u, q * (1 - q) * (1 - u) ** 2, "u over the second lies below the first"),
        Identity(exp(alpha * r) - exp((1 - alpha) * r), 2 * exp(r / 2) * _above, "of e^r, above"),
        Identity(exp(r) - 1, 2 * exp(r / 2) * _below, "below"),
        Identity(diff(_above, r) * _below - _above * diff(_below, r), _slope / 2, "the slope of their ratio"),
        Identity(diff(_slope, r), alpha * (alpha - 1) * _rises, "grows from 0"),
        Identity(_rises, 2 * _above * _below, "as this is > 0"),
        Inequality(p / ((1 - q) * p + q * x), "<=", 1 / (1 - q), name="S_down is at most log(1/(1 - q))"),
        letters={u: "density of the law of an outcome with i* over that without", r: "log of a ratio"},
        assumptions=(alpha > 1, q < 1),
    ),
    Ours(
        "ours/poisson/step",
        "Given the batch without i*, of size j, runs without i* step by eta j / b; i* moves them by eta K / b at most",
        proof("poisson", "Two directions"),
        Identity(put(x - eta / b * u, {u: j * y}), x - eta * j / b * y, "u the sum of j gradients of mean y"),
        NormBound(
            _w - eta / b * _v - (_w - eta / b * (_v + _g)), eta * K / b, (Norm(_g) <= K,), "i* moves an outcome"
        ),
        letters={u: "a coordinate of the sum of the gradients", x: "of the iterate", y: "of the mean gradient"}
        | {_v: "the sum of the gradients", _g: "that of i*"},
    ),
    Ours(
        "ours/poisson/group",
        "Of a mixture: thresholds with the mean gamma split its excess over gamma N; the ratio of N(j s, 1) to N(0, 1)",
        proof("poisson", "Groups of samples"),
        Induction(
            t,
            Eq(_S(t), _P(t) - u * _Q(t)),
            begin(_S, _P, _Q),
            (
                gains(_S, _chance(t) * (_M(t) - _y(t) * u)),
                gains(_P, _chance(t) * _M(t)),
                gains(_Q, _chance(t) * _y(t)),
            ),
            name="any number of members",
        ),
        Identity(
            exp((x**2 - (x - j * s) ** 2) / 2), exp(j * s * x - (j * s) ** 2 / 2), "the ratio of j members at x"
        ).mutant("one member fewer", right=exp((j - 1) * s * x - ((j - 1) * s) ** 2 / 2)),
        letters={
            x: "a point",
            s: "what a member adds to the mean, over the noise",
            u: "probability of a set under N",
        },
    ),
    Ours(
        "ours/poisson/long_step",
        "A step h of a convex, L-smooth function moves no two points apart by more than the factor max(1, h L - 1)",
        proof("expansions", "Convex and strongly convex losses"),
        step(convex("f", L), Max(1, r * L - 1), r, name="one step of any length"),
        letters={r: "length h of the step"},
    ),
    Ours(
        "ours/poisson/sizes",
        "max(1 - h m, h L - 1), m >= 0, is convex in h: between two sizes it is at most the larger of their values",
        proof("poisson", "Sizes"),
        Inequality(
            _factor(p * x + (1 - p) * y),
            "<= and attained",
            p * _factor(x) + (1 - p) * _factor(y),
            name="convexity",
        ).mutant("weights exchanged", right=(1 - p) * _factor(x) + p * _factor(y)),
        Inequality(
            _factor(z), "<= and attained", Max(_factor(x), _factor(y)), (x <= z, z <= y), "between two sizes"
        ).mutant("the larger size alone", sign="<=", right=_factor(y)),
        assumptions=(p <= 1,),
        letters={a: "m, strong convexity, or 0", x: "h of a size", y: "h of another", z: "h between"},
    ),
    Ours(
        "ours/poisson/mixture",
        "Where all sizes are as supposed their window, else a composition; larger parts and probabilities cost more",
        proof("poisson", "Sizes"),
        Inequality(_mixed(p, u, v), "<=", _mixed(q, u, v), (p <= q, u <= v), "a larger probability"),
        Inequality(_mixed(q, u, v), "<=", _mixed(q, x, y), (u <= x, v <= y), "larger parts"),
        *checks.windows_or_composition(*_CLASSES),
        *checks.ranges_or_composition(*_CLASSES),
        assumptions=(p > 0, q < 1, rho <= 1, m <= L),
    ),
    Ours(
        "ours/poisson/tail",
        "Ratios of binomial probabilities fall, so that a tail is below its first term over one minus the first ratio",
        proof("poisson", "Sizes"),
        Inequality(_next.subs(j, t), "<=", _ratio.subs(j, t), (t < n,), "ratios fall, from the first on"),
        Induction(
            t,
            Le((1 - r) * _tail(t), u - _chance(t)),
            (Eq(_tail(0), 0), Eq(_chance(0), u), Le(_falling(0), r)),
            (
                gains(_tail, _chance(t)),
                Eq(_chance(t + 1), _falling(t) * _chance(t)),
                Le(_falling(t + 1), _falling(t)),
            ),
            keeps=(Le(_falling(t), r),),
            name="so any number of terms is below the first, u, over 1 - r",
        ),
        assumptions=(q > 0, q < 1, r < 1),
    ),
    Ours(
        "ours/poisson/blocks",
        "Contractions of a block multiply to at most that of their mean; what a block hides, and from where on",
        proof("poisson", "Blocks of strongly convex steps"),
        Induction(t, Ge(x**t, 1 + t * (x - 1)), name="Bernoulli"),
        Identity(
            put(r**t * (1 + t * (x - 1)), {x: v / r}),
            r ** (t - 1) * (r + t * (v - r)),
            "so M^t, from r to v, grows to M^(t - 1) (r + t (v - r)) at least",
        ),
        Induction(
            t,
            Le(_P(t), _Q(t)),
            (Eq(_P(0), 1), Eq(_Q(0), 1)),
            (
                Eq(_P(t + 1), _P(t) * _y(t)),
                Eq(_M(t + 1), (t * _M(t) + _y(t)) / (t + 1)),
                Ge(_Q(t + 1), _Q(t) * (_M(t) + (t + 1) * (_M(t + 1) - _M(t)))),
            ),
            name="any number of factors: their product is at most that power of their mean",
        ),
        Inequality(r * m, "<=", S.One, (r * (L + m) <= 2, m <= L), "no factor below 0"),
        Inequality(L * r - 1, "<=", 1 - r * m, (r * (L + m) <= 2,), "the factor is 1 - h m"),
        *checks.blocks_or_composition(),
        assumptions=(q <= 1, rho <= 1, m <= L),
    ),
    Ours(
        "ours/poisson/stretches",
        "Long runs: the last stretch that is as supposed hides the diameter, others cost compositions, a geometric sum",
        proof("poisson", "Stretches"),
        Recursion(j, u, (1 - p) * v + p * x * PREVIOUS, recurring(v, p, x, u, j), given=(p * x < 1,)),
        *checks.stretch_checks(*_CLASSES),
        assumptions=(p > 0, p < 1, q <= 1, rho <= 1, m <= L),
    ),
)
