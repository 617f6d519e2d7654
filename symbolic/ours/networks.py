r"""Networks on a ball of parameters (docs/proofs/network_constants.md).

Normalisation: $y = z/s$, $s = \sqrt{|z|^2/d + \epsilon}$, $n = y/\sqrt d$, $\rho = |n|^2 < 1$, $u$ of unit length and
$c = n \cdot u$. Along $z + t u$ at $t = 0$
$$y' = \frac{u - c n}s,\quad y'' = -\frac{2 c u + (1 - 3 c^2) n}{s^2\sqrt d},\quad
  y''' = -3\,\frac{(1 - 3 c^2) u - c(3 - 5 c^2) n}{s^3 d},$$
of lengths at most $1/s$, $2/(\sqrt{3 d}\,s^2)$ and $48/(25\sqrt{5 d}\,\epsilon)$, and $3/(d s^3)$, which are attained.
"""

from lastiterate.symbolic.formulas import networks as formulas
from lastiterate.symbolic.ours.paper import *

_PAGE = "network_constants"
_bell = exp(-(xi**2) / 2) / sqrt(2 * pi)

# Of a class: its probability, v and u less their means. Sums: the third cumulant of v, v and u, the variance of v.
_chance, _variance = (Function(name, nonnegative=True) for name in "pV")
_cumulant, _off_v, _off_u = (Function(name, real=True) for name in "Hvu")
_form, _larger_form, _entry, _larger, _shares = (Function(name, nonnegative=True) for name in "FGqQu")

_x, _back, _moved_on = map(Vector, "xsw")
_there = inner(_x, _back)  # |V x|^2 = <x, V'V x>
_near = Norm(_x - _back) <= r * Norm(_x)

# Of normalisation.
_stated = formulas.first(xi, v), formulas.second(xi, v, u), formulas.third(xi, v, u)
_line = formulas.along(zeta, xi, v, u)
_along, _n = Vector("e"), Vector("n")  # the direction u, and n
_cosine, _short = inner(_along, _n), 1 - Norm(_along) ** 2  # the second is 0


def _length(pair: tuple[Expr, Expr], at_most: Expr, name: str, *at: Boolean, times: Expr = S.One) -> Inequality:
    """A bound on the square of a length at s = d = 1, attained at the given xi = u . n and rho = |n|^2."""
    square = formulas.squared(pair, xi, rho) * times
    return Inequality(square, "<= and attained", at_most**2, (xi**2 <= rho, rho <= 1), name, at)


CLAIMS = (
    Ours(
        "ours/certified/network/activations",
        "Where slope and curvature of tanh and GELU turn: zeros of phi'' and phi'''",
        proof(_PAGE, "Activations"),
        Identity(Derivative(tanh(h), (h, 2)), formulas.tanh_curvature(tanh(h)), "tanh''"),
        Identity(Derivative(tanh(h), (h, 3)), 2 * (3 * tanh(h) ** 2 - 1) * (1 - tanh(h) ** 2), "tanh'''"),
        Identity(Derivative(xi * (1 + erf(xi / sqrt(2))) / 2, (xi, 2)), (2 - xi**2) * _bell, "GELU''"),
        Identity(Derivative((2 - xi**2) * _bell, xi), xi * (xi**2 - 4) * _bell, "GELU'''"),
    ),
    Ours(
        "ours/certified/network/normalisation/derivatives",
        "The first three derivatives of z / sqrt(|z|^2 / d + eps) along a line",
        proof(_PAGE, "Normalisation"),
        VectorInequality(
            (Norm(sqrt(u) * v * _n + zeta * _along) ** 2 + zeta**2 * _short) / u + v**2 * (1 - Norm(_n) ** 2),
            "==",
            formulas.deviation(zeta, _cosine, v, u) ** 2,
            name="s^2 on the line, eps = s^2 (1 - |n|^2)",
        ),
        *(
            Identity(
                Subs(Derivative(_line[part], (zeta, order)), zeta, 0),
                pair[part],
                f"derivative {order}, its part along {vector}",
            )
            for order, pair in enumerate(_stated, start=1)
            for part, vector in enumerate("un")
        ),
        letters={u: "number of entries", v: "s", xi: "u . n", zeta: "length along the line", _along: "u"},
    ),
    Ours(
        "ours/certified/network/normalisation/bounds",
        "Layer norm: |y'| <= 1/s, |y''| <= 2/(sqrt(3 d) s^2), 48/(25 sqrt(5 d) eps), |y'''| <= 3/(d s^3); attained",
        proof(_PAGE, "Normalisation"),
        VectorInequality(
            Norm(gamma * _along + kappa * _n) ** 2 + gamma**2 * _short,
            "==",
            formulas.squared((gamma, kappa), _cosine, Norm(_n) ** 2),
            name="the square of a length",
        ),
        _length(formulas.first(xi, S.One), S.One, "|y'|^2 s^2", Eq(xi, 0)),
        _length(
            formulas.second(xi, S.One, S.One), formulas.greatest_bend(), "|y''|^2 s^4 d", Eq(xi, sqrt(3) / 3)
        ),
        _length(
            formulas.second(xi, S.One, S.One),
            formulas.worst_bend(),
            "|y''|^2 eps^2 d",
            Eq(xi, sqrt(5) / 5),
            Eq(rho, xi**2),
            times=(1 - rho) ** 2,
        ),
        _length(
            formulas.third(xi, S.One, S.One),
            formulas.twist(S.One, S.Zero, S.One),
            "|y'''|^2 s^6 d^2",
            Eq(xi, 0),
        ),
        letters={xi: "u . n", rho: "|n|^2", gamma: "part along u", kappa: "part along n", _along: "u"},
    ),
    Ours(
        "ours/certified/network/outputs",
        "Lines on cross-entropy's Hessian: a third cumulant is below osc times a variance, row sums",
        proof(_PAGE, "The loss as a function of the outputs"),
        sum_induction(
            "third cumulant, any number of classes",
            Le(_cumulant(t), d * _variance(t)),
            {_cumulant: _chance(t) * _off_v(t) ** 2 * _off_u(t), _variance: _chance(t) * _off_v(t) ** 2},
            Le(_off_u(t), d),
        ),
        Inequality(p * (1 - p) + p * z, "<= and attained", 2 * p * (1 - p), (z <= 1 - p,), "rows"),
        assumptions=(p <= 1,),
        letters={d: "greatest difference of two entries of u", z: "sum of the other probabilities"},
    ),
    Ours(
        "ours/certified/network/form",
        "|A|^2 (1 - |I - V'V|) <= |A V|^2, V square; a nonnegative form of any number of blocks grows with its entries",
        proof(_PAGE, "Rounding"),
        VectorInequality((1 - r) * Norm(_x) ** 2, "<=", _there, given=(_near,), name="V x = 0 for x = 0 alone"),
        VectorInequality(
            (1 - r) * Norm(_moved_on) ** 2,
            "<=",
            z**2 * _there,
            given=(_near, Norm(_moved_on) <= z * Norm(_x)),
            name="so every vector is some u = V x, and |A u|^2 is at most |A V|^2 |u|^2 / (1 - r)",
        ),
        sum_induction(
            "the forms, pair of blocks by pair, u the product of their shares",
            Le(_form(t), _larger_form(t)),
            {_form: _entry(t) * _shares(t), _larger_form: _larger(t) * _shares(t)},
            Le(_entry(t), _larger(t)),
        ),
        assumptions=(r < 1,),
        letters={r: "any positive number from |I - V'V| on", z: "|A V|", _back: "V'V x", _moved_on: "A V x"},
    ),
)
