"""Epsilon of a composition: privacy-loss distributions, and the best conversion of one Renyi order.

p = Phi(-g/2) <= 1/2; u = e^-l >= v = e^-r are the ends of a cell; kappa = e^-eps. Profiles after Balle, Barthe &
Gaboardi 2018 and Zhu, Dong & Wang 2022; the conversion is Asoodeh, Liao, Calmon, Kosut & Sankar 2021, theorem 3,
another proof.
"""

from lastiterate.symbolic.derivations.checks import lattice_checks
from lastiterate.symbolic.formulas import accounting
from lastiterate.symbolic.prelude import *

_half = Rational(1, 2)

# Slopes of the profile at r = 1 from the right and, by f'(r) = -1 + f(1/r) - f'(1/r)/r, from the left.
_right = -p
_left = -1 + q * (1 - 2 * p) + p
_rates = (q <= 1, p <= _half)


def _level(factor: Expr) -> Expr:
    return 1 + (factor - 1) / q


def _above(factor: Expr) -> Expr:
    """The profile of a step without replacement from 1 on; below it is that, exchanged."""
    return q * hockey_stick(_level(factor), v)


def _slope(level: Expr) -> Expr:
    """The slope of E_level(N(v, 1) || N(0, 1))."""
    return -cumulative(-log(level) / v - v / 2)


def _curvature(level: Expr) -> Expr:
    return exp(density_exponent(log(level), -(v**2) / 2, v**2)) / (sqrt(2 * pi) * v * level)


def _rise(level: Expr, mu: Expr = v) -> Expr:
    """k(x) - x k'(x) for the profile k(x) of two Gaussians at the level 1 + x: two values of Phi that are mu apart."""
    return cumulative(mu / 2 - log(level) / v) - cumulative(-v / 2 - log(level) / v)


_below = exchanged(r, _above)
_slope_below = -1 + _above(1 / r) - _slope(_level(1 / r)) / r
_off = Rational(97, 100)
_bell = exp(-(xi**2) / 2) / sqrt(2 * pi)


def _at_one(slope: Expr, at: Expr, name: str) -> Identity:
    return Identity(put(slope, {r: Integer(1)}), at.subs(p, cumulative(-v / 2)), name)


_to_right = (u * P - r) / (u - v)  # r is the mass Q of the denominator in the cell
_to_left = (r - v * P) / (u - v)


# The share theta at the end with the ratio gamma = 1 - t u, the rest at kappa = 1 - t v.
_middle = theta * gamma + (1 - theta) * kappa


_exponentials = (u >= 1 - x, v >= 1 + lam * x)  # as e^y >= 1 + y


# Larger base A = alpha, a the gap of the bases, beta that of the T-th powers, s = A^(T-1), x the smaller T-th power.


# s is delta, u = e^-eps; the second term is the first with 1 - p and 1 - q, a line of the same slope in p.
_q = (p - s) * u
_first = p**alpha * _q ** (1 - alpha)


_least = alpha * log(alpha * s) + (1 - alpha) * log(alpha * s - s)


# Log of the first term at p = alpha delta, rho = x and the epsilon of the proposition.
_turned = _least + (alpha - 1) * accounting.quick_dp(alpha, x, s)


