r"""Privacy-loss distributions, and the best conversion of one Rényi order (docs/proofs/privacy_loss.md).

The profile of a step without replacement is $S(\gamma) = q\,\theta_g(1 + (\gamma - 1)/q)$ for $\gamma \ge 1$
and $1 - \gamma + \gamma S(1/\gamma)$ below. It is convex and increases with $q$. If the masses $P$, $Q$ of a
cell $[l, r]$ of losses move to the ends, $A + B = P$ and $A e^{-l} + B e^{-r} = Q$, the profile does not
decrease. If numbers up to $A$ have an error $a$, their $T$-th powers have an error of at most $T a A^{T-1}$.
From a bound at one order, $\delta$ and $\varepsilon$ are those of laws on two points with
$p^\alpha q^{1-\alpha} + (1 - p)^\alpha(1 - q)^{1-\alpha} \le e^{(\alpha-1)\rho}$,
$q = (p - \delta) e^{-\varepsilon}$.

Profiles follow Balle, Barthe & Gaboardi 2018 and Zhu, Dong & Wang 2022; the conversion is Theorem 3 of
Asoodeh, Liao, Calmon, Kosut & Sankar 2021, with another proof.
"""

from lastiterate.symbolic.formulas import accounting
from lastiterate.symbolic.ours.paper import *

_PAIR = proof("privacy_loss", "A pair for the step without replacement")
_CONVERSION = proof("privacy_loss", "From one Renyi order to approximate differential privacy")
_bell = exp(-(xi**2) / 2) / sqrt(2 * pi)
_gap = Function("g", nonnegative=True)  # of the powers, after t factors

# Slopes of the profile at r = 1 from the right and, by f'(r) = -1 + f(1/r) - f'(1/r)/r, from the left, p = Phi(-v/2).
_right, _left = -p, -1 + q * (1 - 2 * p) + p
# A cell with the ends u = e^-l >= v = e^-r; r is its mass of the denominator.
_to_right, _to_left = (u * P - r) / (u - v), (r - v * P) / (u - v)

# The conversion: s is delta, u = e^-eps; the second term is the first with 1 - p and 1 - q.
_q = (p - s) * u
_first, _second = p**alpha * _q ** (1 - alpha), (1 - p) ** alpha * (1 - _q) ** (1 - alpha)
# Log of the first at p = alpha delta, epsilon = 0.
_least = alpha * log(alpha * s) + (1 - alpha) * log(alpha * s - s)
_events = (p < 1, _q < 1)


def _level(factor: Expr) -> Expr:
    return 1 + (factor - 1) / q


def _above(factor: Expr) -> Expr:
    return q * hockey_stick(_level(factor), v)


def _slope(level: Expr) -> Expr:
    return -cumulative(-log(level) / v - v / 2)


def _curvature(level: Expr) -> Expr:
    return exp(density_exponent(log(level), -(v**2) / 2, v**2)) / (sqrt(2 * pi) * v * level)


def _rise(level: Expr) -> Expr:
    """k(x) - x k'(x) for the profile k(x) of two Gaussians at 1 + x: the increase of Phi over a length v."""
    return cumulative(v / 2 - log(level) / v) - cumulative(-v / 2 - log(level) / v)


def _at_one(slope: Expr, at: Expr, name: str) -> Identity:
    return Identity(put(slope, {r: S.One}), at.subs(p, cumulative(-v / 2)), name)


_below = exchanged(r, _above)
_slope_below = -1 + _above(1 / r) - _slope(_level(1 / r)) / r
_LETTERS = {r: "factor of the second law", v: "mu of the means, d / sigma", p: "Phi(-mu / 2)"}