_gap = Function("g", nonnegative=True)  # of the powers, after t factors

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
        proof("privacy_loss", "A pair for the step without replacement"),
        Identity(Derivative(_above(r), r), _slope(_level(r)), "slope from 1 on", (r >= 1,)),
        Identity(Derivative(_above(r), (r, 2)), _curvature(_level(r)) / q, "curvature from 1 on", (r >= 1,)).mutant(
            "three percent less", right=_off * _curvature(_level(r)) / q
        ),
        Identity(Derivative(_below, r), _slope_below, "slope up to 1", (r <= 1,)),
        Identity(
            Derivative(_below, (r, 2)), _curvature(_level(1 / r)) / (q * r**3), "curvature up to 1", (r <= 1,)
        ).mutant("another power", right=_curvature(_level(1 / r)) / (q * r**2)),
        Inequality(Integer(0), "<", _curvature(r), name="both are positive"),
        _at_one(_slope(_level(r)), _right, "slope at 1 from the right"),
        _at_one(_slope_below, _left, "and from the left"),
        Inequality(_left, "<=", _right, name="which does not exceed it").mutant(
            "three percent more of the rate", left=-1 + Rational(103, 100) * q * (1 - 2 * p) + p
        ),
        Identity(1 - ((1 - q) * p + q * (1 - p)) - p, (1 - q) * (1 - 2 * p), "the mass without loss"),
        Identity(
            1 - r + r * put(_below, {r: 1 / r}), _above(r), "reflected again it is as before: both ways", (r >= 1,)
        ),
        Identity(_right - _left, (1 - q) * (1 - 2 * p), "the slope jumps by that mass"),
        letters={r: "factor of the second law", v: "mu of the means, d / sigma", p: "Phi(-mu / 2)"},
        assumptions=_rates,
    ),
    Ours(
        "ours/pld/rate",
        "The profile rises with the sampling rate: a schedule may be priced by its highest rate",
        proof("privacy_loss", "A pair for the step without replacement"),
        Identity(
            Derivative(_above(r), q),
            _rise(_level(r)),
            "the derivative in the rate: Phi at two places, mu apart",
            (r >= 1,),
        ).mutant("three percent less of mu", right=_rise(_level(r), _off * v)),
        Identity(
            Derivative(_below, q), r * _rise(_level(1 / r)), "and below 1, where the profile is reflected", (r <= 1,)
        ).mutant("three percent less of mu, below 1", right=r * _rise(_level(1 / r), _off * v)),
        Identity(Derivative(cumulative(xi), xi), _bell, "the slope of Phi"),
        Inequality(Integer(0), "<", _bell, name="is positive, and so is the derivative in the rate"),
        letters={r: "factor of the second law", v: "mu of the means, d / sigma"},
    ),
    Ours(
        "ours/pld/chords",
        "A cell of privacy losses may move to its ends, both laws keeping their masses",
        proof("privacy_loss", "Lattice"),
        Identity(_to_left + _to_right, P, "the numerator keeps its mass"),
        Identity(_to_left * u + _to_right * v, r, "the denominator keeps its mass"),
        Inequality(Integer(0), "<=", _to_left, given=(v * P <= r,), name="nothing negative at the left"),
        Inequality(Integer(0), "<=", _to_right, given=(r <= u * P,), name="nor at the right"),
        Inequality(
            Max(0, _middle),
            "<=",
            theta * Max(0, gamma) + (1 - theta) * Max(0, kappa),
            given=(theta <= 1,),
            name="the chord lies above",
        ),
        letters={
            P: "mass of the numerator in the cell",
            r: "mass of the denominator in the cell",
            u: "greatest ratio",
            v: "least ratio",
        },
        assumptions=(v < u,),
    ),
    Ours(
        "ours/pld/tilt",
        "An error of a tilted mass counts at most 1/(1 + lam) in the hockey-stick divergence",
        proof("privacy_loss", "The transform and its error"),
        Inequality(1 + kappa, "<= and attained", exp(kappa), name="exp is above its tangent", attained=(Eq(kappa, 0),)),
        Inequality((1 - u) / v, "<=", 1 / (1 + lam), _exponentials, "weight of an error")
        .mutant("no tilt", given=_exponentials[:1])
        .mutant("three percent less of the tilt", given=(_exponentials[0], v >= 1 + _off * lam * x)),
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
        Inequality(
            alpha * beta + x * a,
            "<=",
            (w + 1) * a * alpha * s,
            given=(beta <= w * a * s, x <= alpha * s),
            name="from T to T + 1",
        ),
        Induction(
            t,
            Le(_gap(t), t * a * alpha ** (t - 1)),
            (Le(_gap(1), a),),
            (Le(_gap(t + 1), alpha * _gap(t) + a * alpha**t),),
            start=1,
            name="so for every T",
        ),
        Identity(x ** (w + 1) - y ** (w + 1), x * (x**w - y**w) + y**w * (x - y), "as the gap of powers grows"),
        letters={
            alpha: "the larger base",
            a: "gap of the bases",
            beta: "gap of the powers",
            s: "power of the larger base, one factor less",
            x: "the smaller power",
            w: "exponent",
        },
    ),
    Ours(
        "ours/conversion/convex",
        "What the divergence of two points has to exceed is convex in the chance of the event",
        proof("privacy_loss", "From one Renyi order to approximate differential privacy"),
        Identity(
            diff(_first, p, 2),
            alpha * (alpha - 1) * p ** (alpha - 2) * _q ** (-alpha - 1) * (s * u) ** 2,
            "second derivative in p of the first term, a square",
        ),
        Identity(
            diff((1 - p) ** alpha * (1 - _q) ** (1 - alpha), p, 2)
            / ((1 - p) ** (alpha - 2) * (1 - _q) ** (-alpha - 1)),
            alpha * (alpha - 1) * (1 - u + s * u) ** 2,
            "of the second, times positive powers",
            (p < 1, _q < 1),
        ),
        Identity(
            put(accounting.two_point_moment(p, alpha, xi, s), {xi: -log(u)}),
            _first + (1 - p) ** alpha * (1 - _q) ** (1 - alpha),
            "the moment of two points",
            (p < 1, _q < 1),
        ),
        letters={p: "chance of the event", s: "delta", u: "exp(-epsilon)"},
        assumptions=(alpha > 1, s < p),
    ),
    Ours(
        "ours/conversion/usual",
        "Without its second term, alpha delta <= 1, the best conversion is Canonne, Kamath & Steinke's Proposition 12",
        proof("privacy_loss", "From one Renyi order to approximate differential privacy"),
        Identity(
            Derivative(_first, p), _first * (p - alpha * s) / (p * (p - s)), "the first term turns at p = alpha delta"
        ).mutant("three percent before", right=_first * (p - Rational(97, 100) * alpha * s) / (p * (p - s))),
        Identity(
            put(_first, {p: (1 + v) * s}).subs(alpha, 1 + v),
            exp((_least + (alpha - 1) * -log(u)).subs(alpha, 1 + v)),
            "its logarithm there, -log u the epsilon",
        ),
        # Log of the first term at p = alpha delta, without eps (alpha - 1); v is alpha - 1.
        Identity(
            _least.subs(alpha, 1 + v),
            (log(s) + alpha * log(alpha) - (alpha - 1) * log(alpha - 1)).subs(alpha, 1 + v),
            "its least value",
        ),
        Identity(_turned.subs(alpha, 1 + v), v * x, "it reaches e^((alpha - 1) rho) at the epsilon of the proposition"),
        letters={p: "chance of the event", s: "delta", u: "exp(-epsilon)", v: "alpha - 1", x: "rho"},
        assumptions=(alpha > 1, s < p, alpha * s <= 1),
    ),
)