CLAIMS = (
    Ours(
        "ours/pld/theorem",
        "Steps that are put on lattices one by one compose to no less than the steps themselves",
        proof("privacy_loss", "Lattice"),
        *lattice_checks(),
        assumptions=(q <= 1, rho <= 1),
    ),
    Ours(
        "ours/pld/replacement",
        "The greatest profile of a step without replacement is convex: one pair of laws has it, both ways",
        _PAIR,
        Identity(Derivative(_above(r), r), _slope(_level(r)), "slope from 1 on", (r >= 1,)),
        Identity(Derivative(_above(r), (r, 2)), _curvature(_level(r)) / q, "curvature from 1 on", (r >= 1,)),
        Identity(Derivative(_below, r), _slope_below, "slope up to 1", (r <= 1,)),
        Identity(
            Derivative(_below, (r, 2)), _curvature(_level(1 / r)) / (q * r**3), "curvature up to 1", (r <= 1,)
        ),
        Inequality(S.Zero, "<", _curvature(r), name="both are positive"),
        _at_one(_slope(_level(r)), _right, "slope at 1 from the right"),
        _at_one(_slope_below, _left, "and from the left"),
        Inequality(_left, "<=", _right, name="which does not exceed it"),
        Identity(
            1 - ((1 - q) * p + q * (1 - p)) - p, _right - _left, "the slope jumps by the mass without loss"
        ),
        Identity(1 - r + r * put(_below, {r: 1 / r}), _above(r), "reflected again it is as before", (r >= 1,)),
        letters=_LETTERS,
        assumptions=(q <= 1, p <= S.Half),
    ),
    Ours(
        "ours/pld/rate",
        "The profile rises with the sampling rate: the cost of a schedule is at most that at its highest rate",
        _PAIR,
        Identity(Derivative(_above(r), q), _rise(_level(r)), "the derivative in the rate", (r >= 1,)),
        Identity(Derivative(_below, q), r * _rise(_level(1 / r)), "below 1, where it is reflected", (r <= 1,)),
        Identity(Derivative(cumulative(xi), xi), _bell, "the slope of Phi"),
        Inequality(S.Zero, "<", _bell, name="is positive, and so is the derivative in the rate"),
        letters=_LETTERS,
    ),
    Ours(
        "ours/pld/chords",
        "A cell of privacy losses may move to its ends, both laws keeping their masses",
        proof("privacy_loss", "Lattice"),
        Identity(_to_left + _to_right, P, "the numerator keeps its mass"),
        Identity(_to_left * u + _to_right * v, r, "the denominator keeps its mass"),
        Inequality(S.Zero, "<=", _to_left, (v * P <= r,), "nothing negative at the left"),
        Inequality(S.Zero, "<=", _to_right, (r <= u * P,), "nor at the right"),
        Inequality(
            Max(0, theta * gamma + (1 - theta) * kappa),
            "<=",
            theta * Max(0, gamma) + (1 - theta) * Max(0, kappa),
            (theta <= 1,),
            "the chord lies above",
        ),
        letters={P: "mass of the numerator in the cell", r: "mass of the denominator", u: "greatest ratio"}
        | {v: "least ratio"},
        assumptions=(v < u,),
    ),
    Ours(
        "ours/pld/tilt",
        "An error of a tilted mass counts at most 1/(1 + lam) in the hockey-stick divergence",
        proof("privacy_loss", "The transform and its error"),
        Inequality(
            1 + kappa, "<= and attained", exp(kappa), name="exp is above its tangent", attained=(Eq(kappa, 0),)
        ),
        Inequality((1 - u) / v, "<=", 1 / (1 + lam), (u >= 1 - x, v >= 1 + lam * x), "weight of an error"),
        letters={
            lam: "slope of the tilt",
            x: "privacy loss",
            u: "exp(-x)",
            v: "exp(lam x)",
            kappa: "-x or lam x",
        },
    ),
    Ours(
        "ours/pld/power",
        "T-th powers of numbers up to A that are off by a are off by at most T a A^(T-1)",
        proof("privacy_loss", "The transform and its error"),
        Induction(
            t,
            Le(_gap(t), t * a * alpha ** (t - 1)),
            (Le(_gap(1), a),),
            (Le(_gap(t + 1), alpha * _gap(t) + a * alpha**t),),
            start=1,
            name="the gap of powers",
        ),
        Identity(x ** (w + 1) - y ** (w + 1), x * (x**w - y**w) + y**w * (x - y), "as it grows"),
        letters={
            alpha: "the larger base, A",
            a: "gap of the bases",
            x: "a base",
            y: "the other",
            w: "exponent",
        },
    ),
    Ours(
        "ours/conversion/convex",
        "What the divergence of two points has to exceed is convex in the probability of the event",
        _CONVERSION,
        Identity(
            diff(_first, p, 2),
            alpha * (alpha - 1) * p ** (alpha - 2) * _q ** (-alpha - 1) * (s * u) ** 2,
            "second derivative in p of the first term, a square",
        ),
        Identity(
            diff(_second, p, 2) / ((1 - p) ** (alpha - 2) * (1 - _q) ** (-alpha - 1)),
            alpha * (alpha - 1) * (1 - u + s * u) ** 2,
            "of the second, times positive powers",
            _events,
        ),
        Identity(
            put(accounting.two_point_moment(p, alpha, xi, s), {xi: -log(u)}),
            _first + _second,
            "the moment of two points",
            _events,
        ),
        letters={p: "probability of the event", s: "delta", u: "exp(-epsilon)"},
        assumptions=(alpha > 1, s < p),
    ),
    Ours(
        "ours/conversion/usual",
        "Without its second term, alpha delta <= 1, the best conversion is Canonne, Kamath & Steinke's Proposition 12",
        _CONVERSION,
        Identity(
            Derivative(_first, p), _first * (p - alpha * s) / (p * (p - s)), "it turns at p = alpha delta"
        ),
        Identity(
            put(_first, {p: (1 + v) * s}).subs(alpha, 1 + v),
            exp((_least + (alpha - 1) * -log(u)).subs(alpha, 1 + v)),
            "its logarithm there, -log u the epsilon",
        ),
        Identity(
            (_least + (alpha - 1) * accounting.quick_dp(alpha, x, s)).subs(alpha, 1 + v),
            v * x,
            "it reaches e^((alpha - 1) rho) at the epsilon of the proposition",
        ),
        letters={p: "probability of the event", s: "delta", u: "exp(-epsilon)", v: "alpha - 1", x: "rho"},
        assumptions=(alpha > 1, s < p, alpha * s <= 1),
    ),
)
